package mlflow

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
)

func TestFilesAreAddedToARunThatExists(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	dir := t.TempDir()
	var files []string
	for name, text := range map[string]string{"a.png": "picture", "plots.html": "page"} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := Attachment{URI: u, RunID: "r1", Environment: &Environment{token: "tok-123456"}, Version: "1", Timeout: time.Minute}
	page, err := a.Upload(context.Background(), files)
	if err != nil || !strings.HasSuffix(page, "/runs/r1") {
		t.Errorf("%s, %v", page, err)
	}
	if f.files["plots/a.png"] != "picture" || f.files["plots/plots.html"] != "page" || !f.auth["Bearer tok-123456"] {
		t.Errorf("%v, %v", f.files, f.auth)
	}

	for _, c := range []struct {
		id, store, want string
		files           []string
		before          func(http.ResponseWriter, *http.Request, int) bool
	}{
		{"r9", "", "has no run r9 (--mlflow-run-id)", files, nil},
		{"r1", "s3://bucket/x", "keeps files in a store of its own (s3)", files, nil},
		{"r1", "", "0 of 1 files were uploaded, gone.png was the first", []string{filepath.Join(dir, "gone.png")}, nil},
		{"r1", "", "401", files, func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			reject(w, http.StatusUnauthorized, "", "")
			return true
		}},
	} {
		f, u := newFake(t)
		if c.store != "" {
			f.artifactURI = c.store
		}
		f.before = c.before
		a.URI, a.RunID = u, c.id
		_, err := a.Upload(context.Background(), c.files)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "tok-123456") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	f, a.URI = newFake(t)
	f.deleted, a.RunID = true, "r1"
	if _, err := a.Upload(context.Background(), files); err == nil || !strings.Contains(err.Error(), "is deleted") {
		t.Error(err)
	}
}

func TestTargetsAreReadFromTheRecordOfAnUpload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := FindTarget(dir, "mlflow_export.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	path := filepath.Join(dir, "foo_mlflow_export.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"tracking_uri":"http://` + artifact.Redacted + `@h","run_id":"r"}`)
	if got, err := FindTarget(dir, "mlflow_export.json"); err != nil || got.RunID != "r" || !strings.Contains(got.URI, artifact.Redacted) {
		t.Errorf("%+v, %v", got, err)
	}
	write(`[`)
	if _, err := FindTarget(dir, "mlflow_export.json"); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

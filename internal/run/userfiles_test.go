package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
)

func userFiles(t *testing.T, list ...string) (files []document.UserFile) {
	t.Helper()
	for i := 0; i < len(list); i += 2 {
		f, err := document.NewUserFile(list[i], "", document.Of(list[i+1]))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// User files are there before the first request, with the names of this run.
func TestUserFilesAreThereBeforeTheLoad(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "the.job")
	cfg := resolve(t, dir, serve(t, mockserver.Options{}), "--isl", "10", "--osl", "2", "--request-count", "2",
		"--api-key", "sk-secret-value")
	cfg.Endpoint.URLs[0] = strings.Replace(cfg.Endpoint.URLs[0], "://", "://user:pass@", 1)
	cfg.Artifacts.UserFiles = userFiles(t, "sub/a.txt",
		"{{ model }} {{ job_name }} {{ n }} {{ artifact_dir }}|{{ namespace }}|\n", "b", "{{ endpoint_url }} {{ epoch > 1000000000 }} {{ key }}")
	cfg.Artifacts.Variables = artifact.Object{
		{Key: "model", Value: "x"}, {Key: "n", Value: int64(7)}, {Key: "key", Value: "sk-secret-value"}}
	var lines bytes.Buffer
	log := runlog.New(runlog.Options{Console: &lines})
	defer log.Close()
	seen := false
	outcome, err := Execute(t.Context(), cfg, Options{Log: log, Ready: func() {
		_, err := os.Stat(filepath.Join(dir, "sub", "a.txt"))
		seen = err == nil
	}})
	if err != nil || outcome.Problem != nil {
		t.Fatal(err, outcome)
	}
	if !seen {
		t.Error("the file is not there when the load begins")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(fileOf(t, dir, "sub/a.txt")), cfg.Models[0]+" the.job 7 "+absolute+"||\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(fileOf(t, dir, "b")); !strings.Contains(got, "://"+artifact.Redacted+"@") ||
		!strings.Contains(got, " True ") || strings.Contains(got, "sk-secret") {
		t.Errorf("%q", got)
	}
	if !strings.Contains(lines.String(), "name=model") || strings.Contains(lines.String(), "name=n ") {
		t.Errorf("no warning of the variable model: %s", lines.String())
	}
}

// A mistake in a user file costs nothing: nothing is written.
func TestUserFilesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	for content, want := range map[string][2]string{
		"missing is not defined": {"a", "{{ missing }}"}, "the run itself": {"./Profile_export_aiperf.json", "x"},
		"itself writes": {"logs/aiperf.log", "x"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		cfg := resolve(t, dir, url, "--isl", "10", "--osl", "2", "--request-count", "2")
		cfg.Artifacts.UserFiles = userFiles(t, want[0], want[1])
		if _, err := execute(t, cfg, Options{}); err == nil || !strings.Contains(err.Error(), content) {
			t.Errorf("%v: %v, want it to say %q", want, err, content)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: the folder has been made", want)
		}
	}
}

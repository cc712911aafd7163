package mlflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
)

// Target is a run on a server.
type Target struct {
	// URI is the server's address; it is empty or has [artifact.Redacted] in place of secrets where it was read from a
	// file that had them.
	URI   string
	RunID string
}

// ReadTarget reads from mlflow_export.json where the run of the file was uploaded to. A file that does not exist is an
// error of the kind [fs.ErrNotExist].
func ReadTarget(path string) (Target, error) {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return Target{}, err
	}
	var file struct {
		URI   string `json:"tracking_uri"`
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Target{}, fmt.Errorf("%s: not the record of an upload to MLflow: %w", path, err)
	}
	return Target{file.URI, file.RunID}, nil
}

// Attachment configures the upload of further files to a run that exists.
type Attachment struct {
	URI         *url.URL
	RunID       string
	Environment *Environment
	Version     string
	// Timeout bounds the upload as a whole.
	Timeout time.Duration
}

// Upload adds files to the artifacts of the run: pictures and pages below plots/, others below exports/, each by the last
// element of its path. It returns the address of the run's page. The first file that fails ends it.
func (a Attachment) Upload(ctx context.Context, files []string) (page string, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	s := newServer(a.URI, a.Environment, a.Version, artifact.NewRedactor().Text)
	var answer struct {
		Run struct {
			Info struct {
				runInfo
				Experiment string `json:"experiment_id"`
			} `json:"info"`
		} `json:"run"`
	}
	if p := s.get(ctx, "runs/get", url.Values{"run_id": {a.RunID}}, &answer); p != nil {
		if p.Code == codeMissing {
			return "", fmt.Errorf("MLflow: %s has no run %s (--mlflow-run-id)", s.base, a.RunID)
		}
		return "", fmt.Errorf("MLflow: %s %w", s.base, p)
	}
	run := answer.Run.Info
	switch {
	case run.Stage != "" && run.Stage != active:
		return "", fmt.Errorf("MLflow: the run %s of %s is deleted: restore it or name another one (--mlflow-run-id)",
			a.RunID, s.base)
	case run.Artifact == "":
		return "", fmt.Errorf("MLflow: %s answered without a run; is this an MLflow server?", s.base)
	}
	root := s.artifactRoot(run.Artifact)
	if root == "" {
		scheme, _, _ := strings.Cut(run.Artifact, ":")
		return "", fmt.Errorf("MLflow: %s keeps files in a store of its own (%s) that only MLflow's client writes to; start "+
			"the server with --serve-artifacts", s.base, scheme)
	}
	for i, file := range files {
		dir, name := filepath.Split(file)
		if p := s.putFile(ctx, root, artifactPath(name), dir, name); p != nil {
			return "", fmt.Errorf("MLflow: %s %w; %d of %d files were uploaded, %s was the first that was not", s.base, p, i,
				len(files), name)
		}
	}
	return s.base + "/#/experiments/" + run.Experiment + "/runs/" + a.RunID, nil
}

// FindTarget returns where the run in a folder was uploaded to: from the folder's mlflow_export.json, or the only file whose
// name ends so, as with a prefix of names.
func FindTarget(dir, name string) (Target, error) {
	t, err := ReadTarget(filepath.Join(dir, name))
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	entries, _ := os.ReadDir(dir) // without entries the first error says what is wrong
	others := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), name) })
	if len(others) == 1 {
		return ReadTarget(filepath.Join(dir, others[0].Name()))
	}
	return t, err
}

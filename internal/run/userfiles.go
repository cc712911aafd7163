package run

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
)

// renderUserFiles fills in the files that the configuration asks for, before anything is written.
func (e *execution) renderUserFiles(context.Context) error {
	a := &e.cfg.Artifacts
	if len(a.UserFiles) == 0 {
		return nil
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return fmt.Errorf("the artifact directory %s: %w; name it with --artifact-dir", a.Dir, err)
	}
	for _, f := range a.UserFiles {
		if own := e.ownFile(dir, f.Path); own != "" {
			return fmt.Errorf("user file %s has the name of a file that the run itself writes, %s: give it another path",
				f.Path, own)
		}
	}
	names := document.RunNames{Variables: a.Variables, Run: map[string]any{
		"epoch":        int(e.clock.WallNS(e.clock.NowNS()) / int64(time.Second)),
		"job_name":     filepath.Base(dir),
		"namespace":    e.cfg.Env.ServerMetrics.Namespace,
		"model":        e.cfg.Models[0],
		"endpoint_url": artifact.RedactAddress(e.cfg.Endpoint.URLs[0]),
		"artifact_dir": dir,
	}}
	for _, name := range names.Shadowed() {
		e.log.Warn("In user files this name is that of the run, not the variable: rename the variable", "name", name)
	}
	e.userFiles, err = document.RenderUserFiles(a.UserFiles, names)
	return err
}

// ownFile is the file of the run that a user file would replace, "" if there is none.
func (e *execution) ownFile(dir, path string) string {
	a := e.cfg.Artifacts
	a.Dir = dir
	wanted := filepath.Join(dir, filepath.FromSlash(path))
	for _, kind := range config.ArtifactKinds() {
		if own := a.Path(kind); strings.EqualFold(own, wanted) {
			return filepath.Base(own)
		}
	}
	if strings.EqualFold(path, artifact.LockName) {
		return artifact.LockName
	}
	return ""
}

// writeUserFiles writes these files, without the secrets of the configuration.
func (e *execution) writeUserFiles(context.Context) error {
	for i, f := range e.userFiles {
		e.userFiles[i].Data = []byte(e.redactor.Values(string(f.Data)))
	}
	return document.WriteUserFiles(e.cfg.Artifacts.Dir, e.userFiles)
}

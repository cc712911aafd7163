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
func (f *folder) renderUserFiles(context.Context) error {
	a := &f.cfg.Artifacts
	if len(a.UserFiles) == 0 {
		return nil
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return fmt.Errorf("the artifact directory %s: %w; name it with --artifact-dir", a.Dir, err)
	}
	for _, user := range a.UserFiles {
		if own := f.ownFile(dir, user.Path); own != "" {
			return fmt.Errorf("user file %s has the name of a file that the run itself writes, %s: give it another path",
				user.Path, own)
		}
	}
	names := document.RunNames{Variables: a.Variables, Run: map[string]any{
		"epoch":        int(f.clock.WallNS(f.clock.NowNS()) / int64(time.Second)),
		"job_name":     filepath.Base(dir),
		"namespace":    f.cfg.Env.ServerMetrics.Namespace,
		"model":        f.cfg.Models[0],
		"endpoint_url": artifact.RedactAddress(f.cfg.Endpoint.URLs[0]),
		"artifact_dir": dir,
	}}
	for _, name := range names.Shadowed() {
		f.log.Warn("In user files this name is that of the run, not the variable: rename the variable", "name", name)
	}
	f.userFiles, err = document.RenderUserFiles(a.UserFiles, names)
	return err
}

// ownFile is the file of the run that a user file would replace, "" if there is none.
func (f *folder) ownFile(dir, path string) string {
	a := f.cfg.Artifacts
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
func (f *folder) writeUserFiles(context.Context) error {
	for i := range f.userFiles {
		user := &f.userFiles[i]
		user.Data = []byte(f.redactor.Values(string(user.Data)))
	}
	return document.WriteUserFiles(f.cfg.Artifacts.Dir, f.userFiles)
}

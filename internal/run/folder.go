package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// maxFolders bounds the numbers behind the name of a default folder.
const maxFolders = 1000

// ChooseFolder gives the default folder of a run a number, -2 and so on, while it holds the results of another
// benchmark: of another configuration or another server. Results of the same one are replaced, and a folder that the
// user named is used as it is. The returned note says why the folder is another one; "" if it is not.
func ChooseFolder(cfg *config.Run) (note string, err error) {
	a := &cfg.Artifacts
	if !a.Derived {
		return "", nil
	}
	first, hash := a.Dir, ConfigHash(cfg)
	for n := 1; n <= maxFolders; n++ {
		own := *a
		if n > 1 {
			own.Dir = fmt.Sprintf("%s-%d", first, n)
		}
		if holds, other := heldConfiguration(own); other && holds != hash {
			continue
		}
		a.Dir = own.Dir
		if n > 1 {
			note = fmt.Sprintf("The folder %s contains the results of another benchmark: this one writes to %s; "+
				"--artifact-dir and --overwrite choose otherwise", first, a.Dir)
		}
		return note, nil
	}
	return "", fmt.Errorf("%s and %d folders named after it contain results of other benchmarks; choose a folder with "+
		"--artifact-dir, or give --overwrite", first, maxFolders-1)
}

// heldConfiguration is the hash of the configuration whose results are in a folder, of a single run or of the first one
// of a series, even if it was killed; false if there are none. It is "" where the results do not say it: they are the
// original program's.
func heldConfiguration(a config.Artifacts) (hash string, holds bool) {
	for _, below := range []string{".", filepath.Join("profile_runs", "run_0001"),
		filepath.Join("profile_runs", "trial_0001")} {
		own := a
		own.Dir = filepath.Join(a.Dir, below)
		if figures, err := summary.ReadFigures(own.Path(config.SummaryJSON)); err == nil {
			return figures.Kinds["configuration"], true
		}
		if state, err := summary.ReadState(own.Path(config.RunState)); err == nil {
			return provenanceHash(state), true
		}
	}
	return "", false
}

func provenanceHash(s *summary.State) string {
	for _, m := range s.Run.Provenance {
		if text, ok := m.Value.(string); ok && m.Key == "config_sha256" {
			return text
		}
	}
	return ""
}

// folder is the artifact directory of a run.
type folder struct {
	*base
	lock *artifact.Lock // keeps other runs out of it; nil before it is open
	// userFiles are those that the configuration asks for, filled in.
	userFiles []document.RenderedFile
}

// open makes the directory, keeps other runs out of it and opens the log file.
func (f *folder) open(context.Context) error {
	a := &f.cfg.Artifacts
	if err := os.MkdirAll(filepath.Dir(a.Path(config.SummaryJSON)), 0o755); err != nil {
		return fmt.Errorf("the artifact directory cannot be made: %w; choose another with --artifact-dir", err)
	}
	var err error
	if f.lock, err = artifact.LockFolder(a.Dir); err != nil {
		return fmt.Errorf("%w with --artifact-dir", err)
	}
	if err := f.options.Log.OpenFile(a.Path(config.LogFile)); err != nil {
		return fmt.Errorf("%w; choose another directory with --artifact-dir", err)
	}
	f.log.Info("Starting the benchmark", "version", f.options.Version, "benchmark_id", f.id)
	return nil
}

// clear removes what an earlier run left under the same names. That is done when the dataset is known: a
// mistake in it must not cost older results, and it may be made of one of them.
func (f *folder) clear(context.Context) error {
	a := &f.cfg.Artifacts
	replaced, err := summary.ReadFigures(a.Path(config.SummaryJSON))
	var stale []string
	for _, kind := range config.ArtifactKinds() {
		if kind != config.LogFile {
			stale = append(stale, a.Path(kind))
		}
	}
	json, csv := a.PhaseNames()
	ofPhases, folders := report.StalePhases(a.Dir, json, csv)
	if err := artifact.RemoveStale(append(stale, ofPhases...)...); err != nil {
		return fmt.Errorf("files of an earlier run cannot be replaced: %w; choose another directory with "+
			"--artifact-dir", err)
	}
	for _, folder := range folders {
		_ = os.Remove(folder) // which fails, as it should, when it holds anything else
	}
	if err == nil && replaced.BenchmarkID != "" {
		f.log.Warn("The results of an earlier run in the artifact directory are replaced; --artifact-dir keeps them "+
			"apart",
			"directory", a.Dir, "benchmark_id", replaced.BenchmarkID)
	}
	if f.options.Info.RunLabel == "" {
		return nil
	}
	return artifact.WriteObject(a.Path(config.RunConfigJSON), f.runConfig())
}

package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// trifles are what a run may leave that has no results: they are not worth a folder of their own.
func trifles() []string {
	var names config.Artifacts
	return []string{filepath.Dir(names.Name(config.LogFile)), names.Name(config.InputsJSON),
		names.Name(config.RunConfigJSON)}
}

// Holds reports whether a folder contains results, of whatever command, or a run that goes on.
func Holds(dir string) bool { return artifact.Holds(dir, trifles()...) }

// Earlier is what became of the results that a folder, or the one that would have been used, held before a run.
type Earlier struct {
	// Text says it in a line after the folder; "" where there were none.
	Text string
	// Replaced reports that they do not stay.
	Replaced bool
}

// FreeFolder returns the default folder of a command, with a number, -2 and so on, behind its name while there are
// results in it.
func FreeFolder(dir string) (free string, e Earlier, err error) {
	free, before, err := artifact.Numbered(dir, Holds)
	if before != "" {
		e.Text = "results stay in " + before
	}
	return free, e, err
}

// FolderAgain returns the last of the folders with results that [FreeFolder] would pass by and that holds the same run,
// as same reports, else the free one.
func FolderAgain(dir string, same func(dir string) bool) (folder string, e Earlier, err error) {
	_, _, _ = artifact.Numbered(dir, func(at string) bool {
		if !Holds(at) {
			return false
		}
		if same(at) {
			folder = at
		}
		return true
	})
	if folder != "" {
		return folder, Earlier{Text: "results of this run in " + folder + " are replaced", Replaced: true}, nil
	}
	return FreeFolder(dir)
}

// ChooseFolder has the results of earlier runs stay where the folder is the default one, by [FreeFolder]. With --resume
// it is the last of these with results, of the same configuration if there is one. A folder that the user named is used
// as it is, and what is replaced there is said. several reports that the run is a series.
func ChooseFolder(cfg *config.Run, several bool) (e Earlier, err error) {
	a := &cfg.Artifacts
	switch {
	case cfg.Asked.Resume.Get():
		if a.Derived {
			a.Dir = resumed(cfg)
		}
		return Earlier{}, nil
	case !a.Derived:
		return replaced(*a, several), nil
	}
	if a.Dir, e, err = FreeFolder(a.Dir); err != nil {
		err = fmt.Errorf("%w, choose a folder with --artifact-dir, or give --overwrite", err)
	}
	return e, err
}

// resumed is the folder of the runs that --resume takes over: the last of the default ones with results of this
// configuration, else the last one with any.
func resumed(cfg *config.Run) string {
	first, hash := cfg.Artifacts.Dir, ConfigHash(cfg)
	last, same := first, ""
	_, _, _ = artifact.Numbered(first, func(dir string) bool {
		own := cfg.Artifacts
		own.Dir = dir
		if !Holds(dir) {
			return false
		}
		if last = dir; heldConfiguration(own) == hash {
			same = dir
		}
		return true
	})
	return cmp.Or(same, last)
}

// replaced returns what becomes of the results in a folder that a run uses as it is.
func replaced(a config.Artifacts, several bool) Earlier {
	present := func(path string) bool { _, err := os.Stat(path); return err == nil }
	own, other := ownFiles(a), seriesFiles(a)
	if several {
		own, other = other, own
	}
	switch {
	case slices.ContainsFunc(own, present):
		return Earlier{Text: "results in this folder were replaced; without --artifact-dir each run gets a folder of " +
			"its own", Replaced: true}
	case slices.ContainsFunc(other, present):
		return Earlier{Text: "results of another benchmark stay in this folder, beside these; without --artifact-dir " +
			"each run gets a folder of its own"}
	}
	return Earlier{}
}

// ownFiles are the files by which the results of a single run are known, even if it was killed.
func ownFiles(a config.Artifacts) []string {
	return []string{a.Path(config.SummaryJSON), a.Path(config.SummaryCSV), a.Path(config.RunState),
		a.Path(config.RecordsJSONL), a.Path(config.RecordsZstd)}
}

// seriesFiles are those of several runs.
func seriesFiles(a config.Artifacts) []string {
	list := []string{filepath.Join(a.Dir, "profile_runs"), filepath.Join(a.Dir, "search_history.json")}
	for _, dir := range []string{a.Dir, filepath.Join(a.Dir, "aggregate")} {
		list = append(list, config.Artifacts{Dir: dir}.Path(config.SweepJSON))
	}
	return append(list, config.Artifacts{Dir: a.Dir}.Path(config.AggregateJSON))
}

// heldConfiguration is the hash of the configuration whose results are in a folder, of a single run or of the first one
// of a series, even if it was killed; "" where there are none, or where they do not say it.
func heldConfiguration(a config.Artifacts) string {
	for _, below := range []string{".", filepath.Join("profile_runs", "run_0001"),
		filepath.Join("profile_runs", "trial_0001")} {
		own := a
		own.Dir = filepath.Join(a.Dir, below)
		if figures, err := summary.ReadFigures(own.Path(config.SummaryJSON)); err == nil {
			return figures.Kinds["configuration"]
		}
		if state, err := summary.ReadState(own.Path(config.RunState)); err == nil {
			return provenanceHash(state)
		}
	}
	return ""
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
	made artifact.Made
	// unused reports that the run has nothing to leave: it did not begin.
	unused bool
	// userFiles are those that the configuration asks for, filled in.
	userFiles []document.RenderedFile
}

// open makes the directory, keeps other runs out of it and opens the log file.
func (f *folder) open(context.Context) error {
	a := &f.cfg.Artifacts
	var err error
	if f.made, err = artifact.MakeFolder(filepath.Dir(a.Path(config.SummaryJSON))); err != nil {
		return fmt.Errorf("the artifact directory cannot be made: %w; choose another with --artifact-dir", err)
	}
	if f.lock, err = artifact.LockFolder(a.Dir); err != nil {
		return fmt.Errorf("%w with --artifact-dir", err)
	}
	if err := f.options.Log.OpenFile(a.Path(config.LogFile)); err != nil {
		return fmt.Errorf("%w; choose another directory with --artifact-dir", err)
	}
	f.log.Info("Starting the benchmark", "version", f.options.Version, "benchmark_id", f.id)
	return nil
}

// fresh reports whether the folder is there for this run alone, and nobody asked for it by its name.
func (f *folder) fresh() bool { return f.cfg.Artifacts.Derived && f.made.New() }

// close lets other runs into the folder. What was made for a run that did not begin is removed: the error on the screen
// says all that its log does.
func (f *folder) close() {
	f.lock.Release()
	if !f.unused || !f.made.New() {
		return
	}
	f.options.Log.Discard()
	f.made.Undo(runFiles(f.cfg.Artifacts)...)
}

// runFiles are all files that a run may write under names of its own.
func runFiles(a config.Artifacts) (paths []string) {
	for _, kind := range config.ArtifactKinds() {
		paths = append(paths, a.Path(kind))
	}
	return paths
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

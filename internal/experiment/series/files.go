package series

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
)

// trialFolder matches the names of the folders of runs; those of sweeps are trial_NNNN.
var trialFolder = pattern.New(`^(trial|run)_\d{4}$`)

// Home is the folder of an experiment under way.
type Home struct {
	files config.Artifacts
	made  artifact.Made
	lock  *artifact.Lock
}

// open makes the folder and keeps other programs out of it.
func open(a config.Artifacts) (*Home, error) {
	made, err := artifact.MakeFolder(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("the artifact directory cannot be made: %w; choose another with --artifact-dir", err)
	}
	h := &Home{files: a, made: made}
	if h.lock, err = artifact.LockFolder(a.Dir); err != nil {
		return nil, fmt.Errorf("%w with --artifact-dir", err)
	}
	return h, nil
}

// Release lets other programs into the folder.
func (h *Home) Release() { h.lock.Release() }

// Unused reports whether the folder was made for the experiment, and none of its runs has left anything.
func (h *Home) Unused(runs []Run) bool {
	return h.made.New() && !slices.ContainsFunc(runs, func(r Run) bool {
		_, err := os.Stat(r.Artifacts.Dir)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// Discard removes the folder if it was made for the experiment and holds no more than the experiment's own files, those
// named among them. Its log must be closed.
func (h *Home) Discard(names ...string) {
	h.lock.Release()
	own := []string{h.files.Path(config.LogFile)}
	for _, name := range names {
		own = append(own, filepath.Join(h.files.Dir, name))
	}
	h.made.Undo(own...)
}

// Prepare makes the folder of an experiment and removes the files of an earlier one: its aggregates, and the known
// files of its runs, which could be taken for those of this one. The data of the experiment must not be among them. The
// folders in kept, which hold complete runs that this experiment takes over, stay as they are. Other programs are kept
// out of the folder until it is released.
func Prepare(a config.Artifacts, data string, kept ...string) (*Home, error) {
	h, err := open(a)
	if err != nil {
		return nil, err
	}
	if err := clearFolder(a, data, kept); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// PrepareCells makes the folder of a sweep and removes the aggregates of an earlier one. The runs make and clear their
// own folders. Other programs are kept out of the folder until it is released.
func PrepareCells(a config.Artifacts) (*Home, error) {
	h, err := open(a)
	if err != nil {
		return nil, err
	}
	var stale []string
	for _, dir := range []string{a.Dir, filepath.Join(a.Dir, "aggregate")} {
		own := a
		own.Dir = dir
		stale = append(stale, own.Path(config.SweepJSON), own.Path(config.SweepCSV), own.Path(config.SweepHTML))
	}
	if err := artifact.RemoveStale(stale...); err != nil {
		h.Release()
		return nil, fmt.Errorf("files of an earlier sweep cannot be replaced: %w; choose another directory with "+
			"--artifact-dir", err)
	}
	return h, nil
}

// clearFolder removes the files of an earlier experiment, but for those in the folders that are kept.
func clearFolder(a config.Artifacts, data string, kept []string) error {
	stale := []string{a.Path(config.AggregateJSON), a.Path(config.AggregateCSV), a.Path(config.CollatedJSON)}
	folders, _ := os.ReadDir(filepath.Join(a.Dir, RunsDir)) // none when it cannot be read
	var emptied []string
	for _, folder := range folders {
		if !folder.IsDir() || !trialFolder.MatchString(folder.Name()) {
			continue
		}
		own := a
		own.Dir = filepath.Join(a.Dir, RunsDir, folder.Name())
		if slices.Contains(kept, own.Dir) {
			continue
		}
		for _, own.Prefix = range []string{"", a.Prefix} {
			for _, kind := range config.ArtifactKinds() {
				stale = append(stale, own.Path(kind))
			}
			json, csv := own.PhaseNames()
			files, _ := report.StalePhases(own.Dir, json, csv)
			stale = append(stale, files...)
		}
		_, ofPhases := report.StalePhases(own.Dir)
		emptied = append(emptied, ofPhases...)
		emptied = append(emptied, filepath.Dir(own.Path(config.LogFile)), own.Dir)
	}
	if slices.ContainsFunc(stale, func(path string) bool { return sameFile(path, data) }) {
		return fmt.Errorf("--input-file %s is a file of the earlier runs in %s, which are replaced; choose another "+
			"directory with --artifact-dir", data, a.Dir)
	}
	if err := artifact.RemoveStale(stale...); err != nil {
		return fmt.Errorf("files of an earlier run cannot be replaced: %w; choose another directory with "+
			"--artifact-dir", err)
	}
	for _, dir := range append(emptied, filepath.Dir(a.Path(config.AggregateJSON))) {
		_ = os.Remove(dir) // which fails, as it should, when it holds anything else
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Write writes the files of a series: the aggregate and, with convergence, the collated requests. It returns their
// paths, in this order. The warnings name what is not in the files.
func (a *Aggregate) Write(to config.Artifacts, collated bool) (paths, warnings []string, err error) {
	if err := os.MkdirAll(filepath.Dir(to.Path(config.AggregateJSON)), 0o755); err != nil {
		return nil, nil, fmt.Errorf("the folder of the aggregate cannot be made: %w", err)
	}
	var failures []error
	keep := func(path string, err error) {
		if err != nil {
			failures = append(failures, err)
			return
		}
		paths = append(paths, path)
	}
	keep(to.Path(config.AggregateJSON), artifact.WriteObject(to.Path(config.AggregateJSON), a.Document()))
	keep(to.Path(config.AggregateCSV), artifact.WriteFile(to.Path(config.AggregateCSV), a.CSV()))
	if collated {
		document, left, err := Collated(a.AIPerfVersion, a.Runs, a.Cooldown)
		warnings = left
		if err == nil {
			err = artifact.WriteObject(to.Path(config.CollatedJSON), document)
		}
		keep(to.Path(config.CollatedJSON), err)
	}
	return paths, warnings, errors.Join(failures...)
}

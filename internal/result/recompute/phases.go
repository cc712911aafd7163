package recompute

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// phaseFiles returns the files of the phases of a run that had several; nil for other runs. Metrics of GPUs and
// servers, and of a warm-up whose requests are not known, are copied from the run.
func (r *recomputation) phaseFiles(
	ctx context.Context, result *summary.Result, from, to config.Artifacts,
) (*report.Phases, error) {
	ran := r.state.Ran()
	if len(ran) < 2 {
		return nil, nil
	}
	files := &report.Phases{Dir: to.Dir, Manifest: to.Path(config.PhaseManifest)}
	files.JSON, files.CSV = to.PhaseNames()
	kept, err := keptErrors(from.Path(config.PhaseManifest))
	if err != nil {
		return nil, err
	}
	for _, p := range ran {
		f := report.PhaseFiles{Phase: p}
		switch engine := r.warmups[p.Index]; {
		case result.Part(p.Index) != nil:
			f.SetResult(ctx, result.Part(p.Index))
		case engine != nil:
			of := summary.BuildPhase(r.state.Run, p, engine)
			of.Recomputed = result.Recomputed
			f.SetResult(ctx, &of)
		case p.Profiling >= 0:
			of := result.PhaseAlone()
			f.SetResult(ctx, &of)
		default:
			f.Successes, f.Failures, f.Errors = p.Completed-p.Errors, p.Errors, kept[p.Index]
			f.JSON = copyOf(report.PhasePath(from.Dir, p.Name, files.JSON))
			f.CSV = copyOf(report.PhasePath(from.Dir, p.Name, files.CSV))
		}
		if p.Profiling < 0 || !r.selects() {
			f.GPUs = copyOf(report.PhasePath(from.Dir, p.Name, report.PhaseGPUs))
			f.Servers = copyOf(report.PhasePath(from.Dir, p.Name, report.PhaseServers))
		}
		files.Phases = append(files.Phases, f)
	}
	return files, nil
}

// openParts makes an engine for each profiling phase where there are several; phases have no slices.
func (r *recomputation) openParts() error {
	ran := r.state.Ran()
	if !summary.SeveralProfiling(ran) {
		return nil
	}
	c := r.config
	c.SliceNS = 0
	set, err := metrics.NewSet(c)
	if err != nil {
		return err
	}
	r.parts = phaseEngines{}
	for _, p := range ran {
		if p.Profiling >= 0 {
			r.parts[p.Index] = set.NewEngine()
		}
	}
	return nil
}

// addParts adds the results of the profiling phases to that of the run, as the live run does.
func (r *recomputation) addParts(result *summary.Result) {
	if r.parts == nil {
		return
	}
	for _, p := range r.state.Ran() {
		engine := r.parts[p.Index]
		if engine == nil {
			continue
		}
		window := p.Window(r.state.Window)
		r.clip(&window)
		engine.SetRunFacts(window)
		if r.selects() {
			seen := engine.Snapshot()
			p.Counts = summary.Counts{Sent: seen.Requests()}
			p.StartNS = max(p.StartNS, r.startNS)
		}
		of := summary.BuildPhase(r.state.Run, p, engine)
		of.Recomputed = result.Recomputed
		result.Parts = append(result.Parts, summary.Part{Phase: p, Result: of})
	}
}

// copyOf returns a function that copies the file at source; nil without that file.
func copyOf(source string) func(path string) error {
	if info, err := os.Stat(source); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return func(path string) error {
		data, err := bounded.ReadFile(source)
		if err != nil {
			return err
		}
		return artifact.WriteFile(path, data)
	}
}

// keptErrors returns the errors of the phases in a manifest, by index; none without a manifest.
func keptErrors(path string) (map[int][]artifact.Object, error) {
	data, err := bounded.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var manifest summary.PhaseManifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("%s: no list of phases: %w", path, err)
	}
	kept := map[int][]artifact.Object{}
	for i := range manifest.Phases {
		kept[manifest.Phases[i].Index] = manifest.Phases[i].Errors
	}
	return kept, nil
}

// phaseEngines has an engine for each phase, by its index.
type phaseEngines map[int]*metrics.Engine

func (w phaseEngines) add(r *record.Record, set *metrics.Set) {
	if w[r.PhaseIndex] == nil {
		w[r.PhaseIndex] = set.NewEngine()
	}
	w[r.PhaseIndex].Add(r)
}

// removeStalePhases removes the files of phases of an earlier report. In the folder of the run they are the run's.
func removeStalePhases(from, to config.Artifacts) error {
	here, err := os.Stat(from.Dir)
	if err != nil {
		return err
	}
	if there, err := os.Stat(to.Dir); err != nil || os.SameFile(here, there) {
		return err
	}
	json, csv := to.PhaseNames()
	files, folders := report.StalePhases(to.Dir, json, csv)
	if err := artifact.RemoveStale(append(files, to.Path(config.PhaseManifest))...); err != nil {
		return err
	}
	for _, folder := range folders {
		_ = os.Remove(folder) // which fails, as it should, when it holds anything else
	}
	return nil
}

package series

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

// Restored returns the result of a step whose folder holds a complete run of the same configuration; false if it does
// not, and the run has to be made. The error is that of a folder with a run of another configuration.
func Restored(step *Step) (r Run, done bool, err error) {
	r = Run{Info: step.Info, Artifacts: step.Config.Artifacts}
	path := r.Artifacts.Path(config.SummaryJSON)
	f, err := summary.ReadFigures(path)
	if err != nil || f.WasCancelled || f.Incomplete != "" {
		return r, false, nil
	}
	if held := f.Kinds["configuration"]; held != run.ConfigHash(step.Config) {
		return r, false, fmt.Errorf("--resume: %s holds a run of another configuration than %s has now; give the "+
			"options of the first start, or leave --resume out to run everything again", path, step.Info.RunLabel)
	}
	text, err := bounded.ReadFile(path)
	if err != nil {
		return r, false, nil
	}
	if r, err = Recorded(r, text); err != nil {
		return r, false, nil
	}
	return r, lack(r.Metrics) == "", nil
}

// Complete returns the folders of the planned runs that [Restored] takes over. The error is that of a folder with a run of
// another configuration.
func Complete(plan Planned) (dirs []string, err error) {
	steps := plan.Planned()
	for i := range steps {
		_, done, err := Restored(&steps[i])
		if err != nil {
			return nil, err
		}
		if done {
			dirs = append(dirs, steps[i].Config.Artifacts.Dir)
		}
	}
	return dirs, nil
}

// Recorded returns a run with the metrics of its summary file, as the run itself would have reported them.
func Recorded(r Run, file []byte) (Run, error) {
	f, err := summary.ParseFigures(file)
	if err != nil {
		return r, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(file, &members); err != nil {
		return r, err
	}
	for _, b := range f.Blocks {
		if m, err := metrics.RestoreResult(b.Tag, members[b.Tag]); err == nil {
			r.Metrics = append(r.Metrics, m)
		}
	}
	r.Cached = f.Cached
	r.Judged, r.Times = f.Judgement, f.Times
	var info struct {
		SweepID string `json:"sweep_id"`
	}
	if json.Unmarshal(members["run_info"], &info) == nil && info.SweepID != "" {
		r.Info.SweepID = info.SweepID
	}
	r.Metrics = measured(&summary.Result{Metrics: r.Metrics})
	if why := lack(r.Metrics); why != "" {
		r.Err = why
	}
	return r, nil
}

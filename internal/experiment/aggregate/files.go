package aggregate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// aggregateDir holds the aggregates of a sweep that is repeated as a whole.
const aggregateDir = "aggregate"

// Dir returns the folder whose sweep_aggregate holds the files about all cells: that of the experiment, or its folder
// aggregate if the whole sweep is repeated.
func Dir(root, mode string, trials int) string {
	if mode == Repeated && trials > 1 {
		return filepath.Join(root, aggregateDir)
	}
	return root
}

// CellFiles returns where the confidence aggregate of a cell goes: below aggregate of the experiment in the order
// Repeated, with one trial too, else below that of the cell.
func CellFiles(root, mode, cell string) (json, csv string) {
	if mode == Repeated {
		of := config.Artifacts{}
		dir := filepath.Join(root, aggregateDir, cell)
		return filepath.Join(dir, filepath.Base(of.Path(config.AggregateJSON))),
			filepath.Join(dir, filepath.Base(of.Path(config.AggregateCSV)))
	}
	of := config.Artifacts{Dir: filepath.Join(root, cell)}
	return of.Path(config.AggregateJSON), of.Path(config.AggregateCSV)
}

// Write writes the files of a sweep below the folder of its experiment, and returns the paths of those about all cells.
// It writes nothing if no run succeeded.
func (s *Sweep) Write(root string) (paths []string, err error) {
	if s.Empty() {
		return nil, nil
	}
	failures := append([]error{s.WriteCells(root)}, s.unread...)
	to := config.Artifacts{Dir: Dir(root, s.Mode, s.Trials)}
	keep := func(path string, write func(string) error) {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = write(path)
		}
		if err != nil {
			failures = append(failures, err)
			return
		}
		paths = append(paths, path)
	}
	keep(to.Path(config.SweepJSON), func(path string) error { return artifact.WriteObject(path, s.Document()) })
	keep(to.Path(config.SweepCSV), func(path string) error { return artifact.WriteFile(path, s.CSV()) })
	if err := errors.Join(failures...); err != nil {
		return paths, fmt.Errorf("the aggregates of the sweep are not complete: %w", err)
	}
	return paths, nil
}

// WriteDesign writes sampling_design.json below the folder of an experiment, before its first run.
func WriteDesign(root string, d *sweep.Design) (path string, err error) {
	path = config.Artifacts{Dir: root}.Path(config.SamplingDesign)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("the folder of the sampling design cannot be made: %w; choose another with "+
			"--artifact-dir", err)
	}
	return path, artifact.WriteObject(path, d.Object())
}

// WriteCells writes the confidence aggregates of the cells that have new runs. Written after each run, they are there
// when the experiment is killed, and its end comes soon.
func (s *Sweep) WriteCells(root string) error {
	var failures []error
	for _, c := range s.cells {
		if !c.written && c.Succeeded() {
			failures = append(failures, s.writeCell(root, c))
		}
	}
	return errors.Join(failures...)
}

func (s *Sweep) writeCell(root string, c *Cell) error {
	json, csv := CellFiles(root, s.Mode, c.Dir)
	if err := os.MkdirAll(filepath.Dir(json), 0o755); err != nil {
		return fmt.Errorf("the folder of an aggregate cannot be made: %w", err)
	}
	whole := s.Confidence(c)
	err := errors.Join(artifact.WriteObject(json, whole.Document()), artifact.WriteFile(csv, whole.CSV()))
	c.written = err == nil
	return err
}

// Confidence returns the aggregate of one cell with its confidence intervals. One successful run alone is an aggregate
// too, which says so in its metadata.
func (s *Sweep) Confidence(c *Cell) *series.Aggregate {
	whole := &series.Aggregate{AIPerfVersion: s.Version, Runs: c.Runs, Level: s.Level, Cooldown: s.RunCooldown}
	if c.Succeeded() {
		whole.Rows = make([]series.Row, 0, len(c.shape.keys))
		s.figures(c, func(k *key, e *stats.Estimate) {
			whole.Rows = append(whole.Rows, series.Row{Metric: &metrics.Metric{Tag: k.tag, Unit: k.unit}, Stat: k.stat,
				Estimate: *e})
		})
	}
	add := func(key string, value any) {
		whole.Further = append(whole.Further, series.Metadata{Member: artifact.Member{Key: key, Value: value},
			Text: sweep.ValueText(value)})
	}
	if len(c.trials) == 1 {
		add("single_run", true)
	}
	add("variation_label", c.Label)
	values := c.Values
	if values == nil {
		values = artifact.Object{}
	}
	add("variation_values", values)
	add("sweep_mode", s.Mode)
	if c.Config == nil {
		return whole
	}
	if len(c.Config.Models) > 0 {
		add("model", c.Config.Models[0])
	}
	add("dataset", datasetName(&c.Config.Dataset))
	if sub := c.Config.Submission; sub != nil {
		reasons := []any{}
		for _, r := range sub.Reasons {
			reasons = append(reasons, r)
		}
		reasons = append(reasons, withSweep)
		add("scenario", sub.Scenario)
		add("submission_valid", false)
		add("submission_invalid_reasons", reasons)
	}
	return whole
}

// withSweep is why no cell of a sweep complies with a scenario, which is one fixed configuration.
const withSweep = "scenario_with_sweep"

// datasetName returns the name of the file or published data set that a cell sends, or the kind of its data.
func datasetName(d *config.Dataset) string {
	switch {
	case d.Kind == config.FileDataset && d.Loaded != nil:
		return filepath.Base(d.Loaded.Path)
	case d.Kind == config.FileDataset:
		return filepath.Base(d.Path)
	case d.Kind == config.PublicDataset:
		return d.Public.Name
	}
	return string(d.Kind)
}

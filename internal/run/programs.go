package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/wire/plugin"
)

// start starts a program that gets the results.
func (o *outcome) start(p *pluginfile.Program) (*plugin.Host, error) {
	log := o.options.Log.Logger("plugin")
	options := outside(p, &o.cfg.Env.Plugin)
	options.Log = func(line string) { log.Info(p.Name + ": " + o.redactor.Text(line)) }
	return plugin.Start(context.Background(), options)
}

// failed notes that a program failed: it costs its own figure or file, never the run.
func (o *outcome) failed(p *pluginfile.Program, err error) {
	err = errors.New(o.redactor.Text(fmt.Sprintf("%s failed: %v", p, err)))
	o.log.Warn(err.Error())
	if o.cfg.Env.Plugin.Fatal {
		o.PluginProblem = errors.Join(o.PluginProblem, err)
	}
}

// measure adds the figures of the metrics of plug-ins to the result.
func (o *outcome) measure() {
	for i := range o.cfg.Plugins.Metrics {
		p := &o.cfg.Plugins.Metrics[i]
		figure, err := o.figure(p)
		if err != nil {
			o.failed(p, err)
			o.shown.Notes = append(o.shown.Notes, "The metric "+p.Name+" of a plug-in is missing: the program failed")
			continue
		}
		if figure != nil {
			o.outside = append(o.outside, *figure)
		}
	}
	o.Result.AddOutside(o.outside)
}

// figure has a metric look at the records of the run; nil if it has no value.
func (o *outcome) figure(p *pluginfile.Program) (*summary.OutsideMetric, error) {
	h, err := o.start(p)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	found, err := h.Measure(profilingLines(o.cfg.Artifacts.Path(config.RecordsJSONL)))
	if err != nil {
		return nil, err
	}
	m := &summary.OutsideMetric{Tag: p.Name, Header: p.Header, Unit: p.Unit}
	switch {
	case found.Value != nil:
		m.Stats.Avg = *found.Value
	case len(found.Values) == 0:
		o.log.Info("The metric of a plug-in has no value", "metric", p.Name)
		return nil, nil
	default:
		m.Distribution = true
		ranks := append(metrics.PercentileRanks[:len(metrics.PercentileRanks):len(metrics.PercentileRanks)],
			o.cfg.Artifacts.Percentiles...)
		s := stats.Describe(found.Values, ranks)
		m.Stats = metrics.Stats{Avg: s.Avg, Min: s.Min, Max: s.Max, Std: s.Std, Count: s.Count}
		m.Sum = s.Sum
		n := copy(m.Stats.Percentiles[:], s.Percentiles)
		for i, v := range s.Percentiles[n:] {
			m.Further = append(m.Further, metrics.Percentile{Rank: ranks[n+i], Value: v})
		}
	}
	if math.IsInf(m.Sum, 0) || math.IsInf(m.Stats.Avg, 0) || math.IsNaN(m.Stats.Std) || math.IsInf(m.Stats.Std, 0) {
		return nil, errors.New("its values are too large to add up")
	}
	return m, nil
}

// profilingLines are the lines of the requests of the profiling phases in a per-request file.
func profilingLines(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range recordfile.Lines(path) {
			if err != nil {
				yield(nil, err)
				return
			}
			var of struct {
				Metadata struct {
					Phase string `json:"benchmark_phase"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(line.Text, &of); err != nil {
				yield(nil, line.Fault(err))
				return
			}
			if of.Metadata.Phase == string(config.ProfilingPhase) && !yield(line.Text, nil) {
				return
			}
		}
	}
}

// exportOutside hands the finished run to the exporters of plug-ins.
func (o *outcome) exportOutside() {
	if o.options.isShare() {
		return
	}
	if len(o.cfg.Plugins.Exporters) == 0 {
		return
	}
	a := &o.cfg.Artifacts
	params := plugin.ExportParams{SummaryFile: a.Name(config.SummaryJSON)}
	var err error
	if params.Folder, err = filepath.Abs(a.Dir); err == nil {
		params.Summary, err = artifact.AppendJSON(nil, report.SummaryObject(&o.Result, nil))
	}
	if _, missing := bounded.StatCompressed(a.Path(config.RecordsJSONL)); missing == nil {
		params.RecordsFile = a.Name(a.Records())
	}
	for i := range o.cfg.Plugins.Exporters {
		p := &o.cfg.Plugins.Exporters[i]
		message, err := o.exportBy(p, &params, err)
		switch {
		case err != nil:
			o.failed(p, err)
		case message != "":
			o.log.Info(o.redactor.Text(p.Name + ": " + message))
		}
	}
}

func (o *outcome) exportBy(p *pluginfile.Program, params *plugin.ExportParams, err error) (string, error) {
	if err != nil {
		return "", err
	}
	h, err := o.start(p)
	if err != nil {
		return "", err
	}
	defer h.Close()
	return h.Export(params)
}

package plot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/gpu"
)

// Plot is a plot that was made.
type Plot struct {
	Name, Description string
	Kind              Kind
	Chart             *chart.Figure
}

// Skipped is a plot that could not be made.
type Skipped struct {
	Name, Reason string
	// Failed reports that something is wrong with the plot or with a file; else there are no data for it.
	Failed bool
}

// Made is what became of the plots that were asked for.
type Made struct {
	// Several reports that the plots are those of several runs.
	Several bool
	Runs    []string
	Figures []Plot
	Skipped []Skipped
	// Warnings are about the data.
	Warnings []string
}

// skipError is the reason why a plot is not drawn: its data are not there.
type skipError struct{ reason string }

func (e *skipError) Error() string { return e.reason }

// maker makes the plots.
type maker struct {
	config *Config
	runs   []*Run // of several runs
	one    *single
	warn   func(string)
	notes  []string // of the figure that is being made
}

func (m *maker) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// Make computes the plots of the runs: of a single run those over its time, of several those that compare them. A plot
// that cannot be made is skipped with its reason.
func Make(found *Found, config *Config) (*Made, error) {
	made := &Made{Several: found.Several(), Runs: found.Paths()}
	m := &maker{config: config, warn: func(text string) { made.Warnings = append(made.Warnings, text) }}
	runs, err := found.Load(config.Classification, m.warn)
	if err != nil {
		return nil, err
	}
	presets := config.Chosen(made.Several)
	m.runs = runs
	if builtin := Builtin(); made.Several && slices.Equal(config.MultiDefaults, builtin.MultiDefaults) {
		for _, more := range furtherPlots {
			if slices.ContainsFunc(runs, func(r *Run) bool { return r.metrics[more.metric] != nil }) {
				presets = append(presets, named(builtin.Multi, more.plots)...)
			}
		}
	}
	if !made.Several {
		if m.one, err = openSingle(runs[0], presets, config, m.warn); err != nil {
			return nil, err
		}
	}
	for i := range presets {
		p := &presets[i]
		m.notes = nil
		var f *chart.Figure
		if made.Several {
			f, err = m.severalFigure(p)
		} else {
			f, err = m.singleFigure(p)
		}
		if err != nil {
			var skip *skipError
			made.Skipped = append(made.Skipped, Skipped{p.Name, err.Error(), !errors.As(err, &skip)})
			continue
		}
		f.Notes = append(append(f.Notes, m.notes...), m.judgement()...)
		made.Figures = append(made.Figures, Plot{p.Name, p.Description, p.Kind, f})
	}
	return made, nil
}

// judgement says what is to be known of the runs before their figures are read, as their judgement has it: of one run its
// first finding, of several the worst state. That a server was the limit of some of several runs is what curves show.
func (m *maker) judgement() []string {
	if len(m.runs) == 1 {
		r := m.runs[0]
		if !r.state.Wrong() || r.finding.Text == "" {
			return nil
		}
		return []string{r.finding.Title + ": " + r.finding.Text}
	}
	var states []judge.State
	for _, r := range m.runs {
		states = append(states, r.state)
	}
	worst := judge.Worst(states...)
	if !worst.Wrong() || worst.Code == judge.StateLimited {
		return nil
	}
	return []string{"State of the runs: " + judge.Words(worst.Title) + "."}
}

// furtherPlots are drawn, too, where a run has the metric and no configuration chooses other plots: where the number of
// GPUs is known, where there are jobs, where answers were graded.
var furtherPlots = []struct {
	metric string
	plots  []string
}{
	{"jobs_per_hour_per_gpu", []string{"pareto_curve_jobs_per_gpu_vs_jobs_per_user"}},
	{"job_latency", []string{"jobs_per_hour_vs_job_latency"}},
	{metrics.AccuracyOverall, []string{"accuracy_vs_concurrency", "accuracy_vs_throughput"}},
}

// frame returns the figure without its layers.
func (m *maker) frame(p *Preset, x, y string) *chart.Figure {
	f := &chart.Figure{Title: p.Title, Subtitle: m.subtitle(), X: chart.Axis{Label: x}, Y: chart.Axis{Label: y}}
	p.ends(f)
	return f
}

// subtitle says what was measured, as far as all runs have it in common.
func (m *maker) subtitle() string {
	var parts []string
	for _, column := range [...]string{"model", "endpoint_type"} {
		value := m.runs[0].columns[column]
		for _, r := range m.runs {
			if r.columns[column] != value {
				value = ""
			}
		}
		if value != "" && value != "Unknown" {
			parts = append(parts, value)
		}
	}
	if len(m.runs) > 1 {
		parts = append(parts, fmt.Sprintf("%d runs", len(m.runs)))
	} else if m.runs[0].load != "" {
		parts = append(parts, m.runs[0].load)
	}
	return strings.Join(parts, " · ")
}

// unit returns that of an axis, in the files of the runs or in the tables.
func (m *maker) unit(a Axis) string {
	for _, r := range m.runs {
		if unit := r.units[a.Metric]; unit != "" {
			return unit
		}
	}
	if d, ok := metrics.Lookup(a.Metric); ok {
		return string(d.Display)
	}
	if f, ok := gpuField(a.Metric); ok {
		return f.Unit
	}
	return ""
}

func gpuField(name string) (gpu.Field, bool) { return gpu.FieldNamed(name) }

// lowerTitle is the title of a metric within a sentence.
func lowerTitle(tag string) string { return strings.ToLower(title(tag)) }

// axisLabel returns the label of an axis of runs: the metric, its statistic where it has several, its unit.
func (m *maker) axisLabel(a Axis, given string) string {
	if given != "" {
		return given
	}
	label := title(a.Metric)
	for _, r := range m.runs {
		if stats := r.metrics[a.Metric]; stats != nil && !isScalar(stats) {
			label += ", " + statWords(cmp.Or(a.Stat, standardStat))
			break
		}
	}
	return withUnit(label, m.unit(a))
}

// statWords is the name of a statistic within a label.
func statWords(stat string) string {
	switch stat {
	case "p50":
		return "median"
	case "std":
		return "std dev"
	}
	return strings.ToLower(StatLabel(stat))
}

func withUnit(label, unit string) string {
	if unit == "" {
		return label
	}
	return label + " (" + unit + ")"
}

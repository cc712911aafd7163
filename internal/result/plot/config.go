package plot

import (
	"slices"
	"strings"

	"aiperf/internal/config/document"
	"aiperf/internal/result/chart"
)

// Kind is how a plot shows its points.
type Kind string

// The kinds.
const (
	Area                   Kind = "area"
	DualAxis               Kind = "dual_axis"
	Histogram              Kind = "histogram"
	Uncertainty            Kind = "latency_throughput_uncertainty"
	Pareto                 Kind = "pareto"
	PercentileBands        Kind = "percentile_bands"
	RequestTimeline        Kind = "request_timeline"
	Scatter                Kind = "scatter"
	ScatterLine            Kind = "scatter_line"
	ScatterWithPercentiles Kind = "scatter_with_percentiles"
	Timeslice              Kind = "timeslice"
)

// kinds lists the kinds with what they show.
var kinds = []struct {
	kind  Kind
	about string
	// of says which plots may be of the kind.
	single, multi bool
}{
	{Area, "A filled curve over time.", true, false},
	{DualAxis, "Two curves over time, with an axis of their own each.", true, false},
	{Histogram, "How often values occur.", true, true},
	{Uncertainty, "Means over trials with the region of their confidence.", false, true},
	{Pareto, "Runs, and the line of those that no other run beats.", false, true},
	{PercentileBands, "p50, p95 and p99 over time.", true, false},
	{RequestTimeline, "Requests over time: until the first token, and from there on.", true, false},
	{Scatter, "Points.", true, true},
	{ScatterLine, "Points joined in the order of x.", true, true},
	{ScatterWithPercentiles, "Points with rolling percentiles.", true, false},
	{Timeslice, "Averages of time slices with their spread.", true, false},
}

// Kinds returns the names of all kinds and what each shows.
func Kinds() (names, about []string) {
	for _, k := range kinds {
		names, about = append(names, string(k.kind)), append(about, k.about)
	}
	return names, about
}

// The sources of a metric.
const (
	FromRequests           = "requests"
	FromSlices             = "timeslices"
	FromGPUs               = "gpu_telemetry"
	FromAggregated         = "aggregated"
	FromServers            = "server_metrics"
	FromServersAggregated  = "server_metrics_aggregated"
	standardStat           = "avg"
	standardLevel          = 0.95
	standardLabel          = "concurrency"
	standardGroup          = "run_name"
	classifiedGroup        = "experiment_group"
	standardPattern        = `^(baseline|treatment_\d+)`
	standardDownsamplingNS = 5_000_000_000
)

var sources = []string{FromRequests, FromSlices, FromGPUs, FromAggregated, FromServers, FromServersAggregated}

// statNames are the statistics that a metric may be asked for.
var statNames = func() []string {
	names := []string{"avg", "min", "max", "std"}
	for _, p := range [...]string{"1", "5", "10", "25", "50", "75", "90", "95", "99"} {
		names = append(names, "p"+p)
	}
	return names
}()

// statLabels are the names of statistics on axes.
var statLabels = map[string]string{"avg": "Average", "min": "Minimum", "max": "Maximum", "std": "Std Dev",
	"p50": "p50 (Median)"}

// StatLabel returns the name of a statistic on an axis.
func StatLabel(stat string) string {
	if label, ok := statLabels[stat]; ok {
		return label
	}
	return stat
}

// Axis is what an axis of a plot shows.
type Axis struct {
	// Metric is a metric's tag or a column's name; empty for none. Stat is empty where the plot does not say.
	Metric, Stat, Source string
	pos                  document.Pos
}

// Style is how a curve is drawn.
type Style struct {
	// Mode is lines, markers or lines+markers; Shape is linear or hv (steps); Fill is none or tozeroy.
	Mode, Shape, Fill string
	// Width, Size, Opacity and FillOpacity are 0 where the plot does not say.
	Width, Size, Opacity, FillOpacity float64
}

// Preset is a plot of the configuration.
type Preset struct {
	Name               string
	Kind               Kind
	X, Y, Y2           Axis
	Label, Group       string
	Title, Description string
	XLabel, YLabel     string
	Autoscale          string
	// Level is that of confidence regions.
	Level float64
	// UseSliceDuration places slices on an axis of seconds rather than of their numbers.
	UseSliceDuration   bool
	Primary, Secondary Style
	// Supplement is a column drawn as a third curve.
	Supplement string
}

// fit reports whether an axis of the plot is fitted to its values.
func (p *Preset) fit(axis string) bool { return p.Autoscale == axis || p.Autoscale == "both" }

// ends sets the ends of both axes: they begin at 0 unless they are fitted to their values.
func (p *Preset) ends(f *chart.Figure) {
	f.X.Zero, f.Y.Zero = !p.fit("x"), !p.fit("y")
}

// Downsampling is how samples of server metrics are joined.
type Downsampling struct {
	Enabled  bool
	WindowNS int64
	// Method is mean, max, min or median.
	Method string
}

// Classification sorts runs into baselines and treatments.
type Classification struct {
	Baselines, Treatments []string
	Default               string
	// Pattern extracts the group from the name of a run's folder or of the one above.
	Pattern string
	// Names are what groups are called in legends.
	Names map[string]string
}

// Config is a plot configuration.
type Config struct {
	// Path is the file; empty for the built-in configuration.
	Path                          string
	MultiDefaults, SingleDefaults []string
	Multi, Single                 []Preset
	Downsampling                  Downsampling
	// Classification is nil unless runs are to be classified.
	Classification *Classification
}

// find returns the plot with a name.
func find(presets []Preset, name string) *Preset {
	if i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return &presets[i]
	}
	return nil
}

// Chosen returns the plots to draw, of several runs or of one.
func (c *Config) Chosen(several bool) []Preset {
	names, presets := c.SingleDefaults, c.Single
	if several {
		names, presets = c.MultiDefaults, c.Multi
	}
	return named(presets, names)
}

// named returns plots by their names, in their order.
func named(presets []Preset, names []string) (out []Preset) {
	for _, name := range names {
		if p := find(presets, name); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// serverLike reports whether a name may be that of a server metric: they are not known in advance.
func serverLike(name string) bool {
	name, _, _ = strings.Cut(name, "{")
	name, _, _ = strings.Cut(name, "[")
	if strings.Contains(name, ":") {
		return true
	}
	for _, end := range [...]string{"_total", "_count", "_sum", "_bucket", "_seconds", "_milliseconds", "_microseconds",
		"_us", "_ms", "_ns", "_bytes"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

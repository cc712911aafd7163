package metrics

import (
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// Metric is one metric of a run in display units: what every report prints.
type Metric struct {
	Tag    string
	Header string
	Short  string
	Unit   string // display unit
	Group  Group
	// Order is the display order; 0 = none, which sorts last.
	Order int
	// ShortHidesUnit reports that Short already implies the unit.
	ShortHidesUnit bool
	Flags          Flags
	// Distribution is true for record, timeline and adjusted metrics, and for network_rtt; other aggregate and derived
	// ones carry only Avg, a share of counts also their Sum and Count.
	Distribution bool
	Stats        Stats
	// Method says how the statistics of a distribution were made; "" for scalars.
	Method Method
	// Further are the percentiles that were requested in addition to [PercentileRanks], ascending.
	Further []Percentile
	// Bounds are the confidence bounds of all percentiles, those of PercentileRanks first; nil where
	// there are none: scalars, timelines, time slices.
	Bounds []Bound
	// EpochNS is the exact value of a metric that is a wall instant, else 0; Avg is its nearest float.
	EpochNS int64
}

// spread makes of a scalar a distribution of that one value.
func (r *Metric) spread(ranks []float64) {
	v := r.Stats.Avg
	r.Distribution, r.Method = true, MethodExact
	r.Stats = Stats{Avg: v, Min: v, Max: v, Sum: v}
	for i := range r.Stats.Percentiles {
		r.Stats.Percentiles[i] = v
	}
	for _, rank := range ranks[min(len(ranks), len(PercentileRanks)):] {
		r.Further = append(r.Further, Percentile{rank, v})
	}
}

// IsShown reports whether the table of the metric's group shows it.
func (r *Metric) IsShown() bool { return r.Flags&(ErrorOnly|Internal|Experimental) == 0 }

// ShortLabel returns the short header with the unit, unless the header implies it.
func (r *Metric) ShortLabel() string {
	label := r.Short
	if label == "" {
		label = r.Header
	}
	if r.ShortHidesUnit || r.Unit == "" {
		return label
	}
	return label + " (" + r.Unit + ")"
}

// Average returns the average of a metric, which for a scalar metric is its value; false without a value.
func Average(results []Metric, tag string) (float64, bool) {
	if m := Find(results, tag); m != nil {
		return m.Stats.Avg, artifact.Finite(m.Stats.Avg)
	}
	return 0, false
}

// Find returns the result of a tag, nil where there is none.
func Find(results []Metric, tag string) *Metric {
	for i := range results {
		if results[i].Tag == tag {
			return &results[i]
		}
	}
	return nil
}

// Place returns what tables sort results of an Order by.
func Place(order int) int {
	if order == 0 {
		return math.MaxInt
	}
	return order
}

// Method is how the statistics of a distribution were made.
type Method string

// Statistics are exact up to the engine's limits; beyond them percentiles come from a histogram with
// a relative error of at most stats.RelativeError, those of time slices from a smaller one, a sketch,
// with stats.SketchRelativeError. All other figures stay exact.
const (
	MethodExact     Method = "exact"
	MethodHistogram Method = "histogram"
	MethodSketch    Method = "sketch"
	// MethodTimeBins marks a timeline made of averages over short stretches of time, whose lengths
	// depend on that of the run.
	MethodTimeBins Method = "time_bins"
)

// RelativeError bounds the relative error of the method's percentiles; 0 where they are exact or no bound is known.
func (m Method) RelativeError() float64 {
	switch m {
	case MethodHistogram:
		return stats.RelativeError
	case MethodSketch:
		return stats.SketchRelativeError
	}
	return 0
}

// Stats are the statistics of a population in one unit. Of scalars only Avg is set, of shares Sum and Count too. A
// statistic that a distribution does not have is NaN, one beyond all numbers +∞; neither is ever printed. A timeline
// has no sum, no count (0) and of the percentiles only p50, p90, p95 and p99.
type Stats struct {
	Avg         float64     `json:"avg"`
	Min         float64     `json:"min"`
	Max         float64     `json:"max"`
	Sum         float64     `json:"-"`
	Std         float64     `json:"std"` // of requests that of the population, of the samples of gauges with n−1
	Percentiles Percentiles `json:"percentiles"`
	Count       int64       `json:"count"`
}

// PercentileRanks are the percentiles of every distribution, PercentileKeys their names in files.
var (
	PercentileRanks = [...]float64{1, 5, 10, 25, 50, 75, 90, 95, 99}
	PercentileKeys  = [len(PercentileRanks)]string{"p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}
)

// Percentiles are those of PercentileRanks.
type Percentiles [len(PercentileRanks)]float64

// At returns the percentile of a rank, NaN if it is none of PercentileRanks.
func (p *Percentiles) At(rank float64) float64 {
	if i := slices.Index(PercentileRanks[:], rank); i >= 0 {
		return p[i]
	}
	return math.NaN()
}

// Append appends the percentiles to figures, with something behind their keys.
func (p *Percentiles) Append(list []Statistic, suffix string) []Statistic {
	for i, key := range PercentileKeys {
		list = append(list, Statistic{Key: key + suffix, Value: p[i]})
	}
	return list
}

// Percentile returns the percentile of a rank, one of PercentileRanks or a further one; NaN if there is none.
func (r *Metric) Percentile(rank float64) float64 {
	for _, p := range r.Further {
		if p.Rank == rank {
			return p.Value
		}
	}
	return r.Stats.Percentiles.At(rank)
}

// Statistic is one statistic under the key that files give it. Integer values print as such.
type Statistic struct {
	Key     string
	Value   float64
	Integer bool
}

// Figures returns the statistics of a result in the order of the summary file. Those that it does not have are left
// out, or no finite number; a scalar without a value has none.
func (r *Metric) Figures() []Statistic {
	s := &r.Stats
	list := []Statistic{{Key: "avg", Value: s.Avg}}
	if !r.Distribution {
		if !artifact.Finite(s.Avg) {
			return nil
		}
		if s.Count > 0 {
			list = append(list, Statistic{"count", float64(s.Count), true}, Statistic{Key: "sum", Value: s.Sum})
		}
		return list
	}
	list = r.AppendPercentiles(list)
	list = append(list, Statistic{Key: "min", Value: s.Min}, Statistic{Key: "max", Value: s.Max},
		Statistic{Key: "std", Value: s.Std})
	if s.Count > 0 {
		list = append(list, Statistic{"count", float64(s.Count), true})
	}
	return append(list, Statistic{Key: "sum", Value: s.Sum})
}

// Stat returns the value of a figure by its key; false where there is none or it is not finite.
func (r *Metric) Stat(key string) (float64, bool) {
	for _, f := range r.Figures() {
		if f.Key == key {
			return f.Value, artifact.Finite(f.Value)
		}
	}
	return 0, false
}

// AppendPercentiles appends the percentiles of a distribution, those of PercentileRanks first.
func (r *Metric) AppendPercentiles(list []Statistic) []Statistic {
	list = r.Stats.Percentiles.Append(list, "")
	for _, p := range r.Further {
		list = append(list, Statistic{Key: RankKey(p.Rank), Value: p.Value})
	}
	return list
}

// Percentile is the value of one rank.
type Percentile struct{ Rank, Value float64 }

// Bound is between which values the true percentile of a rank lies with BoundsConfidence, if requests
// are independent of one another: order statistics, which suppose nothing of the distribution. A side
// for which there are too few samples is NaN, or infinite.
type Bound struct{ Rank, Low, High float64 }

// BoundsConfidence is the confidence of every Bound.
const BoundsConfidence = 0.95

// RankKey returns the name of a percentile in files: p50, p99.9.
func RankKey(rank float64) string { return "p" + strconv.FormatFloat(rank, 'f', -1, 64) }

// Group is the console table a metric belongs to.
type Group string

// The console groups, in the order in which their tables are printed.
const (
	GroupNone       Group = "none"
	GroupEffective  Group = "effective"
	GroupActive     Group = "active"
	GroupUsage      Group = "usage"
	GroupCache      Group = "cache"
	GroupPrediction Group = "prediction"
	GroupAudio      Group = "audio"
	GroupReasoning  Group = "reasoning"
	GroupDefault    Group = "default"
	// GroupSpecDecode is printed as its own table wherever there is anything in it.
	GroupSpecDecode Group = "spec_decode"
	// GroupJobs is printed as its own table wherever there is anything in it.
	GroupJobs Group = "jobs"
	// GroupHTTPTrace is printed as its own table when asked for.
	GroupHTTPTrace Group = "http_trace"
	// The groups of power efficiency: of all GPUs, and of each vendor's.
	GroupGPU       Group = "gpu_power_efficiency"
	GroupGPUNVIDIA Group = "gpu_power_efficiency_nvidia"
	GroupGPUAMD    Group = "gpu_power_efficiency_amd"
)

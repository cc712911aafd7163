package metrics

import (
	"strconv"

	"aiperf/internal/measure/stats"
)

// Result is one metric of a run in display units: what every report prints.
type Result struct {
	Tag    string
	Header string
	Short  string
	Unit   string // display unit
	Group  Group
	// Order is the display order; 0 = none, which sorts last.
	Order int
	// ShortHidesUnit tells that Short already implies the unit.
	ShortHidesUnit bool
	Flags          Flags
	// Distribution is true for record, timeline and adjusted metrics; aggregate and derived ones carry
	// only Avg, a share of counts also their Sum and Count.
	Distribution bool
	Stats        Stats
	// Method says how the statistics of a distribution were made; "" for scalars.
	Method Method
	// Further are the percentiles that were asked for beside PercentileRanks, ascending.
	Further []Percentile
	// Bounds are the confidence bounds of all percentiles, those of PercentileRanks first; nil where
	// there are none: scalars, timelines, time slices.
	Bounds []Bound
	// EpochNS is the exact value of a metric that is a wall instant, else 0; Avg is its nearest float.
	EpochNS int64
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

// Stats are the statistics of a population in one unit. Of scalars only Avg is set, of shares Sum and Count too. A statistic that
// a distribution does not have is NaN, one beyond all numbers +∞; neither is ever printed. A timeline
// has no sum, no count (0) and of the percentiles only p50, p90, p95 and p99.
type Stats struct {
	Avg, Min, Max, Sum, Std float64
	// Percentiles follow the order of PercentileRanks.
	Percentiles [9]float64
	Count       int64
}

// PercentileRanks are the percentiles of every distribution.
var PercentileRanks = [9]float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

// Percentile is the value of one rank.
type Percentile struct{ Rank, Value float64 }

// Bound is between which values the true percentile of a rank lies with BoundsConfidence, if requests
// are independent of one another: order statistics, which suppose nothing of the distribution. A side
// for which there are too few samples is NaN, or infinite.
type Bound struct{ Rank, Low, High float64 }

// BoundsConfidence is the confidence of every Bound.
const BoundsConfidence = 0.95

// RankKey is the name of a percentile in files: p50, p99.9.
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
	// GroupHTTPTrace is printed as its own table when asked for.
	GroupHTTPTrace Group = "http_trace"
	// The groups of power efficiency: of all GPUs, and of each vendor's.
	GroupGPU       Group = "gpu_power_efficiency"
	GroupGPUNVIDIA Group = "gpu_power_efficiency_nvidia"
	GroupGPUAMD    Group = "gpu_power_efficiency_amd"
)

package servermetrics

import (
	"iter"

	"aiperf/internal/watch/prom"
)

// Results are the statistics of a phase of a run.
type Results struct {
	// Families with at least one series, sorted by name.
	Families []FamilyStats
	// Summaries stand apart: only the legacy schema has them.
	Summaries []FamilyStats
	// Warnings are what the user should know about the figures, for the log.
	Warnings []string
}

// FamilyStats are the statistics of all series of one name. Type and description are those of the first
// endpoint that has the family, in order of configuration.
type FamilyStats struct {
	prom.Family
	Series []SeriesStats // sorted by endpoint, then by label text
}

// SeriesStats are the statistics of a series: exactly one of Gauge, Counter and Histogram is set, none for a summary.
type SeriesStats struct {
	Series      *Series
	EndpointURL string
	Labels      []prom.Label
	Gauge       *GaugeStats // of unknown type too
	Counter     *CounterStats
	Histogram   *HistogramStats
	// Buckets are the new observations at or below each of Series.Bounds; nil when unknown.
	Buckets []int64
	// SliceCount is the number of Timeslices.
	SliceCount int

	window  Window
	sliceNS int64
}

// Ranks are the percentiles that are computed; every Percentiles is in their order.
var Ranks = [...]float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

// Percentiles are the values at Ranks.
type Percentiles [len(Ranks)]float64

// GaugeStats describe the samples in the window. Std divides by n−1.
type GaugeStats struct {
	Avg, Min, Max, Std float64
	Percentiles        Percentiles
}

// CounterStats describe the growth since the reference.
type CounterStats struct {
	Total, Rate float64
	// Slices describe the rates of complete slices; nil when there is none.
	Slices *RateStats
}

// RateStats describe a set of rates. Std divides by n−1.
type RateStats struct{ Avg, Min, Max, Std float64 }

// HistogramStats describe the observations since the reference. All but Count is set only if Count is
// positive.
type HistogramStats struct {
	Count    int64
	Sum, Avg float64
	// Rates are per second; nil when no time passed.
	Rates *HistogramRates
	// Estimates and Bounds are nil when there is nothing to estimate from; Bounds also unless asked for.
	Estimates *Percentiles
	Bounds    *[len(Ranks)]Bound
}

// HistogramRates are growths per second.
type HistogramRates struct{ Count, Sum float64 }

// Slice is a stretch of the window and what happened in it. Which values are set depends on the type of the
// series: Avg, Min, Max of a gauge; Total, Rate of a counter; Count, Sum, Avg, Buckets of a histogram.
type Slice struct {
	StartNS, EndNS int64
	// Partial is set for the last slice when the window ends before it does.
	Partial       bool
	Avg, Min, Max float64
	Total, Rate   float64
	Count         int64
	Sum           float64
	// Buckets are valid until the next slice; nil when unknown.
	Buckets []int64
}

// Field is one statistic under its key. Integer values print as such.
type Field struct {
	Key     string
	Value   float64
	Integer bool
}

// Fields are the statistics that are present, in the order of the published JSON.
func (s *SeriesStats) Fields() []Field {
	switch {
	case s.Gauge != nil:
		g := s.Gauge
		fields := []Field{{Key: "avg", Value: g.Avg}, {Key: "min", Value: g.Min}, {Key: "max", Value: g.Max}, {Key: "std", Value: g.Std}}
		for i, v := range g.Percentiles {
			fields = append(fields, Field{Key: percentileKeys[i], Value: v})
		}
		return fields
	case s.Counter != nil:
		c := s.Counter
		fields := []Field{{Key: "total", Value: c.Total}, {Key: "rate", Value: c.Rate}}
		if r := c.Slices; r != nil {
			fields = append(fields, Field{Key: "rate_avg", Value: r.Avg}, Field{Key: "rate_min", Value: r.Min},
				Field{Key: "rate_max", Value: r.Max}, Field{Key: "rate_std", Value: r.Std})
		}
		return fields
	}
	return s.Histogram.fields()
}

func (h *HistogramStats) fields() []Field {
	fields := []Field{{Key: "count", Value: float64(h.Count), Integer: true}}
	if h.Count == 0 {
		return fields
	}
	fields = append(fields, Field{Key: "sum", Value: h.Sum}, Field{Key: "avg", Value: h.Avg})
	if h.Rates != nil {
		fields = append(fields, Field{Key: "count_rate", Value: h.Rates.Count}, Field{Key: "sum_rate", Value: h.Rates.Sum})
	}
	if h.Estimates != nil {
		for i, v := range h.Estimates {
			fields = append(fields, Field{Key: percentileKeys[i] + "_estimate", Value: v})
		}
	}
	if h.Bounds != nil {
		for i, b := range h.Bounds {
			if b.HasLower() {
				fields = append(fields, Field{Key: percentileKeys[i] + "_lower", Value: b.Lower})
			}
			if b.HasUpper() {
				fields = append(fields, Field{Key: percentileKeys[i] + "_upper", Value: b.Upper})
			}
		}
	}
	return fields
}

// percentileKeys name Ranks.
var percentileKeys = [...]string{"p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}

// Get returns the statistic with the given key, if present.
func (s *SeriesStats) Get(key string) (Field, bool) {
	for _, f := range s.Fields() {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Fields are the values of a slice of a series of type t, in the order of the published JSON, without times
// and buckets.
func (s *Slice) Fields(t prom.Type) []Field {
	switch t {
	case prom.Counter:
		return []Field{{Key: "total", Value: s.Total}, {Key: "rate", Value: s.Rate}}
	case prom.Histogram:
		return []Field{{Key: "count", Value: float64(s.Count), Integer: true}, {Key: "sum", Value: s.Sum}, {Key: "avg", Value: s.Avg}}
	}
	return []Field{{Key: "avg", Value: s.Avg}, {Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}}
}

// Timeslices are the slices in order of time, SliceCount of them. They are computed while they are read and
// not kept: there may be thousands for each of thousands of series.
func (s *SeriesStats) Timeslices() iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		if s.SliceCount == 0 {
			return
		}
		var samples Samples
		s.Series.Read(&samples, s.window)
		slicesOf(s.Series.Family.Type, &samples, s.window, s.sliceNS)(yield)
	}
}

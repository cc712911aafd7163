package servermetrics

import (
	"iter"

	"aiperf/internal/measure/metrics"
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
	Gauge       *metrics.Stats // of unknown type too
	Counter     *CounterStats
	Histogram   *HistogramStats
	// Buckets are the new observations at or below each of Series.Bounds; nil when unknown.
	Buckets []int64
	// SliceCount is the number of Timeslices.
	SliceCount int

	window  Window
	sliceNS int64
	mixed   bool // several servers answered at the endpoint in turn
	again   bool // the endpoint's page is that of an earlier one
}

// adds reports whether the series is part of sums over servers.
func (s *SeriesStats) adds() bool { return !s.mixed && !s.again }

// CounterStats describe the growth since the reference.
type CounterStats struct {
	Total, Rate float64
	// Slices describe the rates of complete slices; nil when there is none.
	Slices *metrics.Stats
}

// HistogramStats describe the observations since the reference. All but Count is set only if Count is
// positive.
type HistogramStats struct {
	Count    int64
	Sum, Avg float64
	// Rates are per second; nil when no time passed.
	Rates *HistogramRates
	// Estimates and Bounds are nil when there is nothing to estimate from; Bounds also unless asked for.
	Estimates *metrics.Percentiles
	Bounds    *PercentileBounds
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

// figure returns a statistic that is not a whole number.
func figure(key string, v float64) metrics.Statistic { return metrics.Statistic{Key: key, Value: v} }

// Fields returns the statistics that are present, in the order of the published JSON.
func (s *SeriesStats) Fields() []metrics.Statistic {
	switch {
	case s.Gauge != nil:
		g := s.Gauge
		fields := []metrics.Statistic{
			figure("avg", g.Avg), figure("min", g.Min), figure("max", g.Max), figure("std", g.Std),
		}
		return g.Percentiles.Append(fields, "")
	case s.Counter != nil:
		c := s.Counter
		fields := []metrics.Statistic{figure("total", c.Total), figure("rate", c.Rate)}
		if r := c.Slices; r != nil {
			fields = append(fields, figure("rate_avg", r.Avg), figure("rate_min", r.Min),
				figure("rate_max", r.Max), figure("rate_std", r.Std))
		}
		return fields
	}
	return s.Histogram.fields()
}

func (h *HistogramStats) fields() []metrics.Statistic {
	fields := []metrics.Statistic{{Key: "count", Value: float64(h.Count), Integer: true}}
	if h.Count == 0 {
		return fields
	}
	fields = append(fields, figure("sum", h.Sum), figure("avg", h.Avg))
	if h.Rates != nil {
		fields = append(fields, figure("count_rate", h.Rates.Count), figure("sum_rate", h.Rates.Sum))
	}
	if h.Estimates != nil {
		fields = h.Estimates.Append(fields, "_estimate")
	}
	if h.Bounds != nil {
		for i, b := range h.Bounds {
			if b.hasLower() {
				fields = append(fields, figure(metrics.PercentileKeys[i]+"_lower", b.Lower))
			}
			if b.hasUpper() {
				fields = append(fields, figure(metrics.PercentileKeys[i]+"_upper", b.Upper))
			}
		}
	}
	return fields
}

// Get returns the statistic with the given key, if present.
func (s *SeriesStats) Get(key string) (metrics.Statistic, bool) {
	for _, f := range s.Fields() {
		if f.Key == key {
			return f, true
		}
	}
	return metrics.Statistic{}, false
}

// Fields returns the values of a slice of a series of type t, in the order of the published JSON, without times
// and buckets.
func (s *Slice) Fields(t prom.Type) []metrics.Statistic {
	switch t {
	case prom.Counter:
		return []metrics.Statistic{figure("total", s.Total), figure("rate", s.Rate)}
	case prom.Histogram:
		count := metrics.Statistic{Key: "count", Value: float64(s.Count), Integer: true}
		return []metrics.Statistic{count, figure("sum", s.Sum), figure("avg", s.Avg)}
	}
	return []metrics.Statistic{figure("avg", s.Avg), figure("min", s.Min), figure("max", s.Max)}
}

// Timeslices returns the slices in order of time, SliceCount of them. They are computed while they are read and
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

package servermetrics

import (
	"math"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// legacyRanks are the percentiles of the legacy schema.
var legacyRanks = []float64{50, 90, 95, 99}

// legacyInfo describes an endpoint in the legacy schema, without its URL, which comes first there.
type legacyInfo struct {
	Duration  float64 `json:"duration_seconds"`
	Scrapes   int64   `json:"scrape_count"`
	LatencyMS float64 `json:"avg_scrape_latency_ms"`
	PeriodMS  float64 `json:"avg_scrape_period_ms"`
	NoTotals  string  `json:"no_totals,omitempty"`
}

// LegacyInfo describes an endpoint in the legacy schema, without its URL, which comes first there.
func (e *EndpointStore) LegacyInfo() artifact.Object {
	i := e.Info()
	info := legacyInfo{Duration: seconds(i.LastFetchNS - i.FirstFetchNS), Scrapes: i.TotalFetches,
		LatencyMS: i.AvgFetchLatencyMS, NoTotals: i.NoTotals}
	if i.TotalFetches > 1 {
		info.PeriodMS = info.Duration * 1000 / float64(i.TotalFetches-1)
	}
	return artifact.ObjectOf(info)
}

// LegacyStats are the statistics of a series in the legacy schema; those that its kind does not have are nil.
type LegacyStats struct {
	Count *int64   `json:"observation_count,omitempty"`
	Avg   *float64 `json:"avg,omitempty"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	Std   *float64 `json:"std,omitempty"`
	P50   *float64 `json:"p50,omitempty"`
	P90   *float64 `json:"p90,omitempty"`
	P95   *float64 `json:"p95,omitempty"`
	P99   *float64 `json:"p99,omitempty"`
	// Estimated tells percentiles of buckets from those of samples.
	Estimated *bool    `json:"estimated_percentiles,omitempty"`
	Delta     *float64 `json:"delta,omitempty"`
	// Rate is that of the sum, Observations that of the count.
	Rate         *float64              `json:"rate_per_second,omitempty"`
	Observations *float64              `json:"observations_per_second,omitempty"`
	RateAvg      *float64              `json:"rate_avg,omitempty"`
	RateMin      *float64              `json:"rate_min,omitempty"`
	RateMax      *float64              `json:"rate_max,omitempty"`
	RateStd      *float64              `json:"rate_std,omitempty"`
	Buckets      artifact.Map[int64]   `json:"buckets,omitzero"`
	Quantiles    artifact.Map[float64] `json:"quantiles,omitempty"`
}

// percentile returns the field of one of legacyRanks.
func (d *LegacyStats) percentile(rank float64) **float64 {
	switch rank {
	case 50:
		return &d.P50
	case 90:
		return &d.P90
	case 95:
		return &d.P95
	}
	return &d.P99
}

func (d *LegacyStats) setPercentiles(p *metrics.Percentiles, estimated bool) {
	for _, rank := range legacyRanks {
		*d.percentile(rank) = artifact.Known(p.At(rank))
	}
	d.Estimated = &estimated
}

// Legacy returns the statistics in the legacy schema, where they stand flat in the series. They are those of
// the same window; what that schema computes differently is computed again.
func (s *SeriesStats) Legacy() artifact.Object {
	var d LegacyStats
	var samples Samples
	switch {
	case s.Histogram != nil:
		d.histogram(s.Histogram, s.Series.Bounds, s.Buckets)
	case s.Series.Family.Type == prom.Counter:
		s.Series.Read(&samples, s.window)
		d.counter(s.Counter, &samples)
	case s.Series.Family.Type == prom.Summary:
		s.Series.Read(&samples, s.window)
		d.summary(s.Series.Bounds, &samples)
	default:
		d.gauge(s.Gauge)
	}
	return artifact.ObjectOf(&d)
}

// gauge represents a constant gauge by one observation.
func (d *LegacyStats) gauge(g *metrics.Stats) {
	d.Avg = artifact.Known(g.Avg)
	if g.Min == g.Max {
		d.Count = new(int64(1))
		return
	}
	d.Min, d.Max, d.Std = artifact.Known(g.Min), artifact.Known(g.Max), artifact.Known(g.Std)
	d.setPercentiles(&g.Percentiles, false)
}

// counter represents an idle counter by its growth alone.
func (d *LegacyStats) counter(c *CounterStats, s *Samples) {
	d.Delta = artifact.Known(c.Total)
	if c.Total == 0 {
		return
	}
	d.Rate = artifact.Known(c.Rate)
	if r, ok := changePointRates(s); ok {
		d.RateAvg, d.RateMin = artifact.Known(r.Avg), artifact.Known(r.Min)
		d.RateMax, d.RateStd = artifact.Known(r.Max), artifact.Known(r.Std)
	}
}

// changePointRates describes the rates between the samples at which a counter changed. The mean is weighted
// by time. A fall says nothing about a rate, it starts again.
func changePointRates(s *Samples) (metrics.Stats, bool) {
	var rates []float64
	growth, passed := 0.0, 0.0
	at := 0
	for i := 1; i < s.Len(); i++ {
		if s.Value(i) == s.Value(at) {
			continue
		}
		dv, dt := s.Value(i)-s.Value(at), seconds(s.times[i]-s.times[at])
		at = i
		if dv < 0 || dt == 0 {
			continue
		}
		rates = append(rates, dv/dt)
		growth += dv
		passed += dt
	}
	if len(rates) == 0 {
		return metrics.Stats{}, false
	}
	r := spread(rates)
	r.Avg = growth / passed
	return r, true
}

// histogram represents an empty histogram by its count alone.
func (d *LegacyStats) histogram(h *HistogramStats, bounds []string, buckets []int64) {
	d.Count = &h.Count
	if h.Count == 0 {
		return
	}
	d.Avg = artifact.Known(h.Avg)
	if h.Estimates != nil {
		d.setPercentiles(h.Estimates, true)
	}
	d.Delta = artifact.Known(h.Sum)
	if h.Rates != nil {
		d.Rate, d.Observations = artifact.Known(h.Rates.Sum), artifact.Known(h.Rates.Count)
	}
	if buckets == nil {
		return
	}
	d.Buckets = artifact.Map[int64]{}
	for i, n := range buckets {
		d.Buckets.Add(bounds[i], n)
	}
}

// summary describes a summary by its growth and by the quantiles that the server said last.
func (d *LegacyStats) summary(quantiles []string, s *Samples) {
	final := s.Len() - 1
	count := s.Count(final) - s.Count(0)
	d.Count = new(int64(max(count, 0)))
	if count <= 0 {
		return // none, or the server was restarted
	}
	sum := s.Sum(final) - s.Sum(0)
	d.Avg, d.Delta = artifact.Known(sum/count), artifact.Known(sum)
	d.saidPercentiles(quantiles, s.Buckets(final))
	if from, to := s.TimestampNS(0), s.TimestampNS(final); from != to {
		d.Rate, d.Observations = artifact.Known(perSecond(sum, from, to)), artifact.Known(perSecond(count, from, to))
	}
	for i, v := range s.Buckets(final) {
		if artifact.Finite(v) {
			d.Quantiles.Add(quantiles[i], v)
		}
	}
}

// saidPercentiles sets those of legacyRanks that the server said of a summary.
func (d *LegacyStats) saidPercentiles(quantiles []string, values []float64) {
	for _, rank := range legacyRanks {
		for i, v := range values {
			if q, err := strconv.ParseFloat(quantiles[i], 64); err == nil && artifact.Finite(v) &&
				math.Abs(100*q-rank) < 1e-9 {
				*d.percentile(rank), d.Estimated = &v, new(true)
				break
			}
		}
	}
}

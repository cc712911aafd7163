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

// LegacyInfo describes an endpoint in the legacy schema, without its URL, which comes first there.
func (e *EndpointStore) LegacyInfo() artifact.Object {
	i := e.Info()
	duration := seconds(i.LastFetchNS - i.FirstFetchNS)
	period := 0.0
	if i.TotalFetches > 1 {
		period = duration * 1000 / float64(i.TotalFetches-1)
	}
	info := artifact.Object{
		{Key: "duration_seconds", Value: duration},
		{Key: "scrape_count", Value: i.TotalFetches},
		{Key: "avg_scrape_latency_ms", Value: i.AvgFetchLatencyMS},
		{Key: "avg_scrape_period_ms", Value: period},
	}
	if i.NoTotals != "" {
		info = append(info, artifact.Member{Key: "no_totals", Value: i.NoTotals})
	}
	return info
}

// Legacy returns the statistics in the legacy schema, where they stand flat in the series. They are those of
// the same window; what that schema computes differently is computed again.
func (s *SeriesStats) Legacy() artifact.Object {
	if s.Histogram != nil {
		return legacyHistogram(s.Histogram, s.Series.Bounds, s.Buckets)
	}
	var samples Samples
	switch s.Series.Family.Type {
	case prom.Counter:
		s.Series.Read(&samples, s.window)
		return legacyCounter(s.Counter, &samples)
	case prom.Summary:
		s.Series.Read(&samples, s.window)
		return legacySummary(s.Series.Bounds, &samples)
	}
	return legacyGauge(s.Gauge)
}

// legacyGauge represents a constant gauge by one observation.
func legacyGauge(g *metrics.Stats) artifact.Object {
	if g.Min == g.Max {
		return artifact.Object{{Key: "observation_count", Value: 1}, {Key: "avg", Value: g.Avg}}
	}
	out := artifact.Object{
		{Key: "avg", Value: g.Avg}, {Key: "min", Value: g.Min}, {Key: "max", Value: g.Max}, {Key: "std", Value: g.Std},
	}
	return append(appendLegacyPercentiles(out, &g.Percentiles),
		artifact.Member{Key: "estimated_percentiles", Value: false})
}

// legacyCounter represents an idle counter by its growth alone.
func legacyCounter(c *CounterStats, s *Samples) artifact.Object {
	out := artifact.Object{{Key: "delta", Value: c.Total}}
	if c.Total == 0 {
		return out
	}
	out = append(out, artifact.Member{Key: "rate_per_second", Value: c.Rate})
	if r, ok := changePointRates(s); ok {
		out = append(out,
			artifact.Member{Key: "rate_avg", Value: r.Avg}, artifact.Member{Key: "rate_min", Value: r.Min},
			artifact.Member{Key: "rate_max", Value: r.Max}, artifact.Member{Key: "rate_std", Value: r.Std})
	}
	return out
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

// legacyHistogram represents an empty histogram by its count alone.
func legacyHistogram(h *HistogramStats, bounds []string, buckets []int64) artifact.Object {
	out := artifact.Object{{Key: "observation_count", Value: h.Count}}
	if h.Count == 0 {
		return out
	}
	out = append(out, artifact.Member{Key: "avg", Value: h.Avg})
	if h.Estimates != nil {
		out = appendLegacyPercentiles(out, h.Estimates)
		out = append(out, artifact.Member{Key: "estimated_percentiles", Value: true})
	}
	out = append(out, artifact.Member{Key: "delta", Value: h.Sum})
	if h.Rates != nil {
		out = append(out,
			artifact.Member{Key: "rate_per_second", Value: h.Rates.Sum},
			artifact.Member{Key: "observations_per_second", Value: h.Rates.Count})
	}
	if buckets == nil {
		return out
	}
	counts := make(artifact.Object, len(buckets))
	for i, n := range buckets {
		counts[i] = artifact.Member{Key: bounds[i], Value: n}
	}
	return append(out, artifact.Member{Key: "buckets", Value: counts})
}

// legacySummary describes a summary by its growth and by the quantiles that the server said last.
func legacySummary(quantiles []string, s *Samples) artifact.Object {
	final := s.Len() - 1
	count := s.Count(final) - s.Count(0)
	out := artifact.Object{{Key: "observation_count", Value: int64(max(count, 0))}}
	if count <= 0 {
		return out // none, or the server was restarted
	}
	sum := s.Sum(final) - s.Sum(0)
	out = append(out, artifact.Member{Key: "avg", Value: sum / count})
	out = appendSaidPercentiles(out, quantiles, s.Buckets(final))
	out = append(out, artifact.Member{Key: "delta", Value: sum})
	if from, to := s.TimestampNS(0), s.TimestampNS(final); from != to {
		out = append(out,
			artifact.Member{Key: "rate_per_second", Value: perSecond(sum, from, to)},
			artifact.Member{Key: "observations_per_second", Value: perSecond(count, from, to)})
	}
	var said artifact.Object
	for i, v := range s.Buckets(final) {
		if artifact.Finite(v) {
			said = append(said, artifact.Member{Key: quantiles[i], Value: v})
		}
	}
	if said != nil {
		out = append(out, artifact.Member{Key: "quantiles", Value: said})
	}
	return out
}

// appendSaidPercentiles appends those of legacyRanks that the server said of a summary.
func appendSaidPercentiles(dst artifact.Object, quantiles []string, values []float64) artifact.Object {
	n := len(dst)
	for _, rank := range legacyRanks {
		for i, v := range values {
			if q, err := strconv.ParseFloat(quantiles[i], 64); err == nil && artifact.Finite(v) &&
				math.Abs(100*q-rank) < 1e-9 {
				dst = append(dst, artifact.Member{Key: metrics.RankKey(rank), Value: v})
				break
			}
		}
	}
	if len(dst) > n {
		dst = append(dst, artifact.Member{Key: "estimated_percentiles", Value: true})
	}
	return dst
}

func appendLegacyPercentiles(dst artifact.Object, p *metrics.Percentiles) artifact.Object {
	for _, rank := range legacyRanks {
		dst = append(dst, artifact.Member{Key: metrics.RankKey(rank), Value: p.At(rank)})
	}
	return dst
}

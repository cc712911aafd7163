package metrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// level is the value of the curves in one segment of time, in which none of them jumps.
type level struct {
	concurrency, prefill, decode float64 // requests in flight
	prefillRate, decodeRate      float64 // tokens per second
	imageRate                    float64 // images per second
	// tokens in flight grow evenly from the segment's start to its end.
	tokensFrom, tokensTo float64
}

// curve is the value of a quantity at the start and at the end of a segment, between which it is
// straight.
type curve func(*level) (from, to float64)

func flat(of func(*level) float64) curve {
	return func(l *level) (float64, float64) {
		v := of(l)
		return v, v
	}
}

// per divides a rate by the requests that share it.
func per(rate, requests float64) float64 {
	if requests == 0 {
		return 0
	}
	return rate / requests
}

var (
	concurrencyCurve    = flat(func(l *level) float64 { return l.concurrency })
	prefillCurve        = flat(func(l *level) float64 { return l.prefill })
	decodeCurve         = flat(func(l *level) float64 { return l.decode })
	prefillRateCurve    = flat(func(l *level) float64 { return l.prefillRate })
	decodeRateCurve     = flat(func(l *level) float64 { return l.decodeRate })
	totalRateCurve      = flat(func(l *level) float64 { return l.prefillRate + l.decodeRate })
	prefillPerUserCurve = flat(func(l *level) float64 { return per(l.prefillRate, l.prefill) })
	decodePerUserCurve  = flat(func(l *level) float64 { return per(l.decodeRate, l.decode) })
	imageRateCurve      = flat(func(l *level) float64 { return l.imageRate })
	imagePerUserCurve   = flat(func(l *level) float64 { return per(l.imageRate, l.concurrency) })
	tokensCurve         = curve(func(l *level) (float64, float64) { return l.tokensFrom, l.tokensTo })
)

// segments yields the levels of the curves one after the other and how many ns each lasted, at most n
// of them.
type segments struct {
	n    int
	each func(yield func(durationNS int64, l *level))
	// noImages reports that the curves of images are 0 everywhere.
	noImages bool
}

// timelineRanks are the percentiles of a curve.
var timelineRanks = [...]int64{50, 90, 95, 99}

// negligible is the share of a curve's peak below which a value is what rounding left of 0.
const negligible = 1e-9

// describe returns the statistics of a curve, each value weighing as long as it lasted: while during
// is above 0, or always where that is nil. It is false when there was no such time. The percentile of
// rank q is the smallest value that the curve did not exceed for q percent of that time.
func (c *timeDistribution) describe(of segments, value, during curve) (stats.Summary, bool) {
	c.reset(of.n)
	of.each(func(ns int64, l *level) {
		if during != nil {
			if v, _ := during(l); v <= 0 {
				return
			}
		}
		from, to := value(l)
		c.add(from, to, ns)
	})
	c.dropNegligible()
	if c.total == 0 {
		return stats.Summary{}, false
	}
	out := stats.Summary{Min: c.min(), Max: c.max(), Sum: math.NaN()}
	out.Avg, out.Std = c.moments()
	targets := make([]int64, len(timelineRanks))
	for i, q := range timelineRanks {
		targets[i] = c.share(q)
	}
	values := c.quantiles(targets)
	for i, rank := range PercentileRanks {
		out.Percentiles = append(out.Percentiles, math.NaN())
		for k, q := range timelineRanks {
			if float64(q) == rank {
				out.Percentiles[i] = values[k]
			}
		}
	}
	return out, true
}

// needsTimelines reports whether any of the metrics that are needed is a timeline.
func (s *Set) needsTimelines(needed map[string]bool) bool {
	return slices.ContainsFunc(s.metrics, func(m *metric) bool { return m.Kind == KindTimeline && needed[m.Tag] })
}

// curvesFor returns the curves over the window of the run, none where they are not needed.
func (f *frozen) curvesFor(s *Set, needed map[string]bool) segments {
	if !s.needsTimelines(needed) {
		return segments{}
	}
	intervals, window := f.intervals()
	if f.bins == nil {
		return sweep(intervals, window)
	}
	all := f.bins.clone()
	for i := range intervals {
		all.add(&intervals[i])
	}
	return all.segments(window)
}

// intervals lists those of the rows, and the window: that of the run facts, stretched over all requests.
func (f *frozen) intervals() ([]interval, span) {
	window := f.facts.window()
	if f.bins != nil {
		window.merge(span{f.bins.Low, f.bins.High})
	}
	out := make([]interval, 0, f.rows)
	var values [len(intervalFields)][blockRows]int64
	row := record.NewFacts()
	for _, b := range f.blocks {
		for k, i := range intervalFields {
			b.columns[i].unpack(values[k][:b.rows])
		}
		for n := range b.rows {
			for k, i := range intervalFields {
				row[i] = values[k][n]
			}
			if r, ok := newInterval(&row); ok {
				window.include(r.start, r.end)
				out = append(out, r)
			}
		}
	}
	return out, window
}

package servermetrics

import "fmt"

// histogram describes a histogram by its growth from the reference (its first sample, if it has none) to its last
// sample. It is absent where the window ends before its first one.
func (w *worker) histogram(j *job) {
	s := &w.samples
	final := s.Len() - 1
	if final < 0 {
		return
	}
	j.present = true
	h := HistogramStats{Count: int64(s.Count(final) - s.Count(0))}
	j.stats.Histogram = &h
	if h.Count < 0 {
		h.Count = 0
		j.warn("counted fewer observations at the end of the measurement window than before it, so it was reset: no " +
			"statistics")
		return
	}
	if h.Count == 0 {
		j.stats.Buckets = make([]int64, len(s.Buckets(final)))
		return
	}
	h.Sum = s.Sum(final) - s.Sum(0)
	h.Avg = h.Sum / float64(h.Count)
	if from, to := s.TimestampNS(0), s.TimestampNS(final); from != to {
		h.Rates = &HistogramRates{
			Count: perSecond(float64(h.Count), from, to),
			Sum:   perSecond(h.Sum, from, to),
		}
	}
	buckets, known := bucketGrowth(nil, s, 0, final)
	if !known {
		j.warn("has buckets that held fewer observations at the end of the measurement window than before it: no " +
			"buckets and percentiles")
	}
	j.stats.Buckets = buckets
	w.estimate(j, &h)
	w.countSlices(j)
}

func (j *job) warn(what string) {
	j.warnings = append(j.warnings, fmt.Sprintf("Server metrics: histogram %s at %s %s",
		j.stats.Series.describe(), j.stats.EndpointURL, what))
}

// estimate adds the percentiles.
func (w *worker) estimate(j *job, h *HistogramStats) {
	d := Distribution{Upper: j.stats.Series.Upper, Buckets: j.stats.Buckets, Sum: h.Sum, Count: h.Count}
	if !d.estimable() {
		return
	}
	d.Learned = learn(&w.samples, d.finite())
	if p, ok := w.estimator.Estimate(d); ok {
		h.Estimates = &p
		if j.bounds {
			b := d.bounds()
			h.Bounds = &b
		}
	}
}

// bucketGrowth appends the growth of each cumulative bucket between two samples. If any of them shrank, or
// there are none, the result is nil; shrinking makes it unknown.
func bucketGrowth(dst []int64, s *Samples, from, to int) (growth []int64, known bool) {
	before := s.Buckets(from)
	for i, v := range s.Buckets(to) {
		if v < before[i] {
			return nil, false
		}
		dst = append(dst, int64(v-before[i]))
	}
	return dst, true
}

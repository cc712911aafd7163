package metrics

import "aiperf/internal/measure/record"

// Sample reads what single requests say of one metric.
type Sample struct {
	*metric
	set *Set
}

// Samples returns the metrics of the run of which each request has a number of its own: the record metrics, and the
// counts that are folded from requests, in table order.
func (s *Set) Samples() []Sample {
	var list []Sample
	for _, m := range s.metrics {
		if m.shown && (m.Kind == KindRecord || m.Kind == KindAggregate && m.fold == foldSum) {
			list = append(list, Sample{m, s})
		}
	}
	return list
}

// Sample returns the one of a tag; false if the run has none.
func (s *Set) Sample(tag string) (Sample, bool) {
	for _, one := range s.Samples() {
		if one.Tag == tag {
			return one, true
		}
	}
	return Sample{}, false
}

// AppendValues appends what a request says of the metric, in its Unit; nothing where it has no value.
func (s Sample) AppendValues(dst []float64, rec *record.Record) []float64 {
	if s.Flags.Has(ErrorOnly) != rec.IsError() {
		return dst
	}
	switch {
	case s.increment != nil:
		if v, ok := s.increment(&occurrence{&rec.Facts, rec.Err, s.set}); ok {
			return append(dst, float64(v))
		}
	case s.list:
		if usable(rec.GapsNS) {
			for _, ns := range rec.GapsNS {
				dst = append(dst, float64(ns))
			}
		}
	default:
		if v, ok := s.value(&rec.Facts); ok {
			return append(dst, v)
		}
	}
	return dst
}

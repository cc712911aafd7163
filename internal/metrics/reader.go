package metrics

import "aiperf/internal/record"

// Reader reads one record metric off a request, in the unit of its Definition. It is false where the request has no
// value: failed requests have one of error metrics only, valid ones of all others.
type Reader func(*record.Record) (float64, bool)

// Reader returns the reader of a record metric that has one value per request; nil if the run has no such metric.
func (s *Set) Reader(tag string) Reader {
	for _, m := range s.metrics {
		if m.Tag == tag && m.Kind == KindRecord && !m.list {
			failed := m.Flags.Has(ErrorOnly)
			return func(r *record.Record) (float64, bool) {
				if r.IsError() != failed {
					return 0, false
				}
				return m.value(&r.Facts)
			}
		}
	}
	return nil
}

// HasObjectives tells whether the run has service level objectives.
func (s *Set) HasObjectives() bool { return len(s.objectives) > 0 }

// HasChunkGaps tells whether the run measures inter_chunk_latency.
func (s *Set) HasChunkGaps() bool { return s.listMetric != nil }

// ChunkGaps are the gaps of a request in nanoseconds that count as inter_chunk_latency; nil if it has none.
func (s *Set) ChunkGaps(r *record.Record) []int64 {
	if s.listMetric == nil || r.IsError() || !usable(r.GapsNS) {
		return nil
	}
	return r.GapsNS
}

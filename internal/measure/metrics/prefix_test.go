package metrics

import (
	"testing"

	"aiperf/internal/measure/record"
)

func TestTheoreticalPrefixCacheHit(t *testing.T) {
	set, err := NewSet(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	find := func(e *Engine) *Metric {
		for _, r := range e.Results() {
			if r.Tag == "theoretical_prefix_cache_hit" {
				return &r
			}
		}
		return nil
	}
	e := set.NewEngine()
	add := func(hits, blocks int64, failed bool) {
		r := &record.Record{Facts: record.NewFacts()}
		r.Facts[record.StartWall] = 1
		r.Facts[record.PrefixHits], r.Facts[record.PrefixBlocks] = hits, blocks
		if failed {
			r.Facts[record.Failed] = 1
		}
		e.Add(r)
	}
	add(record.Absent, record.Absent, false)
	add(2, 0, false)
	add(1, 2, true)
	if r := find(e); r != nil {
		t.Errorf("without blocks: %+v", r.Stats)
	}
	add(3, 4, false)
	add(5, 4, false) // more than there are
	other := set.NewEngine()
	other.Merge(e)
	for _, engine := range []*Engine{e, other} {
		r := find(engine)
		if r == nil || r.Stats.Avg != 87.5 || r.Stats.Count != 8 || r.Stats.Sum != 7 || r.Unit != "%" ||
			r.Group != GroupNone {
			t.Errorf("%+v", r)
		}
	}
	back, err := RestoreResult("theoretical_prefix_cache_hit", []byte(`{"unit":"%","avg":50,"count":8,"sum":4}`))
	if err != nil || back.Stats.Avg != 50 || back.Stats.Count != 8 || back.Stats.Sum != 4 || back.EpochNS != 0 {
		t.Errorf("%+v, %v", back, err)
	}
}

package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// What the state keeps of a warm-up is all of it, or nothing.
func TestWarmupRowsAreAllOrNone(t *testing.T) {
	t.Parallel()
	r := &record.Record{Identity: record.Identity{RequestID: "r", CorrelationID: "c", RootCorrelationID: "c",
		Phase: record.PhaseWarmup, ProfilingIndex: -1}, Facts: record.NewFacts()}
	r.Facts[record.StartWall], r.Facts[record.FirstContent], r.Facts[record.InputTokens] = 1e18, 5, 7
	r.GapsNS = []int64{3, -1}
	var w warmupRows
	w.add(r)
	if len(w.all()) != 1 {
		t.Fatalf("%d lines", len(w.all()))
	}
	got, err := recordfile.Parse(w.all()[0])
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	n := warmupLimit/len(w.all()[0]) + 2
	for range n {
		w.add(r)
	}
	if len(w.all()) != 0 {
		t.Errorf("%d of %d lines are kept", len(w.all()), n+1)
	}
}

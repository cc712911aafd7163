package run

import (
	"testing"

	"aiperf/internal/load"
)

func TestFirstTurnGoesToTheLeastLoadedWorker(t *testing.T) {
	t.Parallel()
	w := newWorkers(3, load.Share{})
	a, b, c := w.take(-1), w.take(-1), w.take(-1)
	if a == b || b == c || a == c {
		t.Fatalf("three requests went to workers %d, %d, %d", a, b, c)
	}
	w.give(b)
	if got := w.take(-1); got != b {
		t.Errorf("the idle worker is %d, %d was chosen", b, got)
	}
	if got := w.take(a); got != a {
		t.Errorf("a later turn moved from worker %d to %d", a, got)
	}
}

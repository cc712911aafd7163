package dispatch_test

import (
	"testing"

	"aiperf/internal/load"
	"aiperf/internal/run/dispatch"
)

func TestFirstTurnGoesToTheLeastLoadedWorker(t *testing.T) {
	t.Parallel()
	w := dispatch.NewWorkers(3, load.Share{})
	a, b, c := w.Take(-1), w.Take(-1), w.Take(-1)
	if a == b || b == c || a == c {
		t.Fatalf("three requests went to workers %d, %d, %d", a, b, c)
	}
	w.Give(b)
	if got := w.Take(-1); got != b {
		t.Errorf("the idle worker is %d, %d was chosen", b, got)
	}
	if got := w.Take(a); got != a {
		t.Errorf("a later turn moved from worker %d to %d", a, got)
	}
}

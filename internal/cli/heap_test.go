package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestHeapGrowthFollowsTheHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	limitHeap(func(string) (string, bool) { return "", true })
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is given, and the growth was set to %d", got)
	}
	limitHeap(func(string) (string, bool) { return "", false })
	// awaitGrowth collects until the growth is the one that a heap of that size has.
	awaitGrowth := func(want int) {
		t.Helper()
		for range 1000 {
			runtime.GC()
			got := debug.SetGCPercent(want)
			if got == want {
				return
			}
			debug.SetGCPercent(got)
			time.Sleep(time.Millisecond) // cleanups run on a goroutine of the runtime
		}
		t.Errorf("the growth did not become %d", want)
	}
	awaitGrowth(heapGrowth)
	kept := make([]byte, 2*largeHeap)
	awaitGrowth(largeGrowth)
	runtime.KeepAlive(kept)
	kept = nil
	awaitGrowth(heapGrowth)
}

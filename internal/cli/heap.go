package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// By how many percent the heap may grow between two collections, unless GOGC says otherwise. What a run keeps holds few
// pointers, so that collecting it more often costs little; where it is large, the room between two collections is most
// of what could be saved. Before the first collection nothing is worth one: the start of a run is mostly tables.
const (
	startGrowth = 400 // the first collection is at 16 MiB then
	heapGrowth  = 50
	largeGrowth = 25
	// largeHeap is from how many live bytes on the last one counts.
	largeHeap = 48 << 20
)

func growthFor(liveBytes uint64) int {
	if liveBytes >= largeHeap {
		return largeGrowth
	}
	return heapGrowth
}

// limitHeap keeps the growth right from now on, for as long as the program runs.
func limitHeap(env func(string) (string, bool)) {
	if _, given := env("GOGC"); given {
		return
	}
	debug.SetGCPercent(startGrowth)
	afterCollection(startGrowth)
}

// afterCollection sets the growth after the next collection, and after each one that follows.
func afterCollection(growth int) {
	// The smallest objects may share their memory with others, which would keep it.
	sentinel := new([32]byte)
	runtime.AddCleanup(sentinel, func(growth int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if next := growthFor(live[0].Value.Uint64()); next != growth {
			growth = next
			debug.SetGCPercent(growth)
		}
		afterCollection(growth)
	}, growth)
}

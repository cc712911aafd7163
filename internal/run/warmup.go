package run

import (
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// warmupLimit bounds the lines of warm-up requests that the state of the run keeps: it is written each second.
const warmupLimit = 1 << 20

// warmupRows keeps what the warm-up's metrics are computed from, unless that is too much.
type warmupRows struct {
	mu    sync.Mutex
	lines [][]byte
	bytes int
}

func (w *warmupRows) add(r *record.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes > warmupLimit {
		return
	}
	line := recordfile.AppendRow(nil, r)
	w.lines, w.bytes = append(w.lines, line), w.bytes+len(line)
	if w.bytes > warmupLimit {
		w.lines = nil
	}
}

// all are the lines of all requests; none when there were too many.
func (w *warmupRows) all() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[:len(w.lines):len(w.lines)]
}

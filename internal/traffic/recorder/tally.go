package recorder

import (
	"math/bits"
	"sync"

	"aiperf/internal/workload/recording"
)

// Lengths is a distribution of lengths in tokens.
type Lengths struct {
	Count, Sum int64
	// Up counts them by powers of two: Up[0] those of 0 and 1 token, Up[i] those of more than 2^(i-1) and at most 2^i.
	Up [32]int64
}

func (l *Lengths) add(n int) {
	l.Count++
	l.Sum += int64(n)
	l.Up[min(bits.Len64(uint64(max(1, n)-1)), len(l.Up)-1)]++
}

// mostNames bounds the models that are counted apart: clients may name anything.
const mostNames = 64

// tally counts what views of a recording show.
type tally struct {
	mu               sync.Mutex
	sessions, turns  int64
	prompts, replies Lengths
	endpoints        map[string]int64
	models           map[string]int64
}

// add counts a row.
func (t *tally) add(row *recording.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.endpoints == nil {
		t.endpoints, t.models = map[string]int64{}, map[string]int64{}
	}
	t.turns++
	if row.Turn == 0 {
		t.sessions++
	}
	t.endpoints[row.Endpoint]++
	if _, known := t.models[row.Model]; row.Model != "" && (known || len(t.models) < mostNames) {
		t.models[row.Model]++
	}
	if row.InputLength > 0 {
		t.prompts.add(row.InputLength)
	}
	if row.Outcome == "ok" {
		t.replies.add(row.OutputLength + row.ReasoningLength)
	}
}

package run

import (
	"sync"

	"aiperf/internal/result/summary"
)

// promptTally counts how often the first prompt of each conversation was sent in the profiling phases, in four bytes a
// conversation.
type promptTally struct {
	mu                  sync.Mutex
	times               []uint32
	sent, distinct, max int64
}

// add counts the first prompt of a conversation.
func (p *promptTally) add(conversation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times[conversation] == 0 {
		p.distinct++
	}
	p.times[conversation]++
	p.sent++
	p.max = max(p.max, int64(p.times[conversation]))
}

// summary is the tally as the results have it; nil when nothing was sent.
func (p *promptTally) summary() *summary.Dataset {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == 0 {
		return nil
	}
	return &summary.Dataset{
		Conversations: int64(len(p.times)), DistinctPrompts: p.distinct,
		MeanRepeats: float64(p.sent) / float64(p.distinct), MaxRepeats: p.max,
	}
}

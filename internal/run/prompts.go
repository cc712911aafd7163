package run

import (
	"sync"

	"aiperf/internal/result/summary"
)

// promptTally counts how often the first prompt of each conversation was sent in the profiling phases, in four bytes a
// conversation, and which of them a warm-up sent.
type promptTally struct {
	mu    sync.Mutex
	times []uint32
	// named counts by the ids of the conversations, where only these are known.
	named map[string]uint32
	// warmed and warmedNames are the conversations of a warm-up.
	warmed              map[int]struct{}
	warmedNames         map[string]struct{}
	sent, distinct, max int64
}

// Add counts the first prompt of a conversation.
func (p *promptTally) Add(conversation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times[conversation]++
	p.count(p.times[conversation])
}

// addNamed counts the first prompt of a conversation by its id.
func (p *promptTally) addNamed(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.named == nil {
		p.named = map[string]uint32{}
	}
	p.named[id]++
	p.count(p.named[id])
}

// Warm notes that a warm-up sent a conversation.
func (p *promptTally) Warm(conversation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warmed == nil {
		p.warmed = map[int]struct{}{}
	}
	p.warmed[conversation] = struct{}{}
}

// warmNamed notes the same by the conversation's id.
func (p *promptTally) warmNamed(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warmedNames == nil {
		p.warmedNames = map[string]struct{}{}
	}
	p.warmedNames[id] = struct{}{}
}

// sends returns how often the profiling phases sent a conversation, and whether a warm-up did so before.
func (p *promptTally) sends(conversation int, id string) (times uint32, warm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, byIndex := p.warmed[conversation]
	_, byName := p.warmedNames[id]
	return p.times[conversation] + p.named[id], byIndex || byName
}

// count counts a prompt that has now been sent so many times.
func (p *promptTally) count(times uint32) {
	if times == 1 {
		p.distinct++
	}
	p.sent++
	p.max = max(p.max, int64(times))
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

package run

import (
	"fmt"
	"strconv"
	"sync"

	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/workload/dataset"
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

// repeatsMatter reports whether a prompt that is sent again can be cheaper than the first time without anybody having
// asked for it: in conversations of several turns it is meant to be, and marks against caches prevent it.
func (e *execution) repeatsMatter(data *dataset.Dataset) bool {
	return e.descriptor.ProducesTokens && e.cfg.Dataset.CacheBust == "" && data.Turns() == data.Len()
}

// announceRepeats warns before the load when prompts will be sent several times, where the number of requests is known.
func (e *execution) announceRepeats(data *dataset.Dataset) {
	p := e.cfg.Profiling()
	requests := plan.Limit(p.Requests)
	if sessions := plan.Limit(p.Sessions); sessions > 0 && (requests == 0 || sessions < requests) {
		requests = sessions
	}
	prompts := int64(data.RootCount())
	if requests <= prompts || p.Schedule != nil || p.Lanes != nil {
		return
	}
	if !e.repeatsMatter(data) {
		if p.Sessions != nil {
			e.log.Info("More sessions than conversations: conversations will repeat", "sessions", requests, "conversations", prompts)
		}
		return
	}
	e.repeatsAnnounced = true
	e.log.Warn(fmt.Sprintf("Each of the %d prompts will be sent about %s times; a prefix cache can answer the repeats, which are faster then: %s",
		prompts, strconv.FormatFloat(float64(requests)/float64(prompts), 'f', 1, 64), e.uniquePrompts(requests)))
}

// uniquePrompts says how each of some requests gets a prompt of its own.
func (e *execution) uniquePrompts(requests int64) string {
	remedy := "use more data"
	if e.cfg.Dataset.Path == "" {
		remedy = fmt.Sprintf("--num-dataset-entries %d", requests)
	}
	if e.descriptor.Name == "chat" || e.descriptor.Name == "responses" {
		remedy += " or --cache-bust first_turn_prefix"
	}
	return remedy
}

package run

import (
	"encoding/json"
	"fmt"
	"sync"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
)

// Problems keeps the problems of a benchmark, so that the runs of a series that ask the same ones read them once. nil
// keeps nothing.
type Problems struct {
	mu  sync.Mutex
	key string
	set *task.Set
}

// load returns the problems that are kept if they are those that a run asks, or else what build returns.
func (p *Problems) load(a *config.Accuracy, chat bool, build func() (*task.Set, error)) (*task.Set, error) {
	if p == nil {
		return build()
	}
	asked := *a
	asked.Grader, asked.Repeats, asked.Verbose, asked.AllowCode = "", 0, false, false // which change no problem
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %v", text, chat)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set != nil && p.key == key {
		return p.set, nil
	}
	set, err := build()
	if err == nil {
		p.key, p.set = key, set
	}
	return set, err
}

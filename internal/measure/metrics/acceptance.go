package metrics

import (
	"maps"
	"slices"

	"aiperf/internal/measure/record"
)

// AcceptedSteps is a bucket of the histogram of speculative decoding.
type AcceptedSteps = record.AcceptedSteps

// acceptance is the pooled histogram of speculative decoding: in how many steps of all requests so many drafted
// tokens were accepted. The zero value is empty.
type acceptance struct{ steps map[int64]int64 }

func (a *acceptance) add(list []AcceptedSteps) {
	if a.steps == nil && len(list) > 0 {
		a.steps = map[int64]int64{}
	}
	for _, b := range list {
		a.steps[b.Accepted] += b.Steps
	}
}

// list returns the buckets, ascending.
func (a *acceptance) list() []AcceptedSteps {
	var out []AcceptedSteps
	for _, accepted := range slices.Sorted(maps.Keys(a.steps)) {
		out = append(out, AcceptedSteps{Accepted: accepted, Steps: a.steps[accepted]})
	}
	return out
}

// Acceptance returns the pooled histogram of speculative decoding; nil where servers said nothing of it.
func (e *Engine) Acceptance() []AcceptedSteps {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.acceptance.list()
}

package loader

import (
	"aiperf/internal/workload/recipe"
	"fmt"
)

// split takes requests apart that several agents sent: each continues the chain whose last request it extends, or
// begins a chain of its own.
func (t *sessionTree) split(requests []recordedRequest) []*chain {
	var chains []*chain
	for _, r := range requests {
		if c := t.continued(chains, &r); c != nil {
			c.requests = append(c.requests, r)
			continue
		}
		c := &chain{requests: []recordedRequest{r}, parent: -1}
		for i, other := range chains {
			if shared := other.shares(&r); c.parent < 0 || shared > c.shared {
				c.parent, c.shared = i, shared
			}
		}
		chains = append(chains, c)
	}
	return chains
}

// continued returns the chain that a request goes on with, nil if there is none.
func (t *sessionTree) continued(chains []*chain, r *recordedRequest) *chain {
	o := &t.options.Weka
	var extended, seamed *chain
	best, most := -1, 0
	for _, c := range chains {
		tail := c.last()
		if tail.model != r.model || r.at < tail.end {
			continue
		}
		shared := commonPrefix(tail.ids, r.ids)
		// The last block of a prompt is often not full: it changes when the prompt grows.
		if shared >= len(tail.ids)-1 && len(r.ids) >= len(tail.ids) && (shared > 0 || len(tail.ids) == 0) &&
			len(tail.ids) > best {
			extended, best = c, len(tail.ids)
		}
		least := min(len(tail.ids), len(r.ids))
		if shared > most && float64(shared) >= o.SeamOverlap*float64(least) && r.at-tail.end <= o.SeamSeconds {
			seamed, most = c, shared
		}
	}
	if extended != nil {
		return extended
	}
	return seamed
}

func commonPrefix(a, b []int64) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// shares returns how many blocks a request has in common with the requests of a chain that began before it.
func (c *chain) shares(r *recordedRequest) (most int) {
	for i := range c.requests {
		if c.requests[i].at <= r.at {
			most = max(most, commonPrefix(c.requests[i].ids, r.ids))
		}
	}
	return most
}

// chainNames names the chains of one list. A name says what a chain is.
type chainNames struct{ names []string }

func (n *chainNames) of(i int) string { return n.names[i] }

// newChainNames names the conversations into which a trace is split: the first has the trace's own id, auxiliary calls
// are named by their kind, agents of a group that is large enough and runs at a time "wg" with their place in it,
// others "fa". Numbers count in the order of the chains, so that equal traces have equal names.
func newChainNames(id string, o *recipe.Weka, chains []*chain) *chainNames {
	n := &chainNames{names: make([]string, len(chains))}
	type point struct{ parent, turn int }
	at := func(c *chain) point { return point{c.parent, chains[c.parent].before(c.requests[0].at)} }
	siblings := map[point][]int{}
	for i, c := range chains {
		if i > 0 && auxKind(o, chains[c.parent], c) == "" {
			siblings[at(c)] = append(siblings[at(c)], i)
		}
	}
	counts := map[string]int{}
	next := func(kind string) int {
		counts[kind]++
		return counts[kind] - 1
	}
	n.names[0] = id
	for i, c := range chains {
		if i == 0 || n.names[i] != "" {
			continue
		}
		if aux := auxKind(o, chains[c.parent], c); aux != "" {
			n.names[i] = fmt.Sprintf("%s::%s:%03d", id, aux, next(aux))
			continue
		}
		group := concurrent(chains, siblings[at(c)], c)
		if len(group) < max(2, o.GroupSize) {
			n.names[i] = fmt.Sprintf("%s::fa:%03d", id, next("fa"))
			continue
		}
		number := next("wg")
		for place, member := range group {
			if n.names[member] == "" {
				n.names[member] = fmt.Sprintf("%s::wg:%d_%d", id, number, place)
			}
		}
	}
	return n
}

// concurrent returns the chains among some that run while a chain does.
func concurrent(chains []*chain, among []int, c *chain) (all []int) {
	for _, i := range among {
		if other := chains[i]; other.requests[0].at < c.end() && c.requests[0].at < other.end() || other == c {
			all = append(all, i)
		}
	}
	return all
}

// auxKind returns the kind of an auxiliary chain, "" if it is none.
func auxKind(o *recipe.Weka, parent, c *chain) string {
	if len(c.requests) > o.AuxRequests {
		return ""
	}
	r := &c.requests[0]
	before := &parent.requests[max(0, parent.before(r.at))]
	switch {
	case r.out > 0 && r.out <= o.ReductionOutput && float64(r.in) >= o.ReductionRatio*float64(r.out) &&
		2*c.shared >= len(r.ids) && c.shared > 0:
		return "aux:red"
	case before.in >= o.AuxFloor && float64(r.in) <= o.AuxShare*float64(before.in), o.AuxCrossModel &&
		r.model != before.model:
		return "aux"
	}
	return ""
}

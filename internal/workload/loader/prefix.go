package loader

import (
	"cmp"
	"slices"

	"aiperf/internal/workload/dataset"
)

// known are the prompts that were sent, as a cache without bounds holds them: the places of a tree of blocks.
type known struct {
	next   map[place]int
	places int
}

// place is a block behind others.
type place struct {
	behind int
	block  int64
}

// take counts how many blocks of a prompt, from its beginning, are known, and keeps the prompt; nil for one without
// blocks.
func (k *known) take(blocks []int64) *dataset.Prefix {
	if len(blocks) == 0 {
		return nil
	}
	if k.next == nil {
		k.next = map[place]int{}
	}
	p := &dataset.Prefix{Blocks: len(blocks)}
	at := 0
	for i, block := range blocks {
		next, ok := k.next[place{at, block}]
		if !ok {
			k.places++
			next = k.places
			k.next[place{at, block}] = next
		} else if p.Hits == i {
			p.Hits++
		}
		at = next
	}
	return p
}

// countPrefixes counts the known blocks of the requests of one recording, in the order in which they went out.
func countPrefixes(requests []wekaRequest, agents []wekaAgent) {
	var all []*wekaRequest
	for i := range requests {
		all = append(all, &requests[i])
	}
	for i := range agents {
		for j := range agents[i].requests {
			all = append(all, &agents[i].requests[j])
		}
	}
	slices.SortStableFunc(all, func(a, b *wekaRequest) int { return cmp.Compare(a.at, b.at) })
	var sent known
	for _, r := range all {
		r.prefix = sent.take(r.ids)
	}
}

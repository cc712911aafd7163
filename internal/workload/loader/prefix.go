package loader

import (
	"cmp"
	"slices"

	"aiperf/internal/workload/dataset"
)

// PrefixCache holds the prompts that were sent, as a cache without bounds does: the nodes of a tree of blocks.
type PrefixCache struct {
	next  map[edge]int
	nodes int
}

// edge is a block behind others.
type edge struct {
	from  int
	block int64
}

// Take counts how many blocks of a prompt, from its beginning, are known, and keeps the prompt; nil for one without
// blocks.
func (k *PrefixCache) Take(blocks []int64) *dataset.Prefix {
	if len(blocks) == 0 {
		return nil
	}
	if k.next == nil {
		k.next = map[edge]int{}
	}
	p := &dataset.Prefix{Blocks: len(blocks)}
	at := 0
	for i, block := range blocks {
		next, ok := k.next[edge{at, block}]
		if !ok {
			k.nodes++
			next = k.nodes
			k.next[edge{at, block}] = next
		} else if p.Hits == i {
			p.Hits++
		}
		at = next
	}
	return p
}

// countPrefixes counts the known blocks of the requests of one recording, in the order in which they went out.
func countPrefixes(requests []recordedRequest, agents []recordedAgent) {
	var all []*recordedRequest
	for i := range requests {
		all = append(all, &requests[i])
	}
	for i := range agents {
		for j := range agents[i].requests {
			all = append(all, &agents[i].requests[j])
		}
	}
	slices.SortStableFunc(all, func(a, b *recordedRequest) int { return cmp.Compare(a.at, b.at) })
	var sent PrefixCache
	for _, r := range all {
		r.prefix = sent.Take(r.ids)
	}
}

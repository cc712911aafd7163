package hf

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"aiperf/internal/workload/tokenizer"
)

// pairTable holds the merges: a pair of ids → its rank, and the id that it becomes. Open addressing in single words:
// the pair above, then its rank+1; 0 is empty.
type pairTable struct {
	slots  []uint64
	into   []uint32 // by rank
	shift  uint
	idBits uint // of each id of a pair
	bits   uint // of rank+1
}

const noRank = ^uint32(0)

// maxMerges bounds the merges: a slot has room for two ids and a rank.
const maxMerges = 1<<(64-2*21) - 1

// newPairTable makes the table of pairs (the left id in the upper half) by rank; the later one of equal pairs counts.
func newPairTable(pairs []uint64, into []uint32, size int) *pairTable {
	t := &pairTable{into: into}
	t.measure(size)
	for rank, pair := range pairs {
		key := pair>>32<<t.idBits | pair&(1<<32-1)
		at := t.place(key)
		for t.slots[at] != 0 && t.slots[at]>>t.bits != key {
			at = (at + 1) & uint64(len(t.slots)-1)
		}
		t.slots[at] = key<<t.bits | uint64(rank+1)
	}
	return t
}

// measure makes the slots for ids below size.
func (t *pairTable) measure(size int) {
	log := uint(bits.Len(uint(2*len(t.into) + 1))) // at most half full
	t.shift, t.idBits, t.bits = 64-log, max(1, uint(bits.Len(uint(size-1)))), uint(bits.Len(uint(len(t.into))))
	if t.slots == nil {
		t.slots = make([]uint64, 1<<log)
	}
}

func (t *pairTable) place(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> t.shift }

// rank returns the rank of a pair, or noRank.
func (t *pairTable) rank(left, right int32) uint32 {
	key := uint64(uint32(left))<<t.idBits | uint64(uint32(right))
	for at := t.place(key); ; at = (at + 1) & uint64(len(t.slots)-1) {
		slot := t.slots[at]
		if slot>>t.bits == key && slot != 0 {
			return uint32(slot&(1<<t.bits-1)) - 1
		}
		if slot == 0 {
			return noRank
		}
	}
}

// Words up to this many symbols are merged by searching the smallest rank in a row; beyond, where that
// would be quadratic, by a heap.
const maxLinear = 48

// keptParts bounds the room that is kept for the next word.
const keptParts = 1 << 20

// merger merges the symbols of a word.
type merger struct {
	ids   []int32
	ranks []uint32 // of each symbol with the next one
	parts []part
	// heap has the pairs noted with what they become: one is out of date when that has changed.
	heap  tokenizer.MergeQueue
	cache []cachedWord
	spare []int
	// spelled is a piece of bytes in byte characters.
	spelled []byte
}

// merge joins neighbours of the smallest rank, the leftmost of equals, until none can be joined.
func (m *merger) merge(pairs *pairTable) {
	if len(m.ids) > maxLinear {
		m.long(pairs)
		return
	}
	ids, ranks := m.ids, m.ranks[:0]
	for i := range ids {
		rank := noRank
		if i+1 < len(ids) {
			rank = pairs.rank(ids[i], ids[i+1])
		}
		ranks = append(ranks, rank)
	}
	m.ranks = ranks
	for len(ids) > 1 {
		best, rank := 0, ranks[0]
		for i := 1; i < len(ids); i++ {
			if ranks[i] < rank {
				best, rank = i, ranks[i]
			}
		}
		if rank == noRank {
			break
		}
		ids[best] = int32(pairs.into[rank])
		ids = append(ids[:best+1], ids[best+2:]...)
		ranks = append(ranks[:best+1], ranks[best+2:]...)
		ranks[best] = noRank
		if best+1 < len(ids) {
			ranks[best] = pairs.rank(ids[best], ids[best+1])
		}
		if best > 0 {
			ranks[best-1] = pairs.rank(ids[best-1], ids[best])
		}
	}
	m.ids = ids
}

// part is a symbol in a linked list; a merged one has the id -1.
type part struct{ id, prev, next int32 }

// long merges the ids of a long word with a queue, in O(n log n). A merge leaves outdated entries in the queue, which
// are known by the merge that they stand for: it is no longer that of the pair at their place.
func (m *merger) long(pairs *pairTable) {
	n := int32(len(m.ids))
	m.parts = slices.Grow(m.parts[:0], len(m.ids))
	m.heap.Reset()
	for i, id := range m.ids {
		m.parts = append(m.parts, part{id, int32(i) - 1, int32(i) + 1})
	}
	for i := range n {
		m.offer(pairs, i, n)
	}
	for !m.heap.Empty() {
		o := m.heap.Pop()
		at := o.At()
		left := &m.parts[at]
		if left.id < 0 || left.next >= n {
			continue
		}
		right := &m.parts[left.next]
		if rank := pairs.rank(left.id, right.id); rank == noRank || pairs.into[rank] != o.Note {
			continue
		}
		left.id, left.next = int32(o.Note), right.next
		right.id = -1
		if left.next < n {
			m.parts[left.next].prev = at
		}
		m.offer(pairs, at, n)
		if left.prev >= 0 {
			m.offer(pairs, left.prev, n)
		}
	}
	m.ids = m.ids[:0]
	for i := int32(0); i < n; i = m.parts[i].next {
		m.ids = append(m.ids, m.parts[i].id)
	}
	if cap(m.parts) > keptParts {
		m.parts = nil
	}
}

func (m *merger) offer(pairs *pairTable, at, n int32) {
	next := m.parts[at].next
	if next >= n {
		return
	}
	if rank := pairs.rank(m.parts[at].id, m.parts[next].id); rank != noRank {
		m.heap.Push(tokenizer.MergePair{Order: tokenizer.RankedKey(rank, at), Note: pairs.into[rank]})
	}
}

const (
	cacheSize   = 4096 // words remembered by each worker
	cachedBytes = 30   // longest word remembered
	cachedIDs   = 8    // most ids remembered of a word
)

var cacheSeed = maphash.MakeSeed()

// cachedWord remembers the ids of a word; every hash value has one place.
type cachedWord struct {
	length, count uint8
	text          [cachedBytes]byte
	ids           [cachedIDs]int32
}

// recall returns the place of a word in the cache, nil if it is too long, and whether it is there.
func (m *merger) recall(s string) (*cachedWord, bool) {
	if len(s) > cachedBytes || s == "" {
		return nil, false
	}
	if m.cache == nil {
		m.cache = make([]cachedWord, cacheSize)
	}
	c := &m.cache[maphash.String(cacheSeed, s)%cacheSize]
	return c, int(c.length) == len(s) && string(c.text[:c.length]) == s
}

func (c *cachedWord) set(s string, ids []int) {
	if c == nil || len(ids) > cachedIDs {
		return
	}
	c.length, c.count = uint8(len(s)), uint8(len(ids))
	copy(c.text[:], s)
	for i, id := range ids {
		c.ids[i] = int32(id)
	}
}

package hf

import (
	"hash/maphash"
	"math/bits"

	"aiperf/internal/tokenizer/agenda"
)

// pairTable holds the merges: a pair of ids → its rank and the id it becomes. Open addressing; an
// empty slot has the key emptyPair.
type pairTable struct {
	slots []pairSlot
	shift uint
}

type pairSlot struct {
	key      uint64
	rank, id uint32
}

const (
	emptyPair = ^uint64(0)
	noRank    = ^uint32(0)
)

func newPairTable(n int) *pairTable {
	log := uint(bits.Len(uint(2*n + 1)))
	t := &pairTable{slots: make([]pairSlot, 1<<log), shift: 64 - log}
	for i := range t.slots {
		t.slots[i].key = emptyPair
	}
	return t
}

func (t *pairTable) slot(key uint64) *pairSlot {
	at := key * 0x9e3779b97f4a7c15 >> t.shift
	for {
		if s := &t.slots[at]; s.key == key || s.key == emptyPair {
			return s
		}
		at = (at + 1) & uint64(len(t.slots)-1)
	}
}

// put keeps the later one of equal pairs.
func (t *pairTable) put(left, right int32, rank, id uint32) {
	key := uint64(uint32(left))<<32 | uint64(uint32(right))
	*t.slot(key) = pairSlot{key, rank, id}
}

// get is the rank of a pair, or noRank, and the id it becomes.
func (t *pairTable) get(left, right int32) (rank, id uint32) {
	s := t.slot(uint64(uint32(left))<<32 | uint64(uint32(right)))
	if s.key == emptyPair {
		return noRank, 0
	}
	return s.rank, s.id
}

// Words up to this many symbols are merged by searching the smallest rank in a row; beyond, where that
// would be quadratic, by a heap.
const maxLinear = 48

// merger merges the symbols of a word.
type merger struct {
	ids   []int32
	ranks []uint32 // of each symbol with the next one
	into  []uint32
	parts []part
	// heap has the pairs noted with what they become: one is out of date when that has changed.
	heap  agenda.Heap
	cache []cachedWord
	spare []int
}

// merge joins neighbours of the smallest rank, the leftmost of equals, until none can be joined.
func (m *merger) merge(pairs *pairTable) {
	if len(m.ids) > maxLinear {
		m.long(pairs)
		return
	}
	ids := m.ids
	m.ranks, m.into = m.ranks[:0], m.into[:0]
	for i := range ids {
		rank, id := noRank, uint32(0)
		if i+1 < len(ids) {
			rank, id = pairs.get(ids[i], ids[i+1])
		}
		m.ranks, m.into = append(m.ranks, rank), append(m.into, id)
	}
	ranks, into := m.ranks, m.into
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
		ids[best] = int32(into[best])
		ids = append(ids[:best+1], ids[best+2:]...)
		ranks = append(ranks[:best+1], ranks[best+2:]...)
		into = append(into[:best+1], into[best+2:]...)
		ranks[best] = noRank
		if best+1 < len(ids) {
			ranks[best], into[best] = pairs.get(ids[best], ids[best+1])
		}
		if best > 0 {
			ranks[best-1], into[best-1] = pairs.get(ids[best-1], ids[best])
		}
	}
	m.ids = ids
}

// part is a symbol in a linked list; a merged one has the id -1.
type part struct{ id, prev, next int32 }

func (m *merger) long(pairs *pairTable) {
	n := int32(len(m.ids))
	m.parts, m.heap = m.parts[:0], m.heap[:0]
	for i, id := range m.ids {
		m.parts = append(m.parts, part{id, int32(i) - 1, int32(i) + 1})
	}
	for i := range n {
		m.offer(pairs, i, n)
	}
	for len(m.heap) > 0 {
		o := m.heap.Pop()
		at := o.At()
		left := &m.parts[at]
		if left.id < 0 || left.next >= n {
			continue
		}
		right := &m.parts[left.next]
		if rank, into := pairs.get(left.id, right.id); rank == noRank || into != o.Note {
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
}

func (m *merger) offer(pairs *pairTable, at, n int32) {
	next := m.parts[at].next
	if next >= n {
		return
	}
	rank, into := pairs.get(m.parts[at].id, m.parts[next].id)
	if rank == noRank {
		return
	}
	m.heap.Push(agenda.Item{Order: agenda.Ranked(rank, at), Note: into})
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

// recall is the place of a word in the cache, nil if it is too long, and whether it is there.
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

package tokenizer

import (
	"slices"
)

// queueMerger merges long pieces: the parts are a linked list, the joinable pairs a heap.
type queueMerger struct {
	parts []part
	// pairs are noted with the end of the joint stretch: one is out of date when that has changed.
	pairs MergeQueue
}

// part is a stretch of the piece: [its index, end). prev and next are indices of its neighbours;
// the part at index len(piece) is the end of the list.
type part struct{ prev, next, end int32 }

// keptParts bounds the room that is kept for the next piece.
const keptParts = 1 << 20

// merge merges neighbouring parts of s, bytes at first, by the lowest rank until none has one, in O(n log n). Parts
// that were merged stay in the queue: an entry counts only if its pair still ends where it did. The parts are linked by
// their starts, so that a start is also the index of its part.
func (m *queueMerger) merge(r *ranks, s string, out []uint32) []uint32 {
	m.parts = slices.Grow(m.parts[:0], len(s))
	m.pairs.Reset()
	for i := range int32(len(s)) {
		m.parts = append(m.parts, part{i - 1, i + 1, i + 1})
	}
	for i := range int32(len(s)) {
		m.offer(r, s, i)
	}
	for !m.pairs.Empty() {
		p := m.pairs.Pop()
		start, end := p.At(), int32(p.Note)
		left := &m.parts[start]
		if left.end <= start || left.next >= int32(len(s)) || m.parts[left.next].end != end {
			continue
		}
		right := &m.parts[left.next]
		left.end, left.next = right.end, right.next
		right.end = -1 // no longer a part
		if left.next < int32(len(s)) {
			m.parts[left.next].prev = start
		}
		m.offer(r, s, start)
		if left.prev >= 0 {
			m.offer(r, s, left.prev)
		}
	}
	for i := int32(0); i < int32(len(s)); i = m.parts[i].next {
		out = append(out, r.rank(s[i:m.parts[i].end]))
	}
	if cap(m.parts) > keptParts {
		m.parts = nil
	}
	return out
}

// offer puts the pair that starts with part i on the heap if it is a token.
func (m *queueMerger) offer(r *ranks, s string, i int32) {
	next := m.parts[i].next
	if next >= int32(len(s)) {
		return
	}
	end := m.parts[next].end
	if rank := r.rank(s[i:end]); rank != noRank {
		m.pairs.Push(MergePair{Order: RankedKey(rank, i), Note: uint32(end)})
	}
}

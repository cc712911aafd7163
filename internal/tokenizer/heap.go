package tokenizer

// heapMerger merges long pieces: the parts are a linked list, the joinable pairs a heap.
type heapMerger struct {
	parts []part
	pairs []pair
}

// part is a stretch of the piece: [its index, end). prev and next are indices of its neighbours;
// the part at index len(piece) is the end of the list.
type part struct{ prev, next, end int32 }

// pair is two neighbours that form a token. It is out of date when the parts have changed since,
// which shows in the end of the joint stretch.
type pair struct {
	rank       uint32
	start, end int32
}

func (p pair) before(q pair) bool {
	return p.rank < q.rank || p.rank == q.rank && p.start < q.start
}

func (m *heapMerger) merge(r *ranks, s string, out []uint32) []uint32 {
	m.parts, m.pairs = m.parts[:0], m.pairs[:0]
	for i := range int32(len(s)) {
		m.parts = append(m.parts, part{i - 1, i + 1, i + 1})
	}
	for i := range int32(len(s)) {
		m.offer(r, s, i)
	}
	for len(m.pairs) > 0 {
		p := m.pop()
		left := &m.parts[p.start]
		if left.end <= p.start || left.next >= int32(len(s)) || m.parts[left.next].end != p.end {
			continue
		}
		right := &m.parts[left.next]
		left.end, left.next = right.end, right.next
		right.end = -1 // no longer a part
		if left.next < int32(len(s)) {
			m.parts[left.next].prev = p.start
		}
		m.offer(r, s, p.start)
		if left.prev >= 0 {
			m.offer(r, s, left.prev)
		}
	}
	for i := int32(0); i < int32(len(s)); i = m.parts[i].next {
		out = append(out, r.rank(s[i:m.parts[i].end]))
	}
	return out
}

// offer puts the pair that starts with part i on the heap if it is a token.
func (m *heapMerger) offer(r *ranks, s string, i int32) {
	next := m.parts[i].next
	if next >= int32(len(s)) {
		return
	}
	end := m.parts[next].end
	if rank := r.rank(s[i:end]); rank != noRank {
		m.push(pair{rank, i, end})
	}
}

func (m *heapMerger) push(p pair) {
	m.pairs = append(m.pairs, p)
	at := len(m.pairs) - 1
	for at > 0 {
		up := (at - 1) / 2
		if !p.before(m.pairs[up]) {
			break
		}
		m.pairs[at] = m.pairs[up]
		at = up
	}
	m.pairs[at] = p
}

func (m *heapMerger) pop() pair {
	top, last := m.pairs[0], m.pairs[len(m.pairs)-1]
	m.pairs = m.pairs[:len(m.pairs)-1]
	n, at := len(m.pairs), 0
	for {
		down := 2*at + 1
		if down >= n {
			break
		}
		if down+1 < n && m.pairs[down+1].before(m.pairs[down]) {
			down++
		}
		if !m.pairs[down].before(last) {
			break
		}
		m.pairs[at] = m.pairs[down]
		at = down
	}
	if n > 0 {
		m.pairs[at] = last
	}
	return top
}

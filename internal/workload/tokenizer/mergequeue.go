package tokenizer

import "math"

// MergePair is a pair of neighbours. Order is compared; Note is the caller's own number.
type MergePair struct {
	Order uint64
	Note  uint32
}

// RankedKey returns the order in which the lower rank comes first, then the place further left.
func RankedKey(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(uint32(at)) }

// ScoredKey returns the order in which the higher score comes first, then the place further left.
func ScoredKey(score float32, at int32) uint64 {
	bits := math.Float32bits(score + 0) // no negative zero
	if bits>>31 == 0 {
		bits = ^bits &^ (1 << 31)
	}
	return RankedKey(bits, at)
}

// At returns the place.
func (p MergePair) At() int32 { return int32(uint32(p.Order)) }

// MergeQueue is a heap of pairs by their order. A long one keeps pairs of the same rank that come from left to right in rows
// of their own: the pairs of a megabyte of one letter would otherwise be sorted one by one.
type MergeQueue struct {
	list []MergePair
	rows [maxRows]rankQueue
	used int // rows from the first one that may hold pairs
}

const (
	maxRows = 16
	// fewPairs are faster in the heap alone.
	fewPairs = 4096
	// keptPairs bounds the room that is kept for the next text.
	keptPairs = 1 << 20
	pagePairs = 1 << 12
)

// rankQueue is a queue of pairs of one rank, each further right than the one before it.
type rankQueue struct {
	pages [][]entry
	read  int // of the first page
	rank  uint32
	last  uint32
}

// entry is a pair without its rank.
type entry struct{ at, note uint32 }

// Reset takes all pairs out.
func (q *MergeQueue) Reset() {
	q.list, q.used = q.list[:0], 0
	if cap(q.list) > keptPairs {
		q.list = nil
	}
}

// Empty reports whether there are no pairs.
func (q *MergeQueue) Empty() bool { return len(q.list) == 0 && q.used == 0 }

// Push adds a pair.
func (q *MergeQueue) Push(pair MergePair) {
	if len(q.list) >= fewPairs && q.pushRow(pair) {
		return
	}
	q.list = append(q.list, pair)
	list := q.list
	at := len(list) - 1
	for at > 0 {
		up := (at - 1) / 2
		if pair.Order >= list[up].Order {
			break
		}
		list[at] = list[up]
		at = up
	}
	list[at] = pair
}

// pushRow adds a pair to the row of its rank, if it is further right than all in it, or to a new row.
func (q *MergeQueue) pushRow(pair MergePair) bool {
	rank := uint32(pair.Order >> 32)
	for i := range q.used {
		if r := &q.rows[i]; r.rank == rank {
			if uint32(pair.Order) < r.last {
				return false
			}
			r.add(pair)
			return true
		}
	}
	if q.used == maxRows {
		return false
	}
	r := &q.rows[q.used]
	q.used++
	r.rank, r.read, r.pages = rank, 0, nil
	r.add(pair)
	return true
}

func (r *rankQueue) add(pair MergePair) {
	n := len(r.pages) - 1
	if n < 0 || len(r.pages[n]) == pagePairs {
		r.pages = append(r.pages, make([]entry, 0, pagePairs))
		n++
	}
	r.last = uint32(pair.Order)
	r.pages[n] = append(r.pages[n], entry{r.last, pair.Note})
}

// front returns the first pair of a row that is not empty.
func (r *rankQueue) front() MergePair {
	s := r.pages[0][r.read]
	return MergePair{uint64(r.rank)<<32 | uint64(s.at), s.note}
}

// take takes the front out and reports whether it was the last one.
func (r *rankQueue) take() (empty bool) {
	if r.read++; r.read == len(r.pages[0]) {
		r.pages[0], r.pages, r.read = nil, r.pages[1:], 0
	}
	return len(r.pages) == 0
}

// Pop takes the first pair out of what is not empty.
func (q *MergeQueue) Pop() MergePair {
	if q.used == 0 {
		return q.pop()
	}
	best := 0
	for i := 1; i < q.used; i++ {
		if q.rows[i].front().Order < q.rows[best].front().Order {
			best = i
		}
	}
	r := &q.rows[best]
	pair := r.front()
	if len(q.list) > 0 && q.list[0].Order < pair.Order {
		return q.pop()
	}
	if r.take() {
		q.used--
		*r = q.rows[q.used]
		q.rows[q.used] = rankQueue{}
	}
	return pair
}

// pop takes the first pair out of the list.
func (q *MergeQueue) pop() MergePair {
	list := q.list
	top, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	q.list = list
	n, at := len(list), 0
	for {
		down := 2*at + 1
		if down >= n {
			break
		}
		if down+1 < n && list[down+1].Order < list[down].Order {
			down++
		}
		if list[down].Order >= last.Order {
			break
		}
		list[at] = list[down]
		at = down
	}
	if n > 0 {
		list[at] = last
	}
	return top
}

// Package agenda is a heap of the neighbours that can be joined when a text is merged into tokens: the best pair
// first, the leftmost of equals.
package agenda

import "math"

// Item is a pair. Order is compared; Note is what the caller remembers of the pair.
type Item struct {
	Order uint64
	Note  uint32
}

// Ranked is the order of the lower rank first, then of the place further left.
func Ranked(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(uint32(at)) }

// Scored is the order of the higher score first, then of the place further left.
func Scored(score float32, at int32) uint64 {
	bits := math.Float32bits(score + 0) // no negative zero
	if bits>>31 == 0 {
		bits = ^bits &^ (1 << 31)
	}
	return Ranked(bits, at)
}

// At is the place.
func (i Item) At() int32 { return int32(uint32(i.Order)) }

// Heap has the item of the lowest order in front. A long one keeps items of the same rank that come from left to right
// in rows of their own: the pairs of a megabyte of one letter would otherwise be sorted one by one.
type Heap struct {
	list []Item
	rows [maxRows]row
	used int // rows from the first one that may hold items
}

const (
	maxRows = 16
	// fewItems are faster in the heap alone.
	fewItems = 4096
	// keptItems bounds the room that is kept for the next text.
	keptItems = 1 << 20
	pageItems = 1 << 12
)

// row is a queue of items of one rank, each further right than the one before it.
type row struct {
	pages [][]spot
	read  int // of the first page
	rank  uint32
	last  uint32
}

// spot is an item without its rank.
type spot struct{ at, note uint32 }

// Reset takes all items out.
func (h *Heap) Reset() {
	h.list, h.used = h.list[:0], 0
	if cap(h.list) > keptItems {
		h.list = nil
	}
}

// Empty reports that there are no items.
func (h *Heap) Empty() bool { return len(h.list) == 0 && h.used == 0 }

// Push adds an item.
func (h *Heap) Push(item Item) {
	if len(h.list) >= fewItems && h.pushRow(item) {
		return
	}
	h.list = append(h.list, item)
	list := h.list
	at := len(list) - 1
	for at > 0 {
		up := (at - 1) / 2
		if item.Order >= list[up].Order {
			break
		}
		list[at] = list[up]
		at = up
	}
	list[at] = item
}

// pushRow adds an item to the row of its rank, if it comes behind what is there, or to a new row.
func (h *Heap) pushRow(item Item) bool {
	rank := uint32(item.Order >> 32)
	for i := range h.used {
		if r := &h.rows[i]; r.rank == rank {
			if uint32(item.Order) < r.last {
				return false
			}
			r.add(item)
			return true
		}
	}
	if h.used == maxRows {
		return false
	}
	r := &h.rows[h.used]
	h.used++
	r.rank, r.read, r.pages = rank, 0, nil
	r.add(item)
	return true
}

func (r *row) add(item Item) {
	n := len(r.pages) - 1
	if n < 0 || len(r.pages[n]) == pageItems {
		r.pages = append(r.pages, make([]spot, 0, pageItems))
		n++
	}
	r.last = uint32(item.Order)
	r.pages[n] = append(r.pages[n], spot{r.last, item.Note})
}

// front is the first item of a row that is not empty.
func (r *row) front() Item {
	s := r.pages[0][r.read]
	return Item{uint64(r.rank)<<32 | uint64(s.at), s.note}
}

// take takes the front out and reports whether it was the last one.
func (r *row) take() (empty bool) {
	if r.read++; r.read == len(r.pages[0]) {
		r.pages[0], r.pages, r.read = nil, r.pages[1:], 0
	}
	return len(r.pages) == 0
}

// Pop takes the first item out of what is not empty.
func (h *Heap) Pop() Item {
	if h.used == 0 {
		return h.pop()
	}
	best := 0
	for i := 1; i < h.used; i++ {
		if h.rows[i].front().Order < h.rows[best].front().Order {
			best = i
		}
	}
	r := &h.rows[best]
	item := r.front()
	if len(h.list) > 0 && h.list[0].Order < item.Order {
		return h.pop()
	}
	if r.take() {
		h.used--
		*r = h.rows[h.used]
		h.rows[h.used] = row{}
	}
	return item
}

// pop takes the first item out of the list.
func (h *Heap) pop() Item {
	list := h.list
	top, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	h.list = list
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

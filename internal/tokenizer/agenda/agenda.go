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

// Heap has the item of the lowest order in front.
type Heap []Item

// Push adds an item.
func (h *Heap) Push(item Item) {
	*h = append(*h, item)
	list := *h
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

// Pop takes the first item out of a heap that is not empty.
func (h *Heap) Pop() Item {
	list := *h
	top, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
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

package stats

import (
	"iter"
	"math"
)

// Counts are how often whole numbers were seen, in memory for the numbers from the smallest to the largest. The zero
// value is empty.
type Counts struct {
	first  int // number of counts[0]
	counts []uint32
	// carries hold, by number, the rare count that does not fit, in units of 2^32.
	carries map[int]int64
}

// Increment counts a number once more if there is room for it, without a call; else it is false, and Add makes room.
func (c *Counts) Increment(number int) bool {
	at := uint(number - c.first)
	if at >= uint(len(c.counts)) || c.counts[at] == math.MaxUint32 {
		return false
	}
	c.counts[at]++
	return true
}

// Add counts a number n more times.
func (c *Counts) Add(number int, n int64) {
	at := number - c.first
	if uint(at) >= uint(len(c.counts)) {
		c.cover(number, number)
		at = number - c.first
	}
	n += int64(c.counts[at])
	c.counts[at] = uint32(n)
	if n > math.MaxUint32 {
		if c.carries == nil {
			c.carries = map[int]int64{}
		}
		c.carries[number] += n >> 32
	}
}

// Merge adds all counts of o.
func (c *Counts) Merge(o *Counts) {
	if len(o.counts) == 0 {
		return
	}
	c.cover(o.first, o.last())
	for number, n := range o.All() {
		c.Add(number, n)
	}
}

// All yields the numbers that were seen, ascending, and how often.
func (c *Counts) All() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for i := range c.counts {
			if n := c.of(i); n > 0 && !yield(c.first+i, n) {
				return
			}
		}
	}
}

// backward yields what All does, descending.
func (c *Counts) backward() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for i := len(c.counts) - 1; i >= 0; i-- {
			if n := c.of(i); n > 0 && !yield(c.first+i, n) {
				return
			}
		}
	}
}

func (c *Counts) of(i int) int64 {
	n := int64(c.counts[i])
	if c.carries != nil {
		n += c.carries[c.first+i] << 32
	}
	return n
}

func (c *Counts) last() int { return c.first + len(c.counts) - 1 }

// cover makes room for the numbers from first to last, and some more on the sides on which it grows: extremes that move
// on step by step must not cost a copy each.
func (c *Counts) cover(first, last int) {
	if len(c.counts) == 0 {
		c.first, c.counts = first, make([]uint32, last-first+1)
		return
	}
	const share = 8
	spare, before, after := len(c.counts)/share, 0, 0
	if first < c.first {
		before = c.first - first + spare
	}
	if last > c.last() {
		after = last - c.last() + spare
	}
	if before+after == 0 {
		return
	}
	counts := make([]uint32, before+len(c.counts)+after)
	copy(counts[before:], c.counts)
	c.first, c.counts = c.first-before, counts
}

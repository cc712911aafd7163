package metrics

import (
	"math/bits"

	"aiperf/internal/measure/record"
)

const (
	wordBits = 64
	// widestCode is the widest difference that is packed; wider columns keep whole numbers.
	widestCode = 56
)

// column is one fact of the rows of a block, packed: every row in the same number of bits as its
// distance from the smallest, none at all where all rows agree.
type column struct {
	base      int64
	width     uint8 // bits per row; wordBits = numbers as they are
	hasAbsent bool  // code 0 is record.Absent, the distances start at 1
	words     []uint64
}

// pack makes a column of values.
func pack(values []int64) column {
	lowest, highest, absent := extent(values)
	if absent == len(values) {
		return column{base: record.Absent}
	}
	c := column{base: lowest, hasAbsent: absent > 0}
	span := uint64(highest) - uint64(lowest)
	if c.hasAbsent {
		span++
	}
	width := bits.Len64(span)
	if width > widestCode {
		width = wordBits
	}
	if width == 0 {
		return c
	}
	c.width = uint8(width)
	c.words = make([]uint64, (len(values)*width+wordBits-1)/wordBits)
	for i, v := range values {
		c.put(i, c.code(v))
	}
	return c
}

// extent returns the smallest and largest value present and how many are absent.
func extent(values []int64) (lowest, highest int64, absent int) {
	for i, v := range values {
		switch {
		case v == record.Absent:
			absent++
		case i == absent:
			lowest, highest = v, v
		default:
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	return lowest, highest, absent
}

func (c *column) code(v int64) uint64 {
	switch {
	case c.width == wordBits:
		return uint64(v)
	case !c.hasAbsent:
		return uint64(v) - uint64(c.base)
	case v == record.Absent:
		return 0
	default:
		return uint64(v) - uint64(c.base) + 1
	}
}

func (c *column) put(i int, code uint64) {
	at := i * int(c.width)
	word, shift := at/wordBits, at%wordBits
	c.words[word] |= code << shift
	if shift+int(c.width) > wordBits {
		c.words[word+1] |= code >> (wordBits - shift)
	}
}

// isConstant reports that all rows agree.
func (c *column) isConstant() bool { return c.width == 0 }

// unpack writes the values of the first len(dst) rows.
func (c *column) unpack(dst []int64) {
	switch c.width {
	case 0:
		for i := range dst {
			dst[i] = c.base
		}
	case wordBits:
		for i := range dst {
			dst[i] = int64(c.words[i])
		}
	default:
		c.unpackCodes(dst)
	}
}

// unpackCodes unpacks values of width bits, which may cross from one word to the next. A code is the value less the
// base; where values are absent, 0 stands for that and the codes of the others are one more.
func (c *column) unpackCodes(dst []int64) {
	width := int(c.width)
	mask := uint64(1)<<width - 1
	base := c.base
	if c.hasAbsent {
		base--
	}
	at := 0
	for i := range dst {
		word, shift := at/wordBits, at%wordBits
		code := c.words[word] >> shift
		if shift+width > wordBits {
			code |= c.words[word+1] << (wordBits - shift)
		}
		code &= mask
		if code == 0 && c.hasAbsent {
			dst[i] = record.Absent
		} else {
			dst[i] = base + int64(code)
		}
		at += width
	}
}

package loader

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// pageSize is the number of values of a page of a column. A column grows by pages, without being copied.
const pageSize = 1 << 16

// Floats is a column of numbers, many of which may be absent (NaN).
type Floats struct {
	pages [][]float64 // nil: nothing but NaN
	n     int
}

// Add appends a number.
func (f *Floats) Add(v float64) {
	at := f.n % pageSize
	if at == 0 {
		f.pages = append(f.pages, nil)
	}
	f.n++
	page := &f.pages[len(f.pages)-1]
	if *page == nil {
		if math.IsNaN(v) {
			return
		}
		*page = make([]float64, at, pageSize)
		for i := range *page {
			(*page)[i] = math.NaN()
		}
	}
	*page = append(*page, v)
}

// At returns number i.
func (f *Floats) At(i int) float64 {
	if page := f.pages[i/pageSize]; page != nil {
		return page[i%pageSize]
	}
	return math.NaN()
}

// Ints is a column of whole numbers. Each page is as wide as the largest of its numbers: 0, 1, 2, 4 or 8 bytes.
type Ints struct {
	pages []intPage
	n     int
}

type intPage struct {
	width int
	data  []byte
}

// Add appends a number.
func (c *Ints) Add(v int64) {
	at := c.n % pageSize
	if at == 0 {
		c.pages = append(c.pages, intPage{})
	}
	p := &c.pages[len(c.pages)-1]
	if w := widthOf(v); w > p.width {
		p.widen(w, at)
	}
	p.set(at, v)
	c.n++
}

// Len returns how many numbers there are.
func (c *Ints) Len() int { return c.n }

// At returns number i.
func (c *Ints) At(i int) int64 { return c.pages[i/pageSize].at(i % pageSize) }

// widthOf returns the number of bytes that hold a number and its sign.
func widthOf(v int64) int {
	if v == 0 {
		return 0
	}
	n := 1 + bits.Len64(uint64(v^v>>63)) // with the sign
	return 1 << bits.Len(uint((n-1)/8))
}

// widen makes room for wider numbers; the first n are kept.
func (p *intPage) widen(width, n int) {
	wide := intPage{width, make([]byte, width*pageSize)}
	for i := range n {
		wide.set(i, p.at(i))
	}
	*p = wide
}

func (p *intPage) set(i int, v int64) {
	switch p.width {
	case 1:
		p.data[i] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p.data[2*i:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p.data[4*i:], uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(p.data[8*i:], uint64(v))
	}
}

func (p *intPage) at(i int) int64 {
	switch p.width {
	case 1:
		return int64(int8(p.data[i]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(p.data[2*i:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(p.data[4*i:])))
	case 8:
		return int64(binary.LittleEndian.Uint64(p.data[8*i:]))
	}
	return 0
}

package console

import "math"

// canvas is a grid of characters in which lines are drawn in dots finer than a character, where the terminal has
// braille patterns, and marks in whole characters.
type canvas struct {
	columns, rows int
	ascii         bool
	dots          []uint8 // the dots of each character
	marks         []mark  // the zero mark is none
}

type mark struct {
	text  rune
	style style
}

// newCanvas returns an empty canvas.
func newCanvas(columns, rows int, ascii bool) *canvas {
	return &canvas{columns: columns, rows: rows, ascii: ascii, dots: make([]uint8, columns*rows),
		marks: make([]mark, columns*rows)}
}

// fine returns how many dots a character has in each direction.
func (c *canvas) fine() (across, down int) {
	if c.ascii {
		return 1, 1
	}
	return 2, 4
}

// brailleBits are the bits of the dots of a pattern, by row and column.
var brailleBits = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// dot sets the dot at a place in [0, 1] from the left and from the bottom.
func (c *canvas) dot(x, y float64) {
	across, down := c.fine()
	i := place(x, c.columns*across)
	j := c.rows*down - 1 - place(y, c.rows*down)
	bit := uint8(1)
	if !c.ascii {
		bit = brailleBits[j%down][i%across]
	}
	c.dots[j/down*c.columns+i/across] |= bit
}

// place returns the index of the part of [0, 1] in which a share lies.
func place(share float64, parts int) int {
	return min(max(int(math.Round(share*float64(parts-1))), 0), parts-1)
}

// line draws a straight line.
func (c *canvas) line(x0, y0, x1, y1 float64) {
	across, down := c.fine()
	steps := int(max(math.Abs(x1-x0)*float64(c.columns*across), math.Abs(y1-y0)*float64(c.rows*down))) + 1
	for i := range steps + 1 {
		at := float64(i) / float64(steps)
		c.dot(x0+at*(x1-x0), y0+at*(y1-y0))
	}
}

// put sets a mark in place of the dots of its character.
func (c *canvas) put(x, y float64, m mark) {
	c.marks[(c.rows-1-place(y, c.rows))*c.columns+place(x, c.columns)] = m
}

// across draws a horizontal line of marks behind everything else.
func (c *canvas) across(y float64, m mark) {
	row := c.rows - 1 - place(y, c.rows)
	for i := range c.columns {
		if at := row*c.columns + i; c.dots[at] == 0 && c.marks[at].text == 0 {
			c.marks[at] = m
		}
	}
}

// row returns a row of characters from the top, equal styles together.
func (c *canvas) row(n int, of style) []span {
	var out []span
	add := func(r rune, s style) {
		if k := len(out) - 1; k >= 0 && out[k].style == s {
			out[k].text += string(r)
			return
		}
		out = append(out, span{string(r), s})
	}
	for i := n * c.columns; i < (n+1)*c.columns; i++ {
		switch m, d := c.marks[i], c.dots[i]; {
		case m.text != 0:
			add(m.text, m.style)
		case d == 0:
			add(' ', plain)
		case c.ascii:
			add('.', of)
		default:
			add(0x2800+rune(d), of)
		}
	}
	return out
}

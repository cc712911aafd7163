package dashboard

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"aiperf/internal/base/terminal"
)

// style is how a cell looks: a colour of the terminal's own 16, and attributes.
type style uint16

// The colours and attributes. The zero style is the terminal's own.
const (
	red style = iota + 1
	green
	yellow
	blue
	magenta
	cyan
	white

	colourBits style = 0xff
)

const (
	bold style = 1 << (8 + iota)
	dim
	reverse
)

// cell is a character on the screen with all that combines with it. The second half of a wide character is "\x00".
type cell struct {
	text  string
	style style
}

const secondHalf = "\x00"

// canvas is a grid of cells.
type canvas struct {
	width, height int
	cells         []cell
	// mono has no colours, only attributes.
	mono bool
}

func newCanvas(width, height int) *canvas {
	c := &canvas{}
	c.reset(width, height)
	return c
}

// reset makes the canvas blank, in another size.
func (c *canvas) reset(width, height int) {
	c.width, c.height = max(width, 0), max(height, 0)
	if n := c.width * c.height; cap(c.cells) < n {
		c.cells = make([]cell, n)
	} else {
		c.cells = c.cells[:n]
		clear(c.cells)
	}
}

// singles are the texts of the characters of one byte.
var singles = func() (list [128]string) {
	for i := range list {
		list[i] = string(rune(i))
	}
	return list
}()

// put writes a text from a place on, at most as many columns as there are to limit, and returns the columns that it
// took. What does not fit is left out, without a mark.
func (c *canvas) put(x, y, limit int, text string, s style) int {
	if y < 0 || y >= c.height || x >= c.width || x < 0 {
		return 0
	}
	limit = min(limit, c.width-x)
	row := c.cells[y*c.width : (y+1)*c.width]
	used := 0
	for i := 0; i < len(text); {
		b := text[i]
		if b >= 0x80 || b < ' ' || b == 0x7f {
			return used + c.putWide(x+used, y, limit-used, text[i:], s)
		}
		if used >= limit {
			break
		}
		row[x+used] = cell{singles[b], s}
		used++
		i++
	}
	return used
}

// putWide is put for a text with characters of several bytes.
func (c *canvas) putWide(x, y, limit int, text string, s style) int {
	row := c.cells[y*c.width : (y+1)*c.width]
	used := 0
	for g := displaywidth.StringGraphemes(terminal.Text(text)); g.Next(); {
		w := g.Width()
		t := g.Value()
		if w == 0 || t == "\t" || t == "\n" {
			t, w = " ", 1
		}
		if used+w > limit {
			break
		}
		row[x+used] = cell{t, s}
		if w == 2 {
			row[x+used+1] = cell{secondHalf, s}
		}
		used += w
	}
	return used
}

// fitted returns a text in at most as many columns, with an ellipsis where it was cut.
func fitted(text string, columns int) string { return terminal.Cut(text, columns, "…") }

// row appends a row as text with escape sequences for its styles, without the blanks at its end.
func (c *canvas) row(b *strings.Builder, y int) {
	row := c.cells[y*c.width : (y+1)*c.width]
	end := len(row)
	for end > 0 && (row[end-1].text == "" || row[end-1].text == " ") && row[end-1].style&reverse == 0 {
		end--
	}
	now := style(0)
	for _, one := range row[:end] {
		if one.text == secondHalf {
			continue
		}
		if c.mono {
			one.style &^= colourBits
		}
		if one.style != now {
			writeStyle(b, one.style)
			now = one.style
		}
		if one.text == "" {
			b.WriteByte(' ')
		} else {
			b.WriteString(one.text)
		}
	}
	if now != 0 {
		b.WriteString("\x1b[m")
	}
}

// String returns the canvas as lines with escape sequences for styles.
func (c *canvas) String() string {
	var b strings.Builder
	b.Grow(len(c.cells) * 2)
	for y := range c.height {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.row(&b, y)
	}
	return b.String()
}

func writeStyle(b *strings.Builder, s style) {
	b.WriteString("\x1b[0")
	for _, a := range [...]struct {
		bit  style
		code string
	}{{bold, ";1"}, {dim, ";2"}, {reverse, ";7"}} {
		if s&a.bit != 0 {
			b.WriteString(a.code)
		}
	}
	switch colour := s & colourBits; colour {
	case 0:
	case blue: // the bright one: the dark blue of many terminals cannot be read on black
		b.WriteString(";94")
	default:
		b.WriteString(";" + strconv.Itoa(30+int(colour)))
	}
	b.WriteByte('m')
}

package console

import (
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	header string
	left   bool // else aligned to the right
	style  style
	// wraps lets the column shrink when the table is wider than the page.
	wraps bool
}

// maxWord is the longest word, in columns, that a wrapping column does not break. A table that is
// still too wide overflows the page.
const maxWord = 24

// cell is the text of a cell, lines separated by newlines. A plain style takes the column's.
type cell struct {
	text  string
	style style
}

// table is a box with a heavy header and light body lines.
type table struct {
	title      string
	titleStyle style
	columns    []column
	rows       [][]cell
	// ruled has a line between rows.
	ruled bool
}

// print appends the table to the page after two empty lines. On a screen, columns in which no row has a value are left
// out, and a table that is too wide becomes a block for each row.
func (t *table) print(p *page) {
	if p.screen {
		t = t.withValues()
		if t.width(p.width) > p.width {
			t.stack(p)
			return
		}
	}
	widths, total := t.widths(p.width), t.width(p.width)
	p.blank(2)
	p.line(span{pad((total - columns(t.title)) / 2), plain}, span{t.title, t.titleStyle})
	p.line(span{rule(widths, "┏", "━", "┳", "┓"), plain})
	header := make([]cell, len(t.columns))
	for i, c := range t.columns {
		header[i] = cell{c.header, bold}
	}
	t.printRow(p, widths, header, "┃")
	p.line(span{rule(widths, "┡", "━", "╇", "┩"), plain})
	for i, row := range t.rows {
		if t.ruled && i > 0 {
			p.line(span{rule(widths, "├", "─", "┼", "┤"), plain})
		}
		t.printRow(p, widths, row, "│")
	}
	p.line(span{rule(widths, "└", "─", "┴", "┘"), plain})
}

// withValues returns the table without the columns in which no row has a value.
func (t *table) withValues() *table {
	kept := *t
	kept.columns, kept.rows = nil, make([][]cell, len(t.rows))
	for i, c := range t.columns {
		empty := i > 0 && !slices.ContainsFunc(t.rows, func(row []cell) bool { return row[i].text != notAvailable && row[i].text != "" })
		if empty {
			continue
		}
		kept.columns = append(kept.columns, c)
		for k, row := range t.rows {
			kept.rows[k] = append(kept.rows[k], row[i])
		}
	}
	return &kept
}

// stackIndent is by how much the values of a block are indented.
const stackIndent = 2

// stack appends a block for each row: its first cell, and below it each value behind the name of its column.
func (t *table) stack(p *page) {
	p.blank(2)
	for _, line := range wrap(t.title, p.width) {
		p.line(span{line, t.titleStyle})
	}
	p.line(span{strings.Repeat("━", min(columns(t.title), p.width)), plain})
	room, size := p.width-stackIndent, t.pairWidth()
	most := evenly(len(t.columns)-1, size, room+stackGap)
	for _, row := range t.rows {
		for _, line := range wrap(oneLine(row[0].text), p.width) {
			p.line(span{line, t.columns[0].style})
		}
		line, used, on := []span{{pad(stackIndent), plain}}, 0, 0
		for i, c := range row[1:] {
			column := &t.columns[i+1]
			look := c.style
			if look == plain {
				look = column.style
			}
			name := oneLine(column.header) + " "
			switch {
			case c.text == notAvailable || c.text == "":
				continue
			case on == most:
				p.line(line...)
				line, used, on = []span{{pad(stackIndent), plain}}, 0, 0
			}
			on++
			lines := wrap(c.text, max(room-columns(name), 1))
			line = append(line, span{name, dim}, span{lines[0], look},
				span{pad(size - columns(name) - columns(lines[0])), plain})
			used += max(size, columns(name)+columns(lines[0]))
			for _, more := range lines[1:] {
				p.line(line...)
				line = []span{{pad(stackIndent+columns(name)) + more, look}}
				used = room
			}
		}
		if used > 0 {
			p.line(line...)
		}
	}
}

// evenly returns how many values of a row each line takes, so that its lines are about as long as each other.
func evenly(values, size, room int) int {
	fit := max(room/size, 1)
	lines := max((values+fit-1)/fit, 1)
	return (values + lines - 1) / lines
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// stackGap is the distance of two values of a block.
const stackGap = 3

// pairWidth is the width of a value with its name and what parts it from the next one, if those of all rows are to be
// aligned.
func (t *table) pairWidth() int {
	widest := 0
	for _, row := range t.rows {
		for i, c := range row[1:] {
			widest = max(widest, columns(oneLine(t.columns[i+1].header))+1+columns(c.text)+stackGap)
		}
	}
	return widest
}

// width returns the width of the table.
func (t *table) width(room int) int {
	total := 1
	for _, w := range t.widths(room) {
		total += w + 3
	}
	return total
}

// widths are those of the contents; if they do not fit the page, the wrapping column gets narrower.
func (t *table) widths(room int) []int {
	widths := make([]int, len(t.columns))
	total := 1
	for i, c := range t.columns {
		for line := range strings.SplitSeq(c.header, "\n") {
			widths[i] = max(widths[i], columns(line))
		}
		for _, row := range t.rows {
			for line := range strings.SplitSeq(row[i].text, "\n") {
				widths[i] = max(widths[i], columns(line))
			}
		}
		total += widths[i] + 3
	}
	for i, c := range t.columns {
		if c.wraps && total > room {
			shrunk := max(widths[i]-(total-room), t.narrowest(i))
			total -= widths[i] - shrunk
			widths[i] = shrunk
		}
	}
	return widths
}

// narrowest is the width to which a column may shrink.
func (t *table) narrowest(i int) int {
	longest := 0
	for line := range strings.SplitSeq(t.columns[i].header, "\n") {
		longest = max(longest, columns(line))
	}
	for _, row := range t.rows {
		for word := range strings.FieldsSeq(row[i].text) {
			longest = max(longest, min(columns(word), maxWord))
		}
	}
	return longest
}

func rule(widths []int, left, fill, cross, right string) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat(fill, w+2)
	}
	return left + strings.Join(parts, cross) + right
}

func (t *table) printRow(p *page, widths []int, row []cell, bar string) {
	lines := make([][]string, len(row))
	height := 1
	for i, c := range row {
		lines[i] = wrap(c.text, widths[i])
		height = max(height, len(lines[i]))
	}
	for n := range height {
		spans := []span{{bar, plain}}
		for i, c := range row {
			text := ""
			if n < len(lines[i]) {
				text = lines[i][n]
			}
			style := c.style
			if style == plain {
				style = t.columns[i].style
			}
			before, after := pad(widths[i]-columns(text)), ""
			if t.columns[i].left {
				before, after = after, before
			}
			spans = append(spans, span{" " + before, plain}, span{text, style}, span{after + " " + bar, plain})
		}
		p.line(spans...)
	}
}

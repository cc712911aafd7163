package console

import "strings"

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
}

// print appends the table to the page after two empty lines.
func (t *table) print(p *page) {
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
	for _, row := range t.rows {
		t.printRow(p, widths, row, "│")
	}
	p.line(span{rule(widths, "└", "─", "┴", "┘"), plain})
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
		widths[i] = columns(c.header)
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
	longest := columns(t.columns[i].header)
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

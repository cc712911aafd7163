package docs

import (
	"slices"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config/flags"
)

// The marks of a text that is laid out: they take no room, and become escapes of the terminal at the end, or nothing.
const (
	markBold  = '\uE000'
	markCode  = '\uE001'
	markPlain = '\uE002'
)

// Render lays out a page for a terminal.
func Render(markdown string, look flags.Look) string {
	r := &renderer{width: look.Width, pages: map[string]bool{}}
	r.blocks(strings.Split(strings.TrimRight(markdown, "\n"), "\n"))
	if len(r.pages) > 0 {
		r.blank()
		r.paragraph("→ PAGE: "+manual.Page("PAGE")+" shows the page.", 0, 0)
	}
	return painted(strings.Join(r.out, "\n")+"\n", look.Styles)
}

// painted replaces the marks.
func painted(text string, styles bool) string {
	if !styles {
		return strings.NewReplacer(string(markBold), "", string(markCode), "", string(markPlain), "").Replace(text)
	}
	return strings.NewReplacer(string(markBold), "\x1b[1m", string(markCode), "\x1b[36m", string(markPlain), "\x1b[0m").
		Replace(text)
}

// renderer is a page that is being laid out.
type renderer struct {
	width int
	out   []string
	// pages are the pages that the text refers to.
	pages map[string]bool
}

func (r *renderer) blank() {
	if n := len(r.out); n > 0 && r.out[n-1] != "" {
		r.out = append(r.out, "")
	}
}

var (
	listItem = pattern.New(`^(\s*)([-*]|\d+\.)\s+(.*)$`)
	rule     = pattern.New(`^\|?[\s:|-]*-[\s:|-]*$`)
)

// blocks lays out lines: headings, code, tables, lists and paragraphs.
func (r *renderer) blocks(lines []string) {
	for i := 0; i < len(lines); {
		line := lines[i]
		rest := lines[i:]
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "<!--"):
			r.blank()
			i++
		case strings.HasPrefix(line, "```"):
			n := 1 + until(rest[1:], func(l string) bool { return strings.HasPrefix(l, "```") })
			r.code(rest[1:n], "")
			i += min(n+1, len(rest))
		case strings.HasPrefix(line, "    "):
			n := until(rest, func(l string) bool { return l != "" && !strings.HasPrefix(l, "    ") })
			for n > 0 && rest[n-1] == "" {
				n--
			}
			r.code(rest[:n], "    ")
			i += n
		case strings.HasPrefix(line, "#"):
			r.heading(line)
			i++
		case strings.HasPrefix(line, "|"):
			n := until(rest, func(l string) bool { return !strings.HasPrefix(l, "|") })
			r.table(rest[:n])
			i += n
		case listItem.MatchString(line):
			n := 1 + until(rest[1:], func(l string) bool {
				return l == "" || listItem.MatchString(l) || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "|")
			})
			m := listItem.FindStringSubmatch(line)
			text := m[3]
			for _, l := range rest[1:n] {
				text += " " + strings.TrimSpace(l)
			}
			bullet := m[2]
			if len(bullet) == 1 {
				bullet = "•"
			}
			indent := len(m[1]) + 2
			parts := wrap(r.inline(text), r.width-indent-len([]rune(bullet))-1)
			for j, part := range parts {
				lead := strings.Repeat(" ", indent) + bullet + " "
				if j > 0 {
					lead = strings.Repeat(" ", len([]rune(lead)))
				}
				r.out = append(r.out, lead+part)
			}
			i += n
		default:
			n := 1 + until(rest[1:], func(l string) bool {
				return l == "" || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "|") || strings.HasPrefix(l, "#") ||
					listItem.MatchString(l)
			})
			indent := 0
			text := strings.Join(rest[:n], " ")
			if strings.HasPrefix(text, ">") {
				text, indent = strings.ReplaceAll(text[1:], " > ", " "), 2
			}
			r.paragraph(text, indent, indent)
			i += n
		}
	}
}

// until is the number of lines before the first that ends a block.
func until(lines []string, ends func(string) bool) int {
	if n := slices.IndexFunc(lines, ends); n >= 0 {
		return n
	}
	return len(lines)
}

// heading writes a heading; without styles a line below it marks it.
func (r *renderer) heading(line string) {
	title := strings.TrimLeft(line, "#")
	level := len(line) - len(title)
	text := plain(strings.TrimSpace(title))
	r.blank()
	for _, part := range wrap(text, r.width) {
		r.out = append(r.out, string(markBold)+part+string(markPlain))
	}
	switch level {
	case 1:
		r.out = append(r.out, strings.Repeat("═", min(terminal.Width(text), r.width)))
	case 2:
		r.out = append(r.out, strings.Repeat("─", min(terminal.Width(text), r.width)))
	}
}

// code writes lines as they are, so that they can be copied.
func (r *renderer) code(lines []string, indent string) {
	for _, line := range lines {
		line = strings.TrimPrefix(line, indent)
		if line != "" {
			line = "    " + string(markCode) + line + string(markPlain)
		}
		r.out = append(r.out, line)
	}
}

func (r *renderer) paragraph(text string, first, rest int) {
	indent := first
	for _, part := range wrap(r.inline(text), r.width-rest) {
		r.out = append(r.out, strings.Repeat(" ", indent)+part)
		indent = rest
	}
}

// gap is between two columns; leastColumn is how narrow one becomes before rows are written one below the other.
const gap, leastColumn = 2, 14

// table writes a table whose columns fit the width, or else its rows one after the other.
func (r *renderer) table(lines []string) {
	var rows [][]string
	for i, line := range lines {
		if i == 1 && rule.MatchString(line) {
			continue
		}
		var row []string
		for _, c := range cells(line) {
			row = append(row, r.inline(c))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	columns := len(rows[0])
	for i := range rows {
		for len(rows[i]) < columns {
			rows[i] = append(rows[i], "")
		}
		rows[i] = rows[i][:columns]
	}
	widths, fits := columnWidths(rows, r.width)
	if !fits {
		r.records(rows)
		return
	}
	for i, row := range rows {
		r.row(row, widths, i == 0)
		if i == 0 && strings.TrimSpace(strings.Join(row, "")) != "" {
			var line []string
			for _, w := range widths {
				line = append(line, strings.Repeat("─", w))
			}
			r.out = append(r.out, strings.Join(line, strings.Repeat(" ", gap)))
		}
	}
}

// columnWidths narrows the widest columns until they fit.
func columnWidths(rows [][]string, room int) (widths []int, fit bool) {
	widths = make([]int, len(rows[0]))
	total := -gap
	for c := range widths {
		for _, row := range rows {
			widths[c] = max(widths[c], visible(row[c]))
		}
		total += widths[c] + gap
	}
	for total > room {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= leastColumn {
			return widths, false
		}
		widths[widest]--
		total--
	}
	for c, w := range widths { // a word that is longer than its column would break the table
		for _, row := range rows {
			for _, line := range wrap(row[c], w) {
				if visible(line) > w {
					return widths, false
				}
			}
		}
	}
	return widths, true
}

func (r *renderer) row(row []string, widths []int, head bool) {
	parts, height := make([][]string, len(row)), 1
	for c, text := range row {
		parts[c] = wrap(text, widths[c])
		height = max(height, len(parts[c]))
	}
	if head && strings.TrimSpace(strings.Join(row, "")) == "" {
		return
	}
	for i := range height {
		line := ""
		for c := range row {
			part := ""
			if i < len(parts[c]) {
				part = parts[c][i]
			}
			padding := strings.Repeat(" ", max(0, widths[c]-visible(part)))
			if head && part != "" {
				part = string(markBold) + part + string(markPlain)
			}
			line += part + padding
			if c+1 < len(row) {
				line += strings.Repeat(" ", gap)
			}
		}
		r.out = append(r.out, strings.TrimRight(line, " "))
	}
}

// records writes each row below its first cell, the others with the names of their columns.
func (r *renderer) records(rows [][]string) {
	names := rows[0]
	for _, row := range rows[1:] {
		r.out = append(r.out, wrap(row[0], r.width)...)
		for c := 1; c < len(row); c++ {
			if strings.TrimSpace(row[c]) == "" {
				continue
			}
			text := row[c]
			if names[c] != "" {
				text = names[c] + ": " + text
			}
			for i, part := range wrap(text, r.width-6) {
				lead := "    "
				if i > 0 {
					lead = "      "
				}
				r.out = append(r.out, lead+part)
			}
		}
	}
}

// cells are those of a line of a table.
func cells(line string) (list []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	cell := ""
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell += "|"
			i++
		case line[i] == '|':
			list = append(list, strings.TrimSpace(cell))
			cell = ""
		default:
			cell += line[i : i+1]
		}
	}
	return append(list, strings.TrimSpace(cell))
}

// visible is the width of a text without its marks.
func visible(text string) int {
	return terminal.Width(strings.Map(func(r rune) rune {
		if r >= markBold && r <= markPlain {
			return -1
		}
		return r
	}, text))
}

// wrap breaks a text at blanks into lines; a mark that is open at the end of a line is closed there and opened again in
// the next one.
func wrap(text string, width int) (lines []string) {
	current, open := "", rune(markPlain)
	flush := func() {
		if open != markPlain {
			current += string(markPlain)
		}
		lines = append(lines, current)
		current = ""
		if open != markPlain {
			current = string(open)
		}
	}
	for word := range strings.FieldsSeq(text) {
		if visible(current) > 0 && visible(current)+1+visible(word) > width {
			flush()
		}
		if visible(current) > 0 {
			current += " "
		}
		current += word
		for _, r := range word {
			if r >= markBold && r <= markPlain {
				open = r
			}
		}
	}
	if current != "" || len(lines) == 0 {
		lines = append(lines, current)
	}
	return lines
}

package console

import (
	"strings"

	"aiperf/internal/base/terminal"
)

// style is the style of a text on a terminal, as an escape sequence has it.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	cyan   style = "36"
	green  style = "32"
	yellow style = "33"
	red    style = "31"
	title  style = "1;3"
	alert  style = "1;31"
	label  style = "1;32"
)

// span is a text in one style.
type span struct {
	text  string
	style style
}

// page is the buffer of lines that a report is rendered into.
type page struct {
	width int
	// screen fits tables to a terminal.
	screen bool
	lines  [][]span
}

func newPage(o *Options) *page {
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	return &page{width: o.Width, screen: o.Screen}
}

func (p *page) line(spans ...span) { p.lines = append(p.lines, spans) }

// remark appends a text about what is above it, which wraps on a screen.
func (p *page) remark(text string, look style) {
	lines := []string{text}
	if p.screen {
		lines = wrap(text, p.width)
	}
	for _, line := range lines {
		if line != "" {
			p.line(span{line, look})
		}
	}
}

func (p *page) blank(n int) {
	for range n {
		p.line()
	}
}

// bytes returns the text of the page. Plain text has no trailing spaces and no escape sequences.
func (p *page) bytes(styles bool) []byte {
	var b strings.Builder
	for _, line := range p.lines {
		var text strings.Builder
		for _, s := range line {
			if styles && s.style != plain && s.text != "" {
				text.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
				continue
			}
			text.WriteString(s.text)
		}
		b.WriteString(strings.TrimRight(text.String(), " "))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// columns is the number of terminal columns of a text.
func columns(s string) int { return terminal.Width(s) }

func pad(n int) string { return strings.Repeat(" ", max(n, 0)) }

package console

import "strings"

// panel appends a yellow box that is as wide as its text, after one empty line. Long lines wrap.
func (p *page) panel(heading string, body ...string) {
	if p.screen && columns(heading)+6 > p.width {
		p.openPanel(heading, body)
		return
	}
	room := p.width - 4
	var lines []string
	inner := columns(heading) + 2
	for _, text := range body {
		for _, line := range wrap(text, room) {
			lines = append(lines, line)
			inner = max(inner, columns(line))
		}
	}
	fill := inner + 2 - columns(heading) - 2
	left := fill / 2
	p.blank(1)
	p.line(
		span{"╭" + strings.Repeat("─", left) + " ", yellow},
		span{heading, title},
		span{" " + strings.Repeat("─", fill-left) + "╮", yellow},
	)
	for _, line := range lines {
		p.line(span{"│", yellow}, span{" " + line + pad(inner-columns(line)) + " ", plain}, span{"│", yellow})
	}
	p.line(span{"╰" + strings.Repeat("─", inner+2) + "╯", yellow})
}

// openPanel appends a panel without its box, for terminals that are narrower than its heading.
func (p *page) openPanel(heading string, body []string) {
	p.blank(1)
	for _, line := range wrap(heading, p.width) {
		p.line(span{line, title})
	}
	for _, text := range body {
		for _, line := range wrap(text, p.width) {
			p.line(span{line, plain})
		}
	}
}

package flags

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/pattern"
	"aiperf/internal/base/terminal"
)

// page is a help text that is being written.
type page struct {
	strings.Builder
	width  int
	styles bool
}

func newPage(look Look) *page {
	p := &page{width: look.Width, styles: look.Styles}
	if p.width == 0 {
		p.width = HelpWidth
	}
	return p
}

// lines is the number of lines so far.
func (p *page) lines() int { return strings.Count(p.String(), "\n") }

// blank begins a new paragraph.
func (p *page) blank() {
	if text := p.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
		p.WriteByte('\n')
	}
}

// The escapes of headings and of flags.
const (
	headingStyle = "\x1b[1m"
	flagStyle    = "\x1b[36m"
	plainStyle   = "\x1b[0m"
)

func (p *page) styled(style, text string) string {
	if !p.styles || text == "" {
		return text
	}
	return style + text + plainStyle
}

func (p *page) heading(text string) {
	for _, line := range terminal.Wrap(text, p.width) {
		p.WriteString(p.styled(headingStyle, line) + "\n")
	}
}

// margin is the indent of flags.
const margin = 2

// column is where the explanations of flags begin: behind most of them, and not beyond two fifths of the width.
func (p *page) column(list []*Flag) int {
	most, column := p.width*2/5, 0
	for _, f := range list {
		if n := margin + utf8.RuneCountInString(f.Head()) + 2; n <= most {
			column = max(column, n)
		}
	}
	return max(column, margin+len(helpHead)+2)
}

// helpHead is the flag of the help itself.
const helpHead = "-h, --help [WORD]"

func (p *page) flags(list []*Flag) {
	column := p.column(list)
	for _, f := range list {
		p.row(f.Head(), f.explained(), column)
	}
}

// row writes a head and, from a column on, its explanation; a head that is too long stands alone.
func (p *page) row(head, text string, column int) {
	for word := range strings.FieldsSeq(text) { // a name that is too long for the column
		column = max(min(column, p.width-utf8.RuneCountInString(word)), 2*margin)
	}
	lines := p.wrapped(text, p.width-column)
	heads := hanging(head, p.width-margin, 4)
	for _, h := range heads[:len(heads)-1] {
		p.WriteString(strings.Repeat(" ", margin) + p.styled(flagStyle, h) + "\n")
	}
	last := heads[len(heads)-1]
	p.WriteString(strings.Repeat(" ", margin) + p.styled(flagStyle, last))
	gap := column - margin - utf8.RuneCountInString(last)
	if gap < 2 {
		p.WriteByte('\n')
		gap = column
	}
	for _, line := range lines {
		if line == "" {
			p.WriteByte('\n')
		} else {
			p.WriteString(strings.Repeat(" ", gap) + line + "\n")
		}
		gap = column
	}
}

// wrapped breaks the lines of a text; indented lines keep their indent.
func (p *page) wrapped(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, terminal.Wrap(line, width)...)
	}
	return lines
}

// hanging breaks a line at spaces; its further parts are indented. A longer word stands alone.
func hanging(line string, width, indent int) (parts []string) {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	current := ""
	for word := range strings.FieldsSeq(line) {
		switch {
		case strings.TrimSpace(current) == "":
			current += word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) <= width:
			current += " " + word
		default:
			parts = append(parts, current)
			current = strings.Repeat(" ", indent) + word
		}
	}
	return append(parts, current)
}

// columns matches a line of two columns, such as an action and its meaning.
var columns = pattern.New(`^( +)(\S.*?\S|\S) {2,}(\S.*)$`)

// text writes paragraphs, anew in lines that fit. What is indented keeps its lines: they are commands, or rows of two
// columns, which stay so.
func (p *page) text(text string) {
	for i, block := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			p.blank()
		}
		p.block(strings.Split(strings.Trim(block, "\n"), "\n"))
	}
}

func (p *page) block(lines []string) {
	var paragraph []string
	flush := func() {
		if text := strings.Join(paragraph, " "); strings.HasSuffix(text, ":") && len(paragraph) == 1 {
			p.heading(text)
		} else if text != "" {
			p.WriteString(strings.Join(terminal.Wrap(text, p.width), "\n") + "\n")
		}
		paragraph = nil
	}
	var rows [][2]string
	flushRows := func() {
		column := 0
		for _, r := range rows {
			if n := margin + utf8.RuneCountInString(r[0]) + 2; n <= p.width*2/5 {
				column = max(column, n)
			}
		}
		for _, r := range rows {
			p.row(r[0], r[1], max(column, 12))
		}
		rows = nil
	}
	for _, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		usage, isUsage := strings.CutPrefix(line, "Usage: ")
		switch m := columns.FindStringSubmatch(line); {
		case isUsage || strings.HasPrefix(line, "       aiperf "):
			flush()
			if !isUsage {
				usage = strings.TrimSpace(line)
			}
			lead := "       "
			for j, part := range hanging(usage, p.width-len(lead), 4) {
				if j == 0 && isUsage {
					p.WriteString(p.styled(headingStyle, "Usage:") + " " + part + "\n")
				} else {
					p.WriteString(lead + part + "\n")
				}
			}
		case indent == 0:
			flushRows()
			if strings.HasPrefix(line, "Exit codes:") {
				flush()
			}
			paragraph = append(paragraph, line)
			if strings.HasSuffix(line, ":") {
				flush()
			}
		case len(rows) > 0 && indent > margin+4: // the rest of the explanation before it
			rows[len(rows)-1][1] += " " + strings.TrimSpace(line)
		case m != nil:
			flush()
			rows = append(rows, [2]string{m[2], m[3]})
		default:
			flush()
			flushRows()
			p.command(strings.TrimSpace(line), indent)
		}
	}
	flushRows()
	flush()
}

// command writes a line that is typed. Where it is too long it goes on in the next line, with a flag.
func (p *page) command(line string, indent int) {
	lead, room := strings.Repeat(" ", indent), p.width-indent
	if utf8.RuneCountInString(line) <= room {
		p.WriteString(lead + line + "\n")
		return
	}
	current := ""
	for _, unit := range units(line) {
		if current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(unit) > room-2 {
			p.WriteString(lead + current + " \\\n")
			current = "   "
		}
		current = strings.TrimPrefix(current+" "+unit, " ")
		if strings.HasPrefix(current, "  ") {
			current = "    " + strings.TrimLeft(current, " ")
		}
	}
	p.WriteString(lead + current + "\n")
}

// units are the parts of a command that stay together: words, and flags with their values.
func units(line string) (list []string) {
	for _, word := range Words(line) {
		if n := len(list) - 1; n >= 0 && strings.HasPrefix(list[n], "-") && !strings.Contains(list[n], " ") &&
			!strings.HasPrefix(word, "-") {
			list[n] += " " + word
			continue
		}
		list = append(list, word)
	}
	return list
}

// Words are the words of a command as a shell separates them, with their quotes.
func Words(line string) (list []string) {
	quote, word := rune(0), ""
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			if word != "" {
				list = append(list, word)
			}
			word = ""
			continue
		}
		word += string(r)
	}
	if word != "" {
		list = append(list, word)
	}
	return list
}

func (p *page) examples(list []Example) {
	if len(list) == 0 {
		return
	}
	p.blank()
	p.heading("Examples:")
	for _, e := range list {
		if e.For != "" {
			for _, line := range hanging("# "+e.For, p.width-margin, 2) {
				p.WriteString(strings.Repeat(" ", margin) + line + "\n")
			}
		}
		p.command(e.Command, margin)
	}
}

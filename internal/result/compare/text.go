package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/result/judge"
)

// TextOptions say how a comparison is shown as text.
type TextOptions struct {
	// Width is that of the terminal in columns; 0 is 80, and as wide as needed where all figures are shown.
	Width int
	// Colour marks verdicts by colours too.
	Colour bool
	// All shows all figures rather than those that matter most.
	All bool
}

func (o TextOptions) width() int {
	if o.Width == 0 {
		return 80
	}
	return max(o.Width, 40)
}

// widest is the width of a table: where all figures go to a file, nothing is left out.
func (o TextOptions) widest() int {
	if o.Width == 0 && o.All {
		return math.MaxInt
	}
	return o.width()
}

// cell is a cell of a table.
type cell struct {
	text  string
	right bool
	style string
}

// Styles of a terminal.
const (
	bold, dim, red, green, yellow, plainStyle = "1", "2", "31", "32", "33", ""
)

func (o TextOptions) styled(text, style string) string {
	if style == plainStyle || !o.Colour || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// marks are those of the verdicts, with their styles.
var marks = map[Verdict][2]string{
	Better: {"✓", green}, Worse: {"✗", red}, Differs: {"≠", yellow}, Same: {"=", plainStyle}, NotShown: {"·", dim},
	Undecided: {"?", dim},
}

// table returns the lines of a table whose first row has the headings.
func (o TextOptions) table(rows [][]cell) (lines []string) {
	widths := widthsOf(rows)
	for n, row := range rows {
		var line strings.Builder
		for i, c := range row {
			space := strings.Repeat(" ", widths[i]-terminal.Width(c.text))
			style := c.style
			if n == 0 {
				style = bold
			}
			switch {
			case c.right:
				line.WriteString(space + o.styled(c.text, style))
			case i == len(row)-1:
				line.WriteString(o.styled(c.text, style))
			default:
				line.WriteString(o.styled(c.text, style) + space)
			}
			if i < len(row)-1 {
				line.WriteString("  ")
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
		if n == 0 {
			lines = append(lines, strings.Repeat("─", tableWidth(widths)))
		}
	}
	return lines
}

func widthsOf(rows [][]cell) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], terminal.Width(c.text))
		}
	}
	return widths
}

func tableWidth(widths []int) int {
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	return total
}

// Label is the name of a figure with its unit.
func (f *Figure) Label() string {
	text := f.short()
	if f.Unit == "" || impliesUnit(f.Tag) || f.IsShare() {
		return text
	}
	return text + " (" + f.Unit + ")"
}

// Change writes the difference: in percent, or as a factor where it is more than tenfold; of a share in points.
func (f *Figure) Change() string {
	p := f.Percent()
	switch {
	case f.New == f.Base:
		return "0 %"
	case f.IsShare():
		return signed(f.New-f.Base, twoDigits) + " points"
	case !artifact.Finite(p):
		return "N/A"
	case p >= 900:
		return twoDigits(f.New/f.Base) + " ×"
	}
	return percent(p)
}

// percent writes a difference in percent with its sign.
func percent(p float64) string { return signed(p, twoDigits) + " %" }

// Interval writes the interval of the difference in the unit of the change; "" without one.
func (f *Figure) Interval() string {
	low, high := 100*f.Low/math.Abs(f.Base), 100*f.High/math.Abs(f.Base)
	switch {
	case math.IsNaN(f.Low) || math.IsNaN(f.High):
		return ""
	case f.IsShare():
		return signed(f.Low, twoDigits) + " … " + signed(f.High, twoDigits) + " points"
	case !artifact.Finite(low) || !artifact.Finite(high):
		return signed(f.Low, artifact.Short) + " … " + signed(f.High, artifact.Short)
	case f.Low == 0 && f.High == 0:
		return "0 %"
	case f.Percent() >= 900 && f.Base > 0 && f.Low > 0:
		return twoDigits(1+low/100) + " … " + twoDigits(1+high/100) + " ×"
	}
	return signed(low, twoDigits) + " … " + signed(high, twoDigits) + " %"
}

func signed(v float64, number func(float64) string) string {
	switch {
	case v < 0:
		return "−" + number(-v)
	case v == 0:
		return "0"
	}
	return "+" + number(v)
}

// row returns the row of a figure.
func (f *Figure) row(by bool) []cell {
	mark := marks[f.Verdict]
	between := f.Interval()
	if between == "" && f.Method == MethodTooFew {
		between = "too few"
	}
	row := []cell{{text: f.Label()}, {text: f.value(f.Base), right: true},
		{text: f.value(f.New), right: true}, {text: f.Change(), right: true}, {text: between, right: true},
		{text: mark[0] + " " + string(f.Verdict), style: mark[1]}}
	if by {
		row = append(row, cell{text: f.How(), style: dim})
	}
	return row
}

// How names the method.
func (f *Figure) How() string {
	if f.Method == MethodNone {
		return "one value each"
	}
	return string(f.Method)
}

// rows returns the rows of figures, with their headings; they are as wide as the terminal at most, where that is
// possible.
func (o TextOptions) rows(c *Comparison, figures []int) [][]cell {
	by := o.All || c.chosen
	build := func() [][]cell {
		rows := [][]cell{{{text: "Metric"}, {text: "base", right: true}, {text: "new", right: true},
			{text: "change", right: true}, {text: fmt.Sprintf("%.4g %% interval", 100*c.Confidence), right: true},
			{text: "verdict"}}}
		if by {
			rows[0] = append(rows[0], cell{text: "by"})
		}
		for _, at := range figures {
			rows = append(rows, c.Figures[at].row(by))
		}
		return rows
	}
	rows := build()
	if by && tableWidth(widthsOf(rows)) > o.widest() {
		by = false
		rows = build()
	}
	if tableWidth(widthsOf(rows)) > o.widest() {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 4, 5) // the interval
		}
	}
	return rows
}

// figures returns the places of the figures to show, and how many others there are.
func (o TextOptions) figures(c *Comparison) (list []int, others int) {
	list = c.Key()
	if o.All {
		list = nil
		for i := range c.Figures {
			list = append(list, i)
		}
	}
	return list, len(c.Figures) - len(list)
}

// Text returns comparisons with the same base as text for a terminal: the headlines first, then a table.
func Text(list []*Comparison, o TextOptions) string {
	p := &printer{TextOptions: o}
	for _, c := range list {
		p.headline(c.NewName(), c.Finding(), c.tone())
		if c.Answers != nil {
			p.headline(c.NewName(), c.Answers.String(), tones[c.AnswersLeaning()])
		}
	}
	p.line("")
	if len(list) == 1 {
		p.single(list[0])
	} else {
		p.several(list)
	}
	p.configuration(list)
	var notes []string
	for _, c := range list {
		for _, note := range c.Notes {
			if !slices.Contains(notes, note) && !strings.Contains(note, " differ in their configuration: ") {
				notes = append(notes, note)
			}
		}
	}
	p.notes(notes)
	return p.String()
}

// Text returns the comparison as text for a terminal.
func (c *Comparison) Text() string { return Text([]*Comparison{c}, TextOptions{}) }

// Leaning is Worse if any of the figures that matter most is, or if the new runs are in a bad state. Else it is Differs
// where the figures say less than they seem to, by the state of a run or because what was asked differs; else Better if
// any of the figures is, else Same.
func (c *Comparison) Leaning() Verdict {
	if state, ok := c.New.state(); ok && state.Level == judge.Bad {
		return Worse
	}
	leaning := Same
	for _, at := range c.Key() {
		switch c.Figures[at].Verdict {
		case Worse:
			return Worse
		case Better:
			leaning = Better
		}
	}
	if len(c.Asked) > 0 || len(c.States()) > 0 {
		return Differs
	}
	return leaning
}

// tone is the style of the headline.
func (c *Comparison) tone() string { return tones[c.Leaning()] }

// tones are the styles of headlines by what they lean to.
var tones = map[Verdict]string{Worse: red, Better: green, Differs: yellow, Same: plainStyle}

// printer collects lines; foreign texts in them are safe to print.
type printer struct {
	TextOptions
	strings.Builder
}

func (p *printer) line(text string) { p.WriteString(text + "\n") }

// headline writes a finding with the name in front.
func (p *printer) headline(name, finding, tone string) {
	name = terminal.Text(name)
	for i, line := range terminal.Wrap(name+": "+terminal.Text(finding), p.width()) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok && i == 0 {
			p.line(p.styled(name, bold) + ":" + p.styled(rest, tone))
			continue
		}
		p.line(p.styled(line, tone))
	}
}

// wrapped writes a text with a hanging indent.
func (p *printer) wrapped(text, indent string) {
	for i, line := range terminal.Wrap(terminal.Text(text), p.width()-len(indent)) {
		if i > 0 {
			line = indent + line
		}
		p.line(line)
	}
}

func (p *printer) notes(notes []string) {
	for _, note := range notes {
		p.wrapped("note: "+note, "      ")
	}
}

// single writes the table of one comparison.
func (p *printer) single(c *Comparison) {
	p.wrapped(fmt.Sprintf("%s (%s) against %s (%s), %.4g %% confidence", c.New.Name, runs(c.New), c.Base.Name,
		runs(c.Base), 100*c.Confidence), "")
	p.line("")
	figures, others := p.figures(c)
	for _, line := range p.table(p.rows(c, figures)) {
		p.line(line)
	}
	if others > 0 {
		p.wrapped(p.others([]*Comparison{c}, others), "")
	}
}

// others says what the figures that are not shown amount to.
func (p *printer) others(list []*Comparison, others int) string {
	seen := map[Verdict]int{}
	for _, c := range list {
		figures, _ := p.figures(c)
		for i := range c.Figures {
			if !slices.Contains(figures, i) {
				seen[c.Figures[i].Verdict]++
			}
		}
	}
	var parts []string
	for _, v := range []Verdict{Worse, Better, Differs} {
		if seen[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", seen[v], v))
		}
	}
	if parts == nil {
		parts = []string{"none better or worse"}
	}
	figures := "figures"
	if others == 1 {
		figures = "figure"
	}
	return fmt.Sprintf("%d more %s (%s): --all", others, figures, strings.Join(parts, ", "))
}

// several writes systems side by side, in as many tables as the width calls for.
func (p *printer) several(list []*Comparison) {
	p.wrapped(fmt.Sprintf("against %s (%s), %.4g %% confidence; ✓ better, ✗ worse, ≠ differs, = no difference, · not "+
		"shown, ? undecided", list[0].Base.Name, runs(list[0].Base), 100*list[0].Confidence), "")
	tags, others := p.union(list)
	for first := 0; first < len(list); {
		n := len(list) - first
		rows := p.sideBySide(list[first:], tags)
		for n > 1 && tableWidth(widthsOf(rows)) > p.width() {
			n--
			rows = p.sideBySide(list[first:first+n], tags)
		}
		p.line("")
		for _, line := range p.table(rows) {
			p.line(line)
		}
		first += n
	}
	if others > 0 {
		p.wrapped(p.others(list, others), "")
	}
}

// union returns the first place of each figure that any of the comparisons shows, as pairs of tag and statistic, and
// how many figures are not shown.
func (p *printer) union(list []*Comparison) (tags [][2]string, others int) {
	for _, c := range list {
		figures, rest := p.figures(c)
		others = max(others, rest)
		for _, at := range figures {
			if key := [2]string{c.Figures[at].Tag, c.Figures[at].Stat}; !slices.Contains(tags, key) {
				tags = append(tags, key)
			}
		}
	}
	return tags, others
}

// sideBySide returns a table with the columns of each system.
func (p *printer) sideBySide(list []*Comparison, tags [][2]string) [][]cell {
	const longestName = 18
	head := []cell{{text: "Metric"}, {text: "base", right: true}}
	for _, c := range list {
		head = append(head, cell{text: shortened(terminal.Text(c.NewName()), longestName), right: true},
			cell{text: "change", right: true})
	}
	rows := [][]cell{head}
	for _, key := range tags {
		var row []cell
		for n, c := range list {
			f := c.at(key)
			if f == nil {
				continue
			}
			if row == nil {
				row = []cell{{text: f.Label()}, {text: f.value(f.Base), right: true}}
				for range n {
					row = append(row, cell{text: "–", right: true}, cell{})
				}
			}
			mark := marks[f.Verdict]
			row = append(row, cell{text: f.value(f.New), right: true},
				cell{text: f.Change() + " " + mark[0], right: true, style: mark[1]})
		}
		if row == nil {
			continue
		}
		for len(row) < len(head) {
			row = append(row, cell{text: "–", right: true})
		}
		rows = append(rows, row)
	}
	return rows
}

// at returns a figure by its tag and statistic; nil if there is none.
func (c *Comparison) at(key [2]string) *Figure {
	if at := c.place(key[0], key[1]); at >= 0 {
		return &c.Figures[at]
	}
	return nil
}

// configuration writes the keys whose values differ, with the value of each system.
func (p *printer) configuration(list []*Comparison) {
	const longestValue = 60
	var keys []string
	for _, c := range list {
		for _, d := range c.Configuration {
			if !slices.Contains(keys, d.Key) {
				keys = append(keys, d.Key)
			}
		}
	}
	if len(keys) == 0 {
		return
	}
	p.line("")
	p.line(p.styled("differs in the configuration", bold) + " (base → new)")
	show := func(value string) string {
		if value == "" {
			return "–"
		}
		return shortened(terminal.Text(value), longestValue)
	}
	for _, key := range keys {
		text, base := "", ""
		for _, c := range list {
			at := slices.IndexFunc(c.Configuration, func(d Difference) bool { return d.Key == key })
			if at < 0 {
				text += " | ="
				continue
			}
			base = c.Configuration[at].Base
			text += " | " + show(c.Configuration[at].New)
		}
		p.wrapped("  "+key+"  "+show(base)+" → "+strings.TrimPrefix(text, " | "), "      ")
	}
}

func runs(s *System) string {
	if s.count() == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", s.count())
}

package compare

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metrics"
)

// impliesUnit reports whether the short name of a metric says its unit.
func impliesUnit(tag string) bool {
	d, ok := metrics.Lookup(tag)
	return ok && d.ShortHidesUnit
}

var headings = []string{"Metric", "stat", "base", "new", "change", "interval of the difference", "verdict", "by"}

// cells returns the columns of a line of a page.
func (f *Figure) cells() []string {
	label := f.Header
	if f.Unit != "" {
		label += " (" + f.Unit + ")"
	}
	change := "N/A"
	if p := f.Percent(); artifact.Finite(p) {
		change = signed(p, artifact.Fixed2) + " %"
	}
	between := "N/A"
	if !math.IsNaN(f.Low) && !math.IsNaN(f.High) {
		between = signed(f.Low, Number) + " … " + signed(f.High, Number)
	}
	return []string{label, f.Stat, Number(f.Base), Number(f.New), change, between, string(f.Verdict), f.How()}
}

// Markdown returns comparisons with the same base as tables of a Markdown page, those figures that matter most or all.
func Markdown(list []*Comparison, all bool) string {
	var b strings.Builder
	for i, c := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		c.markdown(&b, TextOptions{All: all})
	}
	return b.String()
}

// Markdown returns the comparison as a table of a Markdown page.
func (c *Comparison) Markdown() string { return Markdown([]*Comparison{c}, true) }

func (c *Comparison) markdown(b *strings.Builder, o TextOptions) {
	fmt.Fprintf(b, "### %s against %s\n\n", terminal.Markdown(c.New.Name), terminal.Markdown(c.Base.Name))
	fmt.Fprintf(b, "**%s**\n\n", terminal.Markdown(c.Headline()))
	if c.Answers != nil {
		fmt.Fprintf(b, "**%s**\n\n", terminal.Markdown(c.Answers.String()))
	}
	fmt.Fprintf(b, "%s against %s, %.4g %% confidence\n\n", runs(c.New), runs(c.Base), 100*c.Confidence)
	b.WriteString("| " + strings.Join(headings, " | ") + " |\n|---|---|--:|--:|--:|---|---|---|\n")
	figures, others := o.figures(c)
	for _, at := range figures {
		b.WriteString(c.Figures[at].markdownCells()[1:] + "\n")
	}
	if others > 0 {
		b.WriteString("\n" + (&printer{TextOptions: o}).others([]*Comparison{c}, others) + "\n")
	}
	if len(c.Configuration) > 0 {
		b.WriteString("\n| differs in the configuration | base | new |\n|---|---|---|\n")
		for _, d := range c.Configuration {
			fmt.Fprintf(b, "| %s | %s | %s |\n", terminal.Markdown(d.Key), terminal.Markdown(d.Base), terminal.Markdown(d.New))
		}
	}
	if len(c.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range c.Notes {
		b.WriteString("- " + terminal.Markdown(note) + "\n")
	}
}

// markdownCells returns a line without its first bar.
func (f *Figure) markdownCells() string {
	cells := f.cells()
	for k := range 2 { // the others are numbers and words of this program
		cells[k] = terminal.Markdown(cells[k])
	}
	if f.Verdict == Worse || f.Verdict == Better {
		cells[6] = "**" + cells[6] + "**"
	}
	return " | " + strings.Join(cells, " | ") + " |"
}

package compare

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
)

var headings = []string{"Metric", "stat", "base", "new", "change", "interval of the difference", "verdict", "by"}

// cells returns the columns of a line.
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
	by := string(f.Method)
	if f.Method == MethodNone {
		by = "one value each"
	}
	return []string{label, f.Stat, Number(f.Base), Number(f.New), change, between, string(f.Verdict), by}
}

func signed(v float64, number func(float64) string) string {
	if v < 0 {
		return "−" + number(-v)
	}
	return "+" + number(v)
}

// Text returns the comparison as a table for the console.
func (c *Comparison) Text() string {
	rows := [][]string{headings}
	for i := range c.Figures {
		rows = append(rows, c.Figures[i].cells())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) against %s (%s), %.4g %% confidence\n\n", c.New.Name, runs(c.New), c.Base.Name,
		runs(c.Base), 100*c.Confidence)
	layOut(&b, rows, 2)
	for _, note := range c.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// layOut writes a table of which the first row are the headings; three columns from the numeric one on are aligned to
// the right.
func layOut(b *strings.Builder, rows [][]string, numeric int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i >= numeric && i < numeric+3 {
				line.WriteString(space + cell + "  ")
			} else {
				line.WriteString(cell + space + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n == 0 {
			total := 0
			for _, w := range widths {
				total += w + 2
			}
			b.WriteString(strings.Repeat("─", total-2) + "\n")
		}
	}
}

func runs(s *System) string {
	if s.count() == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", s.count())
}

// Markdown returns the comparison as a table of a Markdown page.
func (c *Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s against %s\n\n", escaped(c.New.Name), escaped(c.Base.Name))
	fmt.Fprintf(&b, "%s against %s, %.4g %% confidence\n\n", runs(c.New), runs(c.Base), 100*c.Confidence)
	b.WriteString("| " + strings.Join(headings, " | ") + " |\n|---|---|--:|--:|--:|---|---|---|\n")
	for i := range c.Figures {
		b.WriteString(c.Figures[i].markdownCells()[1:] + "\n")
	}
	if len(c.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range c.Notes {
		b.WriteString("- " + escaped(note) + "\n")
	}
	return b.String()
}

// markdownCells returns a line without its first bar.
func (f *Figure) markdownCells() string {
	cells := f.cells()
	for k := range cells {
		cells[k] = escaped(cells[k])
	}
	if f.Verdict == Worse || f.Verdict == Better {
		cells[6] = "**" + cells[6] + "**"
	}
	return " | " + strings.Join(cells, " | ") + " |"
}

// escaped escapes the special characters of Markdown in a text.
func escaped(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;").Replace(s)
}

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
	widths := make([]int, len(headings))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) against %s (%s), %.4g %% confidence\n\n", c.New.Name, runs(c.New), c.Base.Name,
		runs(c.Base), 100*c.Confidence)
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if numeric := i >= 2 && i <= 4; numeric {
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
	for _, note := range c.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
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
		cells := c.Figures[i].cells()
		for k := range cells {
			cells[k] = escaped(cells[k])
		}
		if v := c.Figures[i].Verdict; v == Worse || v == Better {
			cells[6] = "**" + cells[6] + "**"
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	if len(c.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range c.Notes {
		b.WriteString("- " + escaped(note) + "\n")
	}
	return b.String()
}

// escaped escapes the special characters of Markdown in a text.
func escaped(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;").Replace(s)
}

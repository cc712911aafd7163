package analysis

import (
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/result/judge"
)

// marks stand before findings.
var marks = map[judge.Level]string{judge.Good: "✅", judge.Warn: "⚠️", judge.Bad: "❌"}

// Markdown returns the card as a block of Markdown.
func (c *Card) Markdown() string {
	var b strings.Builder
	b.WriteString("**" + terminal.Markdown(c.Title) + "**")
	for _, fact := range c.Facts {
		b.WriteString(" · " + terminal.Markdown(fact))
	}
	b.WriteString("\n\n")
	for _, f := range c.Figures {
		if !c.several() {
			break // the table has them
		}
		b.WriteString("- " + terminal.Markdown(f.Name) + ": **" + terminal.Markdown(strings.TrimSpace(f.Value+" "+f.Unit)) + "**")
		if f.Detail != "" {
			b.WriteString(", " + terminal.Markdown(f.Detail))
		}
		b.WriteString("\n")
	}
	for _, f := range c.Findings {
		b.WriteString("- ")
		if mark := marks[f.Level]; mark != "" {
			b.WriteString(mark + " ")
		}
		b.WriteString("**" + terminal.Markdown(f.Title) + "**")
		if f.Text != "" {
			b.WriteString(": " + terminal.Markdown(f.Text))
		}
		b.WriteString("\n")
	}
	if len(c.Findings) > 0 || c.several() && len(c.Figures) > 0 {
		b.WriteString("\n")
	}
	if len(c.Rows) > 0 {
		b.WriteString(row(c.Head))
		b.WriteString("|---" + strings.Repeat("|--:", len(c.Head)-1) + "|\n")
		for _, r := range c.Rows {
			b.WriteString(row(r))
		}
		b.WriteString("\n")
	}
	for _, note := range c.Notes {
		b.WriteString(terminal.Markdown(note) + "\n\n")
	}
	if c.Command != "" {
		b.WriteString(terminal.MarkdownBlock("sh", c.Command) + "\n")
	}
	b.WriteString(terminal.Markdown(c.foot()) + "\n")
	return b.String()
}

func row(cells []string) string {
	var b strings.Builder
	for _, cell := range cells {
		b.WriteString("| " + terminal.Markdown(cell) + " ")
	}
	return b.String() + "|\n"
}

// several reports whether the card is about several cells.
func (c *Card) several() bool { return c.Kind == "Sweep" || c.Kind == "Search" || c.Kind == "Capacity" }

// foot says what measured it, and when.
func (c *Card) foot() string {
	parts := []string{"measured with " + c.Program}
	if c.Program == "" {
		parts = nil
	}
	if c.When != "" {
		parts = append(parts, c.When)
	}
	return strings.Join(parts, ", ")
}

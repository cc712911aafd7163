package flags

import (
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
)

// HelpWidth is the width of help texts, in columns.
const HelpWidth = 100

// indent is that of an explanation below its flag.
const indent = 8

// Help is the help text of the command.
func (t *Table) Help() string {
	var b strings.Builder
	b.WriteString(t.About)
	for i := range t.Flags {
		if f := &t.Flags[i]; f.Help != "" {
			b.WriteString(t.explain(f))
		}
	}
	b.WriteString(t.Footer)
	return b.String()
}

// Head is the flag and its value as the help text begins with them.
func (f *Flag) Head() string {
	return strings.TrimRight("  "+strings.Join(f.Spellings(), ", ")+" "+f.Value, " ")
}

// explain is the part of the help text about one flag.
func (t *Table) explain(f *Flag) string {
	head := f.Head()
	if t.Aligned && f.Short == "" {
		head = "    " + head
	}
	help := f.Help
	if f.Default != "" && f.Value != "" {
		help += " (default " + f.Default + ")"
	}
	if t.Column == 0 {
		return Paragraph(head, help, t.Width)
	}
	help = strings.ReplaceAll(help, "\n", "\n"+strings.Repeat(" ", t.Column))
	return fmt.Sprintf("%-*s  %s\n", t.Column-2, head, help)
}

// Paragraph is a flag with its explanation below it, in lines of width columns at most; 0 means HelpWidth.
func Paragraph(head, help string, width int) string {
	if width == 0 {
		width = HelpWidth
	}
	lines := terminal.Wrap(help, width-indent)
	return head + "\n" + strings.Repeat(" ", indent) + strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n"
}

// WantsHelp reports whether arguments ask for the help text.
func WantsHelp(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--help", "-h":
			return true
		}
	}
	return false
}

package flags

import (
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
)

// leastFitted is the least width for which a text is broken anew: below it nothing can be read anyway.
const leastFitted = 40

// Fitted breaks a help text anew for a terminal that is narrower than its lines; 0 columns are no terminal. Lines of a
// paragraph are joined where they were broken for the width; what stands in columns stays there.
func Fitted(text string, columns int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	wide := slices.ContainsFunc(lines, func(line string) bool { return terminal.Width(line) > columns })
	if columns < leastFitted || !wide {
		return text
	}
	var out []string
	for i := 0; i < len(lines); {
		paragraph := lines[i]
		last := paragraph
		for i++; i < len(lines) && continues(last, lines[i]); i++ {
			last = lines[i]
			paragraph += " " + strings.TrimLeft(last, " ")
		}
		out = append(out, broken(paragraph, columns)...)
	}
	return strings.Join(out, "\n") + "\n"
}

// continues reports whether a line is the rest of the one before it, which was broken since its next word had no room.
func continues(before, line string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	if strings.HasSuffix(before, "\\") || word == "aiperf" { // commands
		return false
	}
	const slack = 20 // texts of which people wrote the lines are narrower
	return word != "" && hanging(before) == leading(line) && leading(before) == leading(line) &&
		terminal.Width(before)+1+terminal.Width(word) > HelpWidth-slack
}

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hanging is the column at which the rest of a line goes on: that of its second column, if it has one, else its indent.
func hanging(line string) int {
	from := leading(line)
	if at := strings.Index(line[from:], "  "); at >= 0 {
		at += from
		return at + leading(line[at:])
	}
	return from
}

// broken breaks a line at the words, and goes on below its last column.
func broken(line string, columns int) []string {
	if terminal.Width(line) <= columns {
		return []string{line}
	}
	at := hanging(line)
	if at > columns*2/3 { // no room beside the first column
		head := strings.TrimRight(line[:at], " ")
		return append([]string{head}, broken(strings.Repeat(" ", indent)+line[at:], columns)...)
	}
	rest := terminal.Wrap(line[at:], columns-at)
	rest[0] = line[:at] + rest[0]
	for i := range rest[1:] {
		rest[i+1] = strings.Repeat(" ", at) + rest[i+1]
	}
	return rest
}

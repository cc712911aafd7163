package command

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	safe "aiperf/internal/base/terminal"
)

// gap is between two columns of a table without lines; the first is indented by as much.
const gap = 2

// narrowest is how narrow a column of texts becomes at most.
const narrowest = 20

// WriteColumns prints rows in columns. If width is not 0, the widest columns are made narrower, by breaking their
// texts, until the rows fit.
func WriteColumns(w io.Writer, rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	total := 0
	for c := range widths {
		for _, row := range rows {
			widths[c] = max(widths[c], utf8.RuneCountInString(row[c]))
		}
		total += gap + widths[c]
	}
	for width > 0 && total > width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
		total--
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 1
		for c, text := range row {
			cells[c] = safe.Wrap(text, widths[c])
			height = max(height, len(cells[c]))
		}
		for i := range height {
			line := ""
			for c, lines := range cells {
				part := ""
				if i < len(lines) {
					part = lines[i]
				}
				line += strings.Repeat(" ", gap) + part + strings.Repeat(" ",
					max(0, widths[c]-utf8.RuneCountInString(part)))
			}
			fmt.Fprintln(out, strings.TrimRight(line, " "))
		}
	}
}

// Plural returns the word for one thing or for several.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Quoted returns arguments as a shell takes them: those with spaces in quotes.
func Quoted(args []string) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		if strings.ContainsRune(arg, ' ') {
			arg = "'" + arg + "'"
		}
		list[i] = arg
	}
	return list
}

// WriteLines writes the lines of a list.
func WriteLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// FirstLine returns the first line of a text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

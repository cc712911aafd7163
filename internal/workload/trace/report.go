package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// number is a float that is written with a fraction, as in the other exports.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return artifact.AppendFloat(nil, float64(n)), nil }

// tableWidth is that of the printed report.
const tableWidth = 120

// Print writes the report as text.
func (a *Analysis) Print(w io.Writer) {
	fmt.Fprintf(w, "\nTrace Analysis Report\nTotal requests:   %d\nUnique prefixes:  %d\nPrefix groups:    %d\n\n",
		a.Requests, a.UniquePrefixes, a.PrefixGroups)
	rows := [][]string{{"Metric", "Mean", "Std Dev", "Min", "P25", "Median", "P75", "Max"}}
	for _, x := range []struct {
		name string
		s    *Stats
	}{
		{"Input Length", a.ISL}, {"Context Length", a.Context}, {"Unique Prompt Length", a.Unique},
		{"Output Length", a.OSL},
		{"Theoretical Hit Rates", a.HitRates},
	} {
		row := []string{x.name}
		if x.s == nil {
			for range 7 {
				row = append(row, "N/A")
			}
		} else {
			for _, v := range []number{x.s.Mean, x.s.StdDev, x.s.Min, x.s.P25, x.s.Median, x.s.P75, x.s.Max} {
				row = append(row, grouped(float64(v)))
			}
		}
		rows = append(rows, row)
	}
	printTable(w, "Trace Statistics", rows)
	fmt.Fprintln(w)
}

// grouped writes two decimals, with commas between thousands.
func grouped(v float64) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return artifact.GroupThousands(whole) + "." + fraction
}

// printTable draws a table with its title in the middle above it; numbers stand at the right.
func printTable(w io.Writer, title string, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	total := 1
	for _, width := range widths {
		total += width + 3
	}
	rule := func(left, cross, right, line string) {
		var parts []string
		for _, width := range widths {
			parts = append(parts, strings.Repeat(line, width+2))
		}
		fmt.Fprintln(w, left+strings.Join(parts, cross)+right)
	}
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", max(0, (min(total, tableWidth)-len(title))/2)), title)
	rule("┌", "┬", "┐", "─")
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&line, "│ %-*s ", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "│ %*s ", widths[i], cell)
			}
		}
		fmt.Fprintln(w, line.String()+"│")
		if n == 0 {
			rule("├", "┼", "┤", "─")
		}
	}
	rule("└", "┴", "┘", "─")
}

// WriteJSON writes the report as a document; folders are made.
func (a *Analysis) WriteJSON(path string) error { return writeJSON(path, a) }

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.WriteFile(path, append(text, '\n'))
}

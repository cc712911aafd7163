package selftest

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Render writes the report as text.
func (r *Report) Render(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "aiperf %s self-test: the client against its own mock server, whose responses are known\n",
		r.Version)
	fmt.Fprintf(&b, "Machine: %d × %s, %s, kernel %s\n", m.CPUs, or(m.Model, "unknown processor"), m.System,
		or(m.Kernel, "unknown"))
	for i := range r.Sections {
		r.Sections[i].render(&b)
	}
	fmt.Fprintf(&b, "\nResult: %s\n", r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// verdict is the overall result in a sentence.
func (r *Report) verdict() string {
	limited, passed := "", count(r.tally(Pass), "correctness check")+" passed"
	if n := r.tally(Limited); n > 0 {
		limited = fmt.Sprintf("; %s limited on this machine under its present load", count(n, "check"))
	}
	switch r.Result() {
	case "fail":
		return fmt.Sprintf("FAIL — %s failed%s", count(r.tally(Fail), "correctness check"), limited)
	case "interrupted":
		return fmt.Sprintf("interrupted — %s, the others were not run", passed)
	}
	return fmt.Sprintf("PASS — %s, none failed%s (%.0f s)", passed, limited,
		r.Duration.Round(time.Second).Seconds())
}

// count returns a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func (s *Section) render(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n  %s\n", s.Title, s.Meaning)
	titles, widths := 0, []int{}
	widen := func(cells []string) {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	widen(s.Columns)
	for _, l := range s.Lines {
		titles = max(titles, utf8.RuneCountInString(l.Title))
		widen(l.Cells)
	}
	row := func(grade, title string, cells []string) {
		line := fmt.Sprintf("  %-8s %s", grade, title+strings.Repeat(" ", titles-utf8.RuneCountInString(title)))
		for i, cell := range cells {
			line += strings.Repeat(" ", 2+widths[i]-utf8.RuneCountInString(cell)) + cell
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	if len(s.Columns) > 0 {
		row("", "", s.Columns)
	}
	for _, l := range s.Lines {
		row(string(l.Grade), l.Title, l.Cells)
		if l.Note != "" {
			fmt.Fprintf(b, "           %s\n", l.Note)
		}
	}
}

// number writes a figure with three significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 100 || v == 0:
		return whole(int64(math.Round(v)))
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// exact writes all digits.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// whole writes an integer with separators between thousands.
func whole(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(digits) - 3; at > first; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

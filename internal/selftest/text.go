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
	fmt.Fprintf(&b, "aiperf %s self-test: this program against its own mock server, whose answers are known\n",
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
	limited := ""
	if n := r.tally(Limited); n > 0 {
		limited = fmt.Sprintf("; %s limited on this machine as it is now", lines(n))
	}
	switch r.Result() {
	case "fail":
		return fmt.Sprintf("FAIL — %s of correctness failed%s", lines(r.tally(Fail)), limited)
	case "interrupted":
		return fmt.Sprintf("interrupted — %s passed, the rest was not looked at", lines(r.tally(Pass)))
	}
	return fmt.Sprintf("PASS — all %s of correctness are exact%s (%.0f s)", lines(r.tally(Pass)), limited,
		r.Duration.Round(time.Second).Seconds())
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
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

// number writes a figure with the digits that matter.
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

package simple

import (
	"strings"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		p    Progress
		want string
	}{
		{Progress{Profiling, 40, 100, 0.4, 12 * time.Second, 0}, "Profiling: 40/100 |████      | 40% [00:12<00:18]"},
		{Progress{Profiling, 0, 0, 0.4, 12 * time.Second, 0}, "Profiling:  40% |████      | [00:12<00:18]"},
		{Progress{Warmup, 0, 12345, 0, 0, 0}, "Warmup: 0/12,345 |          | 0% [00:00<?]"},
		{Progress{ProfilingGrace, 7, 7, 1, time.Hour + time.Minute, 0},
			"Profiling Grace Period: 7/7 |██████████| 100% [1:01:00<00:00]"},
		{Progress{Profiling, 40, 100, 0.4, 12 * time.Second, 1},
			"Profiling: 40/100 |████      | 40% [00:12<00:18] 1 error"},
		{Progress{Profiling, 0, 0, 0.4, 12 * time.Second, 27000},
			"Profiling:  40% |████      | [00:12<00:18] 27,000 errors"},
	} {
		if got := Line(c.p); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestSimpleRedrawsOnlyAfterAStep(t *testing.T) {
	var out strings.Builder
	s := NewSimple(&out, true, false, 1)
	for i := range 1000 {
		s.Show(Progress{Stage: Profiling, Done: int64(i), Total: 1000, Fraction: float64(i) / 1000})
	}
	if n := strings.Count(out.String(), "\r"); n < 90 || n > 101 {
		t.Errorf("%d redraws of 1000 snapshots, want about one per percent", n)
	}
	s.Clear()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the bar stays on the screen")
	}
}

func TestSimpleWithoutTerminalPrintsTenths(t *testing.T) {
	var out strings.Builder
	s := NewSimple(&out, false, false, 1)
	for i := range 1001 {
		s.Show(Progress{Stage: Profiling, Done: int64(i), Total: 1000, Fraction: float64(i) / 1000})
	}
	s.Clear()
	if n := strings.Count(out.String(), "\n"); n != 11 {
		t.Errorf("%d lines, want 11:\n%s", n, out.String())
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Error("control characters in a file")
	}
}

// A run that goes nowhere is not green: errors are redrawn without a step of the bar, in red.
func TestErrorsAreRed(t *testing.T) {
	var out strings.Builder
	s := NewSimple(&out, true, true, 1)
	s.Show(Progress{Stage: Profiling, Fraction: 0.4})
	s.Show(Progress{Stage: Profiling, Fraction: 0.4, Errors: 3})
	if got := out.String(); strings.Count(got, "Profiling") != 2 ||
		!strings.HasSuffix(got, "\x1b[0m\x1b[31m 3 errors\x1b[0m") {
		t.Errorf("%q", got)
	}
}

package judge_test

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/twin"
	"aiperf/internal/result/judge"
)

func TestVerdictsOnAReplay(t *testing.T) {
	row := func(measure string, distance float64) twin.Row { return twin.Row{Measure: measure, Distance: distance} }
	for name, of := range map[string]struct {
		rows    []twin.Row
		verdict judge.TwinVerdict
		level   judge.Level
		text    []string
		advice  string
	}{
		"same": {[]twin.Row{row(twin.Inputs, 0), row(twin.Starts, 0.02), row(twin.Peak, math.NaN())}, judge.TwinSame, judge.Good,
			[]string{"All 2 measures are the same"}, ""},
		"near": {[]twin.Row{row(twin.Inputs, 0), row(twin.Thinks, 0.1)}, judge.TwinNear, judge.Plain,
			[]string{"Think times 0.1 are near; 1 of 2 measures are the same"}, ""},
		"differs": {[]twin.Row{row(twin.Outputs, 0.4), row(twin.Thinks, 0.05)}, judge.TwinDiffers, judge.Warn,
			[]string{"Reply lengths 0.4 differ; think times 0.05 are near."}, "ignore_eos"},
		"nothing is known": {[]twin.Row{row(twin.Peak, math.NaN())}, "", "", nil, ""},
	} {
		if got := judge.TwinOf(of.rows); got != of.verdict {
			t.Errorf("%s: got %q, want %q", name, got, of.verdict)
		}
		facts := vllm(func(f *judge.Facts) { f.Twin = of.rows })
		j := judge.Judge(&facts)
		f, found := j.Find(judge.CodeTwin)
		if found != (of.verdict != "") || f.Level != of.level || !strings.Contains(f.Advice, of.advice) {
			t.Errorf("%s: got %v %+v", name, found, f)
		}
		for _, part := range of.text {
			if !strings.Contains(f.Text, part) {
				t.Errorf("%s: %q lacks %q", name, f.Text, part)
			}
		}
		if without := vllm(func(*judge.Facts) {}); j.State != judge.Judge(&without).State {
			t.Errorf("%s: a replay changes the state of a run to %v", name, j.State)
		}
	}
}

package judge_test

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/result/judge"
)

// cell is a load with its throughput, TTFT, ITL and latency.
func cell(load, throughput, ttft, itl, latency float64) judge.Load {
	return judge.Load{Value: load, Throughput: throughput, TTFT: ttft, ITL: itl, Latency: latency, Goodput: math.NaN(),
		Good: math.NaN()}
}

// good sets the share of good requests of a cell.
func good(c judge.Load, share float64) judge.Load {
	c.Good, c.Goodput = share, share*c.Throughput
	return c
}

func limited(c judge.Load) judge.Load {
	c.ClientLimited = true
	return c
}

func TestSweep(t *testing.T) {
	nan := math.NaN()
	// slots of a batch of 24: latency is as it was up to there, then requests wait.
	slots := []judge.Load{cell(4, 8, 40, 10, 500), cell(8, 16, 41, 10, 500), cell(24, 48, 42, 10, 505),
		cell(48, 49, 540, 10, 1000)}
	withGoodput := []judge.Load{good(slots[0], 1), good(slots[1], 1), good(slots[2], 0.99), good(slots[3], 0.05)}
	for name, c := range map[string]struct {
		cells      []judge.Load
		objectives []string
		codes      string
		allowed    int
		knee       int
		parts      []string
	}{
		"slots": {slots, nil, "sweep_bend sweep_queue", -1, 2, []string{"Bends at concurrency 24", "--max-num-seqs", "TTFT × 13"}},
		"objectives": {withGoodput, []string{"TTFT ≤ 300 ms"}, "sweep_allowed sweep_bend sweep_queue", 2, 2,
			[]string{"concurrency 24: 47.5 good requests/s within TTFT ≤ 300 ms", "At concurrency 48 5 % of the requests meet them"}},
		"the client between the sides": {[]judge.Load{withGoodput[0], withGoodput[1], limited(good(slots[2], 1)),
			withGoodput[3]}, []string{"TTFT ≤ 300 ms"}, "sweep_allowed sweep_no_bend sweep_queue sweep_client_limited", 1, -1,
			[]string{"Whether concurrency 24 meets them is not known", "ITL × 1.0"}},
		"none meets them": {[]judge.Load{good(slots[0], 0.2), good(slots[1], 0.1)}, []string{"TTFT ≤ 1 ms"},
			"sweep_none_allowed sweep_not_loaded", -1, -1, []string{"Not even concurrency 4 keeps TTFT ≤ 1 ms"}},
		"all meet them": {withGoodput[:3], []string{"TTFT ≤ 300 ms"}, "sweep_all_allowed sweep_no_bend sweep_not_loaded", 2, -1,
			[]string{"No larger value was measured", "try larger values"}},
		"decode": {[]judge.Load{cell(1, 2, 40, 10, 500), cell(8, 10, 45, 16, 800), cell(32, 24, 60, 27, 1330)}, nil,
			"sweep_no_bend sweep_decode", -1, -1, []string{"time between tokens grows"}},
		"overload": {[]judge.Load{cell(4, 8, 40, 10, 500), cell(16, 30, 60, 11, 530), cell(64, 12, 900, 40, 5000)}, nil,
			"sweep_bend sweep_overload", -1, 1, []string{"More load than concurrency 16 lowers the throughput"}},
		"not streamed": {[]judge.Load{cell(1, 2, nan, nan, 500), cell(8, 2.1, nan, nan, 3800), cell(16, 2.1, nan, nan, 7600)}, nil,
			"sweep_bend sweep_saturated", -1, -1, []string{"stream replies"}},
		"the client in the last cells": {[]judge.Load{slots[0], slots[1], slots[2], limited(cell(96, 20, 900, 90, 5000))}, nil,
			"sweep_no_bend sweep_not_loaded sweep_client_limited", -1, -1, []string{"At concurrency 96 the client was the bottleneck"}},
		"a cell that failed": {[]judge.Load{slots[0], slots[1], {Value: 16, Failed: true}}, nil,
			"sweep_not_loaded sweep_failed", -1, -1, []string{"No run of concurrency 16 succeeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge.Sweep(&judge.Loads{Name: "concurrency", Effort: true, Objectives: c.objectives, Cells: c.cells})
			var codes []string
			text := ""
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
				text += f.Title + ": " + f.Text + " " + f.Brief + " " + f.Advice + "\n"
				if f.Title == "" || !strings.HasSuffix(f.Text, ".") || strings.HasSuffix(f.Advice, ".") ||
					strings.HasSuffix(f.Brief, ".") {
					t.Errorf("%+v", f)
				}
			}
			if all := strings.Join(codes, " "); all != c.codes || got.Allowed != c.allowed || got.Knee != c.knee {
				t.Errorf("%s, allowed %d, knee %d, want %s, %d, %d:\n%s", all, got.Allowed, got.Knee, c.codes, c.allowed, c.knee,
					text)
			}
			for _, part := range c.parts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
		})
	}
}

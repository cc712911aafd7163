package console

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/golden"
	"aiperf/internal/result/answer"
)

// batchServer is a server whose latency rises with the load as one that batches: flat, then in proportion.
func batchServer(loads ...float64) answer.Curve {
	s := answer.Sweep{Parameters: []answer.Parameter{{Name: "concurrency"}}}
	latency := answer.NewMetric("time_to_first_token", "p99", "ms")
	throughput := answer.NewMetric("output_token_throughput", "avg", "tokens/sec")
	perUser := answer.NewMetric("output_token_throughput_per_user", "avg", "tokens/sec/user")
	for _, n := range loads {
		wait := 60 * (1 + math.Pow(n/96, 2))
		verdict := answer.Feasible
		if wait > 300 {
			verdict = answer.Infeasible
		}
		rate := 1000 * n / (20 + wait/10)
		s.Cells = append(s.Cells, answer.Cell{Values: []any{n}, Runs: 1, Verdict: verdict,
			Figures: map[string]answer.Figure{latency.Key(): answer.Single(wait), throughput.Key(): answer.Single(rate),
				perUser.Key(): answer.Single(rate / n)}})
	}
	c := answer.NewCurve(&s, 0, latency, throughput, perUser)
	c.SetBoundary(192, 184, 199, 300)
	return c
}

func capacity() *answer.Capacity {
	passing, failing := 287.3, 342.0
	curve := batchServer(1, 2, 4, 8, 16, 32, 64, 128, 176, 184, 208, 256)
	return &answer.Capacity{
		Outcome: answer.Found, Load: curve.Load, Lo: 1, Hi: 1000, Value: 192, Low: 184, High: 199, Level: 0.95,
		Rate: answer.Figure{Mean: 12.43, Low: 11.9, High: 12.9},
		Limits: []answer.Limit{
			{Metric: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 300, Unit: "ms", Passing: &passing,
				Failing: &failing},
			{Metric: "inter_token_latency", Stat: "p95", Op: "lt", Threshold: 25, Unit: "ms"},
		},
		Curve: curve, Price: answer.NewPrice(2.5, 4, 9000),
		Spent: answer.Spent{Runs: 12, Requests: 4312, Tokens: 1_204_331, Time: 192 * time.Second,
			Saved: 400 * time.Second},
		Command: "aiperf capacity --url http://localhost:8000 --model m --ttft p99:300 --itl p95:25",
		Notes:   []string{"The verdict at 208 was certain at 97 % after 6.1 s."},
	}
}

func TestCapacityIsPrintedWithItsCurve(t *testing.T) {
	for name, o := range map[string]Options{
		"capacity": {Width: 100}, "capacity_ascii": {Width: 100, ASCII: true}, "capacity_narrow": {Width: 60},
	} {
		var out bytes.Buffer
		if err := RenderCapacity(&out, capacity(), o); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "testdata/"+name+".txt", out.Bytes())
		for line := range strings.Lines(out.String()) {
			if n := columns(strings.TrimRight(line, "\n")); n > o.Width && !strings.Contains(line, "Repeat: ") {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

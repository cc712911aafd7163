package console

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
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
		Estimate: 195, Within: 192, Beyond: 208,
		Rate: answer.Figure{Mean: 12.43, Low: 11.9, High: 12.9},
		Limits: []answer.Limit{
			{Metric: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 300, Unit: "ms", Passing: &passing,
				Failing: &failing},
			{Metric: "inter_token_latency", Stat: "p95", Op: "lt", Threshold: 25, Unit: "ms"},
		},
		Curve: curve, Price: answer.NewPrice(10, 9000),
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
		testkit.Golden(t, "testdata/"+name+".txt", out.Bytes())
		for line := range strings.Lines(out.String()) {
			if n := columns(strings.TrimRight(line, "\n")); n > o.Width && !strings.Contains(line, "Repeat: ") {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

func TestPlotsOfOddCurvesFitTheirWidth(t *testing.T) {
	flat, single, gaps := batchServer(5, 5, 5), batchServer(7), batchServer(1, 2, 3, 4)
	for i := range gaps.Points {
		for key := range gaps.Points[i].Figures {
			if i%2 == 0 && strings.HasPrefix(key, "output") {
				gaps.Points[i].Figures[key] = answer.Single(math.NaN())
			}
		}
	}
	equal := batchServer(10, 20)
	for i := range equal.Points {
		for key := range equal.Points[i].Figures {
			equal.Points[i].Figures[key] = answer.Single(0)
		}
	}
	wide := batchServer(0, 1e-9, 1e9)
	outside := batchServer(1, 2, 3)
	outside.SetBoundary(50, 40, 60, 1e6)
	for name, c := range map[string]answer.Curve{"equal loads": flat, "one point": single, "figures missing": gaps,
		"all figures 0": equal, "far apart": wide, "boundary beyond the points": outside, "nothing": {}} {
		for _, width := range []int{10, 20, 40, 79, 200} {
			for _, ascii := range []bool{false, true} {
				var out bytes.Buffer
				if err := RenderCurve(&out, &c, Options{Width: width, ASCII: ascii}); err != nil {
					t.Fatal(err)
				}
				if len(c.Points) < 2 && out.Len() > 0 {
					t.Errorf("%s: %s", name, out.String())
				}
				for line := range strings.Lines(out.String()) {
					if n := columns(strings.TrimRight(line, "\n")); n > max(width, 24) {
						t.Errorf("%s at %d: %d columns: %q", name, width, n, line)
					}
				}
			}
		}
	}
}

func TestASCIIPlotsHaveNoOtherCharacters(t *testing.T) {
	c := batchServer(1, 2, 4, 8, 64, 128, 192, 256)
	c.Low, c.High = math.NaN(), math.NaN()
	var out bytes.Buffer
	if err := RenderCurve(&out, &c, Options{Width: 80, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r > 126 {
			t.Fatalf("%q in\n%s", r, out.String())
		}
	}
}

func TestStylesOfAPlotAddOnlyEscapes(t *testing.T) {
	var styled, bare bytes.Buffer
	c := batchServer(1, 8, 64, 128, 256)
	if err := RenderCurve(&styled, &c, Options{Width: 80, Styles: true}); err != nil {
		t.Fatal(err)
	}
	if err := RenderCurve(&bare, &c, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(styled.String(), "")
	for i, line := range strings.Split(text, "\n") {
		if want := strings.Split(bare.String(), "\n")[i]; strings.TrimRight(line, " ") != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
}

func TestBrailleNeedsATerminalThatHasIt(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}, true},
		{map[string]string{"TERM": "xterm", "LANG": "en_GB.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"TERM": "linux", "LANG": "en_GB.UTF-8"}, false},
		{map[string]string{"TERM": "dumb", "LC_CTYPE": "C.utf8"}, false},
		{map[string]string{"LC_CTYPE": "C.utf8"}, true},
		{map[string]string{"WT_SESSION": "1"}, true},
		{nil, false},
	} {
		if got := Braille(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestCapacityWithoutAnAnswerSaysWhy(t *testing.T) {
	c := capacity()
	c.Outcome, c.Value, c.Low, c.High = answer.NotEvenSmallest, math.NaN(), math.NaN(), math.NaN()
	c.Curve, c.Price, c.Notes = answer.Curve{Knee: -1, Recommended: -1}, nil, nil
	c.Limits[0].Passing = nil
	c.Command = "aiperf capacity --model 'a\x1b[2Jb'"
	var out bytes.Buffer
	if err := RenderCapacity(&out, c, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/capacity_none.txt", out.Bytes())
}

package compare

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

func figures() *summary.Figures {
	return &summary.Figures{Blocks: []summary.Block{
		{Tag: "time_to_first_token", Unit: "ms",
			Stats: map[string]float64{"avg": 120, "p50": 100, "p99": 250, "p99.9": 400, "count": 10}},
		{Tag: "request_throughput", Unit: "requests/sec", Stats: map[string]float64{"avg": 12.5}},
		{Tag: "good_request_fraction", Unit: "ratio", Stats: map[string]float64{"avg": 0.94}},
		{Tag: "of_another_program", Unit: "widgets", Stats: map[string]float64{"avg": 3}},
	}}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		text, want string // "" = the result is not a failure
	}{
		{"time_to_first_token>119", "time_to_first_token>119: time_to_first_token avg is 120.00 ms"},
		{"time_to_first_token > 120", ""},
		{"time_to_first_token>=120ms", "time_to_first_token avg is 120.00 ms"},
		{"time_to_first_token:p99>250ms", ""},
		{"time_to_first_token:p99 >= 0.25 s", "time_to_first_token p99 is 250.00 ms"},
		{"time_to_first_token:p99>249999us", "p99 is 250.00 ms"},
		{"time_to_first_token:p99>2.4e2", "p99 is 250.00 ms"},
		{"time_to_first_token:p50<100.5ms", "p50 is 100.00 ms"},
		{"time_to_first_token:p50<=99ms", ""},
		{"time_to_first_token:count<11", "time_to_first_token has 10 values"},
		{"request_throughput<13", "request_throughput avg is 12.50 requests/sec"},
		{"request_throughput < 12.5 req/s", ""},
		{"request_throughput:avg<=12.5requests/sec", "request_throughput avg is 12.50 requests/sec"},
		{"request_latency:p99>1", "the result has no request_latency"},
		{"time_to_first_token:p10>1", "the result has no p10 of time_to_first_token"},
		{"error_request_count>0", "the result has no error_request_count"},
		{"time_to_first_token:p99.9>300", "p99.9 is 400.00 ms"},
		{"error_rate>1%", "the result has no request_error_rate"},
		{"good_request_fraction<95%", "good_request_fraction avg is 0.94 ratio"},
		{"good_request_fraction<0.95", "good_request_fraction avg is 0.94 ratio"},
		{"good_request_fraction<94%", ""},
	} {
		threshold, err := ParseThreshold(c.text, []float64{99.9}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := threshold.Check(figures())
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAmountsHaveTheUnitsOfTheirMetric(t *testing.T) {
	for _, c := range []struct {
		text, tag string
		want      float64
	}{
		{"300", "ttft", 300}, {"300ms", "time_to_first_token", 300}, {" 0.3 s", "ttft", 300}, {"1m", "request_latency", 60000},
		{"1", "error_rate", 1}, {"1%", "request_error_rate", 1}, {"95%", "good_request_fraction", 0.95},
		{"12.5rps", "request_throughput", 12.5}, {"-1e2", "of_another_program", -100},
	} {
		if got, err := Amount(c.text, c.tag); err != nil || got != c.want {
			t.Errorf("%s of %s: %g, %v, want %g", c.text, c.tag, got, err, c.want)
		}
	}
	for text, tag := range map[string]string{"": "ttft", "fast": "ttft", "300 tokens": "ttft", "1e999": "ttft", "1%": "ttft",
		"300ms": "request_throughput"} {
		if got, err := Amount(text, tag); err == nil {
			t.Errorf("%s of %s: %g, want an error", text, tag, got)
		}
	}
}

func TestThresholdsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "is not a condition: write TAG"},
		{"time_to_first_token", "is not a condition"},
		{"time_to_first_token:p99", "is not a condition"},
		{"time_to_first_token=5", "is not a condition"},
		{"time_to_first_token==5", "is not a condition"},
		{">5", "is not a condition"},
		{"time_to_first_token>", "is not a condition"},
		{"time_to_first_token>ms", "is not a condition"},
		{"time_to_first_token>1e999", "not a finite number"},
		{"tfft>5", "did you mean ttft?"},
		{"time_to_first_tokens>5", `"time_to_first_tokens" is not a metric tag, did you mean time_to_first_token?`},
		{"xyz>5", `"xyz" is not a metric tag; aiperf docs metrics`},
		{"time_to_first_token:p100>5", `"p100" is not a statistic`},
		{"time_to_first_token:p099>5", `"p099" is not a statistic`},
		{"time_to_first_token:mean>5", `"mean" is not a statistic; choose from avg`},
		{"time_to_first_token:p99.9>5", "ask for it with --percentiles 99.9"},
		{"request_throughput:p99<5", "one number for the whole run: leave :p99 out"},
		{"effective_concurrency:p10<5", "effective_concurrency has no p10; choose from avg"},
		{"time_to_first_token>5 tokens", `measured in ms: "tokens" cannot be converted to it`},
		{"time_to_first_token>5 MS", `"MS" cannot be converted to it`},
		{"time_to_first_token:count<5ms", "measured in plain numbers"},
		{"request_throughput<5ms", "measured in requests/sec"},
		{strings.Repeat("x", 10_000), "…"},
	} {
		_, err := ParseThreshold(c.text, nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
			t.Errorf("%.60s: %v, want an error with %q", c.text, err, c.want)
		}
	}
}

func TestThresholdsOfAFinishedRun(t *testing.T) {
	f := figures()
	for text, want := range map[string]string{
		"of_another_program>2":          "of_another_program avg is 3.00 widgets",
		"of_another_program>2widgets":   "avg is 3.00 widgets",
		"time_to_first_token:p99.99>2":  "no p99.99",
		"time_to_first_token:p99.9>399": "p99.9 is 400.00 ms",
	} {
		threshold, err := ParseThreshold(text, nil, f)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := threshold.Check(f); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, err := ParseThreshold("of_another_program>2ms", nil, f); err == nil {
		t.Error("a unit that cannot be converted is accepted")
	}
}

// Every tag of the table, in its own unit, can be a threshold.
func TestEveryMetricCanBeAThreshold(t *testing.T) {
	for _, d := range metrics.Table() {
		text := d.Tag + ">1" + string(d.Display)
		if threshold, err := ParseThreshold(text, nil, nil); err != nil || threshold.Limit != 1 {
			t.Errorf("%s: %+v, %v", text, threshold, err)
		}
	}
}

func FuzzParseThreshold(f *testing.F) {
	f.Add("time_to_first_token:p99>250ms")
	f.Add("request_throughput<5 req/s")
	f.Add(":<=.e1")
	f.Fuzz(func(t *testing.T, text string) {
		threshold, err := ParseThreshold(text, nil, nil)
		if err != nil {
			return
		}
		if _, known := metrics.Lookup(threshold.Tag); !known || math.IsNaN(threshold.Limit) {
			t.Errorf("%q is read as %+v", text, threshold)
		}
		threshold.Check(figures())
	})
}

package servermetrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/watch/prom"
)

// ledgerPhase is the phase of the tests: from second 10 to second 20.
var ledgerPhase = Window{StartNS: 10e9, EndNS: 20e9}

// ledgerOf returns the totals of pages: lines "ENDPOINT SECOND: NAME{LABEL="VALUE"} VALUE …", where a value SUM/COUNT
// is that of a histogram, and a name that begins with gauge: that of a gauge.
func ledgerOf(t *testing.T, models []string, lines ...string) *ServerTotals {
	t.Helper()
	store := NewStore(Options{})
	known := map[string]*prom.Series{}
	for _, line := range lines {
		head, rest, _ := strings.Cut(line, ": ")
		endpoint, second, _ := strings.Cut(head, " ")
		at, err := strconv.ParseFloat(second, 64)
		if err != nil {
			t.Fatal(err)
		}
		var samples []prom.Sample
		fields := strings.Fields(rest)
		for i := 0; i+1 < len(fields); i += 2 {
			key := endpoint + " " + fields[i]
			sum, count, histogram := strings.Cut(fields[i+1], "/")
			if known[key] == nil {
				name, label, labelled := strings.Cut(strings.TrimSuffix(fields[i], "}"), "{")
				known[key] = counterOf(name)
				if histogram {
					known[key] = histogramOf(name, inf)
				}
				if name, ours := strings.CutPrefix(name, "gauge:"); ours {
					known[key] = gaugeOf(name)
				}
				if name, value, _ := strings.Cut(label, "="); labelled {
					known[key].Labels = []prom.Label{{Name: name, Value: strings.Trim(value, `"`)}}
				}
			}
			sample := prom.Sample{Series: known[key]}
			number := func(text string) float64 { v, _ := strconv.ParseFloat(text, 64); return v }
			if sample.Value = number(sum); histogram {
				sample.Sum, sample.Count, sample.Buckets = number(sum), number(count), []float64{number(count)}
			}
			samples = append(samples, sample)
		}
		store.Endpoint(endpoint).Add(Scrape{TimestampNS: int64(at * float64(time.Second)), Samples: samples})
	}
	return Totals(store, ledgerPhase, models)
}

// totalsText returns the totals in short: quantity=value, or quantity!reason.
func totalsText(s *ServerTotals) string {
	if s == nil {
		return "none"
	}
	out := []string{s.Kind}
	for _, total := range s.Totals {
		if total.Absent != "" {
			out = append(out, fmt.Sprintf("%s!%s", total.Quantity, total.Absent))
		} else {
			out = append(out, fmt.Sprintf("%s=%g", total.Quantity, total.Value))
		}
	}
	return strings.Join(out, " ")
}

func TestTotalsOfServers(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"vLLM", []string{
			`a 9: vllm:request_success{finished_reason="stop"} 5 vllm:request_success{finished_reason="abort"} 1 vllm:prompt_tokens 100 vllm:time_to_first_token_seconds 2/5`,
			`a 15: vllm:request_success{finished_reason="stop"} 9 vllm:request_success{finished_reason="abort"} 1 vllm:prompt_tokens 180 vllm:time_to_first_token_seconds 3/9`,
			`a 21: vllm:request_success{finished_reason="stop"} 15 vllm:request_success{finished_reason="abort"} 3 vllm:prompt_tokens 300 vllm:time_to_first_token_seconds 6.5/15`,
		}, "vLLM requests=10 aborted_requests=2 prompt_tokens=200 time_to_first_token=4.5"},
		{"SGLang, whose total is the sum of the others", []string{
			`a 9: sglang:cached_tokens{cache_source="device"} 5 sglang:cached_tokens{cache_source="total"} 5 sglang:num_requests 1`,
			`a 21: sglang:cached_tokens{cache_source="device"} 25 sglang:cached_tokens{cache_source="total"} 25 sglang:num_requests 4`,
		}, "SGLang requests=3 cached_prompt_tokens=20"},
		{"TensorRT-LLM, older", []string{
			`a 9: trtllm:request_success{finished_reason="length"} 0 trtllm:generation_tokens 0`,
			`a 21: trtllm:request_success{finished_reason="length"} 4 trtllm:generation_tokens 40`,
		}, "TensorRT-LLM requests=4 aborted_requests=0 generated_tokens=40"},
		{"Triton, in its units", []string{
			`a 9: nv_inference_request_success 1 nv_inference_request_duration_us 1000 nv_inference_first_response_histogram_ms 100/1`,
			`a 21: nv_inference_request_success 3 nv_inference_request_duration_us 3001000 nv_inference_first_response_histogram_ms 600/3`,
		}, "Triton requests=2 time_to_first_token=0.5 request_latency=3"},
		{"Dynamo's front end and not its workers", []string{
			`a 9: dynamo_frontend_requests{status="success"} 1 dynamo_frontend_input_sequence_tokens 10/1`,
			`b 9: vllm:prompt_tokens 5`,
			`a 21: dynamo_frontend_requests{status="success"} 3 dynamo_frontend_requests{status="error"} 7 dynamo_frontend_input_sequence_tokens 30/3`, `b 21: vllm:prompt_tokens 99`,
		}, "Dynamo requests=2 aborted_requests=0 prompt_tokens=20"},
		{"llama.cpp", []string{`a 9: llamacpp:prompt_tokens 10 llamacpp:prompt_tokens_cached 1 llamacpp:tokens_predicted 5`, `a 21: llamacpp:prompt_tokens 30 llamacpp:prompt_tokens_cached 8 llamacpp:tokens_predicted 9`},
			"llama.cpp prompt_tokens=27 cached_prompt_tokens=7 generated_tokens=4"},
		{"two replicas", []string{`a 9: vllm:prompt_tokens 1`, `b 9: vllm:prompt_tokens 100`,
			`a 21: vllm:prompt_tokens 11`, `b 21: vllm:prompt_tokens 105`}, "vLLM prompt_tokens=15"},
		{"a series that began within the phase",
			[]string{`a 9: up 1`, `a 15: vllm:prompt_tokens 40`, `a 21: vllm:prompt_tokens 50`},
			"vLLM prompt_tokens=50"},
		{"no scrape before the phase", []string{`a 11: vllm:prompt_tokens 40`, `a 21: vllm:prompt_tokens 50`},
			"vLLM prompt_tokens!" + noFirstScrape},
		{"no scrape after it", []string{`a 9: vllm:prompt_tokens 40`, `a 19: vllm:prompt_tokens 50`},
			"vLLM prompt_tokens!" + noLastScrape},
		{"another kind of server", []string{`a 9: acme_tokens 1`, `a 21: acme_tokens 2`}, "none"},
		{"a page whose families have no type",
			[]string{`a 9: llamacpp:tokens_predicted_total 5`, `a 21: llamacpp:tokens_predicted_total 9`},
			"llama.cpp generated_tokens=4"},
		{"numbers that nobody counts", []string{`a 9: vllm:prompt_tokens 0 vllm:generation_tokens 0`,
			`a 21: vllm:prompt_tokens 1.7e308 vllm:generation_tokens 5`},
			"vLLM prompt_tokens!" + Uncountable + " generated_tokens=5"},
		{"several models", []string{`a 9: nv_inference_request_success{model="M"} 1 nv_inference_request_success{model="tokenize"} 1`,
			`a 21: nv_inference_request_success{model="M"} 3 nv_inference_request_success{model="tokenize"} 9`},
			"Triton requests=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := totalsText(ledgerOf(t, []string{"m"}, c.lines...)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// A server that is started anew within the phase has no totals, however much it counts afterwards; a page out of order
// is no restart.
func TestTrapTotalsOfAServerStartedAnewAreAbsent(t *testing.T) {
	const page = "a %d: vllm:prompt_tokens %d vllm:e2e_request_latency_seconds %d/%d"
	scrapes := func(values ...int) (lines []string) {
		for i, v := range values {
			lines = append(lines, fmt.Sprintf(page, 9+3*i, v, v, v))
		}
		return lines
	}
	back := "vLLM prompt_tokens!" + wentBack + " request_latency!" + wentBack
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"less than before", scrapes(100, 120, 0, 10, 20), back},
		// one sample: see resetsOf
		{"more than before", scrapes(100, 120, 0, 150, 900), "vLLM prompt_tokens=800 request_latency=800"},
		{"more than before, seen twice", scrapes(100, 120, 0, 10, 900), back},
		{"a page out of order", scrapes(100, 120, 110, 130, 140), "vLLM prompt_tokens=40 request_latency=40"},
		{"counters that are not there yet", append(scrapes(100, 120, 130), "a 21: up 1"), back},
	} {
		if got := totalsText(ledgerOf(t, nil, c.lines...)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPagesThatAreAlike(t *testing.T) {
	for want, lines := range map[bool][]string{
		true: {`a 9: vllm:prompt_tokens 1`, `b 9: vllm:prompt_tokens 1`, `a 21: vllm:prompt_tokens 11`,
			`b 21: vllm:prompt_tokens 11`},
		false: {`a 9: vllm:prompt_tokens 1`, `b 9: vllm:prompt_tokens 1`, `a 21: vllm:prompt_tokens 11`,
			`b 21: vllm:prompt_tokens 12`},
	} {
		if s := ledgerOf(t, nil, lines...); s.Alike != want || s.Pages != 2 || s.FromNS != 9e9 || s.ToNS != 21e9 {
			t.Errorf("%+v", s)
		}
	}
}

// Every kind of server has each quantity at most once, and the docs name its counters.
func TestLedgersAreWellFormed(t *testing.T) {
	for _, l := range ledgers {
		var seen []Quantity
		for _, row := range l.rows {
			if slices.Contains(seen, row.quantity) || len(row.names) == 0 || (row.label == "") != (row.values == nil) {
				t.Errorf("%s: %+v", l.kind, row)
			}
			seen = append(seen, row.quantity)
		}
	}
}

package selftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// exchangeOf is a small run without faults: two streams of three and two tokens, 10 ms apart, whose instants on the
// client are those of the server 5 µs later. The client's clock starts 1 s after the epoch.
type exchangeOf struct {
	truth   []serverLine
	raw     []rawLine
	records []*recordfile.Request
	summary summaryFile
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// requestsOf reads the lines of an array.
func requestsOf(t *testing.T, text string) (list []*recordfile.Request) {
	t.Helper()
	for _, line := range decode[[]json.RawMessage](t, text) {
		r, err := recordfile.ParseRequest(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func faultless(t *testing.T) *exchangeOf {
	return &exchangeOf{
		truth: decode[[]serverLine](t, `[
			{"request_id":"a","isl":7,"output_tokens":3,"status":200,"arrival_ns":1000000000,"event_ns":[1020000000,1030000000,1040000000,1040000000,1040000000]},
			{"request_id":"b","isl":9,"output_tokens":2,"status":200,"arrival_ns":1100000000,"event_ns":[1130000000,1140000000,1140000000,1140000000]}]`),
		raw: []rawLine{
			rawOf(t, "a", 999_000_000, 20_005_000, 30_005_000, 40_005_000),
			rawOf(t, "b", 1_099_000_000, 130_005_000, 140_005_000),
		},
		records: requestsOf(t, `[
			{"metadata":{"x_request_id":"a"},"metrics":{"input_sequence_length":{"value":7},"output_sequence_length":{"value":3},
				"output_token_count":{"value":1},"reasoning_token_count":{"value":2},"usage_reasoning_tokens":{"value":2},
				"usage_prompt_tokens":{"value":7},"usage_completion_tokens":{"value":3},"time_to_first_token":{"value":21.005},
				"request_latency":{"value":41.005},"inter_token_latency":{"value":10},"inter_chunk_latency":{"value":[10,10]}}},
			{"metadata":{"x_request_id":"b"},"metrics":{"input_sequence_length":{"value":9},"output_sequence_length":{"value":2},
				"output_token_count":{"value":2},"usage_prompt_tokens":{"value":9},"usage_completion_tokens":{"value":2},
				"time_to_first_token":{"value":31.005},"request_latency":{"value":41.005},"inter_token_latency":{"value":10},
				"inter_chunk_latency":{"value":[10]}}}]`),
		summary: decode[summaryFile](t, `{
			"request_count":{"avg":2},"total_isl":{"avg":16},"total_osl":{"avg":5},
			"benchmark_duration":{"avg":0.141005},"request_throughput":{"avg":14.1838941881494982},"output_token_throughput":{"avg":35.4597354703737456},
			"time_to_first_token":{"count":2,"avg":26.005,"std":5,"min":21.005,"max":31.005,"p50":26.005,"p90":30.005,"p99":30.905},
			"request_latency":{"count":2,"avg":41.005,"std":0,"min":41.005,"max":41.005,"p50":41.005,"p90":41.005,"p99":41.005},
			"inter_token_latency":{"count":2,"avg":10,"std":0,"min":10,"max":10,"p50":10,"p90":10,"p99":10},
			"inter_chunk_latency":{"count":3,"avg":10,"std":0,"min":10,"max":10,"p50":10,"p90":10,"p99":10},
			"input_sequence_length":{"count":2,"avg":8,"std":1,"min":7,"max":9,"p50":8,"p90":8.8,"p99":8.98},
			"output_sequence_length":{"count":2,"avg":2.5,"std":0.5,"min":2,"max":3,"p50":2.5,"p90":2.9,"p99":2.99}}`),
	}
}

// rawOf is a raw record that starts at a wall instant, with a token at each instant since 1 s, then usage and end mark.
func rawOf(t *testing.T, id string, startNS int64, at ...int64) rawLine {
	var responses []string
	for _, ns := range at {
		responses = append(responses, fmt.Sprintf(
			`{"perf_ns":%d,"packets":[{"name":"data","value":"{\"choices\":[{\"delta\":{\"content\":\" x\"}}]}"}]}`,
			ns))
	}
	last := at[len(at)-1]
	responses = append(responses, fmt.Sprintf(
		`{"perf_ns":%d,"packets":[{"name":"data","value":"{\"choices\":[],\"usage\":{}}"}]}`, last),
		fmt.Sprintf(`{"perf_ns":%d,"packets":[{"name":"data","value":"[DONE]"}]}`, last))
	return decode[rawLine](t, fmt.Sprintf(
		`{"metadata":{"x_request_id":%q,"request_start_ns":%d},"start_perf_ns":%d,"responses":[%s]}`,
		id, startNS, startNS-1_000_000_000, strings.Join(responses, ",")))
}

// alter replaces a metric of a record.
func (x *exchangeOf) alter(i int, tag, value string) {
	x.records[i].Metrics[tag] = json.RawMessage(value)
}

func TestEveryWrongCountIsFound(t *testing.T) {
	for _, test := range []struct {
		name, note string // "" = passes
		spoil      func(x *exchangeOf)
	}{
		{"no fault", "", func(*exchangeOf) {}},
		{"input", "request a: input_sequence_length 8, expected 7",
			func(x *exchangeOf) { x.alter(0, "input_sequence_length", "8") }},
		{"output", "request b: output_sequence_length 1, expected 2",
			func(x *exchangeOf) { x.alter(1, "output_sequence_length", "1") }},
		{"output missing", "request b has no output_sequence_length",
			func(x *exchangeOf) { delete(x.records[1].Metrics, "output_sequence_length") }},
		{"answer", "request a: output_token_count 3, expected 1",
			func(x *exchangeOf) { x.alter(0, "output_token_count", "3") }},
		{"reasoning", "request a: reasoning_token_count 1, expected 2",
			func(x *exchangeOf) { x.alter(0, "reasoning_token_count", "1") }},
		{"usage", "request a: usage_completion_tokens 4, expected 3",
			func(x *exchangeOf) { x.alter(0, "usage_completion_tokens", "4") }},
		{"sum", "summary: total_osl is 5, it must be 6",
			func(x *exchangeOf) { x.truth[1].Output, x.records[1].Metrics = 3, nil }},
		{"lost record", "request b has no record", func(x *exchangeOf) { x.records = x.records[:1] }},
		{"two records", "request a has two records",
			func(x *exchangeOf) { x.records = append(x.records, x.records[0]) }},
		{"sent twice", "the server received request a twice",
			func(x *exchangeOf) { x.truth = append(x.truth, x.truth[0]) }},
		{"never sent", "the server has no request b", func(x *exchangeOf) { x.truth = x.truth[:1] }},
		{"failed", `request a failed: {"code":500}`, func(x *exchangeOf) {
			x.records[0].Err = &record.Error{HasCode: true, Code: 500}
		}},
		{"nothing", "the server received no request", func(x *exchangeOf) { x.truth, x.records = nil, nil }},
	} {
		x := faultless(t)
		test.spoil(x)
		line := compareCounts(x.records, x.truth, x.summary)
		switch {
		case test.note == "" && (line.Grade != Pass || line.Note != ""):
			t.Errorf("%s: %s, %s", test.name, line.Grade, line.Note)
		case test.note != "" && (line.Grade != Fail || !strings.Contains(line.Note, test.note) && test.name != "sum"):
			t.Errorf("%s: %s, %q lacks %q", test.name, line.Grade, line.Note, test.note)
		}
	}
}

func TestEveryWrongFigureIsFound(t *testing.T) {
	grades := func(lines []Line) string {
		var list []string
		for _, l := range lines {
			list = append(list, string(l.Grade))
		}
		return strings.Join(list, " ")
	}
	stat := func(x *exchangeOf, tag, from, to string) {
		text := strings.Replace(string(x.summary[tag]), from, to, 1)
		if text == string(x.summary[tag]) {
			t.Fatalf("%s has no %s", tag, from)
		}
		x.summary[tag] = json.RawMessage(text)
	}
	for _, test := range []struct {
		name, want string
		spoil      func(x *exchangeOf)
	}{
		{"no fault", "pass pass pass", func(*exchangeOf) {}},
		{"first token", "fail pass pass", func(x *exchangeOf) { x.alter(0, "time_to_first_token", "21.006") }},
		{"latency", "fail pass pass", func(x *exchangeOf) { x.alter(1, "request_latency", "41.0050001") }},
		{"inter token latency", "fail pass pass", func(x *exchangeOf) { x.alter(1, "inter_token_latency", "9.99") }},
		{"gap", "fail pass pass", func(x *exchangeOf) { x.alter(0, "inter_chunk_latency", "[10,10.1]") }},
		{"gap lost", "fail fail pass", func(x *exchangeOf) { x.alter(0, "inter_chunk_latency", "[10]") }},
		{"average", "pass fail pass", func(x *exchangeOf) {
			stat(x, "time_to_first_token", `"avg":26.005`,
				`"avg":26.006`)
		}},
		{"sample deviation", "pass fail pass",
			func(x *exchangeOf) { stat(x, "time_to_first_token", `"std":5`, `"std":7.07`) }},
		{"nearest rank", "pass fail pass",
			func(x *exchangeOf) { stat(x, "time_to_first_token", `"p90":30.005`, `"p90":31.005`) }},
		{"duration", "pass pass fail", func(x *exchangeOf) { stat(x, "benchmark_duration", "0.141005", "0.142") }},
		{"throughput", "pass pass fail", func(x *exchangeOf) { stat(x, "request_throughput", "14.18", "14.19") }},
		{"raw record lost", "fail fail fail", func(x *exchangeOf) { x.raw = x.raw[:1] }},
	} {
		x := faultless(t)
		test.spoil(x)
		if got := grades(compute(x.raw, x.records, x.truth, x.summary)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStampErrors(t *testing.T) {
	x := faultless(t)
	e := compareStamps(x.raw, x.truth)
	if e.count != 0 || e.events != 9 || len(e.first) != 2 || len(e.tokens) != 3 || len(e.gaps) != 3 ||
		len(e.mean) != 2 || len(e.shared) != 0 {
		t.Fatalf("%+v", e)
	}
	for _, v := range append(e.first, e.tokens...) {
		if !near(v, 0.005) {
			t.Errorf("error %v ms, want 0.005", v)
		}
	}
	for _, v := range append(e.gaps, e.mean...) {
		if v != 0 {
			t.Errorf("gap error %v ms, want 0", v)
		}
	}
}

func TestSharedReadsStandApart(t *testing.T) {
	x := faultless(t)
	// The first token of a was read with the second, 10 ms late.
	x.raw[0].Responses[0].PerfNS = x.raw[0].Responses[1].PerfNS
	e := compareStamps(x.raw, x.truth)
	if len(e.shared) != 2 || !near(e.shared[0], 10.005) || !near(e.shared[1], 0.005) {
		t.Errorf("shared %v", e.shared)
	}
	if len(e.first) != 1 || len(e.tokens) != 2 || len(e.gaps) != 1 {
		t.Errorf("%+v", e)
	}
	if len(e.mean) != 2 || !near(max(e.mean[0], e.mean[1]), 5) {
		t.Errorf("the inter token latency of a is off by 5 ms: %v", e.mean)
	}
}

func TestLostAndSurplusEventsFail(t *testing.T) {
	for name, spoil := range map[string]func(x *exchangeOf){
		"lost event":    func(x *exchangeOf) { x.raw[0].Responses = x.raw[0].Responses[1:] },
		"surplus event": func(x *exchangeOf) { x.truth[1].EventNS = x.truth[1].EventNS[1:] },
		"lost request":  func(x *exchangeOf) { x.raw = x.raw[1:] },
		"unknown":       func(x *exchangeOf) { x.truth = x.truth[1:] },
		"nothing":       func(x *exchangeOf) { x.raw, x.truth = nil, nil },
	} {
		x := faultless(t)
		spoil(x)
		if lines := stampLines("kernel", 1, compareStamps(x.raw, x.truth)); lines[0].Grade != Fail ||
			lines[0].Note == "" {
			t.Errorf("%s: %+v", name, lines[0])
		}
	}
}

func TestLateAndEarlyStampsAreLimited(t *testing.T) {
	for shift, want := range map[int64]Grade{0: Good, 900_000: Good, 1_100_000: Limited, -1_100_000: Limited} {
		x := faultless(t)
		for i := range x.raw {
			for k := range x.raw[i].Responses {
				x.raw[i].Responses[k].PerfNS += shift
			}
		}
		for _, l := range stampLines("kernel", 1, compareStamps(x.raw, x.truth)) {
			if l.ID == "kernel_ttft" && l.Grade != want {
				t.Errorf("%d ns: %s, want %s", shift, l.Grade, want)
			}
			if l.Grade == Fail {
				t.Errorf("%d ns: a timing line fails", shift)
			}
		}
	}
}

func TestSourcesStandSideBySide(t *testing.T) {
	lines := func(source string) []Line {
		x := faultless(t)
		return stampLines(source, 1, compareStamps(x.raw, x.truth))
	}
	ids := func(list []Line) string {
		var out []string
		for _, l := range list {
			out = append(out, l.ID)
		}
		return strings.Join(out, " ")
	}
	const want = "kernel_events user_events kernel_ttft user_ttft kernel_token user_token kernel_gap user_gap " +
		"kernel_itl user_itl"
	if got := ids(sideBySide(lines("kernel"), lines("user"))); got != want {
		t.Errorf("%s", got)
	}
	skipped := []Line{{ID: "kernel_events", Grade: Skipped}}
	if got := ids(sideBySide(skipped,
		lines("user"))); got != "kernel_events user_events user_ttft user_token user_gap user_itl" {
		t.Errorf("%s", got)
	}
}

package console

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

func shortText(t *testing.T, r *summary.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := RenderShort(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// measuredRun is the run of the short reports.
func measuredRun() *summary.Result {
	r := example()
	r.Counts = summary.Counts{Sent: 304, Successes: 300, Errors: 4}
	r.CacheReported = true
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Tag == "time_to_first_token" {
			m.Bounds = []metrics.Bound{{Rank: 90}, {Rank: 99}}
			m.Bounds[1].High = math.NaN()
		}
	}
	slow := distribution("request_latency", "Request Latency", "ms", 300, 5800, 5000, 8100, 7990, 7000, 5771, 500)
	for i := range r.Metrics {
		if r.Metrics[i].Tag == slow.Tag {
			r.Metrics[i] = slow
		}
	}
	r.Metrics = append(r.Metrics, scalar("output_token_throughput", "", "tokens/sec", 0, 1695.7),
		scalar("goodput", "", "requests/sec", 0, 1.9), scalar("good_request_fraction", "", "ratio", 0, 0.9512),
		scalar("effective_concurrency", "", "requests", 0, 7.9),
		scalar("overall_usage_prompt_cache_read_pct", "", "%", 0, 12.34))
	r.InputConfig = artifact.Object{
		{Key: "models", Value: artifact.Object{{Key: "items", Value: []any{artifact.Object{{Key: "name", Value: "m/x"}}}}}},
		{Key: "endpoint", Value: artifact.Object{{Key: "type", Value: "chat"}, {Key: "streaming", Value: true}}},
		{Key: "phases", Value: []any{artifact.Object{{Key: "kind", Value: "profiling"}, {Key: "type", Value: "concurrency"},
			{Key: "concurrency", Value: int64(8)}}}},
	}
	r.ClientHealth = artifact.Object{{Key: "verdict", Value: "valid"}, {Key: "reasons", Value: []any{
		artifact.Object{{Key: "code", Value: "cold_start"}, {Key: "leads_to", Value: "valid"},
			{Key: "message", Value: "the first request took 9.0 × the median"}, {Key: "advice", Value: "warm up"}},
		artifact.Object{{Key: "code", Value: "busy_machine"}, {Key: "leads_to", Value: "valid"},
			{Key: "message", Value: "other programs ran"}, {Key: "advice", Value: "stop them"}}}},
		{Key: "error_bound", Value: artifact.Object{{Key: "time_to_first_token",
			Value: artifact.Object{{Key: "value", Value: 0.2444}, {Key: "unit", Value: "ms"}}}}}}
	r.Errors = []summary.ErrorCount{
		{Error: record.Error{Type: "TimeoutError", Message: "no reply\nin time"}, Count: 1},
		{Error: record.Error{Code: 429, HasCode: true, Type: "Too Many Requests", Message: "slow \x1b[31mdown"}, Count: 3}}
	return r
}

func TestShortReportGolden(t *testing.T) {
	for _, width := range []int{80, 100, 200} {
		o := Options{Width: width, URLs: []string{"http://localhost:8000/v1/chat/completions"},
			Dir: "artifacts/run", Files: Files{Text: "artifacts/run/profile_export_console.txt"},
			More: []Fact{{"charts", "aiperf plot artifacts/run"}}}
		testkit.Golden(t, fmt.Sprintf("testdata/short_%d.txt", width), []byte(shortText(t, measuredRun(), o)))
	}
}

// No line is wider than the terminal, whatever its width; paths stay whole, so that they can be copied.
func TestShortReportFitsTheTerminal(t *testing.T) {
	for width := MinTerminalWidth; width <= 160; width++ {
		for line := range strings.Lines(shortText(t, measuredRun(), Options{Width: width})) {
			if n := columns(strings.TrimRight(line, "\n")); n > width {
				t.Fatalf("a line of %d columns at width %d: %s", n, width, line)
			}
		}
	}
}

func TestShortReportOfFailedRequestsHasOnlyTheErrorsAndTheHint(t *testing.T) {
	r := measuredRun()
	r.Counts = summary.Counts{Sent: 10, Errors: 10}
	r.Errors = []summary.ErrorCount{{Error: record.Error{Type: "ClientConnectorError",
		Message: "Cannot connect to host h:1 [connection refused]"}, Count: 10}}
	got := shortText(t, r, Options{Width: 100, URLs: []string{"http://h:1"}})
	for _, want := range []string{"10 failed", "10 × ClientConnectorError: Cannot connect", "asked        http://h:1", "  try  "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, not := range []string{"throughput", "TTFT", "limited by", "client ", "N/A"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in\n%s", not, got)
		}
	}
}

// Errors that differ in a number alone are one row, in the short report and in the table.
func TestErrorsOfOneKindAreOneRow(t *testing.T) {
	r := measuredRun()
	r.Errors = nil
	for i := range 23 {
		r.Errors = append(r.Errors, summary.ErrorCount{Count: 2, Error: record.Error{Code: 400, HasCode: true,
			Type: "Bad Request", Message: fmt.Sprintf("bad body at column %d", 900+i)}})
	}
	want := "46 × 400 Bad Request: bad body at column 900 (23 texts that differ in numbers, ids or form)"
	if got := strings.Join(strings.Fields(shortText(t, r, Options{Width: 200})), " "); !strings.Contains(got, want) ||
		strings.Contains(got, "other kind") {
		t.Error(got)
	}
	var table bytes.Buffer
	if err := Render(&table, r, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); strings.Count(text, "bad body") != 1 || !strings.Contains(text, "23 texts that differ") {
		t.Error(text)
	}
}

func TestTrapTheShortReportMovesNoCursor(t *testing.T) {
	r := measuredRun()
	r.InputConfig = artifact.Object{{Key: "models", Value: []any{"\x1b[2Jm\r\nx"}}}
	r.Incomplete = "\x1b]0;title\a"
	if got := shortText(t, r, Options{}); strings.ContainsAny(got, "\x1b\r\a") {
		t.Errorf("control characters in %q", got)
	}
}

func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.24447: "0.244", 0.0012903: "0.00129", 0.99996: "1.00", 1: "1.00",
		5.7712: "5.77", 9.999: "10.0", 10.04: "10.0", 27.21: "27.2", 99.97: "100", 289.6: "290", 1686.4: "1,686",
		1234567.8: "1,234,568", math.Inf(1): "N/A", math.NaN(): "N/A"} {
		if got := significant(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestShownPathsAreRelativeBelowTheWorkingDirectory(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(dir), "x")
	for path, want := range map[string]string{filepath.Join(dir, "a", "b"): filepath.Join("a", "b"), outside: outside} {
		if got := Shown(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// On a screen tables are stacked where they would be too wide, and what has no value is left out.
func TestTablesFitTheScreen(t *testing.T) {
	r := everything()
	r.RunInfo.CLICommand = "" // which is one line, so that it can be copied
	for width := 50; width <= 200; width++ {
		for line := range strings.Lines(text(t, r, Options{Width: width, Screen: true})) {
			if n := columns(strings.TrimRight(line, "\n")); n > width {
				t.Fatalf("a line of %d columns at width %d: %s", n, width, line)
			}
		}
	}
	testkit.Golden(t, "testdata/stacked.txt", []byte(text(t, example(), Options{Width: 60, Screen: true})))
	scalars := example()
	scalars.Metrics = scalars.Metrics[1:2]
	if got := text(t, scalars, Options{Width: 140, Screen: true}); strings.Contains(got, "N/A") || !strings.Contains(got, "3.00") {
		t.Errorf("columns without a value:\n%s", got)
	}
}

// A server whose replies do not say what was cached says so by its counters.
func TestPromptCacheByCounters(t *testing.T) {
	r := measuredRun()
	r.CacheReported = false
	if text := shortText(t, r, Options{}); strings.Contains(text, "prompt cache") {
		t.Error(text)
	}
	r.Cached = &servermetrics.Cached{Share: 0.98, Metric: "hits"}
	if text := shortText(t, r, Options{}); !strings.Contains(text,
		"98 % of the prompt tokens came from the server's cache, by its counters") {
		t.Error(text)
	}
	r.CacheReported = true
	if text := shortText(t, r, Options{}); !strings.Contains(text, "12.3 % of the prompt tokens came from the server's cache\n") {
		t.Error(text)
	}
}

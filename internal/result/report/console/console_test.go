package console

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

func text(t *testing.T, r *summary.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func distribution(tag, header, unit string, order int, avg, lowest, highest, p99, p90, p50,
	std float64) metrics.Metric {
	m := metrics.Metric{Tag: tag, Header: header, Unit: unit, Order: order, Group: metrics.GroupDefault,
		Distribution: true}
	m.Stats = metrics.Stats{Avg: avg, Min: lowest, Max: highest, Std: std}
	m.Stats.Percentiles[4], m.Stats.Percentiles[6], m.Stats.Percentiles[8] = p50, p90, p99
	return m
}

func scalar(tag, header, unit string, order int, v float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Header: header, Unit: unit, Order: order, Group: metrics.GroupDefault,
		Stats: metrics.Stats{Avg: v}}
}

// example is the run of testdata/example.txt, its metrics out of order.
func example() *summary.Result {
	hidden := scalar("benchmark_duration", "Benchmark Duration", "sec", 0, 1.5)
	hidden.Group = metrics.GroupNone
	return &summary.Result{
		Run: summary.Run{
			EndpointTitle: "LLM Metrics",
			RunInfo:       summary.RunInfo{CLICommand: "aiperf profile --model 'm' --streaming"},
			Counts:        summary.Counts{Sent: 3, Successes: 3},
		},
		Metrics: []metrics.Metric{
			hidden,
			scalar("request_count", "Request Count", "requests", 1100, 3),
			distribution("request_latency", "Request Latency", "ms", 300, 1700.0/3, 100, 1400, 1376, 1160, 200,
				590.6681715569206),
			scalar("request_throughput", "Request Throughput", "requests/sec", 900, 2),
			distribution("output_token_throughput_per_user", "Output Token Throughput Per User", "tokens/sec/user", 500,
				100, 50, 150, 149, 140, 100, 40.8248290463863),
			distribution("time_to_first_token", "Time to First Token", "ms", 100, 20, 10, 30, 29.8, 28, 20,
				8.16496580927726),
		},
	}
}

// TestTrapExampleTable pins the table of the specification; its golden file is not written by -update.
func TestTrapExampleTable(t *testing.T) {
	table, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := "\n\n" + string(table) +
		"\nCLI Command: aiperf profile --model 'm' --streaming\nBenchmark Duration: 1.50 sec\n\n"
	if got := text(t, example(), Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "│") && utf8.RuneCountInString(strings.TrimRight(line, "\n")) != 106 {
			t.Errorf("a line is not 106 columns wide: %s", line)
		}
	}
}

// everything is a run that shows every section.
func everything() *summary.Result {
	r := example()
	r.WasCancelled = true
	r.Incomplete = "cannot write records: no space left on device"
	r.UsageReported = true
	r.Counts = summary.Counts{Sent: 1504, Successes: 3, Errors: 1501}
	r.Errors = []summary.ErrorCount{
		{Error: record.Error{Code: 400, HasCode: true, Type: "Bad Request",
			Message: `{"error":{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}}`}, Count: 1500},
		{Error: record.Error{Message: "first line | with a bar\nsecond\x1b[31m line\ttabbed"}, Count: 1},
	}
	with := func(m metrics.Metric, g metrics.Group) { m.Group = g; r.Metrics = append(r.Metrics, m) }
	failed := distribution("error_latency", "Error Latency", "ms", 0, 12.5, 3, 40, 39, 30, 10, 8)
	failed.Flags = metrics.ErrorOnly
	with(failed, metrics.GroupNone)
	with(distribution("http_req_waiting", "HTTP Waiting (TTFB)", "ms", 2040, 45, 45, 45, 45, 45, 45, 0),
		metrics.GroupHTTPTrace)
	with(distribution("http_req_blocked", "HTTP Blocked", "ms", 2000, 0, 0, 0, 0, 0, 0, 0), metrics.GroupHTTPTrace)
	with(scalar("usage_prompt_tokens", "Usage Prompt Tokens", "tokens", 1000, 12), metrics.GroupUsage)
	with(scalar("thinking_efficiency", "Thinking Efficiency", "ratio", 0, 0.5), metrics.GroupReasoning)
	with(scalar("usage_discrepancy_count", "Usage Discrepancy Count", "requests", 0, 1), metrics.GroupNone)
	with(scalar("osl_mismatch_count", "OSL Mismatch Count", "requests", 0, 2), metrics.GroupNone)
	with(distribution("osl_mismatch_diff_pct", "OSL Mismatch Diff %", "%", 0, -6.666667, -20, 0, 0, 0, 0, 9.4),
		metrics.GroupNone)
	internal := scalar("credit_drop_latency", "Credit Drop Latency", "ms", 0, 0.25)
	internal.Flags = metrics.Internal
	experimental := scalar("x", "Something New", "", 0, 7)
	experimental.Flags = metrics.Experimental
	r.Metrics = append(r.Metrics, internal, experimental)
	return r
}

func TestReportGolden(t *testing.T) {
	got := text(t, everything(), Options{ShowTrace: true, Thresholds: defaultThresholds})
	testkit.Golden(t, "testdata/everything.txt", []byte(got))
	order := []string{
		"Unsupported Parameter", "Error Summary", "Experimental Metrics", "HTTP Trace Timing", "Internal Metrics",
		"LLM Metrics\n", "LLM Metrics: Usage", "LLM Metrics: Reasoning", "Token Count Discrepancy",
		"Output Sequence Length Mismatch",
		"CLI Command:",
	}
	at := -1
	for _, section := range order {
		next := strings.Index(got, section)
		if next <= at {
			t.Errorf("%q stands at %d, after %d", section, next, at)
		}
		at = next
	}
}

func TestGroups(t *testing.T) {
	got := text(t, everything(), Options{})
	if !strings.Contains(got, "LLM Metrics: Usage") {
		t.Error("what the server counted is missing")
	}
	for _, absent := range []string{"HTTP Trace Timing", "Discrepancy Count",
		"│ Benchmark Duration"} {
		if strings.Contains(got, absent) {
			t.Errorf("%s is shown by default", absent)
		}
	}
	got = text(t, everything(), Options{Groups: []metrics.Group{metrics.GroupDefault, metrics.GroupUsage}})
	usage, plain := strings.Index(got, "LLM Metrics: Usage"), strings.Index(got, "LLM Metrics\n")
	if plain < 0 || usage < plain || strings.Contains(got, "Reasoning") {
		t.Errorf("wrong tables in\n%s", got)
	}
}

func TestErrorOnlyMetricsAreNotInTheTable(t *testing.T) {
	r := example()
	for i, flag := range []metrics.Flags{metrics.ErrorOnly, metrics.Internal, metrics.Experimental} {
		m := scalar("x", "Hidden Metric", "ms", i+1, 1)
		m.Flags = flag
		r.Metrics = append(r.Metrics, m)
	}
	_, table, _ := strings.Cut(text(t, r, Options{}), "LLM Metrics\n")
	if strings.Contains(table, "Hidden Metric") {
		t.Error(table)
	}
}

func TestNoVisibleMetricNoTable(t *testing.T) {
	r := &summary.Result{Run: summary.Run{EndpointTitle: "LLM Metrics"}, UsageReported: true}
	if got := text(t, r, Options{}); got != "\n\n" {
		t.Errorf("got %q", got)
	}
}

func TestRowsWithoutOrderComeLast(t *testing.T) {
	r := &summary.Result{Metrics: []metrics.Metric{
		scalar("b", "Unordered B", "", 0, 1), scalar("a", "Unordered A", "", 0, 1), scalar("c", "Ordered", "", 5, 1),
	}}
	got := text(t, r, Options{})
	c, b, a := strings.Index(got, " Ordered "), strings.Index(got, " Unordered B "), strings.Index(got, " Unordered A ")
	if c < 0 || b < c || a < b {
		t.Errorf("rows at %d, %d, %d in\n%s", c, b, a, got)
	}
}

func TestTrapHeaderOf30KeepsUnitOnTheLine(t *testing.T) {
	for _, c := range []struct {
		length int
		want   string
	}{{30, strings.Repeat("h", 30) + " (ms)"}, {31, strings.Repeat("h", 31) + "\n(ms)"}} {
		m := scalar("x", strings.Repeat("h", c.length), "ms", 1, 1)
		if got := metricLabel(&m); got != c.want {
			t.Errorf("%d: %q", c.length, got)
		}
	}
}

func TestTrapPercentSignOfTheHeaderKeepsTheUnit(t *testing.T) {
	m := distribution("osl_mismatch_diff_pct", "OSL Mismatch Diff %", "%", 1, -6.67, -20, 0, 0, 0, 0, 9.4)
	r := &summary.Result{Run: summary.Run{EndpointTitle: "LLM Metrics"}, Metrics: []metrics.Metric{m}}
	if got := text(t, r, Options{}); !strings.Contains(got, "│ OSL Mismatch Diff % (%) │") {
		t.Errorf("got\n%s", got)
	}
}

func TestTrapNumbersRoundTheExactValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{1234.5, "1,234.50"}, {0.004, "0.00"}, {10, "10.00"}, {1033.785, "1,033.79"}, {0.125, "0.12"}, {0.375, "0.38"},
		{-1234567.891, "-1,234,567.89"}, {999.999, "1,000.00"}, {100, "100.00"}, {123456, "123,456.00"},
		{math.NaN(), "N/A"}, {math.Inf(1), "N/A"},
	} {
		if got := fixed2(c.v); got != c.want {
			t.Errorf("fixed2(%v) = %s, want %s", c.v, got, c.want)
		}
	}
	if got := integer(1234567); got != "1,234,567" {
		t.Error(got)
	}
}

func TestNarrowConsoleWrapsTheMetricColumn(t *testing.T) {
	r := example()
	for _, width := range []int{100, 90, 40} {
		got := text(t, r, Options{Width: width})
		for _, number := range []string{"1,400.00", "1,376.00", "1,160.00", "590.67", "40.82"} {
			if !strings.Contains(got, " "+number+" │") {
				t.Errorf("width %d: %s is missing in\n%s", width, number, got)
			}
		}
		for _, word := range []string{"Throughput", "(requests/sec)", "Latency"} {
			if !strings.Contains(got, word) {
				t.Errorf("width %d: %s is missing in\n%s", width, word, got)
			}
		}
		for line := range strings.Lines(got) {
			if w := columns(strings.TrimRight(line, "\n")); strings.ContainsAny(line, "┏┃│└") && w != max(width, 90) {
				t.Errorf("width %d: a line of %d columns: %s", width, w, line)
			}
		}
	}
}

// The details of the first error of a kind are below its message.
func TestDetailsOfErrors(t *testing.T) {
	r := &summary.Result{Errors: []summary.ErrorCount{{Error: record.Error{Type: "T", Message: "no content",
		Details: "the server sent: <html>\n</html>\x1b[2J"}, Count: 2}}}
	got := text(t, r, Options{Width: 100})
	if !strings.Contains(got, "no content ") || !strings.Contains(got, "│ the server sent: <html> </html>") ||
		strings.Contains(got, "\x1b[2J") {
		t.Error(got)
	}
}

func TestTrapMessagesCannotBreakTheTable(t *testing.T) {
	r := &summary.Result{Errors: []summary.ErrorCount{{
		Error: record.Error{Code: 500, HasCode: true, Type: "Kind\nof",
			Message: "a|b, \"c\"\r\nsecond\rthird \x1b[2J\u202e\u0085 東京 🙂 " + strings.Repeat("語", 200) + "\xff"},
		Count: 1234567,
	}}}
	got := text(t, r, Options{Width: 100})
	for line := range strings.Lines(got) {
		line = strings.TrimRight(line, "\n")
		if strings.ContainsAny(line, "┏┃│└") && columns(line) > 100 || strings.HasPrefix(line, "│") &&
			!strings.HasSuffix(line, "│") {
			t.Errorf("broken line of %d columns: %s", columns(line), line)
		}
		for _, r := range line {
			if r < ' ' || r == '\u202e' || r == '\u0085' {
				t.Errorf("character %U in %q", r, line)
			}
		}
	}
	for _, want := range []string{"a|b, \"c\"", `third \x1b[2J\u202e\u0085`, " 1,234,567 │", "Kind of", "東京"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "語"); n != 200 {
		t.Errorf("%d of 200 wide characters left", n)
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	for n, want := range map[int]int{maxMessage: maxMessage, maxMessage + 1: maxMessage + 1, 1 << 20: maxMessage + 1} {
		got := errorMessage(strings.Repeat("é", n))
		if utf8.RuneCountInString(got) != want || strings.HasSuffix(got, "…") != (n > maxMessage) {
			t.Errorf("%d characters became %d", n, utf8.RuneCountInString(got))
		}
	}
}

func TestBoxesStayStraightWithWideCharacters(t *testing.T) {
	r := example()
	r.Metrics[5].Header = "最初のトークン"
	widths := map[int]bool{}
	for line := range strings.Lines(text(t, r, Options{})) {
		if strings.ContainsAny(line, "┏┃│└") {
			widths[columns(strings.TrimRight(line, "\n"))] = true
		}
	}
	if len(widths) != 1 {
		t.Errorf("lines of several widths: %v", widths)
	}
}

func TestAllFailed(t *testing.T) {
	r := &summary.Result{
		Errors: []summary.ErrorCount{{Error: record.Error{Code: 503, HasCode: true, Type: "Service Unavailable"},
			Count: 12}},
		Run: summary.Run{Counts: summary.Counts{Sent: 12, Errors: 12}},
	}
	got := text(t, r, Options{})
	summaryAt, failedAt := strings.Index(got, "Error Summary"), strings.Index(got, "All 12 requests failed.")
	if summaryAt < 0 || failedAt < summaryAt {
		t.Errorf("got\n%s", got)
	}
	r.Counts.Successes = 1
	if strings.Contains(text(t, r, Options{}), "requests failed") {
		t.Error("one success is not nothing")
	}
}

func TestWarningsNeedACount(t *testing.T) {
	r := example()
	for _, tag := range []string{"usage_discrepancy_count", "osl_mismatch_count"} {
		m := scalar(tag, tag, "requests", 0, 0)
		m.Group = metrics.GroupNone
		r.Metrics = append(r.Metrics, m)
	}
	if got := text(t, r, Options{}); strings.Contains(got, "Warning") {
		t.Errorf("got\n%s", got)
	}
	for i := range r.Metrics {
		if r.Metrics[i].Tag == "osl_mismatch_count" {
			r.Metrics[i].Stats.Avg = 1
		}
	}
	got := text(t, r, Options{Thresholds: Thresholds{OSLPercent: 2.5, OSLTokens: 7}})
	for _, want := range []string{"│ 1 of 3 requests (33.3%)", "Threshold (tokens): min(requested x 2.5%, 7)",
		"Average mismatch: N/A"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// Lengths that are right by the server's count are not due to end-of-sequence tokens: one box explains both
// differences.
func TestRepliesThatEncodeToMoreTokens(t *testing.T) {
	r := everything()
	r.Recoded = metrics.Recoded{Requests: 2, Generated: 40, Encoded: 49}
	got := text(t, r, Options{Thresholds: defaultThresholds})
	if !strings.Contains(got, "generated 20 tokens, as asked; its text re-encodes to 24.5") ||
		!strings.Contains(got, "--use-server-token-count") {
		t.Errorf("got\n%s", got)
	}
	if strings.Contains(got, "Token Count Discrepancy") || strings.Contains(got, "ignore_eos") ||
		strings.Contains(got, "EOS") {
		t.Errorf("got\n%s", got)
	}
	differs := distribution("usage_prompt_tokens_diff_pct", "Usage Prompt Diff %", "%", 0, 9, 0, 30, 30, 30, 9, 1)
	differs.Group = metrics.GroupNone
	r.Metrics = append(r.Metrics, differs)
	if got := text(t, r, Options{Thresholds: defaultThresholds}); !strings.Contains(got, "Token Count Discrepancy") ||
		!strings.Contains(got, "as asked") {
		t.Errorf("prompts differ for another reason: got\n%s", got)
	}
	r.Recoded = metrics.Recoded{Requests: 1, Generated: 20, Encoded: 24}
	if got := text(t, r, Options{Thresholds: defaultThresholds}); !strings.Contains(got, "Token Count Discrepancy") ||
		!strings.Contains(got, "ignore_eos:true") {
		t.Errorf("half of the mismatches are the model's: got\n%s", got)
	}
}

func TestWhatIsAskedForIsNotAdvised(t *testing.T) {
	r := everything()
	r.InputConfig = artifact.Object{{Key: "endpoint",
		Value: artifact.Object{{Key: "extra", Value: artifact.Object{{Key: "ignore_eos", Value: true}}}}}}
	got := text(t, r, Options{Thresholds: defaultThresholds})
	if strings.Contains(got, "ignore_eos") || !strings.Contains(got, "min_tokens") {
		t.Errorf("got\n%s", got)
	}
}

// The share of the server's cache is among the facts of the footer, whatever groups are printed.
func TestPromptCacheShare(t *testing.T) {
	r := example()
	share := scalar("overall_usage_prompt_cache_read_pct", "Overall Usage Prompt Cache Read %", "%", 0, 41.26)
	share.Group = metrics.GroupUsage
	r.Metrics, r.CacheReported = append(r.Metrics, share), true
	if got := text(t, r, Options{}); !strings.Contains(got, "Prompt Cache: 41.3% of the prompt tokens") {
		t.Errorf("got\n%s", got)
	}
}

func TestFooter(t *testing.T) {
	dir := t.TempDir()
	files := Files{
		CSV: filepath.Join(dir, "a b.csv"), JSON: filepath.Join(dir, "j"), Parquet: filepath.Join(dir, "p"),
		Raw:              filepath.Join(dir, "r"),
		ServerMetricsCSV: filepath.Join(dir, "sc"), ServerMetricsJSON: filepath.Join(dir, "sj"),
		TimesliceCSV: filepath.Join(dir, "tc"), TimesliceJSON: filepath.Join(dir, "tj"), LogFile: "relative.log",
	}
	r := example()
	r.RunInfo.CLICommand = "aiperf profile --model '" + strings.Repeat("m ", 200) + "'"
	r.WasCancelled = true
	got := text(t, r, Options{Width: 100, Files: files})
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, footer, _ := strings.Cut(got, "CLI Command: ")
	want := r.RunInfo.CLICommand + "\nBenchmark Duration: 1.50 sec (cancelled early)\nCSV Export: " + files.CSV +
		"\nJSON Export: " + files.JSON + "\nRecords Parquet: " + files.Parquet + "\nRaw Records: " + files.Raw +
		"\nServer Metrics CSV Export: " + files.ServerMetricsCSV +
		"\nServer Metrics JSON Export: " + files.ServerMetricsJSON + "\nTimeslice CSV Export: " + files.TimesliceCSV +
		"\nTimeslice JSON Export: " + files.TimesliceJSON + "\nLog File: " + filepath.Join(cwd, "relative.log") +
		"\nThe run was cancelled early; the results may be incomplete.\n\n"
	if footer != want {
		t.Errorf("got\n%s\nwant\n%s", footer, want)
	}
}

func TestDurationOfARunWithoutMetrics(t *testing.T) {
	r := &summary.Result{Run: summary.Run{StartNS: 1e9}, EndNS: 3.25e9}
	if got := text(t, r, Options{}); !strings.Contains(got, "Benchmark Duration: 2.25 sec\n") {
		t.Errorf("got %q", got)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTrapPlainTextIsTheStyledOneWithoutEscapes(t *testing.T) {
	r := everything()
	o := Options{ShowTrace: true, Thresholds: defaultThresholds}
	plain := text(t, r, o)
	o.Styles = true
	styled := text(t, r, o)
	if strings.Contains(plain, "\x1b") {
		t.Error("escape sequences in plain text")
	}
	if got := escapes.ReplaceAllString(styled, ""); got != plain || styled == plain {
		t.Errorf("styled text without escapes is\n%s", got)
	}
	if !strings.Contains(styled, "\x1b[2mN/A\x1b[0m") || !strings.Contains(styled, "\x1b[36m") {
		t.Error("no styles for N/A or metric names")
	}
}

func TestExportWritesThePlainText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile_export_console.txt")
	o := Options{Styles: true}
	var e report.Exporter = Export{path, o}
	if err := e.Export(context.Background(), everything()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text(t, everything(), Options{}) {
		t.Errorf("file holds\n%s", data)
	}
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		terminal              bool
		columns, export, want int
	}{{true, 80, 0, 80}, {true, 0, 0, 80}, {true, 12, 0, 20}, {true, 170, 60, 170}, {false, 80, 0, 140}, {false, 0, 60, 60}} {
		if got := Width(c.terminal, c.columns, c.export); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		room int
		want []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"a bcdefgh i", 4, []string{"a", "bcde", "fgh", "i"}},
		{"a  b c", 3, []string{"a", "b c"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"東京都", 4, []string{"東京", "都"}},
		{"東京", 1, []string{"東", "京"}},
		{"  • item text", 9, []string{"  • item", "  text"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
	} {
		if got := wrap(c.in, c.room); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.room, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two  three\nfour 東京 e\u0301\u200d🙂", 4)
	f.Add("   indented text that is long", 10)
	f.Add(" 㟍", 240)
	f.Fuzz(func(t *testing.T, s string, room int) {
		s = safe(s)
		room = 2 + (room&0x7fffffff)%60
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		lines := wrap(s, room)
		if got, want := squeeze(strings.Join(lines, " ")), squeeze(s); got != want {
			t.Errorf("%q became %q", s, lines)
		}
		for _, line := range lines {
			if columns(line) > room {
				t.Errorf("%q is wider than %d", line, room)
			}
		}
	})
}

// defaultThresholds are those of a run whose environment sets none.
var defaultThresholds = Thresholds{UsagePercent: 10, OSLPercent: 5, OSLTokens: 50}

// A run of more requests than are kept individually reports the error of its percentiles; an exact one does not.
func TestInexactPercentilesAreNoted(t *testing.T) {
	r := example()
	const note = "Percentiles of 1 of these metrics are estimates with a relative error of up to 0.049 %"
	if got := text(t, r, Options{}); strings.Contains(got, "relative error") {
		t.Errorf("an exact run has a note:\n%s", got)
	}
	for i := range r.Metrics {
		if r.Metrics[i].Distribution {
			r.Metrics[i].Method = metrics.MethodHistogram
			break
		}
	}
	if got := text(t, r, Options{}); strings.Count(got, note) != 1 {
		t.Errorf("no note in\n%s", got)
	}
}

package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
)

// writeRun writes a run with the given latencies of its requests; prefix is that of its files.
func writeRun(t *testing.T, dir string, latencies []float64, throughput float64, more string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	sum, least, most := 0.0, math.Inf(1), 0.0
	for i, v := range latencies {
		fmt.Fprintf(&lines, `{"metadata":{"conversation_id":"c%d","turn_index":0,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":%v,"unit":"ms"},"inter_chunk_latency":{"value":[1.0],"unit":"ms"}}}`+"\n", i%50, v)
		sum, least, most = sum+v, min(least, v), max(most, v)
	}
	avg := sum / float64(len(latencies))
	summary := fmt.Sprintf(`{"request_throughput": {"unit": "requests/sec", "avg": %v},
		"request_latency": {"unit": "ms", "avg": %v, "p50": %v, "p99": %v, "std": %v, "count": %d},
		"output_sequence_length": {"unit": "tokens", "avg": %v, "std": 0.1, "count": 1000},
		"input_config": {}%s}`, throughput, avg, avg, most, (most-least)/4, len(latencies), throughput, more)
	for name, text := range map[string]string{"profile_export_aiperf.json": summary,
		"profile_export.jsonl": lines.String()} {
		if name == "profile_export.jsonl" && more == "" || name != "profile_export.jsonl" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func latencies(seed uint64, n int, factor float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	common := rand.New(rand.NewPCG(99, 1)) // what the requests ask is the same in all runs
	out := make([]float64, n)
	for i := range out {
		out[i] = factor * (100 + 200*common.Float64() + r.Float64())
	}
	return out
}

func compared(t *testing.T, base, next string, o Options) *Comparison {
	t.Helper()
	a, err := Load(base)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(next)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(&a, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Comparison) find(t *testing.T, tag, stat string) Figure {
	t.Helper()
	for _, f := range c.Figures {
		if f.Tag == tag && f.Stat == stat {
			return f
		}
	}
	t.Fatalf("no %s of %s among %+v", stat, tag, c.Figures)
	return Figure{}
}

// A difference of 2 % drowns in the spread of the requests, but not when each is held against its own.
func TestPairsShowWhatSpreadHides(t *testing.T) {
	dir := t.TempDir()
	base, next, fewer := filepath.Join(dir, "base"), filepath.Join(dir, "next"), filepath.Join(dir, "fewer")
	writeRun(t, base, latencies(1, 200, 1), 10, "")
	writeRun(t, next, latencies(2, 200, 1.02), 10, "")
	writeRun(t, fewer, latencies(2, 120, 1.02), 10, "")
	f := compared(t, base, next, Options{}).find(t, "request_latency", "avg")
	if f.Verdict != Worse || f.Method != MethodPaired || f.Low <= 0 || f.Low > f.New-f.Base || f.High < f.New-f.Base ||
		f.High > 6 {
		t.Errorf("pairs: %+v", f)
	}
	f = compared(t, next, base, Options{}).find(t, "request_latency", "avg")
	if f.Verdict != Better || f.High >= 0 {
		t.Errorf("the other way round: %+v", f)
	}
	f = compared(t, base, next, Options{MinPercent: 5}).find(t, "request_latency", "avg")
	if f.Verdict != Same {
		t.Errorf("less than the smallest effect: %+v", f)
	}
	f = compared(t, base, fewer, Options{}).find(t, "request_latency", "avg")
	if f.Verdict != NotShown || f.Method != MethodBootstrap {
		t.Errorf("runs of different length: %+v", f)
	}
}

func TestARunDoesNotDifferFromItself(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, latencies(1, 100, 1), 10, "")
	c := compared(t, dir, dir, Options{})
	for _, f := range c.Figures {
		if f.Verdict != Same {
			t.Errorf("%+v", f)
		}
	}
	if c.Worse() != 0 || len(c.Figures) < 5 {
		t.Errorf("%d worse of %d", c.Worse(), len(c.Figures))
	}
}

// Runs of the same kind differ by 10 %: a difference of 3 % is none, though the requests of two of them
// would say so; and one far beyond is one.
func TestRepeatsKnowTheNoiseBetweenRuns(t *testing.T) {
	dir := t.TempDir()
	repeats := func(name string, factors ...float64) string {
		for i, factor := range factors {
			sub := filepath.Join(dir, name, "profile_runs", fmt.Sprintf("trial_%04d", i+1))
			writeRun(t, sub, latencies(uint64(i), 100, factor), 10/factor, "")
		}
		return filepath.Join(dir, name)
	}
	base := repeats("base", 1, 1.1, 0.95, 1.05)
	near := repeats("near", 1.03, 1.13, 0.98, 1.08)
	far := repeats("far", 2, 2.1, 1.9)
	one := repeats("one", 2)
	for _, c := range []struct {
		path    string
		latency Verdict
		rate    Verdict
	}{{near, NotShown, NotShown}, {far, Worse, Worse}, {one, Worse, Worse}} {
		result := compared(t, base, c.path, Options{})
		latency, rate := result.find(t, "request_latency", "avg"), result.find(t, "request_throughput", "avg")
		if latency.Verdict != c.latency || rate.Verdict != c.rate || latency.Method != MethodRepeats ||
			rate.Method != MethodRepeats {
			t.Errorf("%s: %+v, %+v", c.path, latency, rate)
		}
		if math.Abs(rate.Noise-0.0634) > 0.001 { // s / mean of 10/1, 10/1.1, 10/0.95, 10/1.05
			t.Errorf("noise of the base %v", rate.Noise)
		}
		if length := result.find(t, "output_sequence_length", "avg"); c.latency == Worse && length.Verdict != Differs {
			t.Errorf("a length is better or worse: %+v", length)
		}
	}
}

// Welch's interval and that of one more run, worked by hand.
func TestIntervalsOfRepeats(t *testing.T) {
	for _, c := range []struct {
		base, next []float64
		low, high  float64
	}{
		// 2 degrees of freedom
		{[]float64{10, 12}, []float64{20, 22}, 10 - 4.302653*math.Sqrt2, 10 + 4.302653*math.Sqrt2},
		// s = 2
		{[]float64{100, 102, 98}, []float64{110}, 10 - 4.302653*2*math.Sqrt(4.0/3), 10 + 4.302653*2*math.Sqrt(4.0/3)},
		{[]float64{110}, []float64{100, 102, 98}, -10 - 4.302653*2*math.Sqrt(4.0/3), -10 + 4.302653*2*math.Sqrt(4.0/3)},
		{[]float64{7, 7}, []float64{7, 7}, 0, 0},
	} {
		got, ok := fromRepeats(momentsOf(c.base), momentsOf(c.next), 0.95)
		if !ok || math.Abs(got.low-c.low) > 1e-4 || math.Abs(got.high-c.high) > 1e-4 {
			t.Errorf("%v and %v: %+v, want %v … %v", c.base, c.next, got, c.low, c.high)
		}
	}
	if _, ok := fromRepeats(momentsOf([]float64{1}), momentsOf([]float64{2}), 0.95); ok {
		t.Error("one run each has an interval")
	}
}

// The original's summaries are without requests here, and without bounds: averages can be judged,
// percentiles and rates of a single run cannot.
func TestSummariesAlone(t *testing.T) {
	dir := t.TempDir()
	base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
	writeRun(t, base, latencies(1, 200, 1), 10, `, "was_cancelled": false`)
	writeRun(t, next, latencies(1, 200, 1.5), 20,
		`, "was_cancelled": true, "percentile_bounds": {"request_latency": {"p50": {"low": 280, "high": 320}}}`)
	c := compared(t, base, next, Options{})
	if f := c.find(t, "request_latency", "avg"); f.Verdict != Worse || f.Method != MethodBounds {
		t.Errorf("average: %+v", f)
	}
	for _, f := range []Figure{c.find(t, "request_latency", "p99"), c.find(t, "request_latency", "p50"),
		c.find(t, "request_throughput", "avg")} {
		if f.Verdict != Undecided || !math.IsNaN(f.Low) {
			t.Errorf("%+v", f)
		}
	}
	if !strings.Contains(strings.Join(c.Notes, "\n"), "was cancelled early") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestBoundsOfBothSummaries(t *testing.T) {
	dir := t.TempDir()
	base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
	writeRun(t, base, []float64{200}, 10,
		`, "percentile_bounds": {"request_latency": {"p50": {"low": 190, "high": 204}}}`)
	writeRun(t, next, []float64{210}, 10,
		`, "percentile_bounds": {"request_latency": {"p50": {"low": 207, "high": 215}}}`)
	// 10 − √(3² + 4²) … 10 + √(5² + 10²)
	if f := compared(t, base, next, Options{}).find(t, "request_latency", "p50"); f.Verdict != Worse ||
		math.Abs(f.Low-5) > 1e-9 || math.Abs(f.High-(10+math.Sqrt(125))) > 1e-9 {
		t.Errorf("%+v", f)
	}
}

func TestNotesOfRunsOfDifferentKinds(t *testing.T) {
	dir := t.TempDir()
	base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
	kind := `, "provenance": {"config_sha256": "%s", "dataset_sha256": "d", "tokenizer": {"fingerprint_sha256": "t"}}, "client_health": {"verdict": "%s"}`
	writeRun(t, base, []float64{200}, 10, fmt.Sprintf(kind, "a", "valid"))
	writeRun(t, next, []float64{200}, 10, fmt.Sprintf(kind, "b", "client_limited")+`, "incomplete_reason": "killed"`)
	c := compared(t, base, next, Options{})
	if !c.Incomplete || compared(t, base, base, Options{}).Incomplete {
		t.Errorf("a killed run: incomplete %t", c.Incomplete)
	}
	all := strings.Join(c.Notes, "\n")
	for _, want := range []string{"differ in their configuration",
		"client limited: The client was the bottleneck", "is not complete: killed"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q among\n%s", want, all)
		}
	}
	if strings.Contains(all, "dataset") || strings.Contains(all, "tokenizer") {
		t.Errorf("what is the same is noted:\n%s", all)
	}
}

// That two data sets differ is said with what made them differ.
func TestWhatMadeDataSetsDiffer(t *testing.T) {
	run := func(hash, config, tokenizer string) string {
		return fmt.Sprintf(`, "input_config": {%s}, "provenance": {"dataset_sha256": "%s", "tokenizer": {"name": "%s",
"fingerprint_sha256": "%s"}}`, config, hash, tokenizer, tokenizer)
	}
	const synthetic = `"datasets": [{"type": "synthetic", "prompts": {"isl": {"mean": %d}}}]%s`
	isl := func(n int, seed string) string { return fmt.Sprintf(synthetic, n, seed) }
	const file = `"datasets": [{"type": "file", "path": "prompts.jsonl"}]`
	for want, c := range map[string][2]string{
		"dataset: without --random-seed each run draws its own prompts": {run("a", isl(20, ""), "t"), run("b", isl(20, ""), "t")},
		"dataset: datasets[0].prompts.isl.mean is 20 and 30":            {run("a", isl(20, ""), "t"), run("b", isl(30, ""), "t")},
		"dataset: random_seed is 1 and 2": {run("a", isl(20, `, "random_seed": 1`), "t"),
			run("b", isl(20, `, "random_seed": 2`), "t")},
		"dataset: random_seed is 1 and not set":                           {run("a", isl(20, `, "random_seed": 1`), "t"), run("b", isl(20, ""), "t")},
		"dataset: the same options, and another content of prompts.jsonl": {run("a", file, "t"), run("b", file, "t")},
		"tokenizer: tokenizer.name is t and u":                            {run("a", file, "t"), run("a", file, "u")},
	} {
		dir := t.TempDir()
		base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
		writeRun(t, base, []float64{200}, 10, c[0])
		writeRun(t, next, []float64{200}, 10, c[1])
		if all := strings.Join(compared(t, base, next, Options{}).Notes, "\n"); !strings.Contains(all, "differ in their "+want) {
			t.Errorf("no %q among\n%s", want, all)
		}
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(empty); err == nil ||
		!strings.Contains(err.Error(), "neither the summary of a run nor folders of repeats") {
		t.Errorf("an empty folder: %v", err)
	}
	writeRun(t, filepath.Join(dir, "a"), []float64{1}, 1, "")
	a, _ := Load(filepath.Join(dir, "a"))
	if _, err := Compare(&a, &a, Options{Tags: []string{"image_latency"}}); err == nil ||
		!strings.Contains(err.Error(), `has "image_latency"`) {
		t.Errorf("a metric that neither has: %v", err)
	}
	_, err := Compare(&a, &a, Options{Tags: []string{"request_latency", "request_latenci"},
		Stats: []string{"p99", "p42"}})
	if err == nil || !strings.Contains(err.Error(), `"request_latenci", did you mean request_latency?`) ||
		!strings.Contains(err.Error(), "has a p42") || strings.Contains(err.Error(), "p99") {
		t.Errorf("a metric and a statistic that neither has: %v", err)
	}
}

func TestTables(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, latencies(1, 100, 1), 10, "")
	c := compared(t, dir, dir, Options{})
	c.New.Name = "a|b"
	text, page := c.Text(), c.Markdown()
	if !strings.Contains(text, "Req Latency p50 (ms)") || !strings.Contains(text, "no difference") ||
		!strings.Contains(text, "note: ") {
		t.Error(text)
	}
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			rows++
			if n := strings.Count(line, "|"); n != len(headings)+1 {
				t.Errorf("%d bars in %s", n, line)
			}
		}
	}
	if rows != len(c.Figures)+2 || !strings.Contains(page, `a\|b`) {
		t.Errorf("%d rows in\n%s", rows, page)
	}
	if _, err := artifact.AppendJSON(nil, c.Object()); err != nil {
		t.Error(err)
	}
}

// Runs of which one found its prompts in the server's cache did not do the same work.
func TestPrefixCachesAreNoted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, more string) string {
		writeRun(t, filepath.Join(dir, name), latencies(1, 50, 1), 10, more)
		return filepath.Join(dir, name)
	}
	cold := write("cold", `, "prefix_cache": {"share": 0.02, "server_metric": "m", "repeats_share": 0}`)
	warm := write("warm", `, "prefix_cache": {"share": 0.98, "server_metric": "m", "repeats_share": 0}`)
	usage := write("usage", `, "overall_usage_prompt_cache_read_pct": {"unit": "%", "avg": 97.0}`)
	none := write("none", `, "was_cancelled": false`)
	for _, c := range []struct {
		base, next, want string
	}{
		{cold, warm, "2 % of the prompt tokens of " + cold + " and 98 % of those of " + warm + " came from the server's"},
		{cold, usage, "97 % of those"},
		{warm, usage, ""}, {cold, cold, ""}, {none, warm, ""}, {warm, none, ""},
	} {
		notes := strings.Join(compared(t, c.base, c.next, Options{}).Notes, "\n")
		if got := strings.Contains(notes, "prefix cache"); got != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s, %s: %q", c.base, c.next, notes)
		}
	}
}

// A run of a series writes defaults that a run of its own leaves out: no difference. Other values are one.
func TestDefaultsThatAreLeftOutAreNoDifference(t *testing.T) {
	dir := t.TempDir()
	base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
	const kind = `, "provenance": {"config_sha256": "%s"}, "input_config": {"endpoint": {"urls": ["http://h:1"]%s}}`
	writeRun(t, base, []float64{200}, 10, fmt.Sprintf(kind, "a", ""))
	writeRun(t, next, []float64{200}, 10, fmt.Sprintf(kind, "a", `, "timeout": 21600.0, "url_strategy": "round_robin"`))
	if notes := compared(t, base, next, Options{}).Notes; strings.Contains(strings.Join(notes, "\n"), "configuration") {
		t.Errorf("notes %q", notes)
	}
	writeRun(t, next, []float64{200}, 10, fmt.Sprintf(kind, "a", `, "timeout": 5.0, "url_strategy": "round_robin"`))
	all := strings.Join(compared(t, base, next, Options{}).Notes, "\n")
	if !strings.Contains(all, "endpoint.timeout") || strings.Contains(all, "url_strategy") {
		t.Errorf("notes %q", all)
	}
}

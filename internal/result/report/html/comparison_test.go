package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/library"
)

// runOf writes the summary and the records of a run whose requests took about so many ms, and loads it.
func runOf(t *testing.T, name string, ms float64) compare.System {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	summary, err := json.Marshal(map[string]any{
		"request_latency":          map[string]any{"unit": "ms", "avg": ms, "p50": ms, "p99": ms + 9},
		"request_throughput":       map[string]any{"unit": "requests/sec", "avg": 1000 / ms},
		"input_config":             map[string]any{"models": []string{name}},
		"client_health":            map[string]any{"verdict": "valid"},
		"inter_token_latency":      map[string]any{"unit": "ms", "avg": ms / 7, "p50": ms / 7, "p99": ms},
		"output_token_throughput":  map[string]any{"unit": "tokens/sec", "avg": 16000 / ms},
		"time_to_first_token":      map[string]any{"unit": "ms", "avg": ms / 2, "p50": ms / 2, "p99": ms},
		"output_sequence_length":   map[string]any{"unit": "tokens", "avg": 16, "p50": 16, "p99": 16},
		"request_count":            map[string]any{"unit": "requests", "avg": 400},
		"percentile_bounds_absent": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for i := range 400 {
		start := origin + int64(i)*second/100
		line, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"session_num": i, "conversation_id": fmt.Sprint(i), "turn_index": 0,
				"benchmark_phase":  "profiling",
				"request_start_ns": start, "request_end_ns": start + int64(ms*1e6)},
			"metrics": map[string]any{"request_latency": map[string]any{"value": ms + float64(i%10), "unit": "ms"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	for file, content := range map[string][]byte{"profile_export_aiperf.json": summary,
		"profile_export.jsonl": lines.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := compare.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Name = name
	return s
}

// comparisonPage renders the comparison of runs with the first one.
func comparisonPage(t *testing.T, list ...compare.System) string {
	t.Helper()
	c := &Comparison{Version: "test", Pages: map[string]string{list[0].Name: "r/base"}}
	for i := range list[1:] {
		of, err := compare.Compare(&list[0], &list[i+1], compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Runs = append(c.Runs, of)
	}
	for i := range list {
		c.Lines = append(c.Lines, TimeLines{list[i].Name, &library.Timeline{WidthSeconds: 0.5,
			Latency: []float64{1, math.NaN(), float64(i)}, Done: []float64{1, 2, 3}}})
	}
	var out bytes.Buffer
	if err := Compare(&out, c); err != nil {
		t.Fatal(err)
	}
	testkit.Page(t, "the comparison", out.String())
	return out.String()
}

func TestComparisonSaysWhatDiffersFirst(t *testing.T) {
	page := comparisonPage(t, runOf(t, "base", 50), runOf(t, "slow", 100), runOf(t, "fast", 25))
	tags(t, page)
	for _, want := range []string{"2 against base", `class="answer bad"`, `class="answer good"`, "request_latency",
		"What differs in the configuration", "models[0]", `<a href="r/base">base</a>`, `class="zero"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	answer, table := strings.Index(page, `class="answer`), strings.Index(page, "Key figures")
	if answer < 0 || table < answer {
		t.Error("the figures come before the answer")
	}
	var charts struct{ Charts []lineData }
	if err := json.Unmarshal([]byte(element(t, page, `id="data">`, "</script>")), &charts); err != nil {
		t.Fatal(err)
	}
	if len(charts.Charts) != 2 || len(charts.Charts[0].Lines) != 3 {
		t.Errorf("charts: %+v", charts)
	}
}

func TestHostileNamesStayTextInComparisons(t *testing.T) {
	page := comparisonPage(t, runOf(t, hostile, 50), runOf(t, hostile+"2", 60))
	for _, e := range tags(t, page) {
		if e.Name.Local == "img" {
			t.Error("a name became an element")
		}
	}
	if strings.Count(page, "<script") != 3 {
		t.Errorf("%d scripts", strings.Count(page, "<script"))
	}
}

// Bars are on a logarithmic scale around the base, and inside it.
func TestBarsStayOnTheirScale(t *testing.T) {
	s := scale{math.Log(4)}
	for _, c := range []struct {
		name string
		f    compare.Figure
		want *bar
	}{
		{"a doubled and a halved figure are as far away", compare.Figure{Base: 10, New: 20, Low: 10, High: 10},
			&bar{From: "75", Width: "0.8", At: "75", Zero: "50", Start: "50", Length: "25"}},
		{"halved", compare.Figure{Base: 10, New: 5, Low: -7.5, High: 0}, &bar{From: "0", Width: "50", At: "25", Zero: "50", Start: "25", Length: "25"}},
		{"beyond the scale", compare.Figure{Base: 1, New: 20, Low: 17, High: 21},
			&bar{From: "99.2", Width: "0.8", At: "100", Zero: "50", Start: "50", Length: "50", More: true}},
		{"an end below zero", compare.Figure{Base: 10, New: 5, Low: -12, High: 2},
			&bar{From: "0", Width: "56.58", At: "25", Zero: "50", Start: "25", Length: "25", Less: true}},
		{"of a base of zero", compare.Figure{Base: 0, New: 20, Low: 17, High: 21}, nil},
		{"without an interval", compare.Figure{Base: 100, New: 110, Low: math.NaN(), High: math.NaN()}, nil},
	} {
		got := s.bar(&c.f)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	for reach, want := range map[float64]string{math.Log(1.5): "−33 % to +50 %", math.Log(4): "÷ 4.00 to × 4.00"} {
		s := scale{reach}
		if got := s.text(-reach) + " to " + s.text(reach); got != want {
			t.Errorf("ends %s, want %s", got, want)
		}
	}
}

// A page without charts does not carry the library that draws them.
func TestComparisonsWithoutChartsHaveNoLibrary(t *testing.T) {
	a, b := runOf(t, "one", 50), runOf(t, "two", 60)
	c, err := compare.Compare(&a, &b, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range [][]TimeLines{nil, {{Name: "one", Timeline: &library.Timeline{WidthSeconds: 1, Done: []float64{1, 2}}}}} {
		var page bytes.Buffer
		if err := Compare(&page, &Comparison{Runs: []*compare.Comparison{c}, Lines: lines}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "uPlot"); got != (lines != nil) {
			t.Errorf("with %d lines: library %t", len(lines), got)
		}
	}
}

// A comb of completions is a line.
func TestTimeLinesOfComparisonsAreSmoothed(t *testing.T) {
	comb := make([]float64, 200)
	for i := range comb {
		comb[i] = 40 * float64(i%2)
	}
	for i, v := range smoothed(&library.Timeline{WidthSeconds: 0.1}, comb)[20:180] {
		if v < 15 || v > 25 {
			t.Fatalf("bin %d has %v", i, v)
		}
	}
}

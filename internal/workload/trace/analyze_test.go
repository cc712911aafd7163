package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/trace"
)

func traceFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func row(input, output int, ids string) string {
	return fmt.Sprintf(`{"input_length":%d,"output_length":%d,"hash_ids":%s}`, input, output, ids)
}

// figures are the values of an analysis that a test names, as text with four decimals.
func figures(a *trace.Analysis, keys ...string) string {
	text, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return err.Error()
	}
	var out []string
	for _, key := range keys {
		value := any(document)
		for part := range strings.SplitSeq(key, ".") {
			object, _ := value.(map[string]any)
			value = object[part]
		}
		if x, ok := value.(float64); ok {
			value = math.Round(x*1e4) / 1e4
		}
		out = append(out, fmt.Sprintf("%s=%v", key, value))
	}
	return strings.Join(out, " ")
}

func TestTrapWorkedExamplesOfAnalyzeTrace(t *testing.T) {
	for _, test := range []struct {
		name string
		rows []string
		want string
	}{
		{"B", []string{row(1200, 52, "[0,1,2]"), row(1800, 26, "[0,1,3,4]"), row(1300, 52, "[5,1,6]"),
			row(1200, 40, "[0,1,2]")},
			"total_requests=4 unique_prefixes=8 num_prefix_groups=1 cache_hit_rate=0.375 prefix_reuse_ratio=0.6154 " +
				"isl_stats.mean=1375 isl_stats.std_dev=248.7469 " +
				"isl_stats.p25=1200 isl_stats.median=1250 isl_stats.p75=1425 context_length_stats.min=512 " +
				"context_length_stats.mean=984 context_length_stats.median=1112 " +
				"unique_prompt_length_stats.mean=391 unique_prompt_length_stats.max=788 hit_rate_stats.max=1 " +
				"min_osl=26 max_isl=1800"},
		{"C", []string{row(1536, 1, "[1,2,3]"), row(1536, 1, "[1,2,4]"), row(1400, 1, "[1,2,3]")},
			"cache_hit_rate=0.5556 hit_rate_stats.median=0.6667 unique_prefixes=4 num_prefix_groups=1 " +
				"prefix_reuse_ratio=0.8889 context_length_stats.max=1536 " +
				"context_length_stats.min=1024 context_length_stats.median=1400 unique_prompt_length_stats.max=512 " +
				"unique_prompt_length_stats.median=0"},
		{"of the command line", []string{row(1024, 10, "[1,2]"), row(1536, 20, "[1,3,4]")},
			"context_length_stats.min=512 context_length_stats.max=512 unique_prompt_length_stats.min=512 " +
				"unique_prompt_length_stats.max=1024 " +
				"hit_rate_stats.min=0 hit_rate_stats.max=0.3333 unique_prefixes=4 num_prefix_groups=1 " +
				"prefix_reuse_ratio=0.4 cache_hit_rate=0.1667"},
		{"without ids", []string{`{"text_input":"x"}`, `{"input_length":7}`},
			"total_requests=2 unique_prefixes=0 hit_rate_stats=<nil> isl_stats.mean=3.5 context_length_stats.max=0 " +
				"unique_prompt_length_stats.max=7 osl_stats.mean=0"},
	} {
		a, err := trace.Analyze(context.Background(), traceFile(t, test.rows...), 512)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var keys []string
		for pair := range strings.FieldsSeq(test.want) {
			key, _, _ := strings.Cut(pair, "=")
			keys = append(keys, key)
		}
		if got := figures(a, keys...); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestFaultsOfTracesAreNamed(t *testing.T) {
	for line, want := range map[string]string{"{": "trace.jsonl:2", `{"input_length":-1}`: "input_length",
		`{"hash_ids":"x"}`: "hash_ids"} {
		_, err := trace.Analyze(context.Background(), traceFile(t, row(1, 1, "[]"), line), 512)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := trace.Analyze(context.Background(), traceFile(t, ""), 512); err == nil ||
		!strings.Contains(err.Error(), "no records") {
		t.Errorf("empty: %v", err)
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	a := trace.Analysis{ISL: &trace.Stats{Mean: 0, StdDev: 999.999, Min: 1234567.5, P25: -1000}}
	var text strings.Builder
	a.Print(&text)
	want := []string{"0.00", "1,000.00", "1,234,567.50", "-1,000.00", "0.00", "0.00", "0.00"}
	for line := range strings.Lines(text.String()) {
		_, values, found := strings.Cut(line, "Input Length")
		if !found {
			continue
		}
		var got []string
		for _, word := range strings.Fields(values) {
			if strings.ContainsAny(word, "0123456789") {
				got = append(got, word)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return
	}
	t.Errorf("no lengths in\n%s", &text)
}

package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/result/compare"
)

// written writes a run of so many requests whose latencies begin at ms, and loads it.
func written(t *testing.T, config string, n int, ms float64) *compare.System {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"metadata":{"conversation_id":"%s%d","turn_index":0,"benchmark_phase":"profiling"},`+
			`"metrics":{"request_latency":{"value":%v,"unit":"ms"}}}`+"\n", dir, i, ms+float64(i%7)/100)
	}
	summary := fmt.Sprintf(`{"request_latency": {"unit": "ms", "avg": %v, "p50": %v, "p99": %v, "count": %d},
		"request_error_rate": {"unit": "%%", "avg": 0}, "input_config": %s}`, ms, ms, ms+0.06, n, config)
	for name, text := range map[string]string{"profile_export_aiperf.json": summary,
		"profile_export.jsonl": lines.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := compare.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func configOf(url string, isl, concurrency, seed int) string {
	return fmt.Sprintf(`{"endpoint": {"urls": [%q]}, "datasets": [{"random_seed": %d, "prompts": {"isl": {"mean": %d}}}],
		"phases": [{"name": "profiling", "concurrency": %d}]}`, url, seed, isl, concurrency)
}

func TestWhatWasAskedDifferentlyIsSaidFirst(t *testing.T) {
	base := configOf("http://a", 100, 4, 1)
	for name, of := range map[string]struct {
		next string
		want []string
	}{
		"another server":                  {configOf("http://b", 100, 4, 1), nil},
		"another sample":                  {configOf("http://a", 100, 4, 2), nil},
		"another server, length and load": {configOf("http://b", 300, 16, 1), []string{"url", "isl", "concurrency"}},
	} {
		c, err := compare.Compare(written(t, base, 60, 100), written(t, of.next, 60, 150), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := strings.HasPrefix(c.Finding(), "Not the same test: ")
		if !slices.Equal(c.Asked, of.want) || first != (of.want != nil) {
			t.Errorf("%s: %v: %s", name, c.Asked, c.Finding())
		}
		judged := slices.ContainsFunc(c.Figures, func(f compare.Figure) bool { return f.Verdict == compare.Worse })
		if judged == first || c.Worse() == 0 {
			t.Errorf("%s: judged %v, %d worse", name, judged, c.Worse())
		}
	}
}

func TestSmallEffectsAreNone(t *testing.T) {
	config := configOf("http://a", 100, 4, 1)
	for percent, want := range map[float64]compare.Verdict{0: compare.Same, -1: compare.Worse} {
		c, err := compare.Compare(written(t, config, 200, 100), written(t, config, 200, 100.5),
			compare.Options{Tags: []string{"request_latency"}, Stats: []string{"avg"}, MinPercent: percent})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Figures[0].Verdict; got != want {
			t.Errorf("smallest effect %v: %s", percent, got)
		}
	}
}

func TestFewRequestsThatDoNotOverlapAreDecided(t *testing.T) {
	config := configOf("http://a", 100, 4, 1)
	c, err := compare.Compare(written(t, config, 60, 100), written(t, config, 60, 150),
		compare.Options{Tags: []string{"request_latency"}, Stats: []string{"p99"}})
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Figures[0]; f.Verdict != compare.Worse || f.Method != compare.MethodSeparate {
		t.Errorf("%+v", f)
	}
}

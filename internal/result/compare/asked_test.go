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

// failing writes a run of so many requests of which some failed, and loads it.
func failing(t *testing.T, requests, failed int) *compare.System {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile_export_aiperf.json")
	ok := requests - failed
	text := fmt.Sprintf(`{"request_latency": {"unit": "ms", "avg": 100, "count": %d},
		"request_count": {"unit": "requests", "avg": %d}, "error_request_count": {"unit": "requests", "avg": %d},
		"completed_request_count": {"unit": "requests", "avg": %d}, "request_error_rate": {"unit": "%%", "avg": %v},
		"input_config": %s}`, ok, ok, failed, requests, 100*float64(failed)/float64(requests), configOf("http://a", 100, 4, 1))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := compare.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// Whether more requests failed than before is decided by how many there were: the interval of the difference is in points.
func TestFailuresOfTwoRunsAreComparedAsShares(t *testing.T) {
	for name, c := range map[string]struct {
		requests, base, next int
		want                 compare.Verdict
	}{
		"a few of few may be chance":      {100, 1, 3, compare.NotShown},
		"the same shares of many are not": {20_000, 200, 600, compare.Worse},
		"fewer":                           {20_000, 600, 200, compare.Better},
		"none and some":                   {400, 0, 40, compare.Worse},
		"none and one":                    {400, 0, 1, compare.NotShown},
		"all and none":                    {400, 400, 0, compare.Better},
		"as many":                         {400, 40, 40, compare.Same},
	} {
		t.Run(name, func(t *testing.T) {
			c2, err := compare.Compare(failing(t, c.requests, c.base), failing(t, c.requests, c.next), compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(c2.Figures, func(f compare.Figure) bool { return f.Tag == "request_error_rate" })
			if at < 0 {
				t.Fatalf("no error rate among %+v", c2.Figures)
			}
			f := &c2.Figures[at]
			if d := f.New - f.Base; f.Verdict != c.want || f.Verdict != compare.Same && (f.Low > d || f.High < d ||
				f.Method != compare.MethodShares) {
				t.Errorf("%s by %s, %v … %v", f.Verdict, f.Method, f.Low, f.High)
			}
		})
	}
}

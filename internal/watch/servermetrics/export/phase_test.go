package export_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// warmedUp returns a collection with a warm-up of two seconds before the phase: a request in the warm-up, three after
// it.
func warmedUp(t *testing.T) *collection {
	c := newCollection(t)
	c.info.Warmup = servermetrics.Window{StartNS: start - 2*second, EndNS: start - second}
	for _, p := range []struct {
		after time.Duration
		page  string
	}{
		{-3 * time.Second, "# TYPE n counter\nn 4\n# TYPE g gauge\ng 1\n"},
		{-time.Second, "# TYPE n counter\nn 5\n# TYPE g gauge\ng 2\n"},
		{-time.Millisecond, "# TYPE n counter\nn 5\n# TYPE g gauge\ng 3\n"},
		{4 * time.Second, "# TYPE n counter\nn 8\n# TYPE g gauge\ng 4\n"},
	} {
		c.page(url, p.after, p.page)
	}
	return c
}

// stat returns a statistic of the only series of a family.
func stat(t *testing.T, doc any, family, key string) any {
	t.Helper()
	of, _ := doc.(map[string]any)
	series, _ := of[family].(map[string]any)
	list, _ := series["series"].([]any)
	if len(list) != 1 {
		t.Fatalf("series of %s: %v", family, list)
	}
	return list[0].(map[string]any)["stats"].(map[string]any)[key]
}

func TestTrapWarmupHasFiguresOfItsOwn(t *testing.T) {
	c := warmedUp(t)
	run := export.NewRun(c.store, c.info)
	path := filepath.Join(t.TempDir(), "server_metrics_export.json")
	if err := (export.JSON{Path: path, Run: run}).Export(context.Background()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][2]float64{"metrics": {3, 4}, "warmup_metrics": {1, 2}} {
		if total, gauge := stat(t, doc[key], "n", "total"), stat(t, doc[key], "g", "avg"); total != want[0] ||
			gauge != want[1] {
			t.Errorf("%s: total %v, gauge %v, want %v", key, total, gauge, want)
		}
	}
	order, err := artifact.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range order {
		keys = append(keys, m.Key)
	}
	if got, _ := json.Marshal(keys); string(got) != `["schema_version","aiperf_version","benchmark_id","summary","metrics_phase","metrics","warmup_metrics","input_config","run_info"]` {
		t.Errorf("order %s", got)
	}
	wants(t, "JSON", string(text), `"schema_version": "1.1"`, `"metrics_phase": "profiling"`, `"phase_time_ranges": {
      "profiling": {
        "start_ns": 1765382833596361000,
        "end_ns": 1765382843596361000
      },
      "warmup": {
        "start_ns": 1765382831596361000,
        "end_ns": 1765382832596361000
      }
    }`)
}

func TestTrapARangeThatDoesNotEndAfterItsStartIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		name           string
		window, warmup servermetrics.Window
		want           string
	}{
		{"no warm-up", servermetrics.Window{StartNS: 1, EndNS: 2}, servermetrics.Window{},
			`{"profiling":{"end_ns":2,"start_ns":1}}`},
		{"empty warm-up", servermetrics.Window{StartNS: 1, EndNS: 2}, servermetrics.Window{StartNS: 1, EndNS: 1},
			`{"profiling":{"end_ns":2,"start_ns":1}}`},
		{"warm-up that ends before it starts", servermetrics.Window{StartNS: 5, EndNS: 6},
			servermetrics.Window{StartNS: 4, EndNS: 3}, `{"profiling":{"end_ns":6,"start_ns":5}}`},
		{"empty profiling", servermetrics.Window{StartNS: 5, EndNS: 5}, servermetrics.Window{StartNS: 3, EndNS: 4},
			`{"warmup":{"end_ns":4,"start_ns":3}}`},
		{"nothing", servermetrics.Window{}, servermetrics.Window{}, `{}`},
	} {
		of := newCollection(t)
		of.page(url, 0, "n 1\n")
		of.info.Window, of.info.Warmup = c.window, c.warmup
		var doc struct {
			Summary struct {
				Ranges map[string]map[string]int64 `json:"phase_time_ranges"`
			}
			Warmup json.RawMessage `json:"warmup_metrics"`
		}
		if err := json.Unmarshal([]byte(of.json()), &doc); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(doc.Summary.Ranges); string(got) != c.want || doc.Warmup != nil {
			t.Errorf("%s: %s, want %s; warm-up %s", c.name, got, c.want, doc.Warmup)
		}
	}
}

func TestTrapAWarmupWithoutAScrapeHasNoFigures(t *testing.T) {
	c := warmedUp(t)
	c.info.Warmup = servermetrics.Window{StartNS: start - 3*second + 1, EndNS: start - second - 1}
	if run := export.NewRun(c.store, c.info); run.Warmup != nil {
		t.Errorf("%+v", run.Warmup)
	}
}

func TestPhaseFileIsSortedByKey(t *testing.T) {
	c := vllm(t)
	c.info.SliceNS = 3 * second
	c.page("https://localhost:8000/metrics", time.Second, "# TYPE x gauge\nx{b=\"1\",a=\"2\"} 1\n")
	run := export.NewRun(c.store, c.info)
	phase := &export.PhaseMetrics{
		PhaseID: servermetrics.PhaseID{Index: 1, Name: "profiling", Kind: "profiling"},
		Object:  artifact.Object{{Key: "phase_index", Value: 1}, {Key: "end_ns", Value: c.info.Window.EndNS}},
		Window:  c.info.Window, Results: run.Results,
		Errors: []any{artifact.Object{{Key: "error_details",
			Value: artifact.Object{{Key: "type", Value: "T"}, {Key: "code", Value: 500}}}, {Key: "count", Value: 2}}},
	}
	path := filepath.Join(t.TempDir(), "server_metrics.json")
	if err := export.WritePhase(context.Background(), path, run, phase); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/phase.json", text)
	if key := misplaced(t, text); key != "" {
		t.Errorf("not in order: %s", key)
	}
}

// misplaced returns the first key of a document that stands after a larger one of its object.
func misplaced(t *testing.T, text []byte) string {
	t.Helper()
	object, err := artifact.ParseObject(text)
	if err != nil {
		return "" // no object
	}
	for i, m := range object {
		if i > 0 && object[i-1].Key > m.Key {
			return m.Key
		}
		raw, err := artifact.AppendJSON(nil, m.Value)
		if err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, inner := range list {
			if found := misplaced(t, inner); found != "" {
				return found
			}
		}
	}
	return ""
}

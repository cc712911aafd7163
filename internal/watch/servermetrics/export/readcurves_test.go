package export_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"aiperf/internal/measure/timeline"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// What a chart shows is the same from the store and from the Parquet file, within the window that the file has.
func TestCurvesOfTheParquetFileAreThoseOfTheStore(t *testing.T) {
	c := newCollection(t)
	for i := range int64(12) {
		c.page(url, time.Duration(i)*time.Second, fmt.Sprintf(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a\"b"} %d
vllm:num_requests_running{engine="1",model_name="m"} %d
# TYPE vllm:prompt_tokens counter
vllm:prompt_tokens_total %d
# TYPE h_seconds histogram
h_seconds_bucket{le="1"} %d
h_seconds_bucket{le="+Inf"} %d
h_seconds_sum %d
h_seconds_count %d
`, i%5, i, 100*i*i, i, 2*i, 3*i*i, 2*i))
	}
	c.info.Window = servermetrics.Window{StartNS: start, EndNS: start + 20*second}
	run := export.NewRun(c.store, c.info)
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := (export.Parquet{Path: path, Run: run}).Export(context.Background()); err != nil {
		t.Fatal(err)
	}
	got, err := export.ReadCurves(path)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]timeline.Curve{}
	for _, c := range got {
		byName[c.Name+c.Labels] = c
	}
	want := servermetrics.Curves(c.store)
	if len(want) != 4 || len(got) != 4 {
		t.Fatalf("%d and %d curves", len(want), len(got))
	}
	for _, w := range want {
		g := byName[w.Name+w.Labels]
		if g.Source != w.Source || g.What != w.What || g.Unit != w.Unit || len(g.Values) != len(w.Values) {
			t.Errorf("%s {%s}: %+v, want %+v", w.Name, w.Labels, g, w)
			continue
		}
		for i := range w.Values {
			if g.TimeNS[i] != w.TimeNS[i] || g.Values[i] != w.Values[i] &&
				!(math.IsNaN(g.Values[i]) && math.IsNaN(w.Values[i])) {
				t.Errorf("%s at %d: %g at %d, want %g", w.Name, i, g.Values[i], g.TimeNS[i], w.Values[i])
			}
		}
	}
	if c := byName["vllm:prompt_tokens"]; c.What != timeline.Rate || c.Values[2] != 300 {
		t.Errorf("the counter is %+v", c)
	}
	if c := byName["h_seconds"]; c.What != timeline.Mean || c.Values[2] != 4.5 {
		t.Errorf("the histogram is %+v", c)
	}
}

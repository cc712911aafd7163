package servermetrics

import (
	"math"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

func TestLegacyStatistics(t *testing.T) {
	gauge, still, idle, busy, h, empty := gaugeOf("gauge"), gaugeOf("still"), counterOf("idle"), counterOf("busy"),
		histogramOf("h", 0.1, 1, inf), histogramOf("empty", 1, inf)
	store := NewStore(Options{})
	e := store.Endpoint("e")
	// The busy counter moves at 1 s and at 4 s: 10/s, then 60 in 3 s.
	for i, v := range []float64{0, 10, 10, 10, 70, 70} {
		after := float64(min(i, 1))
		e.Add(Scrape{TimestampNS: int64(i) * 1e9, LatencyNS: 2e6, Samples: []prom.Sample{
			{Series: gauge, Value: float64(i)}, {Series: still, Value: 4}, {Series: idle, Value: 9},
			{Series: busy, Value: v},
			{Series: h, Buckets: []float64{2 * after, 3 * after, 4 * after}, Sum: 3 * after, Count: 4 * after},
			{Series: empty, Buckets: []float64{1, 1}, Sum: 1, Count: 1},
		}})
	}
	r := Compute(store, Settings{Phase: Window{1e9, 5e9}})
	want := map[string]string{
		"gauge": `{"avg":3.0,"min":1.0,"max":5.0,"std":1.5811388300841898,"p50":3.0,"p90":4.6,"p95":4.8,"p99":4.96,"estimated_percentiles":false}`,
		"still": `{"observation_count":1,"avg":4.0}`,
		"idle":  `{"delta":0.0}`,
		"busy":  `{"delta":70.0,"rate_per_second":14.0,"rate_avg":17.5,"rate_min":10.0,"rate_max":20.0,"rate_std":7.0710678118654755}`,
		"h":     `{"observation_count":4,"avg":0.75,"p50":0.3125,"p90":1.8100000000000005,"p95":2.0799999999999996,"p99":2.296,"estimated_percentiles":true,"delta":3.0,"rate_per_second":0.6,"observations_per_second":0.8,"buckets":{"0.1":2,"1":3,"+Inf":4}}`,
		"empty": `{"observation_count":0}`,
	}
	if len(r.Families) != len(want) {
		t.Fatalf("%d families", len(r.Families))
	}
	for _, f := range r.Families {
		if got := jsonOf(t, f.Series[0].Legacy()); got != want[f.Name] {
			t.Errorf("%s\n got %s\nwant %s", f.Name, got, want[f.Name])
		}
	}
	const info = `{"duration_seconds":5.0,"scrape_count":6,"avg_scrape_latency_ms":2.0,"avg_scrape_period_ms":1000.0}`
	if got := jsonOf(t, e.LegacyInfo()); got != info {
		t.Errorf("info is %s", got)
	}
}

func jsonOf(t *testing.T, o artifact.Object) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLegacyRatesSkipFalls(t *testing.T) {
	store := NewStore(Options{})
	series := counterOf("c")
	for i, v := range []float64{0, 10, 4, 24} {
		store.Endpoint("e").Add(Scrape{TimestampNS: int64(i) * 1e9, Samples: samplesOf(series, v)})
	}
	got := jsonOf(t, Compute(store, Settings{Phase: Window{1, 3e9}}).Families[0].Series[0].Legacy())
	if want := `{"delta":24.0,"rate_per_second":8.0,"rate_avg":15.0,"rate_min":10.0,"rate_max":20.0,"rate_std":7.0710678118654755}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestLegacySummaries(t *testing.T) {
	summary := &prom.Series{Family: &prom.Family{Name: "c", Type: prom.Summary}, Bounds: []string{"0.5", "0.99"},
		Upper: []float64{0.5, 0.99}}
	still := &prom.Series{Family: &prom.Family{Name: "idle", Type: prom.Summary}, Bounds: []string{"0.5"},
		Upper: []float64{0.5}}
	store := NewStore(Options{})
	for i, count := range []float64{2, 2, 6, 10} {
		store.Endpoint("e").Add(Scrape{
			// a counter of the same name keeps it
			TimestampNS: int64(i) * 1e9, Samples: samplesOf(counterOf("c"), count),
			Summaries: []prom.Sample{
				{Series: summary, Buckets: []float64{float64(i), math.NaN()}, Sum: 3 * count, Count: count},
				{Series: still, Buckets: []float64{7}, Sum: 1, Count: 1},
			},
		})
	}
	r := Compute(store, Settings{Phase: Window{1e9, 3e9}})
	if len(r.Families) != 1 || r.Families[0].Type != prom.Counter || len(r.Summaries) != 2 {
		t.Fatalf("%d families, %d summaries", len(r.Families), len(r.Summaries))
	}
	for i, want := range []string{
		`{"observation_count":8,"avg":3.0,"p50":3.0,"estimated_percentiles":true,"delta":24.0,"rate_per_second":8.0,"observations_per_second":2.6666666666666665,"quantiles":{"0.5":3.0}}`,
		`{"observation_count":0}`,
	} {
		if got := jsonOf(t, r.Summaries[i].Series[0].Legacy()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

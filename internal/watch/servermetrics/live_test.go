package servermetrics

import (
	"testing"

	"aiperf/internal/watch/prom"
)

// labelled returns a scalar series with one label.
func labelled(s *prom.Series, name, value string) *prom.Series {
	s.Labels = []prom.Label{{Name: name, Value: value}}
	return s
}

// scrapeOf makes a scrape at a second of the values given.
func scrapeOf(second int64, values map[*prom.Series]float64) Scrape {
	sc := Scrape{TimestampNS: second * 1e9}
	for s, v := range values {
		sc.Samples = append(sc.Samples, prom.Sample{Series: s, Value: v})
	}
	return sc
}

func wantLive(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if want < 0 {
		if got != nil {
			t.Errorf("%s is %v, want unknown", name, *got)
		}
	} else if got == nil || *got < want-1e-9 || *got > want+1e-9 {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

func TestLiveSumsGrowthOverEndpointsAndTakesTheLargestGauge(t *testing.T) {
	store := NewStore(Options{})
	hits, queries, in := counterOf("vllm:prefix_cache_hits"), counterOf("vllm:prefix_cache_queries"),
		counterOf("vllm:prompt_tokens")
	running, waiting, kv := gaugeOf("vllm:num_requests_running"), gaugeOf("vllm:num_requests_waiting"),
		gaugeOf("vllm:kv_cache_usage_perc")
	a, b := store.Endpoint("a"), store.Endpoint("b")
	a.Add(scrapeOf(10, map[*prom.Series]float64{hits: 100, queries: 100, in: 50, running: 9, waiting: 9, kv: 1}))
	b.Add(scrapeOf(10, map[*prom.Series]float64{hits: 7, queries: 7, in: 7}))
	mark := store.Mark()
	a.Add(scrapeOf(20, map[*prom.Series]float64{hits: 130, queries: 150, in: 150, running: 3, waiting: 1, kv: 0.42}))
	// its hits began anew
	b.Add(scrapeOf(20, map[*prom.Series]float64{hits: 2, queries: 10, in: 107, running: 4, waiting: 0, kv: 0.1}))
	l := store.Live(mark)
	wantLive(t, "hit", l.PrefixCacheHit, 100*32.0/53)
	wantLive(t, "unique", l.UniqueTokens, 21)
	wantLive(t, "kv", l.KVUsage, 42)
	wantLive(t, "running", l.Running, 4)
	wantLive(t, "waiting", l.Waiting, 1)
	wantLive(t, "input", l.InputRate, 20)
	for name, v := range map[string]*float64{"external": l.ExternalCacheHit, "cpu": l.CPUKVUsage,
		"output": l.OutputRate} {
		wantLive(t, name, v, -1)
	}
	unmarked := store.Live(nil)
	wantLive(t, "hit without a mark", unmarked.PrefixCacheHit, -1)
	wantLive(t, "kv without a mark", unmarked.KVUsage, 42)
}

func TestLiveOfSGLang(t *testing.T) {
	store := NewStore(Options{})
	device, total := labelled(counterOf("sglang:cached_tokens"), "cache_source", "device"),
		labelled(counterOf("sglang:cached_tokens"), "cache_source", "total")
	in, out, rate := counterOf("sglang:prompt_tokens"), counterOf("sglang:generation_tokens"),
		gaugeOf("sglang:cache_hit_rate")
	used, all := gaugeOf("sglang:hicache_host_used_tokens"), gaugeOf("sglang:hicache_host_total_tokens")
	running, waiting, kv := gaugeOf("sglang:num_running_reqs"), gaugeOf("sglang:num_queue_reqs"),
		gaugeOf("sglang:token_usage")
	e := store.Endpoint("a")
	values := map[*prom.Series]float64{device: 0, total: 0, in: 0, out: 0, rate: 0.25, used: 5, all: 20, running: 2,
		waiting: 6, kv: 42}
	e.Add(scrapeOf(1, values))
	mark := store.Mark()
	wantLive(t, "hit by the gauge", store.Live(mark).PrefixCacheHit, 25)
	values[device], values[total], values[in], values[out] = 30, 30, 40, 8
	e.Add(scrapeOf(5, values))
	l := store.Live(mark)
	wantLive(t, "hit", l.PrefixCacheHit, 75)
	wantLive(t, "unique", l.UniqueTokens, 10)
	wantLive(t, "kv", l.KVUsage, 42)
	wantLive(t, "cpu", l.CPUKVUsage, 25)
	wantLive(t, "running", l.Running, 2)
	wantLive(t, "waiting", l.Waiting, 6)
	wantLive(t, "input", l.InputRate, 10)
	wantLive(t, "output", l.OutputRate, 2)
}

// A gauge up to 1 is a fraction; a larger one is a percentage already.
func TestTrapUsageAsFractionOrPercentage(t *testing.T) {
	for v, want := range map[float64]float64{0.42: 42, 42: 42, 1: 100, 0: 0} {
		store := NewStore(Options{})
		store.Endpoint("a").Add(scrapeOf(1, map[*prom.Series]float64{gaugeOf("vllm:gpu_cache_usage_perc"): v}))
		wantLive(t, "kv", store.Live(nil).KVUsage, want)
	}
}

// What an endpoint does not say any more is unknown.
func TestLiveForgetsWhatIsNotInTheNewestScrape(t *testing.T) {
	store := NewStore(Options{})
	e := store.Endpoint("a")
	kv, running := gaugeOf("vllm:kv_cache_usage_perc"), gaugeOf("vllm:num_requests_running")
	e.Add(scrapeOf(1, map[*prom.Series]float64{kv: 0.5, running: 1}))
	e.Add(scrapeOf(2, map[*prom.Series]float64{running: 1}))
	l := store.Live(nil)
	wantLive(t, "kv", l.KVUsage, -1)
	wantLive(t, "running", l.Running, 1)
}

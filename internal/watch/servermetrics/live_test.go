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

func TestLiveSumsOverEndpointsAndTakesTheFullestCache(t *testing.T) {
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
	wantLive(t, "running", l.Running, 7)
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

// A counter that an endpoint did not have at the mark was 0 then, at the instant of its scrape; of an endpoint that had not
// answered nothing is known.
func TestLiveOfWhatBeganAfterTheMark(t *testing.T) {
	store := NewStore(Options{})
	out, up := counterOf("vllm:generation_tokens"), gaugeOf("up")
	store.Endpoint("a").Add(scrapeOf(10, map[*prom.Series]float64{up: 1}))
	mark := store.Mark()
	store.Endpoint("a").Add(scrapeOf(20, map[*prom.Series]float64{up: 1, out: 50}))
	store.Endpoint("b").Add(scrapeOf(20, map[*prom.Series]float64{counterOf("vllm:generation_tokens"): 1e6}))
	wantLive(t, "output", store.Live(mark).OutputRate, 5)
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

// The requests of a data-parallel vLLM are those of all its engines.
func TestLiveSumsTheEnginesOfAPage(t *testing.T) {
	store := NewStore(Options{})
	gauge := func(name, engine string) *prom.Series { return labelled(gaugeOf(name), "engine", engine) }
	store.Endpoint("a").Add(scrapeOf(1, map[*prom.Series]float64{
		gauge("vllm:num_requests_running", "0"): 3, gauge("vllm:num_requests_running", "1"): 5,
		gauge("vllm:num_requests_waiting", "0"): 7, gauge("vllm:num_requests_waiting", "1"): 2,
		gauge("vllm:kv_cache_usage_perc", "0"): 0.25, gauge("vllm:kv_cache_usage_perc", "1"): 0.5,
	}))
	l := store.Live(nil)
	wantLive(t, "running", l.Running, 8)
	wantLive(t, "waiting", l.Waiting, 9)
	wantLive(t, "kv", l.KVUsage, 50)
}

// A queue that a front end and its engines both show is one queue, wherever it is looked at; several engines have
// several, whatever they are called.
func TestOneQueueOnSeveralPages(t *testing.T) {
	type page map[string]float64
	for _, c := range []struct {
		name             string
		pages            map[string]page
		waiting, running float64
	}{
		{"a front end and its engine", map[string]page{"front": {"dynamo_frontend_queued_requests": 10},
			"worker": {"vllm:num_requests_waiting": 10, "vllm:num_requests_running": 2}}, 10, 2},
		{"a front end alone", map[string]page{"front": {"dynamo_frontend_queued_requests": 10}}, 10, -1},
		{"two engines of one kind", map[string]page{"a": {"vllm:num_requests_waiting": 4, "vllm:num_requests_running": 1},
			"b": {"vllm:num_requests_waiting": 3, "vllm:num_requests_running": 2}}, 7, 3},
		{"two engines of two kinds", map[string]page{"a": {"vllm:num_requests_waiting": 4},
			"b": {"sglang:num_queue_reqs": 3, "sglang:num_running_reqs": 5}}, 7, 5},
		{"one engine under two names", map[string]page{"a": {"vllm:num_requests_waiting": 4,
			"nv_inference_pending_request_count": 4}}, 4, -1},
		{"a simulated TensorRT-LLM of Dynamo", map[string]page{"a": {"trtllm:num_requests_waiting": 1,
			"trtllm:num_requests_running": 2, "trtllm:kv_cache_usage_perc": 0.5}}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := NewStore(Options{})
			for _, second := range []int64{1, 2} {
				for _, url := range []string{"front", "worker", "a", "b"} {
					values := map[*prom.Series]float64{}
					for name, v := range c.pages[url] {
						values[gaugeOf(name)] = v
					}
					if len(values) > 0 {
						store.Endpoint(url).Add(scrapeOf(second, values))
					}
				}
			}
			live := store.Live(nil)
			wantLive(t, "waiting", live.Waiting, c.waiting)
			wantLive(t, "running", live.Running, c.running)
			load := LoadOf(Compute(store, Settings{Phase: Window{StartNS: 1e9, EndNS: 2e9}}))
			wantLive(t, "waiting on average", load.Waiting, c.waiting)
			wantLive(t, "most waiting", load.WaitingMax, c.waiting)
			wantLive(t, "running on average", load.Running, c.running)
			if c.pages["a"]["trtllm:kv_cache_usage_perc"] > 0 {
				wantLive(t, "cache", load.KVUsageMax, 50)
				wantLive(t, "live cache", live.KVUsage, 50)
			}
		})
	}
}

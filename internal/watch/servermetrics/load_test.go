package servermetrics

import (
	"math"
	"testing"

	"aiperf/internal/watch/prom"
)

func TestLoadIsThatOfAllEngines(t *testing.T) {
	store := NewStore(Options{})
	one, two := labelled(gaugeOf("vllm:num_requests_waiting"), "engine", "0"),
		labelled(gaugeOf("vllm:num_requests_waiting"), "engine", "1")
	kv, odd := gaugeOf("vllm:kv_cache_usage_perc"), gaugeOf("vllm:num_requests_running")
	preempted := counterOf("vllm:num_preemptions")
	e := store.Endpoint("a")
	e.Add(scrapeOf(1, map[*prom.Series]float64{one: 2, two: 4, kv: 0.25, preempted: 3, odd: math.Inf(1)}))
	e.Add(scrapeOf(2, map[*prom.Series]float64{one: 4, two: 4, kv: 0.75, preempted: 10, odd: math.Inf(1)}))
	l := LoadOf(Compute(store, Settings{Phase: Window{StartNS: 1e9, EndNS: 2e9}}))
	if l == nil {
		t.Fatal("no load")
	}
	wantLive(t, "waiting", l.Waiting, 7)
	wantLive(t, "most waiting", l.WaitingMax, 8)
	wantLive(t, "cache", l.KVUsage, 50)
	wantLive(t, "fullest cache", l.KVUsageMax, 75)
	wantLive(t, "preemptions", l.Preemptions, 7)
	wantLive(t, "running, which is not finite", l.Running, -1)
}

func TestNoLoadOfOtherServers(t *testing.T) {
	store := NewStore(Options{})
	store.Endpoint("a").Add(scrapeOf(1, map[*prom.Series]float64{gaugeOf("other"): 2}))
	if l := LoadOf(Compute(store, Settings{Phase: Window{StartNS: 0, EndNS: 2e9}})); l != nil {
		t.Errorf("%+v", l)
	}
}

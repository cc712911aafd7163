package servermetrics

import (
	"testing"

	"aiperf/internal/watch/prom"
)

func TestWorkIsThatOfAllServersRunningAndWaiting(t *testing.T) {
	store := NewStore(Options{})
	if n, at := store.Work(); at != 0 || n != 0 {
		t.Errorf("nobody was asked: %v at %v", n, at)
	}
	a, b := store.Endpoint("a"), store.Endpoint("b")
	a.Add(scrapeOf(10, map[*prom.Series]float64{gaugeOf("process_start_time_seconds"): 9}))
	if n, at := store.Work(); at != 0 || n != 0 {
		t.Errorf("the page does not say: %v at %v", n, at)
	}
	running, waiting, queue := gaugeOf("vllm:num_requests_running"), gaugeOf("vllm:num_requests_waiting"),
		gaugeOf("sglang:num_queue_reqs")
	for i, want := range []float64{12, 3, 0} {
		at := int64(20 + 10*i)
		a.Add(scrapeOf(at, map[*prom.Series]float64{running: []float64{4, 0, 0}[i], waiting: []float64{5, 1, 0}[i]}))
		b.Add(scrapeOf(at, map[*prom.Series]float64{queue: []float64{3, 2, 0}[i]}))
		if n, ns := store.Work(); ns != at*1e9 || n != want {
			t.Errorf("%v requests at %v, want %v at %v s", n, ns, want, at)
		}
	}
}

func TestWorkOfAFrontEndAndItsEngines(t *testing.T) {
	store := NewStore(Options{})
	store.Endpoint("front").Add(scrapeOf(1, map[*prom.Series]float64{gaugeOf("dynamo_frontend_inflight_requests"): 12,
		gaugeOf("dynamo_frontend_queued_requests"): 10}))
	store.Endpoint("worker").Add(scrapeOf(1, map[*prom.Series]float64{gaugeOf("vllm:num_requests_waiting"): 9,
		gaugeOf("vllm:num_requests_running"): 2}))
	if n, _ := store.Work(); n != 12 { // one has not reached the engine yet
		t.Errorf("%v requests, want 12", n)
	}
}

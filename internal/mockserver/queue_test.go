package mockserver

import (
	"aiperf/internal/wire/oip"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// queuePages are the gauges of running and waiting requests of each page that has them.
var queuePages = []struct{ path, running, waiting string }{
	{"/vllm/metrics", "vllm:num_requests_running", "vllm:num_requests_waiting"},
	{"/sglang/metrics", "sglang:num_running_reqs", "sglang:num_queue_reqs"},
	{"/trtllm/metrics", "trtllm:num_requests_running", "trtllm:num_requests_waiting"},
	{"/triton/metrics", "", "nv_inference_pending_request_count"},
	{"/dynamo_frontend/metrics", "dynamo_frontend_inflight_requests", ""},
}

// queueMode is a way to be served, and how many of eight requests run at first.
type queueMode struct {
	name    string
	options Options
	path    string
	body    string
	headers []string
	running int
	neither int // neither run nor wait: they have not come to the queue
}

func queueModes() []queueMode {
	slow := Options{TTFT: time.Second, ITL: time.Second, OutputTokens: 20, MaxQueue: -1, EmbeddingBase: time.Minute,
		RankingBase: time.Minute, ImageLatency: time.Minute, ImageInferBase: time.Minute}
	with := func(change func(*Options)) Options {
		o := slow
		change(&o)
		return o
	}
	steps := func(o *Options, batch int) {
		o.Scheduler = SchedulerOptions{Enabled: true, Step: time.Second, MaxBatch: batch, PrefillChunk: 512, PrefillChunks: 8}
	}
	batch := with(func(o *Options) { o.MaxBatch = 3 })
	scheduler := with(func(o *Options) { steps(o, 3) })
	modes := []queueMode{
		{name: "no limit", options: slow, running: 8},
		{name: "batch", options: batch, running: 3},
		{name: "scheduler", options: scheduler, running: 3},
		{name: "scheduler in a larger batch", options: with(func(o *Options) { steps(o, 3); o.MaxBatch = 5 }), running: 3},
		{name: "scheduler in a smaller batch", options: with(func(o *Options) { steps(o, 5); o.MaxBatch = 3 }), running: 3},
		{name: "slow headers", options: scheduler, headers: []string{"X-Mock-Fault", "slow_headers_ms=5000"}, running: 3},
		{name: "before the queue", options: scheduler, headers: []string{"X-Mock-Fault", "delay_ms=5000"}, neither: 8},
		{name: "before the batch", options: batch, headers: []string{"X-Mock-Fault", "never"}, neither: 8},
	}
	for path, body := range map[string]string{
		completionPath: `{"prompt":"one two","model":"m","stream":true}`, "/v1/responses": `{"input":"one two","model":"m"}`,
		"/v1/messages":   `{"messages":[{"role":"user","content":"one"}],"model":"m","max_tokens":20,"stream":true}`,
		"/v1/embeddings": `{"input":["one"],"model":"m"}`, "/v1/ranking": `{"query":{"text":"a"},"passages":[{"text":"b"}]}`,
		"/v1/images/generations": `{"prompt":"one"}`, "/generate": `{"inputs":"one two"}`,
		"/v1/audio/speech":   `{"input":"` + text(20) + `","model":"m","voice":"v"}`,
		"/v2/models/m/infer": `{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["one two"]}]}`,
	} {
		modes = append(modes, queueMode{name: "batch " + path, options: batch, path: path, body: body, running: 3})
	}
	return modes
}

func TestPagesShowWhatRunsAndWaitsInEachMode(t *testing.T) {
	for _, m := range queueModes() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, stream %v", m.name, stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkQueue(t, m, stream) })
			})
		}
	}
}

func checkQueue(t *testing.T, m queueMode, stream bool) {
	const n = 8
	s := servePipe(t, m.options)
	path, body := chatPath, chat("one two three", stream)
	if m.path != "" {
		path, body = m.path, m.body
	}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range n {
		clients.Go(func() { s.tryFor(ctx, path, body, m.headers...) })
		synctest.Wait()
	}
	time.Sleep(500 * time.Millisecond)
	synctest.Wait()
	s.wantQueue(t, m.running, n-m.running-m.neither, n)
	// Clients that leave take their requests along, wherever these are.
	s.client.CloseIdleConnections()
	cancel()
	clients.Wait()
	synctest.Wait()
	s.wantQueue(t, 0, 0, 0)
	time.Sleep(2 * time.Second) // the scheduler's last step
	s.stop()
}

// wantQueue compares every page with the requests that run and wait.
func (s *testServer) wantQueue(t *testing.T, running, waiting, inFlight int) {
	t.Helper()
	for _, p := range queuePages {
		want := map[string]float64{p.running: float64(running), p.waiting: float64(waiting)}
		if strings.HasPrefix(p.running, "dynamo") {
			want[p.running] = float64(inFlight)
		}
		delete(want, "")
		s.page(p.path).want(t, want)
	}
}

func TestReplyThatLosesItsPlaceWaitsOnThePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{OutputTokens: 100, MaxQueue: -1, Scheduler: SchedulerOptions{Enabled: true,
			Step: time.Second, MaxBatch: 4, PrefillChunk: 512, PrefillChunks: 80, Collapse: true, Slope: 0.5, Floor: 0.5}})
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() { s.tryFor(ctx, chatPath, chat("one", true)) })
			synctest.Wait()
		}
		s.wantQueue(t, 4, 0, 4)
		for range 4 {
			clients.Go(func() { s.tryFor(ctx, chatPath, chat("one", true)) })
			synctest.Wait()
		}
		time.Sleep(2500 * time.Millisecond)
		s.wantQueue(t, 2, 6, 8) // one batch waits: the batch is half as large
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:num_preemptions": 2})
		cancel()
		clients.Wait()
		synctest.Wait()
		s.wantQueue(t, 0, 0, 0)
		time.Sleep(2 * time.Second)
		s.stop()
	})
}

func TestPagesShowTheQueueOfCalls(t *testing.T) {
	s := serve(t, Options{TTFT: time.Minute, ITL: time.Minute, MaxBatch: 2, MaxQueue: -1})
	ctx, cancel := context.WithCancel(t.Context())
	client := s.http2(nil)
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() { call(t, client, ctx, s.url, oip.ModelStreamInfer, inference("m", fiveTokens...)) })
	}
	deadline := time.Now().Add(20 * time.Second)
	for s.page("/vllm/metrics")["vllm:num_requests_waiting"].Value < 3 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	s.wantQueue(t, 2, 3, 5)
	cancel()
	calls.Wait()
}

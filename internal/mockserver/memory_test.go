package mockserver

import (
	"aiperf/internal/mockserver/page"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stepped returns a server in steps of 10 ms that is asked n times at once, and stops after the check.
func stepped(t *testing.T, o Options, n int, body string, check func(s *testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.MaxQueue = -1
		o.Scheduler.Enabled, o.Scheduler.Step = true, 10*time.Millisecond
		o.Scheduler.MaxBatch, o.Scheduler.PrefillChunk, o.Scheduler.PrefillChunks = 64, 512, 8
		s := servePipe(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range n {
			clients.Go(func() { s.tryFor(ctx, chatPath, body) })
			synctest.Wait()
		}
		check(s)
		cancel()
		clients.Wait()
		time.Sleep(time.Second)
		s.wantQueue(t, 0, 0, 0)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:kv_cache_usage_perc": 0})
		s.stop()
	})
}

func TestRepliesWaitForTheKVCache(t *testing.T) {
	// Each has six blocks at most: 64 tokens of the prompt, 20 of the reply.
	body := chat(text(64), true, `"max_tokens":20`, `"ignore_eos":true`)
	stepped(t, Options{KVBlocks: 13}, 5, body, func(s *testServer) {
		time.Sleep(55 * time.Millisecond)
		s.wantQueue(t, 2, 3, 5)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:kv_cache_usage_perc": 10.0 / 13,
			"vllm:num_preemptions": 0})
		time.Sleep(10 * time.Second)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:request_success length": 5, "vllm:generation_tokens": 100})
	})
}

func TestAFullKVCachePreemptsTheYoungest(t *testing.T) {
	body := chat(text(16), true, `"max_tokens":60`, `"ignore_eos":true`)
	stepped(t, Options{KVBlocks: 8}, 3, body, func(s *testServer) {
		s.wantQueue(t, 3, 0, 3) // two blocks each
		time.Sleep(200 * time.Millisecond)
		s.wantQueue(t, 2, 1, 3)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:num_preemptions": 1})
		time.Sleep(time.Minute)
		// Tokens that were made before a preemption are not made again.
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:request_success length": 3, "vllm:generation_tokens": 180})
	})
}

func TestStepsTakeLongerTheMoreTheyDo(t *testing.T) {
	for name, c := range map[string]struct {
		scheduler SchedulerOptions
		spec      Options
		want      time.Duration
	}{
		"nothing costs":  {want: 50 * time.Millisecond},
		"prompts cost":   {scheduler: SchedulerOptions{PrefillTime: time.Millisecond}, want: 114 * time.Millisecond},
		"replies cost":   {scheduler: SchedulerOptions{DecodeTime: time.Millisecond}, want: 54 * time.Millisecond},
		"drafts cost":    {scheduler: SchedulerOptions{DraftTime: 5 * time.Millisecond}, want: 70 * time.Millisecond},
		"drafts pay off": {spec: Options{SpecTokens: 3, SpecAcceptance: 1}, want: 20 * time.Millisecond},
		"half speed": {spec: Options{GPU: GPUOptions{Throttle: throttle(t, "clocks=0.5")}},
			want: 100 * time.Millisecond},
		"a cold start": {spec: Options{ColdStart: time.Second}, want: 1050 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := c.spec
				o.MaxQueue, o.Scheduler = -1, c.scheduler
				o.Scheduler.Enabled, o.Scheduler.Step, o.Scheduler.MaxBatch = true, 10*time.Millisecond, 8
				o.Scheduler.PrefillChunk, o.Scheduler.PrefillChunks = 512, 8
				s := servePipe(t, o)
				start := time.Now()
				s.post(chatPath, chat(text(64), false, `"max_tokens":4`, `"ignore_eos":true`))
				if took := time.Since(start); took != c.want {
					t.Errorf("a prompt of 64 tokens and a reply of 4 took %v, want %v", took, c.want)
				}
				s.stop()
			})
		})
	}
}

func throttle(t *testing.T, spec string) page.Throttle {
	var o Options
	if err := o.SetThrottle(spec); err != nil {
		t.Fatal(err)
	}
	return o.GPU.Throttle
}

func TestPrefixesThatWereSeenCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{PrefixCaching: true, TTFTPerInputToken: time.Millisecond})
		prompt := strings.Repeat("one two three four. ", 40) // 800 bytes
		took := func(p string) time.Duration {
			start := time.Now()
			s.post(chatPath, chat(p, false, `"max_tokens":1`, `"ignore_eos":true`))
			return time.Since(start)
		}
		first, again, other := took(prompt), took(prompt+"five"), took("no "+prompt)
		if again*4 > first || other < first {
			t.Errorf("the first prompt took %v, one with its beginning %v, another %v", first, again, other)
		}
		hits := s.page("/vllm/metrics")["vllm:prefix_cache_hits"].Value
		if want := (first - again).Milliseconds(); hits != float64(want+1) && hits != float64(want) {
			t.Errorf("%v tokens found, %d ms saved", hits, want)
		}
		s.stop()
	})
}

func TestAFrontendTakesOneRequestAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 10 * time.Millisecond, Frontend: 100 * time.Millisecond})
		var clients sync.WaitGroup
		start := time.Now()
		for range 3 {
			clients.Go(func() { s.post(chatPath, chat("x", true, `"max_tokens":1`)) })
			synctest.Wait()
		}
		clients.Wait()
		if took := time.Since(start); took != 310*time.Millisecond {
			t.Errorf("three took %v", took)
		}
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:time_to_first_token_seconds|sum": 0.03})
		s.page("/dynamo_frontend/metrics").want(t, map[string]float64{
			"dynamo_frontend_time_to_first_token_seconds|sum": 0.63, "dynamo_frontend_event_loop_stall": 2,
			"dynamo_frontend_event_loop_delay_seconds|sum": 0.3})
		s.stop()
	})
}

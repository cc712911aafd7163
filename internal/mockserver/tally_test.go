package mockserver

import (
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPagesShowWhatTheClientsGot(t *testing.T) {
	s := serve(t, Options{Fast: true, CachedShare: 0.3})
	var mu sync.Mutex
	var replies, streams, prompt, completion, gaps, wholeStops int
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 5 {
				stream := i%2 == 0
				body := chat(text(1+client*7+i), stream, `"stream_options":{"include_usage":true}`)
				path := chatPath
				if i == 3 {
					path = completionPath
					body = fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"ignore_eos":true}`, text(5+client), 1+client*3)
				}
				a, err := s.try(path, body)
				if err != nil {
					t.Error(err)
					return
				}
				r := assemble(t, a)
				mu.Lock()
				replies++
				prompt += r.usage.Prompt
				completion += r.usage.Completion
				gaps += r.usage.Completion - 1
				if stream {
					streams++
				}
				if r.finish == "stop" {
					wholeStops++
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	n, in, out := float64(replies), float64(prompt), float64(completion)
	stops, unary := float64(wholeStops), float64(replies-streams)
	for path, want := range map[string]map[string]float64{
		"/vllm/metrics": {
			"vllm:request_success stop": stops, "vllm:request_success length": n - stops,
			"vllm:request_success abort": 0,
			"vllm:prompt_tokens":         in, "vllm:generation_tokens": out, "vllm:num_preemptions": 0,
			"vllm:prefix_cache_queries": in, "vllm:prefix_cache_hits": float64(prompt * 3 / 10),
			"vllm:request_prompt_tokens|sum": in, "vllm:request_generation_tokens|sum": out,
			"vllm:request_generation_tokens|count": n,
			"vllm:iteration_tokens_total|sum":      in + out, "vllm:iteration_tokens_total|count": out,
			"vllm:e2e_request_latency_seconds|count": n, "vllm:time_to_first_token_seconds|count": n,
			"vllm:inter_token_latency_seconds|count": float64(gaps), "vllm:request_queue_time_seconds|sum": 0,
			"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
		},
		"/sglang/metrics": {"sglang:prompt_tokens": in, "sglang:generation_tokens": out, "sglang:num_requests": n,
			"sglang:e2e_request_latency_seconds|count": n, "sglang:cache_hit_rate": 0.3, "sglang:num_used_tokens": 0},
		"/trtllm/metrics": {"trtllm:request_success stop": stops, "trtllm:prompt_tokens": in,
			"trtllm:time_per_output_token_seconds|count": float64(gaps)},
		"/dynamo_frontend/metrics": {"dynamo_frontend_requests chat_completions  stream success": float64(streams),
			"dynamo_frontend_requests chat_completions  unary success": unary - 8,
			"dynamo_frontend_requests completions  unary success":      8,
			"dynamo_frontend_output_tokens":                            out,
			"dynamo_frontend_input_sequence_tokens|sum":                in,
			"dynamo_frontend_model_context_length":                     8192,
			"dynamo_frontend_disconnected_clients":                     0},
		"/dynamo_component/prefill/metrics": {"dynamo_component_requests": n, "dynamo_component_inflight_requests": 0},
		"/dynamo_component/decode/metrics":  {"dynamo_component_requests": n, "dynamo_component_total_blocks": 1024},
		"/triton/metrics": {"nv_inference_request_success": n,
			"nv_inference_first_response_histogram_ms|count": n},
		"/metrics": {"vllm:prompt_tokens": in, "aiperf_mock_completion_tokens": out,
			"aiperf_mock_requests /v1/chat/completions POST 200": n - 8,
			"aiperf_mock_streaming_requests":                     float64(streams)},
	} {
		s.page(path).want(t, want)
	}
}

func TestPagesShowRequestsWithFaults(t *testing.T) {
	s := serve(t, Options{Fast: true})
	s.post(chatPath, "{")
	s.post(chatPath, chat(text(4), false, tenTokens), "X-Mock-Fault", "status=503")
	s.post(chatPath, chat(text(4), false, tenTokens), "X-Mock-Fault", "error_200")
	s.post(chatPath, chat(text(4), true, tenTokens), "X-Mock-Fault", "cut_after_events=3")
	s.post(chatPath, chat(text(4), true, tenTokens), "X-Mock-Fault", "drop_after_bytes=300")
	if a := s.post(chatPath, chat(text(4), true, tenTokens)); a.status != 200 {
		t.Fatal(a.status)
	}
	s.stop()
	at, _ := s.srv.exporter.Find([]byte(page.Path), "")
	none := httpd.NoPageFault()
	text, _, _ := s.srv.exporter.Append(nil, at, false, &none)
	parsePage(t, string(text), false).want(t, map[string]float64{
		"vllm:request_success length": 1, "vllm:request_success stop": 0, "vllm:request_success error": 3,
		"aiperf_mock_requests /v1/chat/completions POST 200":   1,
		"aiperf_mock_requests /v1/chat/completions POST 400":   1,
		"aiperf_mock_requests /v1/chat/completions POST 503":   1,
		"aiperf_mock_errors /v1/chat/completions spoilt_reply": 3,
		"aiperf_mock_requests_in_progress":                     0, "vllm:num_requests_waiting": 0,
		"vllm:kv_cache_usage_perc": 0,
	})
}

func TestGaugesAndHistogramsFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, ITL: 10 * time.Millisecond, MaxBatch: 1, MaxQueue: -1})
		var clients sync.WaitGroup
		for i := range 2 {
			clients.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				s.post(chatPath, chat(text(20), true, tenTokens))
			})
		}
		time.Sleep(50 * time.Millisecond)
		s.page("/vllm/metrics").want(t,
			map[string]float64{"vllm:num_requests_running": 1, "vllm:num_requests_waiting": 1,
				"vllm:num_requests_waiting_by_reason capacity": 1,
				"vllm:kv_cache_usage_perc":                     20. / (8192 * 16)})
		s.page("/dynamo_frontend/metrics").want(t,
			map[string]float64{"dynamo_frontend_queued_requests": 2, "dynamo_frontend_active_requests": 2})
		time.Sleep(75 * time.Millisecond) // 125 ms: three tokens
		s.page("/dynamo_component/decode/metrics").want(t, map[string]float64{"dynamo_component_inflight_requests": 1,
			"dynamo_component_kvstats_active_blocks": 10})
		s.page("/sglang/metrics").want(t,
			map[string]float64{"sglang:num_used_tokens": 23, "sglang:generation_tokens": 3, "sglang:num_queue_reqs": 1})
		clients.Wait()
		// The second request waits from 1 ms to the end of the first one at 190 ms.
		page := s.page("/vllm/metrics")
		page.want(t, map[string]float64{"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0,
			"vllm:request_queue_time_seconds|sum": 0.189, "vllm:e2e_request_latency_seconds|sum": 0.19 + 0.379,
			"vllm:time_to_first_token_seconds|sum": 0.1 + 0.289, "vllm:request_prefill_time_seconds|sum": 0.2,
			"vllm:request_decode_time_seconds|sum": 0.18, "vllm:inter_token_latency_seconds|sum": 0.18})
		// Each gap is 10 ms, which is within the bucket that ends there.
		if gaps := page["vllm:inter_token_latency_seconds"]; gaps.Buckets[0] != 18 || gaps.Count != 18 {
			t.Errorf("gaps %v", gaps.Buckets)
		}
		if first := page["vllm:time_to_first_token_seconds"]; first.Buckets[6] != 0 || first.Buckets[7] != 1 ||
			first.Buckets[9] != 2 {
			t.Errorf("first tokens %v", first.Buckets)
		}
	})
}

func TestPlainReplyHasItsFirstTokenEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, ITL: 10 * time.Millisecond})
		s.post(chatPath, chat(text(20), false, tenTokens))
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:time_to_first_token_seconds|sum": 0.1,
			"vllm:inter_token_latency_seconds|sum": 0.09, "vllm:inter_token_latency_seconds|count": 9,
			"vllm:e2e_request_latency_seconds|sum": 0.2, "vllm:request_time_per_output_token_seconds|sum": 0.01,
			"vllm:generation_tokens": 10})
	})
}

func TestClientThatLeavesIsAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: time.Second, ITL: 10 * time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "POST", s.url+chatPath,
			strings.NewReader(chat(text(20), true, tenTokens)))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := s.client.Do(req); err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil {
				t.Error("the reply came in time")
			}
		}
		time.Sleep(2 * time.Second)
		s.page("/vllm/metrics").want(t,
			map[string]float64{"vllm:request_success abort": 1, "vllm:num_requests_running": 0,
				"vllm:generation_tokens": 0, "vllm:kv_cache_usage_perc": 0})
		s.page("/dynamo_frontend/metrics").want(t, map[string]float64{"dynamo_frontend_disconnected_clients": 1})
	})
}

func TestThroughputIsOfLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{ITL: 10 * time.Millisecond})
		var client sync.WaitGroup
		client.Go(func() { s.post(chatPath, chat(text(20), true, `"max_tokens":1000,"ignore_eos":true`)) })
		for range 5 {
			time.Sleep(time.Second)
			if got := s.page("/sglang/metrics")["sglang:gen_throughput"].Value; got < 99 || got > 102 {
				t.Errorf("throughput %v, want 100 tokens/s", got)
			}
		}
		client.Wait()
		time.Sleep(time.Second)
		s.page("/sglang/metrics")
		time.Sleep(time.Second)
		s.page("/sglang/metrics").want(t, map[string]float64{"sglang:gen_throughput": 0})
	})
}

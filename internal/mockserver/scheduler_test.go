package mockserver

import (
	"aiperf/internal/base/clock"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTrapLongQueueShrinksTheBatch(t *testing.T) {
	collapsing := SchedulerOptions{MaxBatch: 64, Collapse: true, Threshold: 1.5, Slope: 0.5, Floor: 0.3}
	for queue, want := range map[int]int{0: 64, 96: 64, 128: 48, 192: 19, 6400: 19} {
		if got := collapsing.effectiveBatch(queue); got != want {
			t.Errorf("%d in the queue: batch %d, want %d", queue, got, want)
		}
	}
	steady := collapsing
	steady.Collapse = false
	if got := steady.effectiveBatch(6400); got != 64 {
		t.Errorf("without collapse: batch %d, want 64", got)
	}
	tiny := SchedulerOptions{MaxBatch: 1, Collapse: true, Slope: 10}
	if got := tiny.effectiveBatch(100); got != 1 {
		t.Errorf("a batch of %d, want at least 1", got)
	}
}

// replies sends n requests in order, each for some tokens, and returns when each was whole.
func replies(t *testing.T, o SchedulerOptions, n, tokens int, stream bool) []time.Duration {
	o.Enabled, o.Step = true, 5*time.Millisecond
	s := servePipe(t, Options{TTFT: time.Hour, ITL: time.Hour, OutputTokens: tokens, MaxQueue: -1, Scheduler: o})
	took := make([]time.Duration, n)
	start := time.Now()
	for i := range took {
		go func() {
			if a, err := s.try(chatPath, chat("one two three", stream)); err != nil || a.status != 200 {
				t.Errorf("request %d: status %d, %v", i, a.status, err)
			}
			took[i] = time.Since(start)
		}()
		synctest.Wait()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	s.stop()
	return took
}

func TestSchedulerAdvancesRepliesInSharedSteps(t *testing.T) {
	ms := time.Millisecond
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			// A step for the prompt, then one for each of four tokens; the third reply waits for a place.
			got := replies(t, SchedulerOptions{MaxBatch: 2, PrefillChunk: 512, PrefillChunks: 8}, 3, 4, stream)
			if want := []time.Duration{25 * ms, 25 * ms, 45 * ms}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("stream %v, batch of 2: whole after %v, want %v", stream, got, want)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			// One prompt in a step.
			got := replies(t, SchedulerOptions{MaxBatch: 9, PrefillChunk: 512, PrefillChunks: 1}, 3, 4, stream)
			if want := []time.Duration{25 * ms, 30 * ms, 35 * ms}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("stream %v, one chunk in a step: whole after %v, want %v", stream, got, want)
			}
		})
	}
}

func TestSchedulerSplitsLongPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler{opts: SchedulerOptions{MaxBatch: 4, PrefillChunk: 10, PrefillChunks: 2}, running: true,
			clock: clock.New()}
		server := servePipe(t, Options{})
		account := server.srv.exporter.Tally().Account()
		s.add(&job{account: &account, prompt: 35, left: 35, tokens: 1})
		for i, left := range []int{2, 0} {
			s.step()
			if chunks := func() int {
				if len(s.prefill) == 0 {
					return 0
				}
				return (s.prefill[0].left + 9) / 10
			}(); chunks != left || len(s.decode) != (2-left)/2 {
				t.Errorf("step %d: %d pieces left, %d decoding", i+1, chunks, len(s.decode))
			}
		}
	})
}

func TestClientThatLeavesGivesItsPlaceInTheBatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{OutputTokens: 1000, MaxQueue: -1, Scheduler: SchedulerOptions{
			Enabled: true, Step: 5 * time.Millisecond, MaxBatch: 1, PrefillChunk: 512, PrefillChunks: 8}})
		body := chat("x", true)
		running, _ := s.dial()
		fmt.Fprintf(running, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		go io.Copy(io.Discard, running)
		synctest.Wait()
		start := time.Now()
		done := make(chan time.Duration)
		go func() {
			s.try(chatPath, chat("x", true))
			done <- time.Since(start)
		}()
		time.Sleep(502 * time.Millisecond) // between two steps
		running.Close()
		if took := <-done; took < 5500*time.Millisecond || took > 5520*time.Millisecond {
			t.Errorf("the second reply took %v, want 1000 steps after the first one's client left", took)
		}
		s.stop()
	})
}

func TestPagesShowTheQueueOfTheScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{OutputTokens: 4, MaxQueue: -1, Scheduler: SchedulerOptions{Enabled: true,
			Step: 100 * time.Millisecond, MaxBatch: 2, PrefillChunk: 512, PrefillChunks: 8}})
		var clients sync.WaitGroup
		for range 5 {
			clients.Go(func() { s.post(chatPath, chat("one two three", true)) })
			synctest.Wait()
		}
		queue := func(running, waiting float64) {
			t.Helper()
			s.page("/vllm/metrics").want(t, map[string]float64{"vllm:num_requests_running": running,
				"vllm:num_requests_waiting": waiting})
		}
		queue(2, 3)
		time.Sleep(650 * time.Millisecond) // a step for the prompts and four for the tokens; then the next two
		queue(2, 1)
		clients.Wait()
		queue(0, 0)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:request_queue_time_seconds|count": 5,
			"vllm:request_queue_time_seconds|sum": 2*0.5 + 0.9, "vllm:kv_cache_usage_perc": 0})
		s.stop()
	})
}

package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
)

// busy is a server whose page shows one request less at each scrape; below zero it has gone. Scrapes are counted.
type busy struct {
	left, scrapes atomic.Int64
	gauge         string
	// scraped is called with the number of scrapes; nil for none.
	scraped func(int64)
}

func (b *busy) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if n := b.scrapes.Add(1); b.scraped != nil {
		b.scraped(n)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE %s gauge\n%s %d\n", b.gauge, b.gauge, max(0, b.left.Add(-1)))
}

func idleWatch(t *testing.T, url string, args ...string) *IdleWatch {
	t.Helper()
	log := runlog.New(runlog.Options{Level: runlog.LevelError, Console: t.Output()})
	t.Cleanup(func() { log.Close() })
	w, err := WatchIdle(t.Context(), watching(t, t.TempDir(), url, args...), Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// The next probe begins when the last one has left the server: requests that were cut off may still be generated.
func TestTrapProbesWaitUntilTheServerIsIdle(t *testing.T) {
	t.Parallel()
	for _, gauge := range []string{"vllm:num_requests_waiting", "sglang:num_running_reqs", "llamacpp:requests_processing"} {
		b := &busy{gauge: gauge}
		b.left.Store(8)
		s := httptest.NewServer(b)
		w := idleWatch(t, s.URL)
		found := w.WaitUntilIdle(t.Context(), time.Hour)
		if !found.Known || found.Requests != 0 || b.left.Load() > -1 {
			t.Errorf("%s: %+v, %d left", gauge, found, b.left.Load())
		}
		b.left.Store(1 << 40)
		ctx, enough := context.WithCancel(t.Context())
		last := b.scrapes.Load() + 3
		b.scraped = func(n int64) {
			if n >= last {
				enough()
			}
		}
		if found := w.WaitUntilIdle(ctx, time.Hour); !found.Known || found.Requests == 0 {
			t.Errorf("%s: a server that stays busy: %+v", gauge, found)
		}
		enough()
		s.Close()
		found = Idle{Known: true}
		for tries := 0; found.Known && tries < 100; tries++ { // a scrape may still be under way
			found = w.WaitUntilIdle(t.Context(), 100*time.Millisecond)
		}
		if found.Known {
			t.Errorf("%s: a server that is gone: %+v", gauge, found)
		}
		w.Close()
	}
}

func TestNothingIsWaitedForWhereServersDoNotSayWhetherTheyAreIdle(t *testing.T) {
	t.Parallel()
	mock := serve(t, mockserver.Options{Fast: true})
	if found := idleWatch(t, mock).WaitUntilIdle(t.Context(), time.Minute); !found.Known || found.Requests != 0 {
		t.Errorf("the mock server: %+v", found)
	}
	if found := idleWatch(t, mock, "--no-server-metrics").WaitUntilIdle(t.Context(), time.Hour); found.Known {
		t.Errorf("without server metrics: %+v", found)
	}
	silent := &busy{gauge: "process_start_time_seconds"}
	s := httptest.NewServer(silent)
	defer s.Close()
	w := idleWatch(t, s.URL)
	asked := silent.scrapes.Load()
	if found := w.WaitUntilIdle(t.Context(), time.Hour); found.Known || silent.scrapes.Load() != asked {
		t.Errorf("a page without the gauges: %+v", found)
	}
}

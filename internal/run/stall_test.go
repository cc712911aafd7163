package run

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

func TestRecordsStallOnlyWhenNoneCome(t *testing.T) {
	t.Parallel()
	const timeout, interval = 300 * time.Second, 10 * time.Second
	var waiting, done atomic.Int64
	watch := func(timeout time.Duration) (ended chan error, end func()) {
		w := stallWatch{
			progress: func() (int64, int64) { return waiting.Load(), done.Load() }, timeout: timeout,
			interval: interval,
		}
		ctx, end := context.WithCancel(context.Background())
		ended = make(chan error, 1)
		go func() { ended <- w.wait(ctx) }()
		return ended, end
	}
	for _, c := range []struct {
		name    string
		timeout time.Duration
		waiting int64
		// each passes before a record comes; 0: none comes.
		each  time.Duration
		stall bool
	}{
		{"a record is missing", timeout, 1, 0, true},
		{"all records are there", timeout, 0, 0, false},
		{"records come slowly", timeout, 100, 280 * time.Second, false},
		{"the watch is off", 0, 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waiting.Store(c.waiting)
				done.Store(0)
				start := time.Now()
				ended, end := watch(c.timeout)
				for time.Since(start) < 10*timeout && len(ended) == 0 {
					time.Sleep(max(c.each, interval))
					if c.each > 0 {
						waiting.Add(-1)
						done.Add(1)
					}
					synctest.Wait()
				}
				passed := time.Since(start)
				end()
				err := <-ended
				if c.stall != (err != nil) {
					t.Fatalf("after %v: %v", passed, err)
				}
				if c.stall && (passed < timeout || passed > timeout+2*interval) {
					t.Errorf("the stall was found after %v, want %v", passed, timeout)
				}
			})
		})
	}
}

// stuck is an observer that never gets done with one of the records.
type stuck struct {
	at    int64
	seen  atomic.Int64
	until chan struct{}
}

func (*stuck) Begin(*progress.Run) progress.Needs { return progress.Needs{} }
func (*stuck) Show(*progress.Snapshot)            {}
func (*stuck) End(*progress.Ending)               {}

func (s *stuck) Record(*record.Record) {
	if s.seen.Add(1) == s.at {
		<-s.until
	}
}

// A request that never yields a record ends the run, with the results of the others.
func TestTrapStalledRecordsEndTheRunIncomplete(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := t.TempDir()
	cfg := resolve(t, dir, url, "--concurrency", "1", "--request-count", "6", "--isl", "10", "--osl", "1")
	cfg.Env.Record.CompletionStallTimeout, cfg.Env.Record.CompletionStallCheckInterval = 300*time.Millisecond,
		10*time.Millisecond
	last := &stuck{at: 6, until: make(chan struct{})}
	outcome, err := execute(t, cfg, Options{Observers: []progress.Observer{last}})
	close(last.until)
	if err != nil {
		t.Fatal(err)
	}
	var stall *stallError
	if !errors.As(outcome.Aborted, &stall) || stall.waiting != 1 {
		t.Fatalf("the run ended with %v", outcome.Aborted)
	}
	if r := &outcome.Result; !strings.Contains(r.Incomplete, "a finished request has no record") || r.WasCancelled {
		t.Errorf("incomplete %q, cancelled %t", r.Incomplete, r.WasCancelled)
	}
	if n := len(records(t, dir)); n != 5 {
		t.Errorf("%d records, want those before the one that never came", n)
	}
	var doc map[string]any
	if err := json.Unmarshal(fileOf(t, dir, "profile_export_aiperf.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if doc["is_complete"] != false ||
		!strings.Contains(doc["incomplete_reason"].(string), "AIPERF_RECORD_COMPLETION_STALL_TIMEOUT") {
		t.Errorf("the summary says %v, %v", doc["is_complete"], doc["incomplete_reason"])
	}
}

// A record that comes while the results are being made would be in some of them and not in others.
func TestRecordsThatComeTooLateAreLeftOut(t *testing.T) {
	t.Parallel()
	late := &stuck{at: -1}
	f := progress.Follow(late, &progress.Run{})
	defer f.End(&progress.Ending{})
	r := &recorder{parts: &parts{&news{followers: []*progress.Follower{f}}}}
	r.sealed.Store(true)
	r.deliver(&record.Record{}) // which has nowhere to go in a recorder without metrics
	if n := late.seen.Load(); n != 0 {
		t.Errorf("%d late records were handed on", n)
	}
}

package run

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// ender asks for the end of each phase once some of its requests have come back.
type ender struct {
	ends  chan End
	after int64
	asked map[int]bool
	last  atomic.Pointer[progress.Ending]
}

func (e *ender) Begin(*progress.Run) progress.Needs { return progress.Needs{} }
func (e *ender) End(x *progress.Ending)             { e.last.Store(x) }

func (e *ender) Show(s *progress.Snapshot) {
	p := s.Current()
	if p != nil && p.State == progress.PhaseStarted && p.RequestsCompleted >= e.after && !e.asked[p.Index] {
		e.asked[p.Index] = true
		e.ends <- End{Phase: p.Index, Reason: "enough of " + p.Name, Confidence: 0.97}
		e.ends <- End{Phase: p.Index, Reason: "asked twice"}
	}
}

// A run whose phases are ended early is complete: not cancelled, each phase with all its requests, and its summary says
// why it is short.
func TestRunThatEndsEarlyIsComplete(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	cfg := resolve(t, t.TempDir(), url, "--streaming", "--isl", "16", "--osl", "4", "--concurrency", "3",
		"--benchmark-duration", "600", "--warmup-request-count", "1000000", "--warmup-concurrency", "2")
	e := &ender{ends: make(chan End, 8), after: 20, asked: map[int]bool{}}
	log := runlog.New(runlog.Options{Level: runlog.LevelError, Console: t.Output()})
	defer log.Close()
	out, err := Execute(t.Context(), cfg, Options{Log: log, Observers: []progress.Observer{e}, Ends: e.ends})
	if err != nil {
		t.Fatal(err)
	}
	r := &out.Result
	if r.WasCancelled || r.Incomplete != "" || out.Failed() || e.last.Load() == nil || e.last.Load().Cancelled {
		t.Errorf("cancelled %v, incomplete %q, failed %v", r.WasCancelled, r.Incomplete, out.Failed())
	}
	for _, p := range out.Phases {
		if !p.EndedEarly || p.WasCancelled || p.RequestsSent < e.after || p.RequestsCompleted != p.RequestsSent {
			t.Errorf("phase %s: %+v", p.Name, p)
		}
	}
	if r.EndedEarly == nil || r.WarmupEndedEarly == nil {
		t.Fatalf("ended early: %v, warm-up %v", r.EndedEarly, r.WarmupEndedEarly)
	}
	for _, early := range []struct {
		reason string
		saved  float64
	}{{r.EndedEarly.Reason, r.EndedEarly.SavedSeconds}, {r.WarmupEndedEarly.Reason, r.WarmupEndedEarly.SavedSeconds}} {
		if !slices.Contains([]string{"enough of profiling", "enough of warmup"}, early.reason) || early.saved <= 0 {
			t.Errorf("%+v", early)
		}
	}
	if r.EndedEarly.Confidence != 0.97 || r.EndedEarly.SavedSeconds > 600 {
		t.Errorf("%+v", r.EndedEarly)
	}
	if r.Counts.Completed() != out.Phases[1].RequestsSent {
		t.Errorf("%d requests are in the results, %d were sent", r.Counts.Completed(), out.Phases[1].RequestsSent)
	}
}

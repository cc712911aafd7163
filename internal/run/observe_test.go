package run

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
	"aiperf/internal/watch/trust"
)

// follower notes what it is told.
type follower struct {
	mu         sync.Mutex
	order      []string
	records    map[string]int
	failed     int
	beginnings []Beginning
	last       Snapshot
	judged     *trust.Report
	ends       []*Outcome
}

func (f *follower) note(what string) {
	if n := len(f.order); n == 0 || f.order[n-1] != what {
		f.order = append(f.order, what)
	}
}

func (f *follower) Begin(b Beginning) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("begin")
	f.beginnings = append(f.beginnings, b)
}

func (f *follower) Record(r *record.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.records == nil {
		f.records = map[string]int{}
	}
	f.records[r.Phase]++
	if r.IsError() {
		f.failed++
	}
}

func (f *follower) Show(s Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("show")
	if s.Client != nil {
		f.judged = s.Client
	}
}

func (f *follower) End(o *Outcome, s Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("end")
	f.ends, f.last = append(f.ends, o), s
}

func TestObserversSeeTheWholeRun(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond, ErrorRate: 30, Seed: 3})
	f, second := &follower{}, &follower{}
	cfg := resolve(t, t.TempDir(), url, "--request-rate", "100", "--request-count", "130", "--warmup-request-count",
		"4", "--streaming", "--no-gpu-telemetry")
	out, err := execute(t, cfg, Options{Observers: []Observer{f, second}, WatchClient: true})
	if err != nil {
		t.Fatal(err)
	}
	counts := out.Result.Counts
	if f.records[record.PhaseWarmup] != 4 ||
		int64(f.records[record.PhaseProfiling]) != counts.Successes+counts.Errors ||
		second.records[record.PhaseWarmup] != 4 {
		t.Errorf("records %v, want 4 and %d", f.records, counts.Successes+counts.Errors)
	}
	if f.failed == 0 {
		t.Error("no failure was seen")
	}
	if want := []string{"begin", "show", "end"}; !slices.Equal(f.order, want) {
		t.Errorf("order %v", f.order)
	}
	b := f.beginnings[0]
	if _, has := b.Metrics.Sample("time_to_first_token"); !has || b.BenchmarkID != out.Result.BenchmarkID ||
		b.Config != cfg || !slices.Equal(b.URLs, []string{url + "/v1/chat/completions"}) {
		t.Errorf("beginning %+v", b)
	}
	if len(f.ends) != 1 || f.ends[0] != out || f.last.Client != out.Client || out.Client.Verdict != out.Verdict {
		t.Error("the end is not that of the run")
	}
	// The client was judged on the way, by the requests so far.
	if j := f.judged; j == nil || j.Inputs.Requests == 0 || j.Inputs.Requests > counts.Successes+counts.Errors ||
		j.ToolLag.Count == 0 || len(j.Bounds) == 0 || j.Health.Duration <= 0 {
		t.Errorf("judged on the way: %+v", j)
	}
}

// flusher is a follower that passes on what it has when the summary lies there.
type flusher struct {
	follower
	summary string
	beside  bool
	told    Snapshot
}

func (f *flusher) Flush(s Snapshot) {
	for deadline := time.Now().Add(time.Minute); !f.beside &&
		time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		_, err := os.Stat(f.summary)
		f.beside = err == nil
	}
	time.Sleep(50 * time.Millisecond) // the files are all written by then
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("flush")
	f.told = s
}

func TestFlushIsBesideTheFilesAndBeforeTheEnd(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	cfg := resolve(t, t.TempDir(), url, "--request-count", "3", "--no-gpu-telemetry")
	f := &flusher{summary: cfg.Artifacts.Path(config.SummaryJSON)}
	if _, err := execute(t, cfg, Options{Observers: []Observer{&follower{}, f}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"begin", "show", "flush", "end"}; !slices.Equal(f.order, want) {
		t.Errorf("order %v", f.order)
	}
	if !f.beside || f.told.Records.Successes != 3 || f.told.Phases[0].RequestsCompleted != 3 {
		t.Errorf("beside the files: %v, told %+v", f.beside, f.told)
	}
}

// A run that fails before its first request tells nothing; one without results has an end.
func TestObserversOfRunsWithoutResults(t *testing.T) {
	f := &follower{}
	cfg := resolve(t, filepath.Join(t.TempDir(), "x"), "http://127.0.0.1:1", "--request-count", "1",
		"--no-gpu-telemetry", "--input-file", "run_test.go", "--custom-dataset-type", "single_turn")
	if _, err := execute(t, cfg, Options{Observers: []Observer{f}}); err == nil || len(f.order) != 0 {
		t.Errorf("error %v, told %v", err, f.order)
	}
	url := serve(t, mockserver.Options{TTFT: time.Minute})
	f = &follower{}
	cfg = resolve(t, t.TempDir(), url, "--concurrency", "1", "--benchmark-duration", "1", "--benchmark-grace-period",
		"0", "--no-gpu-telemetry")
	_, err := execute(t, cfg, Options{Observers: []Observer{f}})
	if err == nil || len(f.ends) != 1 || f.ends[0] != nil || f.last.Phases[0].RequestsCancelled != 1 {
		t.Errorf("error %v, ends %v, last %+v", err, f.ends, f.last)
	}
}

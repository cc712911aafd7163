package run

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// follower notes what it is told.
type follower struct {
	mu         sync.Mutex
	order      []string
	records    map[string]int
	failed     int
	beginnings []*progress.Run
	stages     []progress.Stage
	judged     *progress.Client
	ends       []*progress.Ending
}

func (f *follower) note(what string) {
	if n := len(f.order); n == 0 || f.order[n-1] != what {
		f.order = append(f.order, what)
	}
}

func (f *follower) Begin(r *progress.Run) progress.Needs {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("begin")
	f.beginnings = append(f.beginnings, r)
	return progress.Needs{Client: true}
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

func (f *follower) Show(s *progress.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("show")
	f.stages = slices.Compact(append(f.stages, s.Stage))
	if s.Client != nil {
		f.judged = s.Client
	}
}

func (f *follower) End(e *progress.Ending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("end")
	f.ends = append(f.ends, e)
}

func TestObserversSeeTheWholeRun(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond, ErrorRate: 30, Seed: 3})
	f, second := &follower{}, &follower{}
	cfg := resolve(t, t.TempDir(), url, "--request-rate", "100", "--request-count", "130", "--warmup-request-count",
		"4", "--streaming", "--no-gpu-telemetry")
	out, err := execute(t, cfg, Options{Observers: []progress.Observer{f, second}})
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
		b.Dir != cfg.Artifacts.Dir || len(b.Phases) != 2 || b.Profiling()[0].Rate != 100 ||
		*b.Phases[0].Requests != 4 || !slices.Equal(b.URLs, []string{url + "/v1/chat/completions"}) {
		t.Errorf("beginning %+v", b)
	}
	e := f.ends[0]
	if len(f.ends) != 1 || !e.HasResults || e.Completed != counts.Completed() || e.Failed || e.Cancelled ||
		e.Last.Client.Verdict != string(out.Verdict) || e.Last.Stage != progress.Done {
		t.Errorf("the end is not that of the run: %+v", e)
	}
	if p := e.Last.Current(); p.Kind != record.PhaseProfiling || p.State != progress.PhaseComplete || p.Progress != 1 ||
		p.RequestsSent != 130 || p.TargetRate != 100 || p.Elapsed <= 0 || p.DeliveredRate <= 0 {
		t.Errorf("the phase ended as %+v", p)
	}
	if !slices.Contains(f.stages, progress.Profiling) || f.stages[len(f.stages)-1] != progress.Exporting {
		t.Errorf("stages %q", f.stages)
	}
	// The client was judged on the way, by the requests so far.
	if j := f.judged; j == nil || j.Verdict == "" || len(j.Figures) == 0 {
		t.Errorf("judged on the way: %+v", j)
	}
}

// flusher is a follower that passes on what it has when the summary lies there.
type flusher struct {
	follower
	summary string
	beside  bool
	told    *progress.Snapshot
}

func (f *flusher) Flush(s *progress.Snapshot) {
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
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	cfg := resolve(t, t.TempDir(), url, "--request-count", "3", "--no-gpu-telemetry")
	f := &flusher{summary: cfg.Artifacts.Path(config.SummaryJSON)}
	if _, err := execute(t, cfg, Options{Observers: []progress.Observer{&follower{}, f}}); err != nil {
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
	t.Parallel()
	f := &follower{}
	cfg := resolve(t, filepath.Join(t.TempDir(), "x"), "http://127.0.0.1:1", "--request-count", "1",
		"--no-gpu-telemetry", "--input-file", "run_test.go", "--custom-dataset-type", "single_turn")
	if _, err := execute(t, cfg, Options{Observers: []progress.Observer{f}}); err == nil || len(f.order) != 0 {
		t.Errorf("error %v, told %v", err, f.order)
	}
	url := serve(t, mockserver.Options{TTFT: time.Minute})
	f = &follower{}
	cfg = resolve(t, t.TempDir(), url, "--concurrency", "1", "--benchmark-duration", "1", "--benchmark-grace-period",
		"0", "--no-gpu-telemetry")
	_, err := execute(t, cfg, Options{Observers: []progress.Observer{f}})
	if err == nil || len(f.ends) != 1 || f.ends[0].HasResults || f.ends[0].Last.Phases[0].RequestsCancelled != 1 {
		t.Errorf("error %v, ends %+v", err, f.ends)
	}
}

// A view that hangs, as on a terminal that is held, delays neither the load nor the user who stops it.
func TestAViewThatHangsDoesNotDelayTheRun(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	cfg := resolve(t, t.TempDir(), url, "--concurrency", "2", "--request-count", "100000", "--isl", "10", "--osl", "1")
	stop, held := make(chan struct{}), make(chan struct{})
	var once sync.Once
	observers := append(observed(func(*progress.Snapshot) { <-held }), observed(func(s *progress.Snapshot) {
		if s.Records.Successes > 10 {
			once.Do(func() { close(stop) })
		}
	})...)
	ended := make(chan *Outcome, 1)
	go func() {
		out, err := execute(t, cfg, Options{Stop: stop, Observers: observers})
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	select {
	case out := <-ended:
		close(held)
		if out != nil && (!out.Result.WasCancelled || out.Result.Counts.Successes <= 10) {
			t.Errorf("cancelled %t, counts %+v", out.Result.WasCancelled, out.Result.Counts)
		}
	case <-time.After(time.Minute):
		close(held)
		<-ended
		t.Error("the run waits for the view")
	}
}

// seeing is an observer that looks at snapshots.
type seeing func(*progress.Snapshot)

func (s seeing) Begin(*progress.Run) progress.Needs { return progress.Needs{} }
func (s seeing) Show(now *progress.Snapshot)        { s(now) }
func (s seeing) End(*progress.Ending)               {}

// observed is the list of one such observer.
func observed(look func(*progress.Snapshot)) []progress.Observer {
	return []progress.Observer{seeing(look)}
}

// awaited is a log that closes stop once all patterns are in it.
type awaited struct {
	bytes.Buffer
	patterns map[string]string
	stop     chan struct{}
}

func (a *awaited) Write(p []byte) (int, error) {
	n, err := a.Buffer.Write(p)
	for name, pattern := range a.patterns {
		if regexp.MustCompile(pattern).Match(a.Bytes()) {
			delete(a.patterns, name)
			if len(a.patterns) == 0 {
				close(a.stop)
			}
		}
	}
	return n, err
}

func TestRealtimeBlocksInTheLog(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 2e6, ITL: 2e6})
	for interval, want := range map[string]bool{"0.02": true, "0": false} {
		patterns := map[string]string{
			"head":        `INFO +\[realtime 00:\d\d profiling\]\n`,
			"rates":       `INFO +rps=[\d.]+ \(avg [\d.]+\)  tput_in=[\d,]+/s  tput_out=[\d,]+/s  done=\d+ ok=\d+ err=0\n`,
			"percentiles": `INFO +ttft    p50= *\d+ms  p75=`,
			"throughput":  `INFO +intvty  p50= *\d+  p75=.* \(1/tpot tok/s\)\n`,
			"totals":      `INFO +tot  in=[\d,]+ out=[\d,]+\n`,
			"servers":     `INFO +srv .*queue=\d+r/\d+w`,
		}
		lines, duration := awaited{patterns: maps.Clone(patterns), stop: make(chan struct{})}, "0.5"
		if want {
			duration = "600" // it is stopped when all is in the log
		}
		cfg := watching(t, t.TempDir(), url, "--streaming", "--concurrency", "2", "--benchmark-duration", duration,
			"--stats-interval", interval)
		log := runlog.New(runlog.Options{Console: &lines})
		_, err := Execute(t.Context(), cfg, Options{Version: "test", Log: log, Stop: lines.stop})
		log.Close()
		if err != nil {
			t.Fatal(err)
		}
		for name, pattern := range patterns {
			if got := regexp.MustCompile(pattern).MatchString(lines.String()); got != want {
				t.Errorf("interval %s: %s: %t, want %t\n%s", interval, name, got, want, lines.String())
			}
		}
	}
}

// Short runs have figures, too, and long ones have them when they were asked for.
func TestTheFirstFiguresComeSoon(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		want  []int64 // seconds
	}{{5 * time.Second, []int64{1, 2, 4, 5, 10, 15}}, {30 * time.Second, []int64{1, 2, 4, 8, 16, 30, 60}}, {time.Second, []int64{1, 2, 3}}} {
		at := int64(firstFigures)
		for i, want := range c.want {
			if at != want*int64(time.Second) {
				t.Errorf("every %s: figures %d after %s, want %d s", c.every, i, time.Duration(at), want)
			}
			at += untilFigures(at, int64(c.every))
		}
	}
}

package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
	"aiperf/internal/run/remote"
	"aiperf/internal/view/runlog"
)

// sharesHere is a [remote.Shares] whose shares are runs of this process.
type sharesHere struct {
	of    int
	cfg   func(share int) *config.Run
	clock *clock.Clock
	id    string
	log   *runlog.Log

	stop chan struct{} // closed by Stop
	once sync.Once
	ends []chan End
	all  sync.WaitGroup

	mu       sync.Mutex
	meetings map[string]*meeting
	outcomes []*Outcome
	errs     []error
	dying    []context.CancelFunc
	sink     remote.Sink
	content  *Content
	// begin may refuse the begin of a phase.
	begin func(phase int) error
	// apart has each share go on with its own numbers.
	apart bool
}

// meeting is where the shares wait for each other.
type meeting struct {
	came int
	used load.Used
	all  chan struct{}
	// start is set by the run, after which open is closed.
	start time.Time
	open  chan struct{}
}

func (h *sharesHere) meeting(name string, phase int) *meeting {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := fmt.Sprint(name, phase)
	if h.meetings[key] == nil {
		h.meetings[key] = &meeting{all: make(chan struct{}), open: make(chan struct{})}
	}
	return h.meetings[key]
}

// come adds a share to a meeting.
func (h *sharesHere) come(m *meeting, used load.Used) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.used = m.used.Max(used)
	if m.came++; m.came == h.of {
		close(m.all)
	}
}

func wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stock implements [Stocker].
func (h *sharesHere) Stock(_ context.Context, _ *config.Run, _ string, c *Content) error {
	h.content = c
	return nil
}

func (h *sharesHere) Start(_ context.Context, _ load.Plan, sink remote.Sink) (int, error) {
	h.stop, h.meetings = make(chan struct{}), map[string]*meeting{}
	h.outcomes, h.errs, h.sink = make([]*Outcome, h.of), make([]error, h.of), sink
	for i := range h.of {
		ends := make(chan End, 4)
		h.ends = append(h.ends, ends)
		ctx, cancel := context.WithCancel(context.Background())
		h.dying = append(h.dying, cancel)
		o := Options{
			Version: "test", Log: h.log, ID: h.id, Clock: h.clock, Stop: h.stop, Ends: ends,
			Share: load.Share{Index: i, Of: h.of},
			Join: func(ctx context.Context, phase int, used load.Used) (load.Used, error) {
				m := h.meeting("join", phase)
				h.come(m, used)
				err := wait(ctx, m.all)
				if h.apart {
					return used, err
				}
				return m.used, err
			},
			Begin: func(ctx context.Context, phase int) (time.Time, error) {
				m := h.meeting("begin", phase)
				h.come(m, load.Used{})
				err := wait(ctx, m.open)
				return m.start, err
			},
			Records: func(r *record.Record) { sink.Record(i, r) },
			Phases:  func(s load.Stats) { sink.Phase(i, s) },
			Content: new(*h.content),
		}
		o.Content.Data = new(*h.content.Data) // with a sampler of its own
		o.Content.Data.Sampler, o.Content.Data.NoInputs = nil, true
		h.all.Go(func() {
			defer cancel()
			h.outcomes[i], h.errs[i] = Execute(ctx, h.cfg(i), o)
			if err := h.errs[i]; err != nil && ctx.Err() == nil {
				sink.Abort(fmt.Errorf("share %d: %w", i, err))
			}
		})
	}
	return h.of, nil
}

func (h *sharesHere) Begin(ctx context.Context, phase int) (time.Time, error) {
	m := h.meeting("begin", phase)
	if err := wait(ctx, m.all); err != nil {
		return time.Time{}, err
	}
	if h.begin != nil {
		return time.Time{}, h.begin(phase)
	}
	m.start = time.Unix(0, h.clock.WallNS(h.clock.NowNS())+int64(20*time.Millisecond))
	close(m.open)
	return m.start, nil
}

func (h *sharesHere) EndPhase(phase int, grace time.Duration) {
	for _, ends := range h.ends {
		ends <- End{Phase: phase, Grace: grace, Reason: "the test"}
	}
}

func (h *sharesHere) Stop(error) { h.once.Do(func() { close(h.stop) }) }

func (h *sharesHere) Close(context.Context) (parts []remote.Part) {
	h.all.Wait()
	for i, o := range h.outcomes {
		if o != nil {
			parts = append(parts, o.Part(fmt.Sprintf("agent %d", i)))
		}
	}
	return parts
}

// quiet returns a log without readers.
func quiet(t *testing.T) *runlog.Log {
	l := runlog.New(runlog.Options{})
	t.Cleanup(func() { l.Close() })
	return l
}

// wholeRun is the index of the run itself among the configurations of shares.
const wholeRun = -1

// newSharesHere returns shares of a run that is given in flags.
func newSharesHere(t *testing.T, of int, url string, args ...string) *sharesHere {
	dir := t.TempDir()
	return &sharesHere{of: of, clock: clock.New(), id: "the-run", log: quiet(t), cfg: func(share int) *config.Run {
		return patient(resolve(t, filepath.Join(dir, fmt.Sprint("share", share)), url, args...))
	}}
}

// patient has a run send all its arrivals, however slow the machine is.
func patient(cfg *config.Run) *config.Run {
	cfg.Env.Timing.MaxCatchup = time.Minute
	return cfg
}

// run executes the run whose load is made in the shares and returns the folder of its files.
func (h *sharesHere) run(t *testing.T, o Options) (*Outcome, string, error) {
	t.Helper()
	cfg := h.cfg(wholeRun)
	o.ID, o.Clock, o.Remote = h.id, h.clock, h
	out, err := execute(t, cfg, o)
	return out, cfg.Artifacts.Dir, err
}

// lose ends a share in the midst of its work.
func (h *sharesHere) lose(share int) {
	h.dying[share]()
	h.sink.Lost(share, errors.New("the test ended it"))
}

// bodiesOf returns what requests said, sorted.
func bodiesOf(list []arrival) (bodies []string) {
	for _, a := range list {
		bodies = append(bodies, a.Body)
	}
	slices.Sort(bodies)
	return bodies
}

// sharedRuns are the modes whose requests are known before, in flags.
func sharedRuns(t *testing.T) map[string][]string {
	var requests, talks []string
	for i := range 40 {
		requests = append(requests, fmt.Sprintf(`{"timestamp":%d,"text":"request %d"}`, i*7%97, i))
		talks = append(talks, fmt.Sprintf(`{"session_id":"s%d","turns":[{"timestamp":%d,"text":"talk %d"},`+
			`{"delay":5,"text":"more"}]}`, i, i*5, i))
	}
	file, talk := traceFile(t, "trace.jsonl", requests...), traceFile(t, "talks.jsonl", talks...)
	common := []string{"--random-seed", "7", "--isl", "20", "--osl", "4", "--num-dataset-entries", "30"}
	with := func(args ...string) []string { return append(slices.Clone(common), args...) }
	return map[string][]string{
		"constant": with("--request-rate", "400", "--arrival-pattern", "constant", "--request-count", "43"),
		"poisson":  with("--request-rate", "400", "--request-count", "43", "--dataset-sampling-strategy", "shuffle"),
		"gamma": with("--request-rate", "400", "--arrival-smoothness", "0.5", "--request-count", "43",
			"--dataset-sampling-strategy", "random"),
		"burst":       with("--concurrency", "7", "--request-count", "43"),
		"few at once": with("--concurrency", "3", "--request-count", "43", "--streaming", "--prefill-concurrency", "2"),
		"sessions": with("--concurrency", "7", "--num-sessions", "21", "--session-turns-mean", "3",
			"--session-turns-stddev", "1"),
		"users": with("--user-centric-rate", "100", "--num-users", "9", "--session-turns-mean", "3",
			"--num-sessions", "23"),
		"ramp": with("--concurrency", "11", "--concurrency-ramp-duration", "0.2", "--request-count", "60"),
		"warm-up": with("--warmup-request-count", "11", "--warmup-concurrency", "2", "--concurrency", "7",
			"--request-count", "43"),
		"cancellation": with("--request-rate", "400", "--request-count", "43", "--request-cancellation-rate", "40",
			"--request-cancellation-delay", "0"),
		"schedule": {"--random-seed", "7", "--input-file", file, "--custom-dataset-type", "single_turn",
			"--fixed-schedule", "--fixed-schedule-auto-offset"},
		"schedule of talks": {"--random-seed", "7", "--input-file", talk, "--custom-dataset-type", "multi_turn",
			"--fixed-schedule"},
		"cache bust": with("--concurrency", "7", "--request-count", "43", "--cache-bust", "first_turn_prefix"),
	}
}

// planned takes records and gives, sorted, for which instants of its plan a phase has intended which requests.
type planned struct {
	mu   sync.Mutex
	list []*record.Record
}

func (p *planned) add(r *record.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, r)
}

// times returns what records of first turns say of the plan.
func (p *planned) times(out *Outcome, c *clock.Clock) (times []string) {
	for _, r := range p.list {
		if at, open := r.Get(record.IntendedSend); open && r.TurnIndex == 0 { // later turns follow replies
			start := c.WallNS(out.Phases[r.PhaseIndex].StartNS)
			times = append(times, fmt.Sprint(r.PhaseName, " plays ", r.ConversationID, " at ",
				time.Duration(r.Facts[record.StartWall]+at-start), " cancelled ", r.WasCancelled))
		}
	}
	slices.Sort(times)
	return times
}

// TestSharesSendTheBodiesOfTheWhole: a server gets the same requests from one process and from shares of it, and those
// of open loops are intended for the same instants.
func TestSharesSendTheBodiesOfTheWhole(t *testing.T) {
	t.Parallel()
	counts := []int{5}
	if testkit.Full() {
		counts = []int{1, 2, 5, 16}
	}
	for name, args := range sharedRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
			var plan planned
			c := clock.New()
			whole, err := execute(t, patient(resolve(t, t.TempDir(), url, args...)), Options{ID: "the-run", Clock: c,
				Records: plan.add})
			if err != nil {
				t.Fatal(err)
			}
			want, wantTimes := bodiesOf(arrivals()), plan.times(whole, c)
			for _, of := range counts {
				url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
				h := newSharesHere(t, of, url, args...)
				var plan planned
				out, dir, err := h.run(t, Options{Records: plan.add})
				if err != nil {
					t.Fatalf("%d shares: %v", of, err)
				}
				times := plan.times(out, h.clock)
				if !slices.Equal(times, wantTimes) {
					t.Errorf("%d shares intend\n%s\nwant\n%s", of, strings.Join(times, "\n"),
						strings.Join(wantTimes, "\n"))
				}
				t.Logf("%d shares: %d requests, %d of them with an instant of the plan", of, len(plan.list), len(times))
				if got := bodiesOf(arrivals()); !slices.Equal(got, want) {
					t.Errorf("%d shares: %d requests, want %d, or others", of, len(got), len(want))
				}
				c, w := out.Result.Counts, whole.Result.Counts
				if c.Sent != w.Sent || c.Successes != w.Successes || c.Errors != w.Errors || c.CutOff != 0 {
					t.Errorf("%d shares: %+v, want %+v", of, c, w)
				}
				if n := len(records(t, dir)); int64(n) != c.Completed() {
					t.Errorf("%d shares: %d records of %d requests", of, n, c.Completed())
				}
				for i, err := range h.errs {
					if err != nil {
						t.Errorf("share %d of %d: %v", i, of, err)
					}
				}
			}
		})
	}
}

// replayed is a [remote.Shares] that reports what a run did, as so many shares would have.
type replayed struct {
	of      int
	stats   []load.Stats
	records []*record.Record
	sink    remote.Sink
	reports sync.WaitGroup
	parts   []remote.Part
}

func (r *replayed) Start(_ context.Context, _ load.Plan, sink remote.Sink) (int, error) {
	r.sink = sink
	return r.of, nil
}

func (r *replayed) Begin(_ context.Context, phase int) (time.Time, error) {
	s := r.stats[phase]
	r.reports.Go(func() {
		for i, rec := range r.records {
			if rec.PhaseIndex == phase {
				copied := *rec
				r.sink.Record(i%r.of, &copied)
			}
		}
		for share := range r.of {
			r.sink.Phase(share, partOf(s, load.Share{Index: share, Of: r.of}))
		}
	})
	return time.Unix(0, s.StartNS), nil
}

func (r *replayed) EndPhase(int, time.Duration)         {}
func (r *replayed) Stop(error)                          {}
func (r *replayed) Close(context.Context) []remote.Part { r.reports.Wait(); return r.parts }

// partOf divides the numbers of a phase.
func partOf(s load.Stats, share load.Share) load.Stats {
	for _, n := range []*int64{&s.ExpectedRequests, &s.ExpectedSessions, &s.RequestsSent, &s.RequestsCompleted,
		&s.RequestsCancelled, &s.RequestErrors, &s.SentSessions, &s.CompletedSessions, &s.CancelledSessions,
		&s.TotalSessionTurns, &s.SkippedArrivals, &s.DroppedByCatchup} {
		*n = share.Part(*n)
	}
	s.RequestsPerURL = slices.Clone(s.RequestsPerURL)
	for i, n := range s.RequestsPerURL {
		s.RequestsPerURL[i] = share.Part(n)
	}
	return s
}

// measured are the parts of files that measure the processes of a run, or judge by that, and not the benchmark. The state
// and the findings of a run depend on how busy the machine is.
var measured = regexp.MustCompile(`(?s)"(client_health|verdict|judgement)": \{.*?\n  \}|\nClient: .*|` +
	`"text": "The client was the bottleneck[^\n]*|\n(State|Finding),[^\n]*|<div class="findings.*?(</section>|<div class="glance)`)

// TestSharesMergedGiveTheSameFiles: the files of a run are the same bytes, whether it has made its facts itself or got
// them from shares.
func TestSharesMergedGiveTheSameFiles(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 3 * time.Millisecond, ITL: time.Millisecond, ErrorRate: 5, Seed: 3})
	dir := filepath.Join(t.TempDir(), "run")
	args := []string{"--random-seed", "7", "--isl", "20", "--osl", "8", "--streaming", "--request-rate", "300",
		"--request-count", "120", "--warmup-request-count", "9", "--num-dataset-entries", "30",
		"--slice-duration", "0.1", "--goodput", "request_latency:20 job_latency:60s",
		"--session-turns-mean", "2", "--session-turns-stddev", "0", "--session-turn-delay-mean", "5", "--num-gpus", "2",
		"--export-level", "records", "--html-report"}
	c := clock.New()
	var mu sync.Mutex
	r := &replayed{stats: make([]load.Stats, 2)}
	o := Options{ID: "the-run", Clock: c,
		Records: func(rec *record.Record) {
			mu.Lock()
			defer mu.Unlock()
			copied := *rec
			copied.Facts[record.Good] = record.Absent
			r.records = append(r.records, &copied)
		},
		Phases: func(s load.Stats) { r.stats[s.Index] = s },
	}
	out, err := execute(t, resolve(t, dir, url, args...), o)
	if err != nil {
		t.Fatal(err)
	}
	r.parts = []remote.Part{out.Part("agent 0")}
	want := filesOf(t, dir)
	t.Log(slices.Sorted(maps.Keys(want)))
	if n, ok := out.Result.Value("good_job_count"); !ok || n == 0 {
		t.Fatal("the run has no jobs")
	}
	if len(r.records) != 129 || len(want) < 5 {
		t.Fatalf("%d records, files %v", len(r.records), slices.Collect(maps.Keys(want)))
	}
	for _, of := range []int{1, 2, 5, 16} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		r.of = of
		slices.Reverse(r.records)
		o := Options{ID: "the-run", Clock: c, Remote: r}
		if _, err := execute(t, resolve(t, dir, url, args...), o); err != nil {
			t.Fatal(err)
		}
		got := filesOf(t, dir)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%d shares: %s differs: %s", of, name, firstDifference(got[name], text))
			}
		}
	}
}

// filesOf returns the files of a run that hold its results, by name; lines of records are sorted.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || strings.HasSuffix(f.Name(), ".log") || f.Name() == "run_state.json" ||
			strings.HasPrefix(f.Name(), ".") {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = measured.ReplaceAllString(string(text), "")
		switch lines := strings.Split(files[name], "\n"); filepath.Ext(name) {
		case ".jsonl":
			slices.Sort(lines)
			files[name] = strings.Join(lines, "\n")
		case ".html":
			files[name] = strings.Join(slices.DeleteFunc(lines, func(line string) bool {
				return strings.Contains(strings.ToLower(line), "client") || strings.HasPrefix(line, `<ul class="note">`)
			}), "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: got %.300q, want %.300q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// withoutEnd is a load that ends only when it is stopped.
func withoutEnd() []string {
	return []string{"--random-seed", "7", "--isl", "20", "--osl", "4", "--num-dataset-entries", "30",
		"--concurrency", "9", "--benchmark-duration", "600", "--streaming"}
}

// adds checks that the numbers of a run add up, with its records and with those of its phases.
func adds(t *testing.T, out *Outcome, dir string) {
	t.Helper()
	c := out.Result.Counts
	if c.Sent != c.Completed()+c.CutOff {
		t.Errorf("%d sent, %d completed, %d cut off", c.Sent, c.Completed(), c.CutOff)
	}
	if n := len(records(t, dir)); int64(n) != c.Completed() {
		t.Errorf("%d records of %d requests", n, c.Completed())
	}
	for _, s := range out.Phases {
		if s.State != load.Complete || s.RequestsSent != s.RequestsCompleted+s.RequestsCancelled {
			t.Errorf("phase %s is %v: %d sent, %d completed, %d cut off", s.Name, s.State, s.RequestsSent,
				s.RequestsCompleted, s.RequestsCancelled)
		}
	}
}

// afterRecords calls a function once when a run has made some records.
func afterRecords(n int, do func()) func(*record.Record) {
	var mu sync.Mutex
	return func(*record.Record) {
		mu.Lock()
		defer mu.Unlock()
		if n--; n == 0 {
			go do()
		}
	}
}

func slowServer(t *testing.T, errorRate float64) string {
	return serve(t, mockserver.Options{TTFT: 2 * time.Millisecond, ITL: time.Millisecond, ErrorRate: errorRate})
}

func TestStopEndsAllShares(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	h := newSharesHere(t, 3, slowServer(t, 0), withoutEnd()...)
	out, dir, err := h.run(t, Options{Stop: stop, Records: afterRecords(50, func() { close(stop) })})
	if err != nil {
		t.Fatal(err)
	}
	adds(t, out, dir)
	if !out.Result.WasCancelled || out.Aborted != nil {
		t.Errorf("cancelled %v, aborted %v", out.Result.WasCancelled, out.Aborted)
	}
}

func TestEndOfAPhaseReachesAllShares(t *testing.T) {
	t.Parallel()
	ends := make(chan End, 1)
	h := newSharesHere(t, 3, slowServer(t, 0), withoutEnd()...)
	out, dir, err := h.run(t, Options{Ends: ends,
		Records: afterRecords(50, func() { ends <- End{Reason: "enough is known", Confidence: 0.9} })})
	if err != nil {
		t.Fatal(err)
	}
	adds(t, out, dir)
	early := out.Result.EndedEarly
	if out.Result.WasCancelled || early == nil || early.Reason != "enough is known" || out.Result.Counts.CutOff != 0 {
		t.Errorf("cancelled %v, ended early %+v, %d cut off", out.Result.WasCancelled, early, out.Result.Counts.CutOff)
	}
}

func TestErrorRateIsThatOfAllShares(t *testing.T) {
	t.Parallel()
	h := newSharesHere(t, 3, slowServer(t, 50), append(withoutEnd(), "--failed-request-threshold", "0.2")...)
	out, dir, err := h.run(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	adds(t, out, dir)
	if out.Aborted == nil || !strings.Contains(out.Aborted.Error(), "--failed-request-threshold") {
		t.Errorf("aborted: %v", out.Aborted)
	}
	for i, o := range h.outcomes {
		if o == nil || o.Aborted != nil {
			t.Errorf("share %d: %+v, %v", i, o, h.errs[i])
		}
	}
}

func TestLostShareIsCountedAndNamed(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	h := newSharesHere(t, 3, slowServer(t, 0), withoutEnd()...)
	lost := make(chan struct{})
	out, dir, err := h.run(t, Options{Stop: stop, Records: func() func(*record.Record) {
		first, then := afterRecords(50, func() { h.lose(1); close(lost) }), afterRecords(300, func() { close(stop) })
		return func(r *record.Record) { first(r); then(r) }
	}()})
	if err != nil {
		t.Fatal(err)
	}
	<-lost
	c := out.Result.Counts
	if c.Sent != c.Completed()+c.CutOff {
		// Records of the lost share may be on their way when it is lost.
		t.Logf("%d sent, %d completed, %d cut off", c.Sent, c.Completed(), c.CutOff)
	}
	for _, s := range out.Phases {
		if s.State != load.Complete || s.RequestsSent != s.RequestsCompleted+s.RequestsCancelled {
			t.Errorf("phase %s: %+v", s.Name, s)
		}
	}
	want := "1 of the 3 shares of the run were lost (share 1: the test ended it): "
	if got := out.Result.Incomplete; !strings.HasPrefix(got, want) {
		t.Errorf("incomplete: %q", got)
	}
	if n := len(records(t, dir)); n < 300 {
		t.Errorf("%d records: the run did not go on", n)
	}
}

func TestShareThatCannotBeginEndsTheRun(t *testing.T) {
	t.Parallel()
	h := newSharesHere(t, 2, "http://127.0.0.1:1", append(withoutEnd(), "--request-timeout-seconds", "1")...)
	h.begin = func(int) error { return errors.New("the clocks differ by a day") }
	_, _, err := h.run(t, Options{})
	if err == nil || !strings.Contains(err.Error(), "phase profiling does not start: the clocks differ by a day") {
		t.Errorf("%v", err)
	}
}

// A server that no share reaches leaves no folder, as where the load is made here.
func TestServerThatNoShareReaches(t *testing.T) {
	t.Parallel()
	h := newSharesHere(t, 2, closedPort, "--random-seed", "7", "--isl", "5", "--request-count", "6", "--concurrency", "2")
	of, dir := h.cfg, filepath.Join(t.TempDir(), "run")
	h.cfg = func(share int) *config.Run {
		cfg := of(share)
		if share == wholeRun {
			cfg.Artifacts.Dir, cfg.Artifacts.Derived = dir, true
		}
		return cfg
	}
	_, _, err := h.run(t, Options{})
	if err == nil || !strings.Contains(err.Error(), "no request reached a server at "+closedPort) ||
		!strings.Contains(err.Error(), "Nothing listens") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

func TestSharesThatDisagreeAreNoticed(t *testing.T) {
	t.Parallel()
	h := newSharesHere(t, 2, slowServer(t, 0), "--random-seed", "7", "--isl", "20", "--osl", "4",
		"--num-dataset-entries", "30", "--concurrency", "4", "--warmup-request-count", "11", "--request-count", "83")
	h.apart = true
	out, _, err := h.run(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "the shares of phase profiling sent 82 requests together, not 83: they did not agree on where it begins"
	if got := out.Result.Incomplete; got != want {
		t.Errorf("incomplete: %q", got)
	}
}

func TestWhatCannotBeShared(t *testing.T) {
	t.Parallel()
	lanes := &config.Lanes{Lanes: load.Lanes{Stage: load.ReplayLanes, SystemIdle: time.Second}}
	seed := new(uint64(1))
	for want, cfg := range map[string]config.Run{
		"adaptive_scale of phase p cannot be divided among several agents: each step depends on the requests of all; " +
			"run it in one process, without agents": {RandomSeed: seed,
			Phases: []config.Phase{{Name: "p", Adaptive: &load.Adaptive{}}}},
		"--system-idle-gap-cap-seconds cannot be divided among several agents: no agent knows when nothing is in " +
			"flight in all of them; give --system-idle-gap-cap-seconds inf, or run it in one process, without agents": {
			RandomSeed: seed, Phases: []config.Phase{{Name: "p", Lanes: lanes}}},
		"a run without --random-seed cannot be divided among several agents: its agents would draw different " +
			"requests; give --random-seed": {},
	} {
		err := CheckShares(&cfg)
		var typed *ShareError
		if !errors.As(err, &typed) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := Execute(context.Background(), &cfg, Options{Share: load.Share{Index: 1, Of: 2}}); err == nil ||
			err.Error() != want {
			t.Errorf("a share begins: %v", err)
		}
	}
}

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/settings"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

// runLog is the log of a run.
type runLog = *runlog.Log

// share is a share of a run at work in an agent.
type share struct {
	agent     *agent
	work      *work
	dir       string
	courier   *courier
	stops     chan struct{}
	stopped   sync.Once
	phaseEnds chan run.End
	// over is closed when the share has ended, whatever the coordinator knows of it.
	over chan struct{}

	mu         sync.Mutex
	changed    chan struct{}
	ready      int
	joined     int
	used       load.Used
	phaseStart map[int]int64
	usedByAll  map[int]load.Used
	phases     []load.Stats
	notes      []string
	ended      *ended
	draining   bool
	// late ends a share that is drained for too long; nil for none.
	late       *time.Timer
	lastReport time.Time
}

// newShare opens the journal and the courier of a share. A courier whose memory is full ends the share: to send on
// would lose records.
func newShare(a *agent, w *work) *share {
	s := &share{
		agent: a, work: w, dir: shareDir(a.dir, w.ID, w.Share.Index),
		stops: make(chan struct{}), phaseEnds: make(chan run.End, 16), over: make(chan struct{}),
		changed: make(chan struct{}), phaseStart: map[int]int64{}, usedByAll: map[int]load.Used{},
	}
	journal := openJournal(journalPath(a.dir, w.ID, w.Share.Index))
	s.courier = newCourier(w.ID, w.WithoutIDs, journal, func(data []byte) error {
		if !a.link.IsConnected() {
			return errNotConnected
		}
		return a.link.Publish(a.prefix+recordSubject+a.ID, data)
	})
	s.courier.note = s.note
	s.courier.full = func(err error) {
		s.note(err.Error())
		s.stop()
	}
	return s
}

var errNotConnected = errors.New("the NATS server cannot be reached")

// execute makes the share.
func (s *share) execute(ctx context.Context) {
	defer close(s.over)
	s.courier.begin()
	out, err := s.run(ctx)
	s.courier.flush()
	problem, count := "", s.courier.journal.ledger()
	s.mu.Lock()
	s.ended = &ended{Verdict: trust.Valid, Journal: count}
	if out != nil {
		p := out.Part(s.agent.Name)
		s.ended.Verdict, s.ended.Findings = p.Verdict, findingsOf(p.Reasons)
		err = out.Aborted
		if out.Problem != nil { // files of its own, which nobody needs
			problem = out.Problem.Error()
		}
	}
	var none *run.NoResultsError
	switch {
	case err != nil && !errors.As(err, &none):
		s.ended.Error = err.Error()
	case s.draining && !s.whole():
		s.ended.Error = "a signal ended it, after the replies to what it had sent"
	}
	if s.work.RawStays {
		s.ended.Dir, _ = filepath.Abs(s.dir)
	}
	s.mu.Unlock()
	if problem != "" {
		s.note("some of its own files could not be written: " + problem)
	}
	s.agent.report()
}

// run makes the run of the share. It is ended in order by stops; the context, which ends with the agent, breaks it off.
func (s *share) run(life context.Context) (*run.Outcome, error) {
	ctx, cancel := context.WithCancel(life)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-s.stops:
			cancel()
		case <-ctx.Done():
		}
	})
	log := s.agent.options.Log(s.work.Secrets)
	defer log.Close()
	cfg := s.work.Config
	content, err := s.fetch(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	own := s.ownConfig(&cfg)
	return run.Execute(life, own, run.Options{
		Version: s.agent.options.Version, Log: log, Stop: s.stops, Ends: s.phaseEnds, ID: s.work.ID, Share: s.work.Share,
		Clock: s.agent.clock, Content: content, WithoutFiles: !s.work.RawStays, LogInterval: new(time.Duration),
		Begin: s.waitBegin, Join: s.waitJoin, Records: s.record, Sent: s.courier.journal.sent, Phases: s.phase,
	})
}

// fetch brings the data set and the tokenizers to this machine.
func (s *share) fetch(ctx context.Context, cfg *config.Run) (*run.Content, error) {
	store, err := openObjectStore(ctx, s.agent.link, s.work.Bucket)
	if err != nil {
		return nil, err
	}
	f := &fetcher{store: store, dir: cmp.Or(s.agent.options.CacheDir, cacheDir()), memory: maxMemoryBytes,
		deadline: fetchDeadline, note: s.note}
	c, err := f.content(ctx, s.work)
	if err != nil {
		return nil, err
	}
	c.Data.NoInputs = true
	for i, t := range c.Tokenizers {
		path := filepath.Join(s.dir, fmt.Sprintf("tokenizer-%d", i))
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, t.Data, 0o600); err != nil {
			return nil, err
		}
		names := append([]string{}, cfg.Tokenizer.ByModel...)
		for k := range names {
			if names[k] == t.Name {
				names[k] = path
			}
		}
		cfg.Tokenizer.ByModel = names
	}
	return c, nil
}

// ownConfig is the configuration of the share: nothing is published, and its files are its own.
func (s *share) ownConfig(cfg *config.Run) *config.Run {
	own := *cfg
	own.Asked = settings.New(func(string) (string, bool) { return "", false })
	own.Asked.Hidden = s.work.Secrets
	own.Artifacts.Dir, own.Artifacts.Derived, own.Artifacts.HTMLReport = s.dir, false, false
	own.Artifacts.UserFiles, own.Artifacts.RecordsParquet = nil, false
	own.Plugins, own.OTel, own.MLflow, own.WandB = config.Plugins{}, config.OTel{}, config.MLflow{}, config.WandB{}
	own.MetricsListen, own.Web, own.FailIf = "", config.Web{}, nil
	return &own
}

// record takes a record on its way.
func (s *share) record(r *record.Record) {
	if s.work.RawStays && (r.Raw != nil || r.Text != nil) {
		own := *r
		own.Raw, own.Text = nil, nil
		if r.Raw != nil && r.Raw.CutOff {
			return
		}
		r = &own
	}
	s.courier.add(r)
}

// reportInterval is the time between two reports while phases go on.
const reportInterval = 300 * time.Millisecond

// phase takes the numbers of a phase.
func (s *share) phase(p load.Stats) {
	s.mu.Lock()
	for len(s.phases) <= p.Index {
		s.phases = append(s.phases, load.Stats{Index: len(s.phases)})
	}
	news := s.phases[p.Index].State != p.State || time.Since(s.lastReport) > reportInterval
	s.phases[p.Index] = p
	if news {
		s.lastReport = time.Now()
	}
	s.mu.Unlock()
	if news {
		s.agent.report()
	}
}

// notify wakes those who wait for a command; the share is locked.
func (s *share) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await reports that the share waits, and waits until a condition holds, which is asked with the share locked.
func (s *share) await(ctx context.Context, holds func() bool) error {
	s.agent.report()
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.stops:
			return context.Canceled
		case <-changed:
		}
	}
}

// waitBegin implements the option of that name: it waits until the coordinator says when a phase begins.
func (s *share) waitBegin(ctx context.Context, phase int) (at time.Time, err error) {
	s.mu.Lock()
	s.ready = max(s.ready, phase+1)
	s.mu.Unlock()
	err = s.await(ctx, func() bool {
		ns, ok := s.phaseStart[phase]
		at = time.Unix(0, ns)
		return ok
	})
	return at, err
}

// waitJoin waits until the coordinator says what all shares have used.
func (s *share) waitJoin(ctx context.Context, phase int, used load.Used) (all load.Used, err error) {
	s.mu.Lock()
	s.joined, s.used = phase, used
	s.mu.Unlock()
	err = s.await(ctx, func() bool {
		var ok bool
		all, ok = s.usedByAll[phase]
		return ok
	})
	return all, err
}

// beginPhase takes when a phase begins; a repeated command says the same.
func (s *share) beginPhase(phase int, atNS int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phaseStart[phase] = atNS
	s.notify()
}

// join takes what all shares have used before a phase.
func (s *share) join(phase int, used load.Used) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usedByAll[phase] = used
	s.notify()
}

// endPhase asks the run to end a phase. It never waits: commands are handled in the goroutine of the connection.
func (s *share) endPhase(phase int, grace time.Duration) {
	select {
	case s.phaseEnds <- run.End{Phase: phase, Grace: grace, Reason: "the coordinator ended the phase"}:
	default: // ended often enough
	}
}

// stop ends the share early.
func (s *share) stop() { s.stopped.Do(func() { close(s.stops) }) }

// drain ends the share because this process is asked to end: nothing more is sent, and replies are waited for.
func (s *share) drain() {
	s.mu.Lock()
	s.draining = true
	begun := len(s.phases) > 0
	s.mu.Unlock()
	if !begun {
		s.stop()
		return
	}
	for i := range s.work.Config.Phases {
		s.endPhase(i, 0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = time.AfterFunc(drainTimeout, s.stop)
}

// waitOver waits until the share is over, no longer than given.
func (s *share) waitOver(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.over:
		return true
	case <-timer.C:
		return false
	}
}

// drainTimeout is how long replies are waited for at most when a signal ended the process.
const drainTimeout = 20 * time.Second

// whole reports whether all phases came to their ends of their own; the share is locked.
func (s *share) whole() bool {
	return len(s.phases) == len(s.work.Config.Phases) && !slices.ContainsFunc(s.phases, func(p load.Stats) bool {
		return p.State != load.Complete || p.EndedEarly
	})
}

// drained reports whether a share that was to be drained is over.
func (s *share) drained() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining && s.ended != nil
}

// note keeps what went wrong for the reports, each text once: they are sent again and again.
func (s *share) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) && len(s.notes) < 20 {
		s.notes = append(s.notes, text)
	}
}

// report returns the state of the share.
func (s *share) report() report {
	s.mu.Lock()
	r := report{Run: s.work.ID, Ready: s.ready, Joined: s.joined, Used: s.used, Phases: slices.Clone(s.phases),
		Notes: slices.Clone(s.notes), Ended: s.ended}
	s.mu.Unlock() // the courier notes things while it is locked
	r.Batches, r.Records, _ = s.courier.counts()
	return r
}

// waitAcknowledged reports again and again until all records are acknowledged, no longer than given.
func (s *share) waitAcknowledged(most time.Duration) {
	again := time.Now()
	for deadline := again.Add(most); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, _, left := s.courier.counts(); left == 0 {
			return
		}
		if time.Since(again) > reportInterval {
			again = time.Now()
			s.agent.report()
		}
	}
}

// close releases what the share has, and removes its files unless they are to stay.
func (s *share) close(remove bool) {
	s.mu.Lock()
	if s.late != nil {
		s.late.Stop()
	}
	s.mu.Unlock()
	s.courier.end()
	s.courier.journal.close(remove)
	if remove && !s.work.RawStays {
		os.RemoveAll(s.dir)
	}
}

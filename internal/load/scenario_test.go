package load

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", strconv.Itoa(testkit.Seeds(80, 400))) // each takes some 100 µs
	goleak.VerifyTestMain(m)
}

// answer is how the scripted server responds to one credit.
type answer struct {
	// content, if positive, is when the first content comes; after is when the exchange ends.
	content, after time.Duration
	outcome        Outcome
	// never: no answer until it is cut off.
	never bool
}

// scenario is one run in virtual time against a scripted server.
type scenario struct {
	plan  Plan
	turns func(session uint64) int
	delay func(session uint64, turn int) time.Duration
	serve func(Credit) answer
	// recording and tree make the source Recorded and Branching.
	recording [][]TurnTime
	tree      func(session uint64) *Tree
	// traces make it Trees.
	traces []*Tree
	// gathers makes the sender a Gatherer that is ready after gatherFor.
	gathers   bool
	gatherFor time.Duration
	// deaf makes the server ignore being cut off.
	deaf bool
	opt  Options
	// stallFrom and stallTo hold the loop up: what it would wake for between the two it hears at the second.
	stallFrom, stallTo time.Duration
	// during runs alongside the load.
	during func(context.CancelFunc, *Engine)
}

// played is what a scenario did.
type played struct {
	sent   []Credit
	result Result
	err    error
	events []PhaseEvent
	// faults are violations of the contract between loop and sender.
	faults []string
	cutOff int
	// took is the virtual time of the whole run.
	took time.Duration
	// peaks are what was open at once, by phase.
	peaks    []peak
	returned map[Outcome]int64
	// opened are the sessions that the sender was told of.
	opened map[uint64]Opening
}

// peak counts the sessions and the requests before their first content that a phase has open, and the most it had.
type peak struct {
	open                    map[uint64]bool
	prefill                 int
	maxSessions, maxPrefill int
}

// play runs the scenario; it must be called inside a synctest bubble.
func (s scenario) play() played {
	s.opt.Clock = clock.New()
	timer := &stallTimer{Timer: clock.NewPlainTimer(s.opt.Clock), clock: s.opt.Clock, from: s.stallFrom, to: s.stallTo}
	s.opt.Timer = timer
	f := &fakeSender{
		scenario: s, clock: s.opt.Clock,
		kept: map[uint64]int{}, living: map[uint64]int{}, inFlight: map[creditKey]*exchange{},
		played: played{returned: map[Outcome]int64{}, opened: map[uint64]Opening{}},
	}
	for range s.plan.Phases {
		f.peaks = append(f.peaks, peak{open: map[uint64]bool{}})
	}
	observe := s.opt.Observe
	s.opt.Observe = func(e PhaseEvent) {
		f.mu.Lock()
		f.events = append(f.events, e)
		f.mu.Unlock()
		if observe != nil {
			observe(e)
		}
	}
	var sender Sender = f
	if s.gathers {
		sender = &gatheringSender{fakeSender: f}
	}
	engine := New(s.plan, f, sender, s.opt)
	f.engine = engine
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var beside sync.WaitGroup
	if s.during != nil {
		beside.Go(func() { s.during(cancel, engine) })
	}
	begin := time.Now()
	result, err := engine.Run(ctx)
	took := time.Since(begin)
	timer.Stop()
	beside.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.result, f.err, f.took = result, err, took
	for session := range f.kept {
		f.fault("session %d was never forgotten", session)
	}
	for _, x := range f.inFlight {
		x.stop()
	}
	return f.played
}

// run plays the scenario in a bubble of its own and fails the test on a violation of the contract.
func (s scenario) run(t *testing.T) played {
	t.Helper()
	var p played
	synctest.Test(t, func(*testing.T) { p = s.play() })
	for _, fault := range p.faults {
		t.Error(fault)
	}
	return p
}

// sends returns the instants of the credits of a phase, from its start.
func (p played) sends(phase int) string {
	var b strings.Builder
	for _, c := range p.sent {
		if c.Phase == phase {
			fmt.Fprintf(&b, "%v ", time.Duration(c.IssuedNS-p.result.Phases[phase].StartNS))
		}
	}
	return strings.TrimSpace(b.String())
}

// turnOrder lists session.turn of the credits of a phase.
func (p played) turnOrder(phase int) string {
	var b strings.Builder
	for _, c := range p.sent {
		if c.Phase == phase {
			fmt.Fprintf(&b, "%d.%d ", c.Session, c.Turn)
		}
	}
	return strings.TrimSpace(b.String())
}

type stallTimer struct {
	clock.Timer
	clock    *clock.Clock
	from, to time.Duration
}

func (t *stallTimer) Reset(ns int64) {
	if d := time.Duration(ns - 1); d > t.from && d < t.to {
		ns = int64(t.to) + 1
	}
	t.Timer.Reset(ns)
}

type creditKey struct {
	phase int
	id    int64
}

type exchange struct {
	credit         Credit
	prefill        bool
	contentT, endT *time.Timer
}

func (x *exchange) stop() {
	for _, t := range []*time.Timer{x.contentT, x.endT} {
		if t != nil {
			t.Stop()
		}
	}
}

// fakeSender answers as scripted and watches what the loop promises to a Sender.
type fakeSender struct {
	scenario
	engine *Engine
	clock  *clock.Clock

	mu sync.Mutex
	played
	kept     map[uint64]int // known sessions → the turn prepared last, -1 = none
	living   map[uint64]int // roots → known sessions of the tree
	inFlight map[creditKey]*exchange
}

func (f *fakeSender) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (f *fakeSender) Turns(k uint64) int {
	if f.turns == nil {
		return 1
	}
	return f.turns(k)
}

func (f *fakeSender) DelayNS(k uint64, turn int) int64 {
	if f.delay == nil {
		return 0
	}
	return int64(f.delay(k, turn))
}

func (f *fakeSender) Conversations() int          { return len(f.recording) }
func (f *fakeSender) ConversationTurns(c int) int { return len(f.recording[c]) }

func (f *fakeSender) TurnTime(c, turn int) TurnTime { return f.recording[c][turn] }
func (f *fakeSender) Tree(session uint64) *Tree {
	if f.tree == nil {
		return nil
	}
	return f.tree(session)
}

func (f *fakeSender) Traces() int                     { return len(f.traces) }
func (f *fakeSender) Trace(trace int, _ uint64) *Tree { return f.traces[trace] }

func (f *fakeSender) Open(o Opening) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.kept[o.Session]; ok {
		f.fault("session %d was opened twice", o.Session)
	}
	if _, ok := f.kept[o.Root]; !ok && o.Root != o.Session && f.living[o.Root] == 0 {
		f.fault("child %d was opened after its tree was forgotten", o.Session-FirstChild)
	}
	f.kept[o.Session] = -1
	f.living[o.Root]++
	f.opened[o.Session] = o
}

func (f *fakeSender) Prepare(_ int, session uint64, turn int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[session] = turn
}

func (f *fakeSender) Forget(session uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.kept[session]; !ok {
		f.fault("session %d was forgotten without being prepared", session)
	}
	delete(f.kept, session)
	root := session
	if o, ok := f.opened[session]; ok {
		root = o.Root
		if f.living[root]--; f.living[root] > 0 {
			return
		}
	}
	for _, p := range f.peaks {
		delete(p.open, root)
	}
}

func (f *fakeSender) Send(c Credit) {
	f.mu.Lock()
	f.sent = append(f.sent, c)
	if turn, ok := f.kept[c.Session]; !ok || turn != c.Turn {
		f.fault("session %d turn %d was sent unprepared", c.Session, c.Turn)
	}
	if c.IssuedNS < c.IntendedNS {
		f.fault("credit %d was issued before its time", c.ID)
	}
	x := &exchange{credit: c, prefill: true}
	f.inFlight[creditKey{c.Phase, c.ID}] = x
	at := &f.peaks[c.Phase]
	if c.Session < FirstChild {
		at.open[c.Session] = true
	}
	at.prefill++
	f.checkCombined(c)
	at.maxSessions = max(at.maxSessions, len(at.open))
	at.maxPrefill = max(at.maxPrefill, at.prefill)
	a := answer{}
	if f.serve != nil {
		a = f.serve(c)
	}
	if a.content > 0 {
		x.contentT = time.AfterFunc(a.content, func() { f.firstContent(x) })
	}
	if a.after > 0 && !a.never {
		x.endT = time.AfterFunc(a.after, func() { f.end(x, a.outcome) })
	}
	f.mu.Unlock()
	if a.after == 0 && !a.never {
		f.end(x, a.outcome)
	}
}

// checkCombined watches the limits over the phases that are active together.
func (f *fakeSender) checkCombined(c Credit) {
	sessions, prefill := 0, 0
	for _, p := range f.peaks {
		sessions, prefill = sessions+len(p.open), prefill+p.prefill
	}
	phase := f.plan.Phases[c.Phase]
	if !phase.Seamless || f.deaf {
		return
	}
	if c.Turn == 0 && phase.Concurrency > 0 && c.Session < FirstChild && sessions > phase.Concurrency {
		f.fault("%d sessions over all phases, the limit is %d", sessions, phase.Concurrency)
	}
	if phase.Prefill > 0 && prefill > phase.Prefill {
		f.fault("%d prefills over all phases, the limit is %d", prefill, phase.Prefill)
	}
}

func (f *fakeSender) firstContent(x *exchange) {
	f.mu.Lock()
	first := x.prefill && f.inFlight[creditKey{x.credit.Phase, x.credit.ID}] != nil
	if first {
		x.prefill = false
		f.peaks[x.credit.Phase].prefill--
	}
	f.mu.Unlock()
	if first {
		f.engine.FirstContent(x.credit)
	}
}

func (f *fakeSender) end(x *exchange, o Outcome) {
	f.mu.Lock()
	key := creditKey{x.credit.Phase, x.credit.ID}
	if f.inFlight[key] == nil {
		f.mu.Unlock()
		return
	}
	delete(f.inFlight, key)
	x.stop()
	if x.prefill {
		f.peaks[x.credit.Phase].prefill--
	}
	if _, tree := f.opened[x.credit.Session]; !tree && (x.credit.Final || o == CutOff) {
		delete(f.peaks[x.credit.Phase].open, x.credit.Session)
	}
	f.returned[o]++
	f.mu.Unlock()
	f.engine.Returned(x.credit, o)
}

func (f *fakeSender) CutOff() { f.fault("the sender was told to cut off every phase") }

func (f *fakeSender) CutOffPhase(phase int) {
	f.mu.Lock()
	f.cutOff++
	var all []*exchange
	if !f.deaf {
		for _, x := range f.inFlight {
			if x.credit.Phase == phase {
				all = append(all, x)
			}
		}
	}
	f.mu.Unlock()
	for _, x := range all {
		f.end(x, CutOff)
	}
}

// gatheringSender lets requests leave together, a microsecond apart.
type gatheringSender struct {
	*fakeSender
	gathered []uint64
}

func (g *gatheringSender) Gather(_ int, sessions []uint64, ready func()) {
	for _, session := range sessions {
		if turn, ok := g.kept[session]; !ok || turn != 0 {
			g.fault("session %d was gathered unprepared", session)
		}
	}
	g.gathered = sessions
	if g.gatherFor >= 0 {
		time.AfterFunc(g.gatherFor, ready)
	}
}

func (g *gatheringSender) SendAll(credits []Credit) {
	for i, c := range credits {
		if c.Session != g.gathered[i] {
			g.fault("credit %d is not for a gathered session", c.ID)
		}
		g.engine.Started(c, c.IssuedNS+int64(i)*1000)
		g.Send(c)
	}
}

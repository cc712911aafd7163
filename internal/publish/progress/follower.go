package progress

import (
	"sync/atomic"
	"time"

	"aiperf/internal/measure/record"
)

const (
	// mailboxSize is the number of calls that wait for an observer. All snapshots together are one of them.
	mailboxSize = 64
	// patience bounds each wait for an observer.
	patience = time.Second
)

// Follower calls an observer during one run. All its methods but Flush return within a second, whatever the observer
// does.
type Follower struct {
	observer Observer
	// records and phases are nil for an observer that does not take them.
	records RecordObserver
	phases  PhaseObserver
	// mailbox holds the calls that wait, abandoned is closed when there is no room for the last one.
	mailbox   chan func()
	abandoned chan struct{}
	// newest is the snapshot that waits; nil when none does.
	newest atomic.Pointer[Snapshot]
	// needs is nil until the observer has begun, and after its end.
	needs atomic.Pointer[Needs]
	ended bool // of the observer's goroutine
}

// Follow starts to call an observer and waits for its Begin. An observer whose Begin takes longer than a second gets no
// records until it returns.
func Follow(o Observer, run *Run) *Follower {
	f := &Follower{observer: o, mailbox: make(chan func(), mailboxSize), abandoned: make(chan struct{})}
	f.records, _ = o.(RecordObserver)
	f.phases, _ = o.(PhaseObserver)
	go f.deliver()
	f.await(func() {
		needs := o.Begin(run)
		f.needs.Store(&needs)
	})
	return f
}

// deliver calls the observer until its End.
func (f *Follower) deliver() {
	for !f.ended {
		select {
		case call := <-f.mailbox:
			call()
		case <-f.abandoned:
			return
		}
	}
}

// post puts a call into the mailbox, unless that is full.
func (f *Follower) post(call func()) bool {
	select {
	case f.mailbox <- call:
		return true
	default:
		return false
	}
}

// await makes a call and waits for its end, or for as long as there is patience. It reports whether the call found room
// in the mailbox.
func (f *Follower) await(call func()) (posted bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	done := make(chan struct{})
	select {
	case f.mailbox <- func() { call(); close(done) }:
	case <-timer.C:
		return false
	}
	select {
	case <-done:
	case <-timer.C:
	}
	return true
}

// Needs returns what the observer needs; nothing as long as it has not begun.
func (f *Follower) Needs() Needs {
	if needs := f.needs.Load(); needs != nil {
		return *needs
	}
	return Needs{}
}

// Record hands a finished request to an observer that takes them. It may be called from several goroutines at once.
func (f *Follower) Record(r *record.Record) {
	if f.records != nil && f.needs.Load() != nil {
		f.records.Record(r)
	}
}

// Show leaves a snapshot for the observer, in place of one that it has not taken yet.
func (f *Follower) Show(s *Snapshot) {
	if f.newest.Swap(s) == nil && !f.post(func() { f.observer.Show(f.newest.Swap(nil)) }) {
		f.newest.Store(nil)
	}
}

// PhaseChanged reports a change of a phase's state to an observer that hears of them.
func (f *Follower) PhaseChanged(p *Phase) {
	if f.phases != nil {
		f.post(func() { f.phases.PhaseChanged(p) })
	}
}

// Settle waits until an observer that hears of phases has heard of all that was reported so far.
func (f *Follower) Settle() {
	if f.phases != nil {
		f.await(func() {})
	}
}

// Flush has an observer that takes time for it pass on what it has. The returned function waits for that.
func (f *Follower) Flush(s *Snapshot) (wait func()) {
	flusher, slow := f.observer.(Flusher)
	begun, done := make(chan struct{}), make(chan struct{})
	if !slow || f.needs.Load() == nil || !f.post(func() {
		close(begun)
		flusher.Flush(s)
		close(done)
	}) {
		return func() {}
	}
	return func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-begun:
			<-done
		case <-timer.C: // it hangs in an earlier call
		}
	}
}

// End reports the end of the run and waits until the observer has taken it.
func (f *Follower) End(e *Ending) {
	if !f.await(func() {
		f.needs.Store(nil)
		f.observer.End(e)
		f.ended = true
	}) {
		close(f.abandoned)
	}
}

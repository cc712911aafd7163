package progress

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
)

// slow notes what it is told. Each of its calls but Record takes a time.
type slow struct {
	begin, show, flush time.Duration
	told               []string
	records            int
}

func (s *slow) tell(what string, takes time.Duration) {
	time.Sleep(takes)
	s.told = append(s.told, what)
}

func (s *slow) Begin(r *Run) Needs {
	s.tell("begin "+r.Label, s.begin)
	return Needs{Client: true}
}
func (s *slow) Show(n *Snapshot)      { s.tell(fmt.Sprint("show ", n.Elapsed), s.show) }
func (s *slow) PhaseChanged(p *Phase) { s.tell("phase "+string(p.State), 0) }
func (s *slow) Flush(*Snapshot)       { s.tell("flush", s.flush) }
func (s *slow) End(*Ending)           { s.tell("end", 0) }
func (s *slow) Record(*record.Record) { s.records++ }

func TestAnObserverHearsOfTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{flush: time.Minute}
		f := Follow(o, &Run{Label: "a"})
		if !f.Needs().Client {
			t.Error("the needs are lost")
		}
		f.Record(nil)
		f.PhaseChanged(&Phase{State: PhaseStarted})
		f.Show(&Snapshot{Elapsed: 1})
		f.Settle()
		start := time.Now()
		f.Flush(&Snapshot{})()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the flush was waited for for %s", took)
		}
		f.End(&Ending{})
		f.Record(nil)
		want := []string{"begin a", "phase started", "show 1ns", "flush", "end"}
		if !slices.Equal(o.told, want) || o.records != 1 {
			t.Errorf("told %q and %d records, want %q and 1", o.told, o.records, want)
		}
	})
}

// A slow observer loses the oldest snapshots; whoever shows them does not wait.
func TestASlowObserverLosesSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{show: 360 * time.Millisecond}
		f := Follow(o, &Run{})
		start := time.Now()
		for i := range 10 {
			f.Show(&Snapshot{Elapsed: time.Duration(i)})
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("ten snapshots took %s", took)
		}
		f.End(&Ending{})
		want := []string{"begin ", "show 0s", "show 3ns", "show 7ns", "show 9ns", "end"}
		if !slices.Equal(o.told, want) {
			t.Errorf("told %q, want %q", o.told, want)
		}
	})
}

// The end reaches a slow observer, though the run does not wait for it.
func TestASlowObserverIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{show: time.Minute}
		f := Follow(o, &Run{})
		f.Show(&Snapshot{})
		synctest.Wait()
		start := time.Now()
		f.Flush(&Snapshot{})()
		f.End(&Ending{})
		if took := time.Since(start); took != 2*patience {
			t.Errorf("the run waited for %s", took)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"begin ", "show 0s", "flush", "end"}; !slices.Equal(o.told, want) {
			t.Errorf("told %q, want %q", o.told, want)
		}
	})
}

// An observer that hangs is left behind: nothing piles up, and its goroutine ends when it does.
func TestAnObserverThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{begin: time.Hour}
		start := time.Now()
		f := Follow(o, &Run{})
		for range 10 * mailboxSize {
			f.PhaseChanged(&Phase{})
			f.Show(&Snapshot{})
			f.Record(nil)
		}
		f.Flush(&Snapshot{})()
		f.End(&Ending{})
		if took := time.Since(start); took != 2*patience {
			t.Errorf("the run waited for %s", took)
		}
		if len(f.mailbox) > mailboxSize || f.Needs().Client || o.records != 0 {
			t.Errorf("%d calls wait, needs %v, %d records", len(f.mailbox), f.Needs(), o.records)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
	})
}

func TestNeedsOfTwoObservers(t *testing.T) {
	a := Needs{Metrics: []string{"b", "a"}, Every: 3 * time.Second, Servers: true}
	b := Needs{Metrics: []string{"c", "b"}, Every: time.Second, Client: true}
	for _, n := range []Needs{a.And(b), b.And(a), a.And(Needs{}).And(b)} {
		if !slices.Equal(n.Metrics, []string{"a", "b", "c"}) || n.Every != time.Second || !n.Servers || !n.Client {
			t.Errorf("%+v", n)
		}
	}
	if !slices.Equal(a.Metrics, []string{"b", "a"}) {
		t.Error("an observer's own needs were changed")
	}
}

// BenchmarkRecord is what an observer costs for each request, beside its own work.
func BenchmarkRecord(b *testing.B) {
	f := Follow(new(slow), new(Run))
	defer f.End(new(Ending))
	r := new(record.Record)
	for b.Loop() {
		f.Record(r)
	}
}

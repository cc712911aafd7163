package progress_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

const (
	// patience bounds each wait for an observer.
	patience = time.Second
	// mailboxSize is the number of calls that wait for an observer.
	mailboxSize = 64
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

func (s *slow) Begin(r *progress.Run) progress.Needs {
	s.tell("begin "+r.Label, s.begin)
	return progress.Needs{Client: true}
}
func (s *slow) Show(n *progress.Snapshot)      { s.tell(fmt.Sprint("show ", n.Elapsed), s.show) }
func (s *slow) PhaseChanged(p *progress.Phase) { s.tell("phase "+string(p.State), 0) }
func (s *slow) Flush(*progress.Snapshot)       { s.tell("flush", s.flush) }
func (s *slow) End(*progress.Ending)           { s.tell("end", 0) }
func (s *slow) Record(*record.Record)          { s.records++ }

func TestAnObserverHearsOfTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{flush: time.Minute}
		f := progress.Follow(o, &progress.Run{Label: "a"})
		if !f.Needs().Client {
			t.Error("the needs are lost")
		}
		f.Record(nil)
		f.PhaseChanged(&progress.Phase{State: progress.PhaseStarted})
		f.Show(&progress.Snapshot{Elapsed: 1})
		f.Settle()
		start := time.Now()
		f.Flush(&progress.Snapshot{})()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the flush was waited for for %s", took)
		}
		f.End(&progress.Ending{})
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
		f := progress.Follow(o, &progress.Run{})
		start := time.Now()
		for i := range 10 {
			f.Show(&progress.Snapshot{Elapsed: time.Duration(i)})
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("ten snapshots took %s", took)
		}
		f.End(&progress.Ending{})
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
		f := progress.Follow(o, &progress.Run{})
		f.Show(&progress.Snapshot{})
		synctest.Wait()
		start := time.Now()
		f.Flush(&progress.Snapshot{})()
		f.End(&progress.Ending{})
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
		f := progress.Follow(o, &progress.Run{})
		for range 10 * mailboxSize {
			f.PhaseChanged(&progress.Phase{})
			f.Show(&progress.Snapshot{})
			f.Record(nil)
		}
		f.Flush(&progress.Snapshot{})()
		f.End(&progress.Ending{})
		if took := time.Since(start); took != 2*patience {
			t.Errorf("the run waited for %s", took)
		}
		if f.Needs().Client || o.records != 0 {
			t.Errorf("needs %v, %d records", f.Needs(), o.records)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(o.told) > 1+mailboxSize {
			t.Errorf("%d calls waited", len(o.told)-1)
		}
	})
}

// An observer that comes back hears of what there was room for.
func TestTheCallsThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{begin: time.Hour}
		f := progress.Follow(o, &progress.Run{})
		for range 10 * mailboxSize {
			f.PhaseChanged(&progress.Phase{})
			f.Show(&progress.Snapshot{})
		}
		time.Sleep(2 * time.Hour)
		f.End(&progress.Ending{})
		if waited := len(o.told) - len([]string{"begin", "end"}); waited != mailboxSize {
			t.Errorf("%d calls waited, want %d", waited, mailboxSize)
		}
	})
}

func TestNeedsOfTwoObservers(t *testing.T) {
	a := progress.Needs{Metrics: []string{"b", "a"}, Every: 3 * time.Second, Servers: true}
	b := progress.Needs{Metrics: []string{"c", "b"}, Every: time.Second, Client: true}
	for _, n := range []progress.Needs{a.And(b), b.And(a), a.And(progress.Needs{}).And(b)} {
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
	f := progress.Follow(new(slow), new(progress.Run))
	defer f.End(new(progress.Ending))
	r := new(record.Record)
	for b.Loop() {
		f.Record(r)
	}
}

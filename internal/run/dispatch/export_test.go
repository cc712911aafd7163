package dispatch

import (
	"context"
	"time"

	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/wire/client"
	"aiperf/internal/workload/dataset"
)

// Limits of pauses between connections that fail.
const (
	FirstPause   = firstPause
	LongestPause = longestPause
)

// Unreached reports whether an exchange failed for lack of a connection.
func Unreached(x *client.Exchange, reached bool) bool { return unreached(x, reached) }

// Observe takes a finished exchange and returns for how long its credit is held back, Pause waits for so long.
func (r *Reachability) Observe(x *client.Exchange) time.Duration { return r.observe(x) }

// Pause waits until the pause of a credit or ctx is over.
func (r *Reachability) Pause(ctx context.Context, pause time.Duration) { r.pause(ctx, pause) }

// Held is the number of credits that are held back; SetHeld sets it.
func (r *Reachability) Held() int { return r.held }

// SetHeld sets the number of credits that are held back.
func (r *Reachability) SetHeld(n int) { r.held = n }

// Workers are the logical workers of a run.
type Workers struct{ *workers }

// NewWorkers returns n of them.
func NewWorkers(n int, s load.Share) Workers { return Workers{newWorkers(n, s)} }

// Take assigns a request to a worker, or chooses one; Give takes it back.
func (w Workers) Take(current int) int { return w.take(current) }

// Give takes a request from a worker.
func (w Workers) Give(worker int) { w.give(worker) }

// TreeOf returns the tree of a session that plays a conversation of a dataset.
func TreeOf(data *dataset.Dataset, seed random.Seed, session uint64, conversation int) *load.Tree {
	return newSessionTrees(data, seed).tree(session, conversation)
}

// ScheduleZero places recorded times on the clock of the first schedule.
type ScheduleZero struct{ scheduleZero }

// On returns the recorded time of a turn that is sent at an instant.
func (z *ScheduleZero) On(recordedNS, intendedNS int64) int64 { return z.on(recordedNS, intendedNS) }

// NewIdle returns a dispatcher without requests.
func NewIdle() *Dispatcher {
	return &Dispatcher{requests: newRequests(schedule{}, nil, nil), senders: newSenders(nil, nil, nil)}
}

// ExchangesOf returns what ends the exchanges of a phase.
func (d *Dispatcher) ExchangesOf(phase int) context.Context {
	d.senders.mu.Lock()
	defer d.senders.mu.Unlock()
	return d.exchangesOf(phase)
}

// WaitAtGate has a sending goroutine wait at a gate that nobody has opened. The returned function waits until it has
// ended, and returns the credit that it carried out, the zero value if none.
func (d *Dispatcher) WaitAtGate() (ended func() load.Credit) {
	g := &gathered{gate: make(chan struct{}), places: map[uint64]*sending{}}
	d.gathered = g
	left := make(chan struct{})
	place := &sending{ctx: context.Background()}
	d.all.Go(func() {
		defer close(left)
		g.wait(d.senders, place)
	})
	return func() load.Credit {
		<-left
		return place.credit
	}
}

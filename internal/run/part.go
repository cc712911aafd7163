package run

import (
	"context"
	"errors"
	"sync"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
)

// part goes on alongside the load and sees the whole run. One that needs only some of these steps embeds passive.
type part interface {
	// gates returns the gates next, extended by what this part has phases wait for at their two ends.
	gates(next load.Gates) load.Gates
	// begin is called at the start of the first profiling phase.
	begin()
	// record takes each finished request after its metrics, from several goroutines at once.
	record(*record.Record)
	// stop is called once the load is over, before the results are computed.
	stop() error
	// finish adds what was seen to the run that has ended.
	finish(*ended) error
	// close releases what is still held, also in a run without an outcome.
	close()
}

// ended is a run whose load is over: what its parts need of it, and add to it. They are asked in their order.
type ended struct {
	Outcome
	// ran are the phases that were started, until up to when what was collected belongs to each of them, wall epoch ns:
	// the next one begins after it.
	ran   []summary.Phase
	until []int64
	// resent are the requests that were sent again.
	resent int64
	// shown is what the console shows in addition to the result.
	shown summary.ConsoleState
	// ledger has the totals of the servers; nil if their counters were not scraped.
	ledger *summary.Ledger
}

// passive is a part that does nothing.
type passive struct{}

func (passive) gates(next load.Gates) load.Gates { return next }
func (passive) begin()                           {}
func (passive) record(*record.Record)            {}
func (passive) stop() error                      { return nil }
func (passive) finish(*ended) error              { return nil }
func (passive) close()                           {}

// parts are those of a run. The gates of the first surround those of the others.
type parts []part

func (list parts) gates() (g load.Gates) {
	for i := len(list) - 1; i >= 0; i-- {
		g = list[i].gates(g)
	}
	return g
}

// each takes all of them through a step and joins what goes wrong.
func (list parts) each(step func(part) error) (err error) {
	for _, p := range list {
		err = errors.Join(err, step(p))
	}
	return err
}

// bothGates are passed when both are.
func bothGates(a, b load.Gates) load.Gates {
	both := func(f, g func(context.Context, int)) func(context.Context, int) {
		switch {
		case f == nil:
			return g
		case g == nil:
			return f
		}
		return func(ctx context.Context, phase int) {
			var wait sync.WaitGroup
			wait.Go(func() { f(ctx, phase) })
			g(ctx, phase)
			wait.Wait()
		}
	}
	return load.Gates{
		BeforeFirstCredit: both(a.BeforeFirstCredit, b.BeforeFirstCredit),
		AfterLastReturn:   both(a.AfterLastReturn, b.AfterLastReturn),
		Timeout:           max(a.Timeout, b.Timeout),
	}
}

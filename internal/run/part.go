package run

import (
	"errors"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
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
	// finish adds what was seen to the outcome of the run.
	finish(*outcome) error
	// close releases what is still held, also in a run without an outcome.
	close()
}

// passive is a part that does nothing.
type passive struct{}

func (passive) gates(next load.Gates) load.Gates { return next }
func (passive) begin()                           {}
func (passive) record(*record.Record)            {}
func (passive) stop() error                      { return nil }
func (passive) finish(*outcome) error            { return nil }
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

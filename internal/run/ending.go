package run

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"aiperf/internal/run/remote"
)

// ending knows why a run ends before its load is over. What it has by then is reported.
type ending struct {
	engine *engine
	// remote is the load if it is made elsewhere, else nil.
	remote *remote.Load
	// aborted is the decision of the run itself, unwritable why records could not be written; the first reasons stand.
	aborted, unwritable atomic.Pointer[error]
	// childFailed is why a run that fails fast ended.
	childFailed error
	// unprocessed is why some finished requests have no record.
	unprocessed error
}

// abort ends the run.
func (x *ending) abort(reason error) {
	if x.aborted.CompareAndSwap(nil, &reason) {
		x.engine.Abort(reason)
	}
}

// cannotWrite ends the run: records that cannot be written are a run that is being lost.
func (x *ending) cannotWrite(err error) {
	x.unwritable.CompareAndSwap(nil, &err)
	x.engine.Abort(err)
}

func reasonIn(p *atomic.Pointer[error]) error {
	if reason := p.Load(); reason != nil {
		return *reason
	}
	return nil
}

// lacking returns why the results are not those of the whole run, nil if they are.
func (x *ending) lacking() error {
	return cmp.Or(reasonIn(&x.unwritable), reasonIn(&x.aborted), x.childFailed, x.unprocessed, x.remote.Lacking())
}

// withoutResults returns why a run that ended early has no results.
func (x *ending) withoutResults() error { return cmp.Or(reasonIn(&x.aborted), x.unprocessed) }

// reason returns why the run ended, nil if it was over or somebody cancelled it.
func (x *ending) reason(cancelled bool) error {
	reason := cmp.Or(reasonIn(&x.aborted), x.childFailed)
	if err := reasonIn(&x.unwritable); reason == nil && err != nil {
		reason = fmt.Errorf("the run ended early: %w", err)
	}
	if reason == nil && !cancelled {
		reason = x.unprocessed
	}
	return reason
}

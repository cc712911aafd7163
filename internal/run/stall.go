package run

import (
	"context"
	"fmt"
	"time"
)

// stallError reports that finished requests do not become records.
type stallError struct {
	waiting int64
	timeout time.Duration
}

func (s *stallError) Error() string {
	requests := "a finished request has"
	if s.waiting > 1 {
		requests = fmt.Sprintf("%d finished requests have", s.waiting)
	}
	return fmt.Sprintf("%s no record, and none came for %v, which is as long as "+
		"AIPERF_RECORD_COMPLETION_STALL_TIMEOUT allows",
		requests, s.timeout)
}

// stallWatch looks whether finished requests go on becoming records.
type stallWatch struct {
	// progress reports how many requests wait for their record, and how many have theirs.
	progress func() (waiting, done int64)
	// timeout without a record is a stall, 0 never; interval lies between two looks.
	timeout, interval time.Duration
}

// wait returns what the stall was, or nil once ctx is done.
func (w *stallWatch) wait(ctx context.Context) error {
	if w.timeout <= 0 {
		<-ctx.Done()
		return nil
	}
	looks := time.NewTicker(w.interval)
	defer looks.Stop()
	since, last := time.Now(), int64(-1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-looks.C:
		}
		waiting, done := w.progress()
		if waiting == 0 || done != last {
			since, last = time.Now(), done
		} else if time.Since(since) >= w.timeout {
			return &stallError{waiting, w.timeout}
		}
	}
}

// recordWatch is a stallWatch at work: going is done once the records have stalled, end stops the watch.
type recordWatch struct {
	passive
	going context.Context
	end   func()
}

func (r *recordWatch) close() { r.end() }

// newRecordWatch starts a watch that ends the run when its records stall.
func newRecordWatch(b *base, pool recordMaker, abort func(error)) *recordWatch {
	env := &b.cfg.Env.Record
	w := stallWatch{
		progress: pool.Progress, timeout: env.CompletionStallTimeout, interval: env.CompletionStallCheckInterval,
	}
	going, stalled := context.WithCancel(context.Background())
	watched, unwatch := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer stalled()
		if err := w.wait(watched); err != nil {
			b.log.Error("Records have stalled, the run ends here", "error", err)
			abort(err)
		}
	}()
	return &recordWatch{going: going, end: func() { unwatch(); <-ended }}
}

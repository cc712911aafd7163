package run

import (
	"fmt"
	"sync/atomic"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/plan"
)

// minThresholdRecords is the number of records from which a failure threshold applies, unless the concurrency is
// higher.
const minThresholdRecords = 10

// threshold is a share of failed requests above which the run ends. Its methods may be called from any goroutine.
type threshold struct {
	limit float64
	// armed is the number of records from which it applies.
	armed int64
	// phase is the one that it belongs to, "" if it is that of the run.
	phase        string
	seen, failed atomic.Int64
}

// thresholds has the threshold of each phase, by index; nil for none. The profiling phases without one of their own
// share that of the run.
type thresholds []*threshold

// newThresholds returns the threshold of failures of each phase, nil for none: phases without one of their own share
// one, which counts all their requests. It is armed after as many requests as the largest concurrency has at a time, so
// that a failed first wave does not end a run.
func newThresholds(cfg *config.Run) thresholds {
	list := make(thresholds, len(cfg.Phases))
	var shared *threshold
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		limit, armed := cfg.Threshold(p), int64(max(minThresholdRecords, plan.Limit(p.Concurrency)))
		switch {
		case limit == nil:
			continue
		case p.FailedRequestThreshold != nil:
			list[i] = &threshold{limit: *limit, armed: armed, phase: p.Name}
			continue
		case shared == nil:
			shared = &threshold{limit: *limit}
		}
		shared.armed = max(shared.armed, armed)
		list[i] = shared
	}
	return list
}

// failureLimits end the run once too many requests have failed.
type failureLimits struct {
	passive
	thresholds thresholds
	abort      func(reason error)
}

func (f *failureLimits) record(r *record.Record) {
	if r.ContextOverflowSkip {
		return
	}
	if reason := f.thresholds.exceeded(r); reason != nil {
		f.abort(reason)
	}
}

// exceeded counts a record, and returns an error if too many requests of its phase have failed by now.
func (list thresholds) exceeded(r *record.Record) error {
	t := list[r.PhaseIndex]
	if t == nil {
		return nil
	}
	total, failed := t.seen.Add(1), t.failed.Load()
	if r.IsError() {
		failed = t.failed.Add(1)
	}
	if total < t.armed || float64(failed)/float64(total) <= t.limit {
		return nil
	}
	return &thresholdError{failed, total, t.limit, t.phase}
}

// thresholdError reports that too many requests failed.
type thresholdError struct {
	failed, total int64
	limit         float64
	phase         string
}

func (t *thresholdError) Error() string {
	of, limit := "", "--failed-request-threshold"
	if t.phase != "" {
		of, limit = " of the phase "+t.phase, "its failed_request_threshold"
	}
	return fmt.Sprintf("%d of %d requests%s failed (%.1f%%), which is more than %s allows (%g%%)",
		t.failed, t.total, of, 100*float64(t.failed)/float64(t.total), limit, 100*t.limit)
}

package run

import (
	"fmt"

	"aiperf/internal/result/summary"
)

// checkLanes refuses more lanes than recordings unless a recording may be in several of them.
func (e *execution) checkLanes() error {
	p := e.cfg.Profiling()
	if p.Lanes == nil || p.Lanes.Wrap || *p.Concurrency <= e.data.RootCount() {
		return nil
	}
	return fmt.Errorf("--concurrency %d asks for more lanes than %s has recordings, which is %d: lower it, or give --allow-dataset-wrap to play a recording in several lanes at once",
		*p.Concurrency, e.cfg.Dataset.Path, e.data.RootCount())
}

// submission says whether the run keeps its scenario, nil without one.
func (e *execution) submission(run *summary.Run) *summary.Submission {
	asked := e.cfg.Submission
	if asked == nil {
		return nil
	}
	s := &summary.Submission{Scenario: asked.Scenario, Reasons: append([]string(nil), asked.Reasons...)}
	if run.WasCancelled {
		s.Reasons = append(s.Reasons, "was_cancelled")
	}
	if run.Incomplete != "" {
		s.Reasons = append(s.Reasons, "incomplete")
	}
	return s
}

// noteSkipped tells of requests that are in no other figure.
func (e *execution) noteSkipped(out *outcome) {
	c := &out.Result.Counts
	if c.Skipped == 0 {
		return
	}
	note := fmt.Sprintf("%d of %d requests were skipped, as their context was too long for the server; --max-context-length leaves such recordings out",
		c.Skipped, c.Completed())
	e.log.Warn(note)
	out.Console.Notes = append(out.Console.Notes, note)
}

// settleSubmission adds what only the results show: too many requests whose context was too long.
func (e *execution) settleSubmission(r *summary.Result) {
	total := r.Counts.Completed()
	if r.Submission == nil || total == 0 {
		return
	}
	if n, ok := r.Value("context_overflow_count"); ok && n/float64(total) > e.cfg.Env.ContextOverflow.RateLimit {
		r.Submission.Reasons = append(r.Submission.Reasons, "context_overflow_rate_exceeded")
	}
}

package recompute

import (
	"errors"
	"io/fs"
	"os"

	"aiperf/internal/result/summary"
)

// regrade counts the graded answers again where those of the state are not the ones of the report: of a run that was
// killed, and of a part of the requests. Without the file of graded answers, the report has no accuracy.
func (r *recomputation) regrade(run *summary.Run) error {
	if run.Accuracy == nil || !r.selects() && r.state.Status == summary.StateFinished {
		return nil
	}
	var tally summary.Tally
	if _, err := os.Stat(r.answers); errors.Is(err, fs.ErrNotExist) && run.Accuracy.Asked > 0 {
		run.Accuracy, r.ungraded = nil, true
		return nil
	}
	err := summary.EachAnswer(r.answers, func(a *summary.Answer) error {
		if r.within(a.AtNS) {
			tally.Add(a.Problem, a.Task, a.Actual, a.Passed, a.Unparsed)
		}
		return nil
	})
	if err != nil {
		return err
	}
	again := *run.Accuracy
	tally.Fill(&again)
	again.Ungraded = r.failed.Load()
	all := again.Overall()
	again.Late = max(0, r.succeeded.Load()-all.Total)
	run.Accuracy = &again
	return nil
}

// within reports whether a request that was sent at an instant belongs to the report.
func (r *recomputation) within(wallNS int64) bool {
	return (r.startNS == 0 || wallNS >= r.startNS) && (r.endNS == 0 || wallNS < r.endNS)
}

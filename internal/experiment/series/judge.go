package series

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
	"aiperf/internal/watch/servermetrics"
)

// longestError bounds the error text of a failed run, in bytes; its end is kept.
const longestError = 2000

// Run is the result of a run, as far as the experiment needs it.
type Run struct {
	Info      summary.RunInfo
	Artifacts config.Artifacts
	// Err says why the run does not count; empty for a success.
	Err string
	// Cancelled reports that the user cut the run off.
	Cancelled bool
	// Metrics are those of the run in the order of its summary; nil unless it succeeded.
	Metrics []metrics.Metric
	// Judged is what is to be thought of the run; the zero value unless it succeeded.
	Judged judge.Judgement
	// Cached is how much of the prompts came from the server's prefix cache; nil where that is not known.
	Cached *servermetrics.Cached
	// Times is where the time of requests went; nil where that is not known.
	Times *timesplit.Times
}

// Succeeded reports whether the run counts.
func (r *Run) Succeeded() bool { return r.Err == "" }

// judged returns the result of a run. It succeeded if its process would have ended with 0, its summary has metrics, and
// at least one request was successful.
func judged(step *Step, f Finished, stop <-chan struct{}) Run {
	r := Run{Info: step.Info, Artifacts: step.Config.Artifacts}
	if f.Outcome != nil {
		r.Cancelled = f.Outcome.Result.WasCancelled
	} else {
		select {
		case <-stop:
			r.Cancelled = true
		default:
		}
	}
	r.Err = fault(f, r.Cancelled)
	if r.Err == "" {
		r.Metrics, r.Cached = measured(&f.Outcome.Result), f.Outcome.Result.Cached
		r.Judged, r.Times = f.Outcome.Result.Judge(), f.Outcome.Result.Times()
		r.Err = lack(r.Metrics)
	}
	if r.Err != "" {
		r.Metrics = nil
		r.Err = tail(step.Config.Redactor().Text(r.Err))
	}
	return r
}

// ClientLimited reports that the client was the bottleneck.
func (r *Run) ClientLimited() bool { return r.Judged.Has(judge.CodeClient) }

// CancelledRun is the error of a run that a signal ended.
const CancelledRun = "cancelled before it was complete"

// fault returns why a run failed as a whole, "" if it did not.
func fault(f Finished, cancelled bool) string {
	var empty *run.NoResultsError
	switch {
	case cancelled && f.Outcome != nil && f.Outcome.Result.Incomplete != "":
		return f.Outcome.Result.Incomplete // it ended itself
	case cancelled:
		return CancelledRun
	case f.Outcome != nil && f.Outcome.Result.Counts.AllFailed():
		return fmt.Sprintf("All %d requests failed", f.Outcome.Result.Counts.Completed())
	case errors.As(f.Err, &empty) && empty.Reason != "":
		return "No requests completed: " + empty.Reason
	case errors.As(f.Err, &empty):
		return "No requests completed"
	case f.Code != 0 || f.Outcome == nil:
		text := fmt.Sprintf("exit status %d", f.Code)
		if f.Err != nil {
			text += ": " + f.Err.Error()
		}
		return text
	}
	return ""
}

// lack returns what is missing in the metrics of a run that ended well, "" if nothing is.
func lack(list []metrics.Metric) string {
	if len(list) == 0 {
		return "no metrics found"
	}
	if n := valuesOf([]Run{{Metrics: list}}, "request_count", "avg"); len(n) == 0 || n[0] <= 0 {
		return "No requests completed"
	}
	return ""
}

// tail returns the end of a text that is too long.
func tail(text string) string {
	if len(text) <= longestError {
		return text
	}
	text = text[len(text)-longestError:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

package summary

import (
	"encoding/json"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/trust"
)

// unjudged is what a summary says of its run that has no judgement: one of the original, or of a version before there were
// judgements.
type unjudged struct {
	client    trust.Document
	errors    []ErrorDocument
	info      struct{ CountsDocument }
	dataset   Dataset
	asked     Configured
	hasConfig bool
}

// take takes a member of the file. One of another shape says nothing.
func (u *unjudged) take(m member) {
	switch m.key {
	case "error_summary":
		if json.Unmarshal(m.value, &u.errors) != nil {
			u.errors = nil
		}
	case "run_info":
		_ = json.Unmarshal(m.value, &u.info)
	case "dataset":
		_ = json.Unmarshal(m.value, &u.dataset)
	case "input_config":
		u.asked, u.hasConfig = ParseConfigured(m.value), true
	}
}

// judge judges a run by what its file says, and says what it does not.
func (u *unjudged) judge(f *Figures) judge.Judgement {
	facts := judge.Facts{FileOnly: true, Incomplete: f.Incomplete, Cancelled: f.WasCancelled, Cached: f.Cached,
		Client: u.client, Skipped: u.info.Skipped, MeanRepeats: u.dataset.MeanRepeats, Times: f.Times,
		Concurrency: u.asked.Concurrency, PrefillConcurrency: u.asked.PrefillConcurrency,
		Streamed: u.asked.Streaming || !u.hasConfig}
	if r := u.info.RateDocument; r != nil {
		facts.SkippedArrivals, facts.TargetRate, facts.DeliveredRate = r.SkippedArrivals, r.TargetRate, r.DeliveredRate
	}
	for _, e := range u.errors {
		facts.Failures = append(facts.Failures, failureOf(e))
	}
	for _, b := range f.Blocks {
		avg, has := b.Stats["avg"]
		switch {
		case !has:
		case b.Tag == "request_count":
			facts.Successes = int64(avg)
		case b.Tag == "error_request_count":
			facts.Failed = int64(avg)
		default:
			facts.Metrics = append(facts.Metrics, metrics.Metric{Tag: b.Tag, Unit: b.Unit, Stats: metrics.Stats{Avg: avg}})
		}
	}
	return judge.Judge(&facts)
}

// failureOf reads a group of errors.
func failureOf(e ErrorDocument) judge.Failure {
	text := func(key string) string {
		v, _ := e.Details.Get(key)
		s, _ := v.(string)
		return s
	}
	of := record.Error{Type: text("type"), Message: text("message")}
	if code, has := e.Details.Get("code"); has {
		if v, isNumber := artifact.Number(code); isNumber {
			of.Code, of.HasCode = int(v), true
		}
	}
	return failure(&of, e.Count)
}

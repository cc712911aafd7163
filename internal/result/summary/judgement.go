package summary

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/trust"
)

// Judge judges the run. It is judged anew each time: keep what is needed more than once.
func (r *Result) Judge() judge.Judgement {
	facts := r.Facts()
	return judge.Judge(&facts)
}

// Facts are what the run is judged by.
func (r *Result) Facts() judge.Facts {
	c := &r.Counts
	f := judge.Facts{
		Incomplete: r.Incomplete, Cancelled: r.WasCancelled,
		Successes: c.Successes, Failed: c.Errors, Skipped: c.Skipped,
		SkippedArrivals: c.SkippedArrivals, TargetRate: c.TargetRate, DeliveredRate: c.DeliveredRate,
		Failures: r.failures(), SeveralPhases: len(r.Parts) > 0,
		Metrics: r.Metrics, Trend: r.Trend, Client: ParseClient(r.ClientHealth),
		Servers: r.Servers, Times: r.Times(), Cached: r.Cached,
	}
	if r.Telemetry != nil {
		f.Devices = r.Telemetry.Conditions
	}
	if r.Twin != nil {
		f.Twin = r.Twin.Rows
	}
	if r.Dataset != nil {
		f.MeanRepeats = r.Dataset.MeanRepeats
	}
	if r.EndedEarly != nil {
		f.Early = r.EndedEarly.String()
	}
	if text, err := artifact.AppendJSON(nil, r.InputConfig); err == nil {
		asked := ParseConfigured(text)
		f.Concurrency, f.PrefillConcurrency, f.Streamed = asked.Concurrency, asked.PrefillConcurrency, asked.Streaming
	}
	return f
}

// failures are the kinds of errors, the most frequent first.
func (r *Result) failures() []judge.Failure {
	var out []judge.Failure
	for _, kind := range r.ErrorKinds() {
		out = append(out, failure(&kind.Error, kind.Count))
	}
	slices.SortStableFunc(out, func(a, b judge.Failure) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// failure is a kind of errors as the judgement knows it.
func failure(e *record.Error, n int64) judge.Failure {
	of := judge.Failure{Name: e.Type, Count: n, Message: e.Message}
	if e.HasCode {
		of.Code, of.Name = e.Code, strings.TrimSpace(strconv.Itoa(e.Code)+" "+e.Type)
	}
	return of
}

// ParseClient reads client_health, of a run that has just ended or of a file. What is of another type stays empty.
func ParseClient(health artifact.Object) (c trust.Document) {
	if text, err := artifact.AppendJSON(nil, health); err == nil {
		_ = json.Unmarshal(text, &c) // which sets what it understands
	}
	return c
}

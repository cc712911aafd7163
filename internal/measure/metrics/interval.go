package metrics

import (
	"math"

	"aiperf/internal/measure/record"
)

// interval is what one request contributes to the curves: when it was in flight, in wall ns, and what
// was going on meanwhile.
type interval struct {
	start, end int64
	// first is the first content response of a successful request, from which on it is decoded. A
	// failed request has none (noFirst): it holds its place, but no tokens of it are counted.
	first int64
	// input is held all the time. Of output one token is there at first, the others come evenly.
	input, output float64
	// imageRate is images per second in [start, end).
	imageRate float64
}

const noFirst = math.MinInt64

func (r *interval) hasFirst() bool { return r.first != noFirst }

// prefillRate returns the tokens per second in [start, first).
func (r *interval) prefillRate() float64 {
	if !measurable(r.first - r.start) {
		return 0
	}
	return r.input / seconds(r.first-r.start)
}

// decodeRate returns the tokens per second in [first, end).
func (r *interval) decodeRate() float64 {
	if r.output == 0 || r.end <= r.first {
		return 0
	}
	return (r.output - 1) / seconds(r.end-r.first)
}

// intervalFields are the facts that newInterval uses.
var intervalFields = [...]record.Field{record.StartWall, record.FirstContent, record.LastResponse, record.End,
	record.Failed, record.InputTokens, record.OutputTokens, record.ReasoningTokens, record.Images, record.ReadLag}

// newInterval returns false for a row that never started.
func newInterval(f *record.Facts) (interval, bool) {
	start, ok := f.Get(record.StartWall)
	if !ok {
		return interval{}, false
	}
	r := interval{start: start, end: start + max(0, f.Ended()), first: noFirst}
	if f.IsError() {
		return r, true
	}
	if n, ok := inputLength(f); ok {
		r.input = float64(n)
	}
	if n, ok := imageCount(f); ok && measurable(r.end-r.start) {
		r.imageRate = float64(n) / seconds(r.end-r.start)
	}
	ttft, ok := timeToFirstToken(f)
	if !ok {
		return r, true
	}
	r.first = min(start+ttft, r.end)
	if !f.Tells(r.end - r.first) {
		r.first = r.end // it arrived at once: there was no decoding that could be seen
	}
	if n, ok := outputLength(f); ok && n > 0 {
		r.output = float64(n)
	}
	return r, true
}

func seconds(ns int64) float64 { return float64(ns) * nsToSeconds }

package metrics

import "aiperf/internal/record"

// interval is what one request contributes to the curves: when it was in flight, in wall ns, and what
// was going on meanwhile.
type interval struct {
	start, end int64
	// first is the first content response of a successful request, from which on it is decoded. A
	// failed request has none: it holds its place, but no tokens of it are counted.
	first    int64
	hasFirst bool
	// prefillRate and decodeRate are tokens per second in [start, first) and [first, end).
	prefillRate, decodeRate float64
	// input is held all the time. Of output one token is there at first, the others come evenly.
	input, output float64
	// imageRate is images per second in [start, end).
	imageRate float64
}

// intervalFields are the facts that newInterval looks at.
var intervalFields = [...]record.Field{record.StartWall, record.FirstContent, record.LastResponse, record.End,
	record.Failed, record.InputTokens, record.OutputTokens, record.ReasoningTokens, record.Images}

// newInterval is false for a row that never started.
func newInterval(f *record.Facts) (interval, bool) {
	start, ok := f.Get(record.StartWall)
	if !ok {
		return interval{}, false
	}
	r := interval{start: start, end: start + max(0, requestEnd(f))}
	if f.IsError() {
		return r, true
	}
	if n, ok := inputLength(f); ok {
		r.input = float64(n)
	}
	if n, ok := imageCount(f); ok && r.end > r.start {
		r.imageRate = float64(n) / seconds(r.end-r.start)
	}
	ttft, ok := timeToFirstToken(f)
	if !ok {
		return r, true
	}
	r.first, r.hasFirst = min(start+ttft, r.end), true
	if r.first > r.start {
		r.prefillRate = r.input / seconds(r.first-r.start)
	}
	if n, ok := outputLength(f); ok && n > 0 {
		r.output = float64(n)
		if r.end > r.first {
			r.decodeRate = (r.output - 1) / seconds(r.end-r.first)
		}
	}
	return r, true
}

func seconds(ns int64) float64 { return float64(ns) * nsToSeconds }

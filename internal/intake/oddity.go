package intake

import (
	"aiperf/internal/endpoint"
	"aiperf/internal/record"
)

// oddity is something about a reply that does not fail it and yet should be known.
type oddity uint8

const (
	reasoningExceedsCompletion oddity = iota
	usageMissing
	streamUnfinished
	malformedEvents
	otherChoices
	numOddities
)

var oddityTexts = [numOddities]struct{ kind, message string }{
	reasoningExceedsCompletion: {"reasoning_exceeds_completion",
		"The server reported more reasoning tokens than completion tokens; the output token count of such requests is set to 0."},
	usageMissing: {"usage_missing",
		"The server reported no usage for a request; with --use-server-token-count its token metrics will be missing."},
	streamUnfinished: {"stream_unfinished",
		"A stream ended after content without a finish reason or [DONE]; its reply may be cut short."},
	malformedEvents: {"malformed_events",
		"A response held data that is not valid JSON; it was skipped."},
	otherChoices: {"other_choices",
		"The server returned several choices; only the first one is counted."},
}

// warn reports an oddity, once per run.
func (in *Intake) warn(o oddity) {
	if in.options.Warn != nil && !in.warned[o].Load() && in.warned[o].CompareAndSwap(false, true) {
		in.options.Warn(oddityTexts[o].kind, oddityTexts[o].message)
	}
}

func (in *Intake) oddities(r *record.Record, reply *endpoint.Reply) {
	if reply.Malformed > 0 {
		in.warn(malformedEvents)
	}
	if reply.OtherChoices > 0 {
		in.warn(otherChoices)
	}
	if r.Err != nil {
		return
	}
	if !reply.Finished {
		in.warn(streamUnfinished)
	}
	if in.options.ServerTokens && !reply.Usage.Present() {
		in.warn(usageMissing)
	}
}

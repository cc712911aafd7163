package intake

import (
	"fmt"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// oddity is something about a reply that does not fail it and yet should be known.
type oddity uint8

const (
	reasoningExceedsCompletion oddity = iota
	usageMissing
	malformedEvents
	otherChoices
	chunkUsageMissing
	numOddities
)

var oddityTexts = [numOddities]struct{ kind, message string }{
	reasoningExceedsCompletion: {"reasoning_exceeds_completion",
		"The server reported more reasoning tokens than completion tokens; the output token count of such requests " +
			"is set to 0."},
	usageMissing: {"usage_missing",
		"The server reported no usage for a request; with --use-server-token-count its token metrics will be missing."},
	malformedEvents: {"malformed_events",
		"A response held data that is not valid JSON; it was skipped."},
	otherChoices: {"other_choices",
		"The server returned several choices; only the first one is counted."},
	chunkUsageMissing: {"chunk_usage_missing",
		"The server does not report with each chunk how many tokens it has generated so far; with --per-chunk-usage " +
			"the inter token latency of such requests counts the first chunk as one token."},
}

// warn counts an oddity of a request; the first one of its kind is reported at once.
func (in *Intake) warn(o oddity) {
	if in.odd[o].Add(1) == 1 && in.options.Warn != nil {
		in.options.Warn(oddityTexts[o].kind, oddityTexts[o].message)
	}
}

// Oddities reports how many requests had each kind of oddity that more than one had.
func (in *Intake) Oddities() []string {
	var list []string
	for o := range in.odd {
		if n := in.odd[o].Load(); n > 1 {
			list = append(list, fmt.Sprintf("%s (%d requests in all)", oddityTexts[o].message, n))
		}
	}
	return list
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
	if in.options.ServerTokens && !reply.Usage.Present() {
		in.warn(usageMissing)
	}
	if in.options.ChunkUsage && len(reply.ContentNS) > 1 && firstChunkUnknown(&r.Facts) {
		in.warn(chunkUsageMissing)
	}
}

// firstChunkUnknown reports that it is not known how many of a request's tokens came with its first content
// response: the server did not report it, or reported all of them.
func firstChunkUnknown(f *record.Facts) bool {
	n := max(f[record.OutputTokens], 0) + max(f[record.ReasoningTokens], 0)
	return n > 1 && (f[record.FirstChunkTokens] <= 0 || f[record.FirstChunkTokens] >= n)
}

package record

import (
	"math"
	"time"
)

// Absent marks a fact that the request did not yield. Absent is not zero.
const Absent int64 = math.MinInt64

// InstantError bounds the error of an instant: the conversion of a kernel stamp to the run's clock is exact to that, and
// mostly to a tenth of a microsecond. Instants that are less apart are one as far as anyone can know, and nothing is
// divided by their distance.
const InstantError = 20 * time.Microsecond

// Field numbers one fact of a request.
type Field uint8

// The facts. Instants are nanoseconds relative to StartWall unless said otherwise; durations are
// nanoseconds; counts are plain numbers.
const (
	// StartWall is the wall instant (epoch ns) just before the request was handed to the transport.
	StartWall Field = iota
	// CreditIssued is relative to StartWall, hence ≤ 0: when the request was admitted.
	CreditIssued
	// IntendedSend is relative to StartWall: the arrival time by the plan; absent in closed loops.
	IntendedSend
	// Scheduled is when the turn stands in its own schedule, from the schedule's origin; absent
	// without a schedule time of its own.
	Scheduled
	// CreditDrop is the time from pick-up by a worker to StartWall; first turns only.
	CreditDrop
	// Ack is when the 2xx response headers arrived.
	Ack
	// FirstContent, SecondContent, FirstOutput and LastContent are instants of content responses;
	// FirstOutput is the first one that is not reasoning alone.
	FirstContent
	SecondContent
	FirstOutput
	LastContent
	// LastResponse is the instant of the last response of any kind.
	LastResponse
	// End is when the exchange ended: last byte, error or cancellation.
	End
	// Cancelled is the instant of a cancellation.
	Cancelled
	// Contents counts the content responses.
	Contents
	// InputTokens, OutputTokens (without reasoning) and ReasoningTokens are the counts that the
	// metrics use, from the client's tokenizer or from usage as the run was asked.
	InputTokens
	OutputTokens
	ReasoningTokens
	// RequestedTokens is the output limit of the last turn sent.
	RequestedTokens
	// PrefixHits and PrefixBlocks are how many blocks of the prompt, from its beginning, were sent before, and how many
	// it has; absent where the data set does not say so.
	PrefixHits
	PrefixBlocks
	// FirstChunkTokens is how many tokens the server had made, by its own count, with the first content
	// response; absent where it does not say so with each.
	FirstChunkTokens
	// Images is the number of images sent, or made where the server makes images of text; Audio is the length of the
	// sound sent in nanoseconds; absent for none.
	Images
	Audio
	// AudioBytes are those of the sound that the server made, FirstAudioBytes those of them that had come with the first
	// content response, AudioMade is its length in nanoseconds; absent for none, or where the length is not known.
	AudioBytes
	FirstAudioBytes
	AudioMade
	// The usage facts are what the server reported.
	UsagePrompt
	UsageCompletion
	UsageTotal
	UsageReasoning
	UsageCacheRead
	UsageCacheWrite
	UsageCacheMiss
	UsagePromptAudio
	UsageCompletionAudio
	UsageAcceptedPrediction
	UsageRejectedPrediction
	UsageToolUsePrompt
	// UsagePromptAudioSeconds holds math.Float64bits of the seconds.
	UsagePromptAudioSeconds
	// InferenceSeconds and PeakMemoryMB hold math.Float64bits: what the server says of the video that it
	// made.
	InferenceSeconds
	PeakMemoryMB
	// SpecSteps, SpecDrafted and SpecAccepted are what the server says of speculative decoding: steps, drafted tokens,
	// accepted ones. SpecMeanLength holds math.Float64bits of the mean acceptance length as the server has it.
	SpecSteps
	SpecDrafted
	SpecAccepted
	SpecMeanLength
	// The trace facts: durations of the exchange's phases, bytes and calls.
	Blocked
	DNSLookup
	Connecting
	Sending
	Waiting
	Receiving
	TraceDuration
	ConnectionReused
	BytesSent
	ChunksSent
	BytesReceived
	ChunksReceived
	// Job is the number of the job that the request belongs to, in the run; absent where no job has more than one request.
	// JobRequests is how many requests the job has, negative where the phase sends only some of them.
	Job
	JobRequests
	// After is the SessionNum of the request whose end this one waited for, and JobDelay the planned delay after it, or
	// after the start of the job, such as a think or tool time; absent without one.
	After
	JobDelay
	// JobAgents is 1 for the first request of a session that grew out of another one of the job, absent otherwise.
	JobAgents
	// JobModel stands in the rows of jobs alone, see package metrics.
	JobModel
	// ReadLag is the longest time that bytes of the response lay in the kernel before the program had
	// read them; absent where the kernel gives no stamps.
	ReadLag
	// Good is 1 or 0 where the run has service level objectives.
	Good
	// Failed is 1 for an error record, absent otherwise.
	Failed
	// NumFields is the length of a row.
	NumFields
)

// Facts is the row of one request: everything that its metrics are computed from, but the list of
// chunk gaps.
type Facts [NumFields]int64

// NewFacts returns a row in which every fact is absent.
func NewFacts() Facts {
	var f Facts
	for i := range f {
		f[i] = Absent
	}
	return f
}

// Get returns a fact and whether the request yielded it.
func (f *Facts) Get(i Field) (int64, bool) { return f[i], f[i] != Absent }

// First returns the first of some facts that the request yielded, and whether there is one.
func (f *Facts) First(fields ...Field) (int64, bool) {
	for _, i := range fields {
		if f[i] != Absent {
			return f[i], true
		}
	}
	return 0, false
}

// Ended returns when the request ended, from its start, as its line in the records has it: with the last response, or
// with the failure; 0 where neither is known.
func (f *Facts) Ended() int64 {
	first, second := LastResponse, End
	if f.IsError() {
		first, second = second, first
	}
	at, _ := f.First(first, second)
	return at
}

// Tells reports whether the times between the responses of the request tell a duration: they are exact to the error of an
// instant, and bytes that lay in the kernel until they were read may have been merged, which moves their instants by as
// long.
func (f *Facts) Tells(durationNS int64) bool {
	return durationNS >= max(int64(InstantError), f[ReadLag])
}

// InOnePiece reports whether several content responses arrived at one instant, as far as instants can tell.
func (f *Facts) InOnePiece() bool {
	first, hasFirst := f.Get(FirstContent)
	last, hasLast := f.Get(LastContent)
	return f[Contents] > 1 && hasFirst && hasLast && !f.Tells(last-first)
}

// IsError reports whether the request failed.
func (f *Facts) IsError() bool { return f[Failed] == 1 }

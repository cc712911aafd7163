// Package intake turns a finished exchange into a record: it judges whether the response is valid, resolves usage,
// counts tokens and fills a row of facts.
//
// The work happens in a Pool alongside the exchanges, each with its own decoder: only the queue is shared. One job
// yields at most one record; only an exchange that the end of the run cut off yields none. An error is redacted here,
// once, on its way into the record. The package computes no metric and writes no file.
package intake

import (
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
)

// Options bind an intake to a run.
type Options struct {
	// Tokenizer counts tokens; nil counts none.
	Tokenizer endpoint.Counter
	// ByModel counts the tokens of the models that have a tokenizer of their own.
	ByModel map[string]endpoint.Counter
	// ServerTokens takes the token counts from the server's usage; the tokenizer is not used then.
	ServerTokens bool
	// ChunkUsage: usage was requested with every chunk of a stream.
	ChunkUsage bool
	// CountsOutput and CountsInput say which tokens the endpoint has at all.
	CountsOutput, CountsInput bool
	// MakesImages reports that the images of replies count, not those of requests.
	MakesImages bool
	// KeepText keeps the generated text of a successful request in its record.
	KeepText bool
	// Answer gets the answer of each request that the server replied to: its content, or its reasoning where there is
	// no content, and the reasoning apart. A reply without any text is an empty answer, although its record is an error.
	// The texts are only valid during the call. nil drops answers.
	Answer func(r *record.Record, content, reasoning []byte)
	// WallNS converts an instant of the run's clock.
	WallNS func(monoNS int64) int64
	// Redact hides secrets in what the server said of errors and of the end of a reply; nil leaves it as it is.
	Redact func(string) string
	// Warn gets the first oddity of each kind; nil drops warnings. It may be called from any goroutine.
	Warn func(kind, message string)
}

// Job is a finished exchange and what its record needs besides.
type Job struct {
	Identity record.Identity
	Exchange client.Exchange
	// Decoder was the sink of the exchange; nil if there was none. The intake releases it.
	Decoder endpoint.Decoder
	// Body is what was sent; nil if it could not be made.
	Body *endpoint.Body
	// Model is the model of the request; empty for the primary one.
	Model string
	// RequestedTokens is the output limit that was sent, record.Absent without one.
	RequestedTokens int64
	// Images and AudioNS are what the request showed and played, 0 for none.
	Images, AudioNS int64
	// PrefixBlocks are the blocks of the prompt, 0 where they are not known; PrefixHits of them were sent before.
	PrefixHits, PrefixBlocks int64
	// IssuedNS is when the credit was issued, IntendedNS the arrival by the plan (0: none), PickedUpNS
	// when the sender took the credit over (0: unknown). Instants of the run's clock.
	IssuedNS, IntendedNS, PickedUpNS int64
	// Job is the number of the job of the request, JobRequests how many it has, as record.JobRequests; 0 for no job. After
	// is 1 more than the number of the request that it waited for, 0 for none, DelayNS the planned delay then. BeginsAgent marks the first request of a session that
	// grew out of another one.
	Job, JobRequests, After, DelayNS int64
	BeginsAgent                      bool
	// ScheduledNS is the turn's own time in the schedule that is replayed; it counts only if Scheduled.
	Scheduled   bool
	ScheduledNS int64

	judged  bool
	failure *record.Error
	// kept reports that the job came from [NewJob] and goes back there.
	kept bool
}

var jobs = sync.Pool{New: func() any { return new(Job) }}

// NewJob returns an empty job. The pool that it is submitted to gives its memory to a later one: after
// [Pool.Submit] it may not be used any more.
func NewJob() *Job {
	j := jobs.Get().(*Job)
	j.kept = true
	return j
}

func (j *Job) release() {
	if j.kept {
		*j = Job{}
		jobs.Put(j)
	}
}

// Intake makes records. It is safe for concurrent use.
type Intake struct {
	options Options
	// odd counts the requests with each oddity.
	odd [numOddities]atomic.Int64
}

// New makes an intake.
func New(o Options) *Intake {
	return &Intake{options: o}
}

// Record makes the record of a job and releases its decoder. A job that the end of the run cut off
// has none: the result is nil, unless the raw exchange was kept, which is then marked as cut off.
func (in *Intake) Record(j *Job) *record.Record {
	reply := j.reply()
	if j.Decoder != nil {
		defer j.Decoder.Release()
	}
	if j.Exchange.CutOff && j.Exchange.Raw == nil {
		return nil
	}
	r := &record.Record{Identity: j.Identity, Facts: record.NewFacts(), Trace: j.Exchange.Trace, Raw: j.Exchange.Raw}
	in.timing(r, j, reply)
	if r.Raw != nil && r.Raw.Payload == nil && j.Body != nil {
		r.Raw.Payload = j.Body.JSON()
	}
	if j.Exchange.CutOff {
		r.Raw.CutOff = true
		return r
	}
	r.Err = j.Failure().Published(in.options.Redact, j.Exchange.ErrIsBody)
	if r.Err != nil {
		r.Facts[record.Failed] = 1
	}
	r.Facts[record.RequestedTokens] = j.RequestedTokens
	if j.PrefixBlocks > 0 {
		r.Facts[record.PrefixHits], r.Facts[record.PrefixBlocks] = j.PrefixHits, j.PrefixBlocks
	}
	if j.Images > 0 {
		r.Facts[record.Images] = j.Images
	}
	if j.AudioNS > 0 {
		r.Facts[record.Audio] = j.AudioNS
	}
	in.tokens(r, j, reply)
	r.Reply = record.Reply{Ending: reply.Ending, Cumulative: reply.Cumulative, Unread: slices.Clone(reply.Unread),
		Unfinished: r.Err == nil && !reply.Finished,
		Unstreamed: r.Err == nil && j.Body != nil && j.Body.Stream && atOnce(&r.Facts, reply)}
	r.Reply.Publish(in.options.Redact)
	if r.Err == nil {
		in.made(&r.Facts, reply)
		if s, ok := record.ParseSpecDecode(reply.SpecDecode); ok {
			r.SpecDecode = s
			s.Fill(&r.Facts)
		}
		if in.options.KeepText {
			r.Text = append(append(r.Text, reply.Reasoning...), reply.Output...)
		}
	}
	if r.Empty = j.empty(); in.options.Answer != nil && (r.Err == nil || r.Empty) {
		content := reply.Output
		if len(content) == 0 {
			content = reply.Reasoning
		}
		in.options.Answer(r, content, reply.Reasoning)
	}
	in.oddities(r, reply)
	return r
}

// severalTokens are more than one step of a server yields, also with speculative decoding.
const severalTokens = 8

// atOnce reports whether a reply came as one body, or with one event of several tokens.
func atOnce(f *record.Facts, reply *endpoint.Reply) bool {
	n := max(f[record.OutputTokens], 0) + max(f[record.ReasoningTokens], 0)
	return reply.Whole || len(reply.ContentNS) == 1 && n >= severalTokens
}

// Package record defines the row of facts of one request and what goes with it: identity, chunk gaps, the error, the
// HTTP trace, the raw exchange.
//
// The invariant: facts are stored, metrics are not. Every record metric is a pure function of a [Record], and a fact
// that the request did not yield is [Absent], not zero. The package must never know who fills a record or reads it.
package record

import "slices"

// Phase kinds as they appear in files.
const (
	PhaseWarmup    = "warmup"
	PhaseProfiling = "profiling"
)

// Record is one finished request: a success or an error. A request that was cut off by the end of
// the run yields none.
type Record struct {
	Identity
	Facts
	// GapsNS are the gaps between neighbouring content responses, in order; nil with fewer than two.
	GapsNS []int64
	// Err is nil for a valid record.
	Err *Error
	// Empty reports that the server replied as it should, but without any text. Err is set then.
	Empty bool
	// Trace is set when the run exports HTTP traces.
	Trace *Trace
	// Raw is set when the run exports raw records.
	Raw *Raw
	// SpecDecode is what the server says of speculative decoding; nil if nothing.
	SpecDecode *SpecDecode
	// Text is the generated text, reasoning first; set when the run exports outputs and there is some.
	Text []byte
	// Reply is how the reply came and ended.
	Reply Reply
	// Answer is what the server replied to a problem; set in a share of a run that grades the answers of all.
	Answer *Answer
}

// Reply is how a reply came and ended, apart from its times and its text.
type Reply struct {
	// Ending is the finish or stop reason that the server gave; "" if it gave none.
	Ending string
	// Unfinished streams ended after content with neither a reason nor an end mark.
	Unfinished bool
	// Unstreamed replies came as one body although a stream was asked for.
	Unstreamed bool
	// Cumulative streams repeated the text so far in each event.
	Cumulative bool
	// Unread are the names under which the reply carried output that nobody reads; few.
	Unread []string
}

// Publish makes r as files and screens may show it: without the secrets that redact hides; nil hides none.
func (r *Reply) Publish(redact func(string) string) {
	if redact == nil {
		return
	}
	if r.Ending != "" {
		r.Ending = redact(r.Ending)
	}
	for i, name := range r.Unread {
		r.Unread[i] = redact(name)
	}
}

// Answer is the reply to a problem.
type Answer struct {
	// Content is the text that is graded, Thinking the reasoning apart.
	Content, Thinking []byte
}

// Identity says which request it was.
type Identity struct {
	// SessionNum is the number of the credit in its phase, from 0.
	SessionNum     int64
	RequestID      string // sent as X-Request-ID
	CorrelationID  string // sent as X-Correlation-ID, constant over a session
	ConversationID string // session_id of inputs.json
	TurnIndex      int
	WorkerID       string
	ProcessorID    string
	Phase          string // PhaseWarmup or PhaseProfiling
	// PhaseIndex counts the run's phases from 0, ProfilingIndex its profiling phases (-1 in a warm-up).
	PhaseIndex, ProfilingIndex int
	PhaseName                  string
	// CacheBustMarker is what the request has in front of a message, or behind it, to keep it out of caches, and
	// CacheBustTarget says where; empty without one.
	CacheBustMarker, CacheBustTarget string
	// Archetype names the shape of the request in a mix of several; empty without one.
	Archetype string
	// AgentDepth is how far below the root of its tree the session is. The two ids are empty for a root.
	AgentDepth                             int
	ParentCorrelationID, RootCorrelationID string
	// WasCancelled is true for a simulated client cancellation.
	WasCancelled bool
	// ContextOverflowSkip is true for a request that counts as neither successful nor failed, as its context was too
	// long.
	ContextOverflowSkip bool
}

// Error is what went wrong with a request. Two errors are the same when code, type and message are.
// In a Record it is published.
type Error struct {
	Code       int // HTTP status, 499 cancellation, 502 SSE error event; 0 with HasCode is a real 0
	HasCode    bool
	Type       string
	Message    string
	Cause      string
	CauseChain []string
	Details    string
}

// Key identifies errors that count as the same.
type Key struct {
	HasCode       bool
	Code          int
	Type, Message string
}

// Key returns the identity of e.
func (e *Error) Key() Key { return Key{e.HasCode, e.Code, e.Type, e.Message} }

// maxMessage is the length at which messages are cut, in characters.
const maxMessage = 4096

// Published returns a copy of e as files and screens may show it: without the secrets that redact hides (nil hides
// none), and with a message of at most 4096 characters unless whole. A nil e stays nil.
func (e *Error) Published(redact func(string) string, whole bool) *Error {
	if e == nil {
		return nil
	}
	p := *e
	if redact != nil {
		for _, text := range [...]*string{&p.Type, &p.Message, &p.Cause, &p.Details} {
			*text = redact(*text)
		}
		p.CauseChain = slices.Clone(e.CauseChain)
		for i, name := range p.CauseChain {
			p.CauseChain[i] = redact(name)
		}
	}
	n := 0
	for i := range p.Message {
		if n++; n > maxMessage && !whole {
			p.Message = p.Message[:i]
			break
		}
	}
	return &p
}

// Chunk is one read or write on the wire: instant and bytes.
type Chunk struct {
	AtNS  int64
	Bytes int64
}

// Header is one header field; values have passed the redactor before they are written to a file.
type Header struct{ Name, Value string }

// Trace holds the stamps of one HTTP exchange. All instants are wall nanoseconds since the epoch, 0 = did not happen.
type Trace struct {
	RequestSendStartNS, RequestHeadersSentNS, RequestSendEndNS int64
	RequestHeaders                                             []Header
	RequestChunks                                              []Chunk
	RequestChunksCount, RequestBytesTotal                      int64
	ResponseStatus                                             int
	ResponseReason                                             string
	ResponseHeaders                                            []Header
	ResponseHeadersReceivedNS                                  int64
	ResponseReceiveStartNS, ResponseReceiveEndNS               int64
	ResponseChunks                                             []Chunk
	ResponseChunksCount, ResponseBytesTotal                    int64
	ErrorNS                                                    int64
	PoolWaitStartNS, PoolWaitEndNS                             int64
	DNSStartNS, DNSEndNS, DNSCacheHitNS, DNSCacheMissNS        int64
	ConnectStartNS, ConnectEndNS                               int64
	ConnectionReusedNS                                         int64
	LocalIP, RemoteIP                                          string
	LocalPort, RemotePort                                      int
}

// Raw is the whole exchange as it went over the wire.
type Raw struct {
	StartPerfNS     int64 // monotonic; response stamps minus this are offsets
	Payload         []byte
	RequestHeaders  []Header
	Status          int
	ResponseHeaders []Header
	Responses       []RawResponse
	// CutOff marks a request that the end of the run cut off; it has no record elsewhere.
	CutOff bool
}

// RawResponse is one SSE message (Event set, its bytes as received) or one whole body.
type RawResponse struct {
	PerfNS      int64
	IsEvent     bool
	IsBinary    bool
	ContentType string
	Bytes       []byte
}

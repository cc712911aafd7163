// Package endpoint implements the APIs: it encodes a turn as a whole request body and decodes replies and stream
// events. There is one file per API; registry.go binds them to the list of package api.
//
// A content response is an event or a body that carries text, reasoning or tool calls; only these count for latencies.
// A Decoder is the sink of one exchange: it scans each event in place, once, and keeps texts, instants, usage and
// errors. An event that cannot be read completely changes nothing but a count. The package counts no tokens, computes
// no metric and knows nothing of connections and schedules.
package endpoint

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/workload/dataset"
)

// Options shape every request of a run.
type Options struct {
	Model              string // primary model, for turns that name none
	Streaming          bool
	UseLegacyMaxTokens bool // chat: max_tokens instead of max_completion_tokens
	ForceContentParts  bool // chat: a lone text is a part list too
	// ServerTokens: the run takes its token counts from usage.
	ServerTokens bool
	// GRPC: the requests are carried by gRPC.
	GRPC bool
	// ChunkUsage asks for usage with every chunk of a stream.
	ChunkUsage bool
	// Form asks for a multipart body where the API takes both.
	Form bool
	// PollInterval is the time between two questions for a result; DownloadVideo fetches a video that
	// is ready.
	PollInterval  time.Duration
	DownloadVideo bool
	// Encode appends the token ids of a text; nil without a tokenizer.
	Encode func(dst []int, text string) []int
	// Extra are the user's extra inputs, merged over the generated fields in order.
	Extra []dataset.Field
	// Warn gets warnings about requests, each once; nil drops them. It may be
	// called from any goroutine.
	Warn func(message string)
}

// Context is everything one request is made from.
type Context struct {
	// Turns are the turns and captured replies that the request carries, the current turn last.
	Turns         []Turn
	SystemMessage *string
	UserContext   *string
	// The ids of the request; empty where a body is made that belongs to no request.
	RequestID, CorrelationID, ConversationID string
	TurnIndex                                int
}

// Turn is a turn of the dataset or a captured reply.
type Turn struct {
	*dataset.Turn
	// Assistant is set for a captured reply: the complete JSON message to send back.
	Assistant []byte
	// AssistantID is the captured reply's Reply.ID.
	AssistantID string
	// Kept remembers the encoded form of a turn that is sent again and again; nil: it is made each time.
	Kept *Kept
}

// Kept is the encoded form of one turn of a history, for one endpoint. It is safe for concurrent use.
type Kept struct{ messages atomic.Pointer[[]byte] }

// Endpoint is one API bound to the options of a run. It is safe for concurrent use.
type Endpoint interface {
	Descriptor() Descriptor
	// Encode makes the request body; its error is an *EncodeError, of that request alone.
	Encode(*Context) (*Body, error)
	// NewDecoder returns the sink of one exchange; Release gives it back for reuse.
	NewDecoder() Decoder
}

// Individual is implemented by endpoints whose bodies may depend on the ids of the request, so that
// requests cannot share one.
type Individual interface{ PerRequest() bool }

// recoder is implemented by endpoints whose wire form is not that of recorded payloads.
type recoder interface {
	// Verbatim makes the body of a request that is sent as it was recorded.
	Verbatim(payload []byte) (*Body, error)
}

// Recorded is the body of a request that is sent as it was recorded, as the endpoint puts it on the wire.
func Recorded(e Endpoint, payload []byte) (*Body, error) {
	if r, ok := e.(recoder); ok {
		return r.Verbatim(payload)
	}
	return verbatim(payload), nil
}

// Decoder is a client sink.
type Decoder interface {
	Event(name, data []byte, atNS int64)
	Body(contentType string, binary bool, body []byte, atNS int64)
	// OnFirstContent sets what is called once, at the first content response; set it before the exchange.
	OnFirstContent(func())
	// Reply is what was decoded; valid until Release.
	Reply() *Reply
	// Release ends the use of the decoder and its reply.
	Release()
}

// EncodeError says why a turn cannot be sent. Type is ValueError or NotImplementedError, the names
// under which such requests are counted.
type EncodeError struct {
	Type    string
	Message string
}

func (e *EncodeError) Error() string { return e.Message }

func valueError(message string) *EncodeError {
	return &EncodeError{Type: "ValueError", Message: message}
}

func notImplemented(message string) *EncodeError {
	return &EncodeError{Type: "NotImplementedError", Message: message}
}

// current is the turn that the request is for; nil if there is none.
func (c *Context) current() *dataset.Turn {
	if len(c.Turns) == 0 {
		return nil
	}
	return c.Turns[len(c.Turns)-1].Turn
}

// contents walks the contents of a turn's texts.
func contents(list []dataset.Media) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, m := range list {
			for _, content := range m.Contents {
				if !yield(content) {
					return
				}
			}
		}
	}
}

// once is a warning that is given once.
type once struct {
	said sync.Once
	warn func(string)
}

func (o *once) say(message string) {
	if o.warn != nil {
		o.said.Do(func() { o.warn(message) })
	}
}

// secondsOf writes a duration as a plain number of seconds.
func secondsOf(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

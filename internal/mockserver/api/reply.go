package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// Options configures a [Generator].
type Options struct {
	Tokenizer   tokenizer.Tokenizer // nil = the built-in one
	NoTokenizer bool                // cut text every four characters instead
	Seed        uint64
	// OutputTokens is the length of a reply where the request gives none; 0 = by the prompt.
	OutputTokens int
	Speculation  SpeculationOptions
	VideoLatency time.Duration
	// Scripted are replies to prompts that get no generated one.
	Scripted []Scripted
}

// Generator is what the replies of a server are made from.
type Generator struct {
	opts                    Options
	clock                   *clock.Clock
	vocabulary              *vocabulary
	words, thoughts, drafts random.Stream
	idBase                  uint64
	scripts                 *scriptBook // nil = none
}

// NewGenerator returns the generator of a server. It fails if the vocabulary lacks the words of replies.
func NewGenerator(o Options, c *clock.Clock) (*Generator, error) {
	seed := random.Root(o.Seed)
	g := &Generator{
		opts: o, clock: c, vocabulary: cutVocabulary(),
		words: seed.Stream("mockserver.words"), thoughts: seed.Stream("mockserver.thoughts"),
		drafts: seed.Stream("mockserver.drafts"),
		// Ids differ between servers that run after each other: the upper half comes from the clock.
		idBase: uint64(c.WallNS(1)) << 24,
	}
	if o.NoTokenizer {
		g.scripts = newScriptBook(o.Scripted, g.vocabulary)
		return g, nil
	}
	tok := o.Tokenizer
	if tok == nil {
		tok = tokenizer.Builtin()
	}
	var err error
	if g.vocabulary, err = newVocabulary(tok); err != nil {
		return nil, err
	}
	g.scripts = newScriptBook(o.Scripted, g.vocabulary)
	return g, nil
}

// Mode names the way in which prompts are counted, for the request record.
func (g *Generator) Mode() string { return g.vocabulary.mode }

// seconds converts an instant to seconds since the Unix epoch.
func (g *Generator) seconds(ns int64) int64 { return g.clock.WallNS(ns) / int64(time.Second) }

// Reply is a request and the reply that it gets. Its buffers are reused by the next one.
type Reply struct {
	API      API
	Sequence uint64 // number of the request, from 1
	Arrival  int64  // instant at which the request was complete
	InFlight int64  // requests at the arrival, this one included
	Request  Request
	Plan     Plan
	Spec     Speculation

	gen     *Generator
	script  *script // nil = the reply is generated
	opening []byte  // what all events have in common
}

// Begin starts the reply to a new request.
func (r *Reply) Begin(g *Generator, a API, sequence uint64, arrival int64) {
	*r = Reply{gen: g, API: a, Sequence: sequence, Arrival: arrival, opening: r.opening,
		Request: Request{text: r.Request.text}}
}

// Prompt returns the text of the prompt, valid until the next request.
func (r *Reply) Prompt() []byte { return r.Request.text }

// Trim releases buffers of more than keep bytes.
func (r *Reply) Trim(keep int) {
	for _, b := range []*[]byte{&r.opening, &r.Request.text} {
		if cap(*b) > keep {
			*b = nil
		}
	}
}

// Read parses the body of the request and plans the reply.
func (r *Reply) Read(path []byte, contentType string, body []byte) (err error) {
	if r.API, err = r.Request.Parse(r.API, path, contentType, body); err != nil {
		return err
	}
	o := &r.gen.opts
	hash := hashBytes(o.Seed, r.Request.text)
	tokens := r.gen.vocabulary.promptTokens(r.Request.text, hash) + r.Request.ids
	r.Plan = newPlan(r.API, &r.Request, tokens, o.OutputTokens, hash+uint64(r.Request.ids))
	if book := r.gen.scripts; book != nil && apis[r.API].output == tokenOutput && r.API != SGLang {
		if r.script = book.find(r.Request.asks(), r.InFlight); r.script != nil {
			r.Plan = r.script.plan(tokens, r.Request.Limit(), r.Plan.draw)
		}
	}
	if o.Speculation.Tokens > 0 {
		r.Spec = speculate(r.gen.drafts.At(r.Plan.draw), r.Plan.Tokens(), o.Speculation.Tokens,
			o.Speculation.Acceptance)
	}
	return nil
}

const (
	// JSONType is the media type of most replies, StreamType that of streams.
	JSONType   = "application/json"
	StreamType = "text/event-stream; charset=utf-8"
)

// AppendWhole appends the body of a reply that does not stream and returns its media type.
func (r *Reply) AppendWhole(b []byte) (body []byte, contentType string) {
	a, p := &apis[r.API], &r.Plan
	if a.whole != nil {
		b = a.whole(r, b)
		if r.API == Transcriptions && b[0] != '{' {
			return b, "text/plain; charset=utf-8"
		}
		return b, JSONType
	}
	b = r.appendOpening(b, a.object)
	if r.API == Chat {
		b = append(b, `"message":{"role":"assistant","content":"`...)
		b = r.appendContent(b, p.Content)
		if p.Reasoning > 0 {
			b = append(b, `","reasoning_content":"`...)
			b = r.appendReasoning(b)
		}
		b = append(b, `"}`...)
	} else {
		b = append(b, `"text":"`...)
		b = r.appendContent(b, p.Content)
		b = append(b, '"')
	}
	b = append(b, `,"finish_reason":"`...)
	b = append(b, p.Finish...)
	b = append(b, '"')
	b = r.appendSpeculation(b, specInChoice)
	b = append(b, `}],"usage":`...)
	b = appendUsage(b, p.PromptTokens, p.Content, p.Reasoning)
	b = r.appendSpeculation(b, specAtRoot)
	return append(b, '}'), JSONType
}

// appendOpening appends what bodies and events have in common, up to the index of the choice.
func (r *Reply) appendOpening(b []byte, object string) []byte {
	b = r.appendEnvelope(b, object)
	return append(b, `,"choices":[{"index":0,`...)
}

func (r *Reply) appendEnvelope(b []byte, object string) []byte {
	b = append(b, `{"id":"`...)
	b = r.AppendID(b)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, r.gen.seconds(r.Arrival), 10)
	b = append(b, `,"model":`...)
	return append(b, r.Request.Model...)
}

// AppendID appends the id of the reply: the kind, and 16 digits that no other reply of this server has.
func (r *Reply) AppendID(b []byte) []byte {
	b = append(b, apis[r.API].idPrefix...)
	id := r.gen.idBase ^ r.Sequence
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[id>>shift&15])
	}
	return b
}

// appendContent appends the first n tokens of the content, escaped for JSON.
func (r *Reply) appendContent(b []byte, n int) []byte {
	if r.script != nil {
		return appendPieces(b, r.script.content[:n])
	}
	return r.gen.vocabulary.appendTokens(b, r.gen.words.At(r.Plan.draw), n)
}

// appendReasoning appends the reasoning.
func (r *Reply) appendReasoning(b []byte) []byte {
	if r.script != nil {
		return appendPieces(b, r.script.reasoning[:r.Plan.Reasoning])
	}
	return r.gen.vocabulary.appendTokens(b, r.gen.thoughts.At(r.Plan.draw), r.Plan.Reasoning)
}

func appendUsage(b []byte, prompt, content, reasoning int) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(content+reasoning), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt+content+reasoning), 10)
	if reasoning > 0 {
		b = append(b, `,"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(reasoning), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// AppendModels appends the list of the models.
func (g *Generator) AppendModels(b []byte, names []string) []byte {
	if len(names) == 0 {
		names = []string{DefaultModel}
	}
	b = append(b, `{"object":"list","data":[`...)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = AppendString(b, name)
		b = append(b, `,"object":"model","created":`...)
		b = strconv.AppendInt(b, g.seconds(1), 10)
		b = append(b, `,"owned_by":"aiperf"}`...)
	}
	return append(b, `]}`...)
}

// AppendError appends an error in the shape of the OpenAI API.
func AppendError(b []byte, status int, message string) []byte {
	b = AppendString(append(b, `{"error":{"message":`...), message)
	b = append(append(b, `,"type":"`...), ErrorType(status)...)
	b = append(b, `","param":null,"code":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	return append(b, `}}`...)
}

// ErrorType returns the type of an error with a status.
func ErrorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusNotFound:
		return "not_found_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// ErrorInside is the error object of a reply whose status says success.
const ErrorInside = `{"error":{"message":"injected fault: error inside a success","type":"server_error",` +
	`"param":null,"code":500}}`

// AppendKey appends a comma and a key.
func AppendKey(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

// AppendText appends a comma, a key and a string.
func AppendText(b []byte, key, value string) []byte { return AppendString(AppendKey(b, key), value) }

// AppendInt appends a comma, a key and a number.
func AppendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(AppendKey(b, key), n, 10)
}

// AppendString appends s in quotes; invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return jsonscan.AppendString(b, s)
}

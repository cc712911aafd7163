// Package row describes requests in the rows of a recording: lengths in tokens, ids of the blocks of prompts, sessions,
// sampling and outcomes, and no word of a text unless it is told to keep them.
//
// A [Memory] is what the rows of one recording have in common. Each goroutine that makes rows has a [Maker] of its own.
package row

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/api"
	"aiperf/internal/wire/client/sse"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

// Options say how requests are described.
type Options struct {
	// Start is the instant 0 of the recording.
	Start time.Time
	Keep  recording.Keep
	// Tokenizer counts and cuts prompts and replies.
	Tokenizer tokenizer.Tokenizer
	// BlockSize is the number of tokens of a block.
	BlockSize int
	// Salt is the key of all hashes. It is written nowhere.
	Salt []byte
	// RenameModels writes model-1, model-2 and so on for the names of models.
	RenameModels bool
}

// MaxBody is the most bytes of a request or a reply that are read.
const MaxBody = 32 << 20

// Exchange is a request and what came of it, as far as it is known.
type Exchange struct {
	// At is when the request came.
	At time.Time
	// Took is the time to the end of the reply.
	Took time.Duration
	// Path is that of the URL; Endpoint is the endpoint type where the path is not known.
	Path, Endpoint string
	// Session tells sessions apart; "" = the chain of messages does.
	Session string
	// Request is the body, encoded as Encoding says; Reply that of the reply.
	Request, Reply          []byte
	Encoding, ReplyEncoding string
	Status                  int
	ContentType             string
	// Reads are the pieces in which the reply came; nil = at once, at the end.
	Reads   []Read
	Outcome string
	// RequestCut and ReplyCut say that the end is not there.
	RequestCut, ReplyCut bool
}

// Read is a piece of a reply: where it ends, and how long after the request it was read.
type Read struct {
	End int
	At  time.Duration
}

// Maker makes rows; one goroutine uses it.
type Maker struct {
	*Memory
	endpoints map[string]endpoint.Endpoint
	scanner   sse.Scanner
	tokens    []int
}

// Maker returns a new maker.
func (m *Memory) Maker() *Maker { return &Maker{Memory: m, endpoints: map[string]endpoint.Endpoint{}} }

// Describe makes the row of an exchange but for its session, which [Memory.Place] finds by the thread.
func (m *Maker) Describe(x *Exchange) (*recording.Row, Thread) {
	row := &recording.Row{TimestampMS: ms(x.At.Sub(m.o.Start)), Status: x.Status, LatencyMS: ms(x.Took),
		Outcome: x.Outcome}
	body, why := decoded(x.Encoding, x.Request)
	row.Lacks(x.RequestCut, "request too long")
	row.Lacks(why != "", "request "+why)
	if len(body) == 0 || body[0] != '{' || !jsonscan.Valid(body) {
		row.Lacks(true, "request is no JSON object")
		body = nil
	}
	if row.Endpoint = x.Endpoint; row.Endpoint == "" {
		row.Endpoint = typeOf(x.Path, body)
	}
	m.read(row, body)
	m.prompt(row, body)
	text, why := decoded(x.ReplyEncoding, x.Reply)
	row.Lacks(x.ReplyCut, "reply too long")
	row.Lacks(why != "", "reply "+why)
	if why == "" && row.Endpoint != other {
		m.reply(row, x, text)
	}
	if m.o.Keep == recording.KeepText {
		row.Request = body
	}
	return row, m.thread(x.Session, body)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func pointer[T any](v T) *T { return &v }

// other is the type of requests whose path is that of no endpoint type.
const other = "other"

// typeOf is the endpoint type of a request. Where types share a path, the body tells.
func typeOf(path string, body []byte) string {
	best, length := other, 0
	for _, d := range api.All() {
		for _, p := range []string{d.Path, d.StreamingPath} {
			if p != "" && strings.HasSuffix(path, p) && len(p) > length {
				best, length = d.Name, len(p)
			}
		}
	}
	if best == "huggingface_generate" && jsonscan.Find(body, "inputs") == nil {
		return "sglang_generate"
	}
	return best
}

// sampling are the members of a request that say how a reply is made.
var sampling = []string{"temperature", "top_p", "top_k", "min_p", "n", "best_of", "max_tokens", "max_completion_tokens",
	"max_output_tokens", "max_new_tokens", "min_tokens", "presence_penalty", "frequency_penalty", "repetition_penalty",
	"ignore_eos", "logprobs", "top_logprobs", "parallel_tool_calls", "seed"}

// read notes what a request says of itself. Of its members only numbers and truth values are written.
func (m *Maker) read(row *recording.Row, body []byte) {
	for _, object := range [][]byte{body, jsonscan.Find(body, "parameters"), jsonscan.Find(body, "sampling_params")} {
		for member := range jsonscan.Members(object) {
			name := string(member.Key)
			if !slices.Contains(sampling, name) || !plain(member.Value) {
				continue
			}
			if row.Sampling == nil {
				row.Sampling = map[string]json.RawMessage{}
			}
			row.Sampling[name] = bytes.Clone(member.Value)
		}
	}
	row.Model = m.Model(jsonscan.FindText(body, "model"))
	row.Stream = string(jsonscan.Find(body, "stream")) == "true"
	for range jsonscan.Elements(jsonscan.Find(body, "tools")) {
		row.Tools++
	}
	row.AfterTools = afterTools(body)
}

func plain(v []byte) bool {
	return len(v) > 0 && len(v) < 32 && (v[0] == 't' || v[0] == 'f' || v[0] == '-' || '0' <= v[0] && v[0] <= '9')
}

// afterTools reports whether the last message is the result of a tool.
func afterTools(body []byte) bool {
	for _, list := range []string{"messages", "input"} {
		var last []byte
		for item := range jsonscan.Elements(jsonscan.Find(body, list)) {
			last = item
		}
		if last == nil {
			continue
		}
		if jsonscan.FindText(last, "role") == "tool" || jsonscan.FindText(last, "type") == "function_call_output" {
			return true
		}
		for part := range jsonscan.Elements(jsonscan.Find(last, "content")) {
			if jsonscan.FindText(part, "type") == "tool_result" {
				return true
			}
		}
	}
	return false
}

// prompt counts the tokens of a request and names their blocks.
func (m *Maker) prompt(row *recording.Row, body []byte) {
	if body == nil {
		return
	}
	made := endpoint.Made(body, "application/json", false, nil)
	row.Images, _ = made.Media()
	text, ids := made.Input()
	m.tokens = append(m.tokens[:0], ids...)
	m.tokens = m.o.Tokenizer.Encode(m.tokens, text)
	row.InputLength = len(m.tokens)
	if m.o.Keep != recording.KeepLengths && len(m.tokens) > 0 {
		row.HashIDs = m.blocks.hash(nil, m.tokens)
	}
}

// reply notes what came back.
func (m *Maker) reply(row *recording.Row, x *Exchange, body []byte) {
	e := m.endpoints[row.Endpoint]
	if e == nil {
		var err error
		if e, err = endpoint.New(row.Endpoint, endpoint.Options{Streaming: true}); err != nil {
			row.Lacks(true, "reply of another form")
			return
		}
		m.endpoints[row.Endpoint] = e
	}
	d := e.NewDecoder()
	defer d.Release()
	switch {
	case IsEvents(x.ContentType):
		m.events(x, body, d)
	case len(body) > 0:
		d.Body(x.ContentType, false, body, int64(x.Took))
	}
	reply := d.Reply()
	if row.Outcome == "cancelled" && reply.Ending != "" {
		row.Outcome = "ok" // clients leave a stream at its last event, before its last bytes
	}
	if row.Outcome == "ok" && reply.Err != nil {
		row.Outcome = "error"
	}
	row.OutputLength = m.o.Tokenizer.Count(string(reply.Output)) + reply.OutputIDs
	row.ReasoningLength = m.o.Tokenizer.Count(string(reply.Reasoning))
	for _, u := range []struct {
		to    **int64
		field record.Field
	}{{&row.UsagePrompt, record.UsagePrompt}, {&row.UsageCompletion, record.UsageCompletion},
		{&row.UsageCached, record.UsageCacheRead}} {
		if n, ok := reply.Usage.Value(u.field); ok {
			*u.to = pointer(n)
		}
	}
	row.StopReason = reasonOf(reply.Ending)
	row.ToolCalls = toolCalls(reply.AppendAssistant(nil))
	if IsEvents(x.ContentType) && len(reply.ContentNS) > 0 {
		row.TTFTMS = pointer(ms(time.Duration(reply.ContentNS[0])))
	}
	if m.o.Keep == recording.KeepText {
		row.Reply = pointer(string(reply.Output))
	}
}

// events feeds a stream of events as it was read. A stream that was compressed comes at its end: its times are unknown.
func (m *Maker) events(x *Exchange, body []byte, d endpoint.Decoder) {
	m.scanner = sse.Scanner{}
	reads := x.Reads
	if x.ReplyEncoding != "" || reads == nil {
		reads = []Read{{len(body), x.Took}}
	}
	from := 0
	for _, r := range reads {
		end := min(r.End, len(body))
		copy(m.scanner.Space(end-from), body[from:end])
		m.scanner.Filled(end - from)
		from = end
		for e := m.scanner.Next(); e != nil; e = m.scanner.Next() {
			d.Event(e.Name, e.Data, int64(r.At))
		}
	}
}

// reasons are the stop reasons that are written as they came; a server may write anything there.
var reasons = []string{"", "stop", "length", "tool_calls", "content_filter", "function_call", "end_turn", "max_tokens",
	"stop_sequence", "tool_use", "pause_turn", "refusal", "eos", "eos_token", "abort", "error", "completed", "incomplete",
	"cancelled", "max_output_tokens"}

func reasonOf(ending string) string {
	if !slices.Contains(reasons, ending) {
		return other
	}
	return ending
}

// toolCalls counts the calls of tools in messages of an assistant.
func toolCalls(messages []byte) (n int) {
	list := slices.Concat([]byte("["), messages, []byte("]"))
	for message := range jsonscan.Elements(list) {
		for range jsonscan.Elements(jsonscan.Find(message, "tool_calls")) {
			n++
		}
		for part := range jsonscan.Elements(jsonscan.Find(message, "content")) {
			if jsonscan.FindText(part, "type") == "tool_use" {
				n++
			}
		}
		if jsonscan.FindText(message, "type") == "function_call" {
			n++
		}
	}
	return n
}

// decoded undoes a content encoding; why says what prevented it.
func decoded(encoding string, b []byte) (text []byte, why string) {
	if len(b) == 0 {
		return nil, ""
	}
	var in io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return b, ""
	case "gzip", "x-gzip":
		in, err = gzip.NewReader(bytes.NewReader(b))
	case "deflate":
		in = flate.NewReader(bytes.NewReader(b))
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(MaxBody)); err == nil {
			defer z.Close()
			in = z
		}
	default:
		return nil, "encoded in another way"
	}
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(in, MaxBody))
	}
	if err != nil && len(text) == 0 {
		return nil, fmt.Sprintf("could not be unpacked (%s)", encoding)
	}
	return text, ""
}

// IsEvents reports whether a reply is a stream of events.
func IsEvents(contentType string) bool { return strings.HasPrefix(contentType, "text/event-stream") }

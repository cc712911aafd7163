package recorder

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
)

// maker makes rows. Each worker has one.
type maker struct {
	*Recorder
	endpoints map[string]endpoint.Endpoint
	scanner   sse.Scanner
	tokens    []int
}

func newMaker(r *Recorder) *maker {
	return &maker{Recorder: r, endpoints: map[string]endpoint.Endpoint{}}
}

// note makes the row of an exchange and has it written.
func (m *maker) note(x *exchange) {
	row := m.row(x)
	c := &m.counts
	c.inputTokens.Add(int64(row.InputLength))
	c.outputTokens.Add(int64(row.OutputLength))
	if row.Outcome != "ok" {
		c.failed.Add(1)
	}
	m.rows.add(row)
}

func (m *maker) row(x *exchange) *recording.Row {
	row := &recording.Row{TimestampMS: ms(x.at.Sub(m.start)), Status: x.status, LatencyMS: ms(x.end), Outcome: outcomeOf(x)}
	body, why := decoded(x.encoding, x.request)
	row.Lacks(x.requestCut, "request too long")
	row.Lacks(why != "", "request "+why)
	if len(body) == 0 || body[0] != '{' || !jsonscan.Valid(body) {
		row.Lacks(true, "request is no JSON object")
		body = nil
	}
	x.request = body
	row.Endpoint = typeOf(x.path, body)
	m.read(row, body)
	m.prompt(row, body)
	p := m.sessions.of(x, m.o.nameOf(x.header), x.at, x.at.Add(x.end))
	row.SessionID, row.Turn = p.id, p.turn
	if p.think >= 0 {
		row.ThinkMS = pointer(ms(p.think))
	}
	text, why := decoded(x.replyEncoding, x.reply)
	row.Lacks(x.replyCut, "reply too long")
	row.Lacks(why != "", "reply "+why)
	if why == "" && row.Endpoint != other {
		m.reply(row, x, text)
	}
	if m.o.Keep == recording.KeepText {
		row.Request = body
	}
	return row
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func pointer[T any](v T) *T { return &v }

func outcomeOf(x *exchange) string {
	switch {
	case x.unreached:
		return "unreached"
	case x.cancelled:
		return "cancelled"
	case x.broken != nil:
		return "broken"
	case x.status < 200 || x.status > 299:
		return "error"
	}
	return "ok"
}

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
func (m *maker) read(row *recording.Row, body []byte) {
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
	row.Model = jsonscan.FindText(body, "model")
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
func (m *maker) prompt(row *recording.Row, body []byte) {
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
		var shared int
		row.HashIDs, shared = m.rows.blocks.hash(nil, m.tokens)
		m.counts.shared.Add(int64(shared))
	}
}

// reply notes what came back.
func (m *maker) reply(row *recording.Row, x *exchange, body []byte) {
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
	case isEvents(x.contentType):
		m.events(x, body, d)
	case len(body) > 0:
		d.Body(x.contentType, false, body, int64(x.end))
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
	if isEvents(x.contentType) && len(reply.ContentNS) > 0 {
		row.TTFTMS = pointer(ms(time.Duration(reply.ContentNS[0])))
	}
	if m.o.Keep == recording.KeepText {
		row.Reply = pointer(string(reply.Output))
	}
}

// events feeds a stream of events as it was read. A stream that was compressed comes at its end: its times are unknown.
func (m *maker) events(x *exchange, body []byte, d endpoint.Decoder) {
	m.scanner = sse.Scanner{}
	reads := x.reads
	if x.replyEncoding != "" {
		reads = []read{{len(body), x.end}}
	}
	from := 0
	for _, r := range reads {
		end := min(r.end, len(body))
		copy(m.scanner.Space(end-from), body[from:end])
		m.scanner.Filled(end - from)
		from = end
		for e := m.scanner.Next(); e != nil; e = m.scanner.Next() {
			d.Event(e.Name, e.Data, int64(r.at))
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
		if z, err = zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxReply)); err == nil {
			defer z.Close()
			in = z
		}
	default:
		return nil, "encoded in another way"
	}
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(in, maxReply))
	}
	if err != nil && len(text) == 0 {
		return nil, fmt.Sprintf("could not be unpacked (%s)", encoding)
	}
	return text, ""
}

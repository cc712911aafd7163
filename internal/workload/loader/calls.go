package loader

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/rows"
)

// Call is a request as a file holds it, for those who describe requests instead of sending them.
type Call struct {
	// AtMS is when it was sent, in milliseconds since 1970 or since the recording began; TookMS is the time to the end
	// of the reply, TTFTMS that to its first content, DelayMS that since the reply before. NaN: not known.
	AtMS, TookMS, TTFTMS, DelayMS float64
	// Session names the conversation; "": the messages tell.
	Session string
	// Path is that of the URL; "": not known.
	Path string
	// Status is that of the reply; 0: not known.
	Status int
	// Body is the request, a JSON object; nil: only lengths are known.
	Body []byte
	// Reply is the body of the reply, one of the API or a chat completion that was made of its text; nil: not known.
	Reply []byte
	// ReplyType is the content type of Reply.
	ReplyType string
	// Input and Output are recorded numbers of tokens; 0: not known.
	Input, Output int
}

// Record is a record of a file, and the calls in it.
type Record struct {
	Line int
	// Text is the record as it stands in the file, Values are its values where it is no text; the other one is nil.
	Text   []byte
	Values rows.Row
	// Packed says that the text does not show what the calls hold: it is encoded in it.
	Packed bool
	Calls  []Call
}

// exchanges are JSON Lines of gateways: a body of a request and that of its reply in one record.
const exchanges = "exchanges"

// The names that gateways give to what an exchange consists of.
var (
	requestNames = []string{"request", "request_body", "requestBody", "body"}
	replyNames   = []string{"response", "response_body", "responseBody", "reply"}
)

// partOfExchange returns an object, or one that is written as a text, under one of some names; nil: there is none.
func partOfExchange(record rows.Row, names []string) map[string]any {
	for _, name := range names {
		v := record[name]
		if text, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
			_ = json.Unmarshal([]byte(text), &v) // what is no JSON stays a text
		}
		m, ok := v.(map[string]any)
		if inner, nested := m["body"].(map[string]any); nested {
			m = inner
		}
		if ok {
			return m
		}
	}
	return nil
}

// isExchange reports whether a record holds a request of an API.
func isExchange(record rows.Row) bool {
	request := partOfExchange(record, requestNames)
	return request["messages"] != nil || request["prompt"] != nil || request["input"] != nil
}

// isExchanges reports whether the first record of a file is an exchange, and says so of its request and of its reply.
func isExchanges(path string) (is bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	_ = rows.Each(context.Background(), path, func(_ int, record rows.Row) error { // other readers say what is wrong
		is = isExchange(record) && partOfExchange(record, replyNames) != nil
		return rows.ErrEnough
	})
	return is
}

// exchanges reads the records of a gateway.
func (c *callReader) exchanges() error {
	return c.values(func(record *Record) {
		from := record.Values
		if !isExchange(from) {
			return
		}
		call := newCall()
		call.Body, _ = json.Marshal(partOfExchange(from, requestNames)) // it was JSON
		if reply := partOfExchange(from, replyNames); reply != nil {
			call.Reply, _ = json.Marshal(reply)
		}
		at := func(names ...string) float64 {
			if ms, small, known := instant(first(from, names...)); known && !small {
				return ms
			}
			return math.NaN()
		}
		call.AtMS = at("start_time", "startTime", "timestamp", "created_at", "createdAt", "request_created_at", "time")
		call.TookMS = at("end_time", "endTime", "response_created_at") - call.AtMS
		ms, known := numberOfValue(first(from, "latency_ms", "latencyMs", "duration_ms"))
		if known && math.IsNaN(call.TookMS) {
			call.TookMS = ms
		}
		call.Session = firstName(from, "session_id", "sessionId", "conversation_id", "thread_id")
		call.Path = firstName(from, "path", "endpoint")
		if status, ok := numberOfValue(first(from, "status", "status_code", "response.status_code")); ok {
			call.Status = int(status)
		}
		record.Calls = []Call{call}
	})
}

// exportReaders take the calls out of the records of tools.
func exportReaders() map[string]exportRecord {
	return map[string]exportRecord{otelSpans: otelCalls, langfuse: langfuseCalls, langSmith: langSmithCalls}
}

// CallFormats are the names of the formats whose calls can be read.
func CallFormats() []string {
	return []string{rawPayload, exchanges, inputsJSON, openAIBatch, shareGPT, langSmith, langfuse, otelSpans, harFile,
		sageMaker, singleTurn, multiTurn, mooncakeTrace, tableFormat, textLines}
}

// EachCall calls f with every record of a file, in their order. Each is forgotten after f. An empty format is detected;
// format is the one that was read. The first mistake of the file ends the reading.
func EachCall(ctx context.Context, path, format string, f func(*Record) error) (read string, err error) {
	read = format
	switch {
	case format == "" && isExchanges(path):
		read = exchanges
	case format == "":
		if read, err = detectPath(path, 0); err != nil {
			return "", fmt.Errorf("%w (here: --format)", err)
		}
	}
	if !slices.Contains(CallFormats(), read) {
		return read, fmt.Errorf("%s: a %s file is not read here: want %s", path, read, strings.Join(CallFormats(), ", "))
	}
	made, _ := lookupFormat(read) // exchanges are sent by nobody
	l := &load{ctx: ctx, lineReader: lineReader{faults: faults{path: path}, format: made, options: new(Options),
		blockSize: made.blockSize}}
	c := &callReader{load: l, f: f}
	switch export := exportReaders()[read]; {
	case export != nil:
		err = c.export(export)
	case read == exchanges:
		err = c.exchanges()
	case read == harFile:
		err = c.archive()
	case read == tableFormat:
		err = c.table()
	case read == shareGPT:
		err = c.shareGPT()
	case read == inputsJSON:
		err = c.inputs()
	case read == textLines:
		err = c.texts()
	default:
		err = c.lines()
	}
	if c.stopped != nil {
		err = c.stopped
	}
	if err == nil {
		err = l.err()
	}
	return read, err
}

// callReader passes on the records of a file.
type callReader struct {
	*load
	f       func(*Record) error
	stopped error // by f, or by a mistake of the file
}

// pass passes a record on; false ends the reading.
func (c *callReader) pass(r *Record) bool {
	if c.stopped == nil && c.mistaken > 0 {
		c.stopped = c.err()
	}
	if c.stopped == nil {
		c.stopped = c.f(r)
	}
	return c.stopped == nil
}

func newCall() Call {
	return Call{AtMS: math.NaN(), TookMS: math.NaN(), TTFTMS: math.NaN(), DelayMS: math.NaN()}
}

// lines reads a file of which each line is a row.
func (c *callReader) lines() error {
	files, err := []string{c.path}, error(nil)
	if info, failed := os.Stat(c.path); failed == nil && info.IsDir() {
		files, err = filesBelow(c.path, ".jsonl")
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		c.path = file
		err := Each(c.ctx, file, 0, func(number int, line []byte) error {
			record := &Record{Line: number, Text: line, Packed: c.format.name == sageMaker}
			if row, ok := c.row(number, line); ok {
				record.Calls = callsOf(&row)
				if c.format.name == sageMaker {
					withCaptured(line, record.Calls)
				}
				if c.format.name == openAIBatch {
					record.Calls[0].Path = pathOf(line)
				}
			}
			c.pass(record)
			return c.stopped
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func pathOf(line []byte) string {
	o, err := parseObject(line)
	if err != nil {
		return ""
	}
	path, _ := o.text("url")
	return path
}

// callsOf are the turns of a row.
func callsOf(r *row) (calls []Call) {
	turns := append([]dataset.Turn{r.turn}, r.more...)
	var said []json.RawMessage
	for i := range turns {
		t := &turns[i]
		call := newCall()
		call.Session, call.Input = r.session, r.tokens
		if t.TimestampMS != nil {
			call.AtMS = *t.TimestampMS
		}
		if t.DelayMS != nil {
			call.DelayMS = *t.DelayMS
		}
		if t.MaxTokens != nil {
			call.Output = *t.MaxTokens
		}
		switch {
		case t.RawPayload != nil:
			call.Body, call.Output = t.RawPayload, 0 // there it is a limit, and no length
		case len(t.RawMessages) > 0:
			call.Body = bodyOf("", t.RawMessages, map[string]any{"tools": toolsOf(t)})
		case r.tokens == 0 && len(t.Texts) > 0:
			for _, media := range t.Texts {
				for _, text := range media.Contents {
					said = append(said, messageOf("user", text))
				}
			}
			call.Body = bodyOf("", said, nil)
		}
		calls = append(calls, call)
	}
	return calls
}

func toolsOf(t *dataset.Turn) any {
	if len(t.RawTools) == 0 {
		return nil
	}
	return t.RawTools
}

// bodyOf makes the body of a chat request.
func bodyOf(model string, messages []json.RawMessage, parameters map[string]any) []byte {
	body := map[string]any{"messages": messages}
	if model != "" {
		body["model"] = model
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if v := parameters[name]; v != nil && body[name] == nil {
			body[name] = v
		}
	}
	text, _ := json.Marshal(body) // it was JSON
	return text
}

// replyOf makes the body of a reply of what a tool keeps of one; nil if there is no text in it.
func replyOf(v any) []byte {
	if m, ok := v.(map[string]any); ok && m["choices"] != nil {
		text, _ := json.Marshal(m)
		return text
	}
	text, calls := spoken(v, 0)
	if text == "" && calls == 0 {
		return nil
	}
	return completionOf(text, calls)
}

// completionOf is a chat completion with a text and a number of calls of tools.
func completionOf(text string, calls int) []byte {
	message := map[string]any{"role": "assistant", "content": text}
	if calls > 0 {
		list := make([]map[string]any, calls)
		for i := range list {
			list[i] = map[string]any{"id": strconv.Itoa(i), "type": "function", "function": map[string]string{}}
		}
		message["tool_calls"] = list
	}
	body, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "message": message}}})
	return body
}

// spoken returns the text of a reply and the number of its calls of tools: of a text, a message of the API or of
// LangChain, generations, or the last of several messages.
func spoken(v any, depth int) (text string, calls int) {
	if depth > 8 {
		return "", 0
	}
	switch v := v.(type) {
	case string:
		if inner := any(nil); strings.HasPrefix(strings.TrimSpace(v), "[{") && json.Unmarshal([]byte(v), &inner) == nil {
			return spoken(inner, depth+1)
		}
		return v, 0
	case []any:
		if text := textOf(v); text != "" {
			return text, 0
		}
		if len(v) > 0 {
			return spoken(v[len(v)-1], depth+1)
		}
	case map[string]any:
		if list, ok := v["tool_calls"].([]any); ok {
			calls = len(list)
		}
		for _, name := range []string{"generations", "messages", "message", "kwargs", "output", "content", "parts", "text"} {
			if v[name] == nil {
				continue
			}
			if text, more := spoken(v[name], depth+1); text != "" || more > 0 {
				return text, calls + more
			}
		}
	}
	return "", calls
}

// call makes a call of what a tool recorded; false if it holds nothing of a request.
func (c *recordedCall) call() (Call, bool) {
	call := newCall()
	call.Session = c.session
	at := func(v any) float64 {
		if ms, small, known := instant(v); known && !small {
			return ms
		}
		return math.NaN()
	}
	call.AtMS = at(c.at)
	call.TookMS, call.TTFTMS = at(c.end)-call.AtMS, at(c.begun)-call.AtMS
	if n, known := numberOfValue(c.input); known && n >= 1 && n <= maxTokens {
		call.Input = int(n)
	}
	if n, known := numberOfValue(c.output); known && n >= 1 && n <= maxTokens {
		call.Output = int(n)
	}
	if list := chatMessages(c.messages); len(list) > 0 {
		call.Body, call.Reply = bodyOf(c.model, list, scalars(c.parameters)), replyOf(c.reply)
	}
	return call, call.Body != nil || call.Input > 0
}

// scalars are the numbers and truth values of a tool's parameters, and the declared tools.
func scalars(v any) map[string]any {
	all, _ := v.(map[string]any)
	kept := map[string]any{}
	for name, value := range all {
		switch value.(type) {
		case json.Number, float64, int64, bool:
			kept[name] = value
		case []any:
			if name == "tools" {
				kept[name] = value
			}
		}
	}
	return kept
}

// export reads the records of a tool.
func (c *callReader) export(calls exportRecord) error {
	return c.values(func(record *Record) {
		for _, recorded := range calls(record.Values) {
			if call, ok := recorded.call(); ok {
				record.Calls = append(record.Calls, call)
			}
		}
	})
}

// values reads records that are objects or rows of a table.
func (c *callReader) values(take func(*Record)) error {
	return rows.Each(c.ctx, c.path, func(number int, from rows.Row) error {
		record := &Record{Line: number, Values: from}
		take(record)
		c.pass(record)
		return c.stopped
	})
}

// archive reads the requests of an archive of a browser or a proxy whose bodies are JSON.
func (c *callReader) archive() error {
	return c.values(func(record *Record) {
		log, _ := record.Values["log"].(map[string]any)
		for _, entry := range objectsIn(log, "entries") {
			text, _ := valueAt(entry, "request.postData.text").(string)
			if !strings.HasPrefix(strings.TrimSpace(text), "{") {
				continue
			}
			call := newCall()
			call.Body = []byte(text)
			if ms, small, ok := instant(entry["startedDateTime"]); ok && !small {
				call.AtMS = ms
			}
			if took, ok := numberOfValue(entry["time"]); ok && took >= 0 {
				call.TookMS = took
			}
			if status, ok := numberOfValue(valueAt(entry, "response.status")); ok {
				call.Status = int(status)
			}
			if address, _ := valueAt(entry, "request.url").(string); address != "" {
				if u, err := url.Parse(address); err == nil {
					call.Path = u.Path
				}
			}
			reply, _ := valueAt(entry, "response.content.text").(string)
			call.ReplyType, _ = valueAt(entry, "response.content.mimeType").(string)
			call.Reply = []byte(reply)
			if encoding, _ := valueAt(entry, "response.content.encoding").(string); encoding == "base64" {
				call.Reply, _ = base64.StdEncoding.DecodeString(reply)
			}
			record.Calls = append(record.Calls, call)
		}
	})
}

// table reads rows whose columns have any names.
func (c *callReader) table() error {
	columns, err := lookAtTable(c.ctx, c.path, nil)
	if err == nil {
		err = columns.check(c.path)
	}
	if err != nil {
		return err
	}
	return c.values(func(record *Record) {
		row, _, err := columns.row(record.Values)
		if err != nil {
			return // it is counted as one without a call
		}
		record.Calls = callsOf(&row)
		if messages, ok := messagesOf(columns.value(record.Values, roleMessages)); ok && len(record.Calls) == 1 {
			if last := messages[len(messages)-1]; saidBy(last) == "assistant" {
				var m any
				_ = json.Unmarshal(last, &m) // it was made of an object
				record.Calls[0].Reply = replyOf(m)
			}
		}
	})
}

// texts reads a prompt on each line.
func (c *callReader) texts() error {
	return Each(c.ctx, c.path, 0, func(number int, line []byte) error {
		call := newCall()
		call.Body = bodyOf("", []json.RawMessage{messageOf("user", string(line))}, nil)
		c.pass(&Record{Line: number, Text: line, Calls: []Call{call}})
		return c.stopped
	})
}

// shareGPT reads conversations: each thing that a person says is a request with all that was said before.
func (c *callReader) shareGPT() error {
	number := 0
	return shareGPTReader{c.load}.eachItem(func(item []byte) {
		if c.stopped != nil {
			return
		}
		number++
		var from struct {
			Conversations []struct {
				From  string `json:"from"`
				Value string `json:"value"`
			} `json:"conversations"`
		}
		if err := json.Unmarshal(item, &from); err != nil {
			c.errorf("%v", jsonError(err))
		}
		record := &Record{Line: c.line, Text: item}
		var said []json.RawMessage
		for _, s := range from.Conversations {
			who := strings.ToLower(s.From)
			switch {
			case strings.TrimSpace(s.Value) == "":
			case slices.Contains(humans, who):
				said = append(said, messageOf("user", s.Value))
				call := newCall()
				call.Body, call.Session = bodyOf("", said, nil), "conversation "+strconv.Itoa(number)
				record.Calls = append(record.Calls, call)
			case slices.Contains(systems, who):
				said = append(said, messageOf("system", s.Value))
			case len(record.Calls) > 0:
				said = append(said, messageOf("assistant", s.Value))
				if last := &record.Calls[len(record.Calls)-1]; last.Reply == nil {
					last.Reply = completionOf(s.Value, 0)
				}
			}
		}
		c.pass(record)
	})
}

// inputs reads the sessions of a document like our own inputs.json.
func (c *callReader) inputs() error {
	return readSessions(c.load, func(item []byte) bool {
		record := &Record{Text: item}
		for _, conversation := range c.conversations {
			for i := range conversation.Turns {
				call := newCall()
				call.Body, call.Session = conversation.Turns[i].RawPayload, conversation.SessionID
				record.Calls = append(record.Calls, call)
			}
		}
		c.conversations, c.starts, c.sessions = nil, nil, nil
		return c.pass(record)
	})
}

// withCaptured adds what SageMaker captured of the request and of the reply.
func withCaptured(line []byte, calls []Call) {
	o, err := parseObject(line)
	if err != nil || len(calls) != 1 {
		return
	}
	data, err := o.object("captureData")
	if err != nil {
		return
	}
	side := func(name string) []byte {
		o, err := data.captureBody(name)
		if err != nil {
			return nil
		}
		text, _ := json.Marshal(o.members)
		return bytes.Clone(text)
	}
	if body := side("endpointInput"); body != nil {
		calls[0].Body = body
	}
	calls[0].Reply, calls[0].Output = side("endpointOutput"), 0
}

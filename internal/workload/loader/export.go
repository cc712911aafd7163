package loader

import (
	"bufio"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/workload/rows"
)

// Files that other tools write of requests they saw.
const (
	openAIBatch = "openai_batch"
	harFile     = "har"
	accessLog   = "access_log"
	otelSpans   = "otel_spans"
	langfuse    = "langfuse"
	langSmith   = "langsmith"
)

// recordedCall is a call of a model as a tool exports it.
type recordedCall struct {
	at       any // a time; nil: the call has none
	session  string
	messages any // a list of messages, or a text
	// input and output are numbers of tokens; nil: not known.
	input, output any
	// What is not sent: the model, its parameters, the reply, the times of its first content and of its end.
	model             string
	parameters, reply any
	begun, end        any
}

// exportRecord takes the calls out of a record of a file.
type exportRecord func(rows.Row) []recordedCall

// readExport reads the records of a tool.
func readExport(calls exportRecord) func(*load) error {
	return func(l *load) error {
		read, timed := []row(nil), true
		err := rows.Each(l.ctx, l.path, func(number int, record rows.Row) error {
			for _, call := range calls(record) {
				l.line = number
				r, ok := call.row()
				if !ok {
					l.skip(number)
					continue
				}
				r.line = len(read) + 1
				timed = timed && r.turn.TimestampMS != nil
				if l.admit(&r) {
					read = append(read, r)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		l.warnSkipped()
		return l.groupLog(read, timed)
	}
}

// groupLog makes conversations of the rows of a log, whose lines may have the order of the replies.
func (l *load) groupLog(read []row, timed bool) error {
	if timed {
		slices.SortStableFunc(read, func(a, b row) int { return cmp.Compare(a.at(), b.at()) })
	}
	kept := &memoryRows{}
	for _, r := range read {
		kept.add(r)
	}
	return l.group(kept)
}

// row makes a request of a call: its messages, else a prompt of its length, else an arrival alone.
func (c *recordedCall) row() (r row, ok bool) {
	r.session = c.session
	if c.at != nil {
		ms, small, known := instant(c.at)
		if !known || small {
			return r, false
		}
		r.turn.TimestampMS = &ms
	}
	if n, known := numberOfValue(c.output); known && n >= 0 && n <= maxTokens {
		limit := max(1, int(n))
		r.turn.MaxTokens = &limit
	}
	input, known := numberOfValue(c.input)
	switch list := chatMessages(c.messages); {
	case len(list) > 0:
		r.kind, r.turn.RawMessages = messageList, list
	case c.messages == nil && known && input >= 1 && input <= maxTokens:
		r.tokens = int(input)
	case c.messages == nil && c.input == nil && r.turn.TimestampMS != nil:
		r.arrival = true
	default:
		return r, false
	}
	return r, true
}

// maxTokens bounds the recorded length of a request or a reply.
const maxTokens = 1 << 30

// chatMessages returns messages of a chat in the form of the API, without the replies at their end. They may be a list,
// a list in a list, the member messages or prompts of an object, a text, or any of these as JSON in a text.
func chatMessages(v any) (messages []json.RawMessage) {
	switch v := v.(type) {
	case string:
		text := strings.TrimSpace(v)
		var inner any
		if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &inner) == nil {
			return chatMessages(inner)
		}
		if text == "" {
			return nil
		}
		return []json.RawMessage{messageOf("user", text)}
	case map[string]any:
		for _, name := range []string{"messages", "prompts", "prompt", "input", "question", "text"} {
			if v[name] != nil {
				return chatMessages(v[name])
			}
		}
		return nil
	case []any:
		if len(v) > 0 {
			if inner, nested := v[0].([]any); nested {
				return chatMessages(inner)
			}
		}
		for _, item := range v {
			if m := chatMessage(item); m != nil {
				messages = append(messages, m)
			}
		}
	}
	for len(messages) > 0 && saidBy(messages[len(messages)-1]) == "assistant" {
		messages = messages[:len(messages)-1]
	}
	return messages
}

// chatMessage returns one message: of the API, of LangChain, or of the conventions of OpenTelemetry; nil: it is none.
func chatMessage(item any) json.RawMessage {
	m, isObject := item.(map[string]any)
	if !isObject {
		if text, ok := item.(string); ok && text != "" {
			return messageOf("user", text)
		}
		return nil
	}
	role, _ := m["role"].(string)
	if content, has := m["content"]; has && role != "" && m["parts"] == nil {
		if _, plain := content.(string); plain || content == nil || isPartsList(content) {
			text, err := json.Marshal(m)
			if err == nil {
				return text
			}
		}
	}
	inner := m
	if kwargs, ok := m["kwargs"].(map[string]any); ok {
		inner = kwargs
	}
	if role == "" {
		role = roleOf(m, inner)
	}
	text := textOf(inner["content"])
	if text == "" {
		text = textOf(m["parts"])
	}
	if role == "" || text == "" {
		return nil
	}
	return messageOf(role, text)
}

func isPartsList(v any) bool { _, ok := v.([]any); return ok }

// roleOf returns who said a message of LangChain: its type, or the last part of its id.
func roleOf(m, inner map[string]any) string {
	kind, _ := inner["type"].(string)
	if id, ok := m["id"].([]any); ok && len(id) > 0 {
		kind, _ = id[len(id)-1].(string)
	}
	switch strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(kind, "Chunk")), "message") {
	case "human", "user":
		return "user"
	case "ai", "assistant":
		return "assistant"
	case "system":
		return "system"
	}
	return ""
}

// textOf joins the texts of a content.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var texts []string
		for _, part := range v {
			p, _ := part.(map[string]any)
			for _, name := range []string{"text", "content"} {
				if text, ok := p[name].(string); ok && text != "" {
					texts = append(texts, text)
					break
				}
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

func messageOf(role, text string) json.RawMessage {
	encoded, _ := json.Marshal(map[string]string{"role": role, "content": text}) // texts can be encoded
	return encoded
}

// first returns the first member that is there; a name with dots leads into objects.
func first(row rows.Row, names ...string) any {
	for _, name := range names {
		if v := valueAt(row, name); v != nil && v != "" {
			return v
		}
	}
	return nil
}

func firstName(row rows.Row, names ...string) string {
	name, _ := nameOf(first(row, names...))
	return name
}

// langfuseCalls takes the generations out of exported observations.
func langfuseCalls(o rows.Row) []recordedCall {
	if kind, _ := o["type"].(string); kind != "" && kind != "GENERATION" {
		return nil
	}
	return []recordedCall{{
		at: first(o, "startTime", "timestamp"), session: firstName(o, "sessionId", "traceId"), messages: o["input"],
		input:  first(o, "usageDetails.input", "usage.input", "promptTokens", "usage.promptTokens", "inputUsage"),
		output: first(o, "usageDetails.output", "usage.output", "completionTokens", "usage.completionTokens", "outputUsage"),
		model:  firstName(o, "model"), parameters: o["modelParameters"], reply: o["output"],
		begun: o["completionStartTime"], end: o["endTime"],
	}}
}

// langSmithCalls takes the calls of models out of exported runs.
func langSmithCalls(o rows.Row) []recordedCall {
	if kind, _ := o["run_type"].(string); kind != "llm" {
		return nil
	}
	return []recordedCall{{
		at: first(o, "start_time"), messages: o["inputs"],
		session: firstName(o, "extra.metadata.thread_id", "extra.metadata.session_id", "trace_id", "id"),
		input:   first(o, "prompt_tokens", "usage_metadata.input_tokens"),
		output:  first(o, "completion_tokens", "usage_metadata.output_tokens"),
		model: firstName(o, "extra.metadata.ls_model_name", "extra.invocation_params.model",
			"extra.invocation_params.model_name"),
		parameters: first(o, "extra.invocation_params"), reply: o["outputs"], begun: o["first_token_time"],
		end: o["end_time"],
	}}
}

// otelCalls takes the spans of generative AI out of a line of OpenTelemetry's file exporter.
func otelCalls(o rows.Row) (calls []recordedCall) {
	for _, resource := range objectsIn(o, "resourceSpans") {
		for _, scope := range objectsIn(resource, "scopeSpans") {
			for _, span := range objectsIn(scope, "spans") {
				if call, ok := otelCall(span); ok {
					calls = append(calls, call)
				}
			}
		}
	}
	return calls
}

func objectsIn(row rows.Row, name string) (list []rows.Row) {
	items, _ := row[name].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			list = append(list, m)
		}
	}
	return list
}

// otelCall reads a span of the GenAI conventions of OpenTelemetry, in their older and newer names, and reports whether
// it is a call of a model.
func otelCall(span rows.Row) (recordedCall, bool) {
	attributes := rows.Row{}
	for _, a := range objectsIn(span, "attributes") {
		key, _ := a["key"].(string)
		value, _ := a["value"].(map[string]any)
		attributes[key] = first(value, "stringValue", "intValue", "doubleValue")
	}
	call := recordedCall{
		at: span["startTimeUnixNano"], session: firstName(attributes, "gen_ai.conversation.id", "session.id"),
		messages: attributes["gen_ai.input.messages"],
		input:    first(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
		output:   first(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
		model:    firstName(attributes, "gen_ai.request.model", "gen_ai.response.model"),
		reply:    first(attributes, "gen_ai.output.messages", "gen_ai.completion.0.content"), end: span["endTimeUnixNano"],
	}
	if call.session == "" {
		call.session, _ = span["traceId"].(string)
	}
	if call.messages == nil {
		call.messages = numberedPrompts(attributes)
	}
	// Spans of tools and of agents have no tokens of their own.
	operation, _ := attributes["gen_ai.operation.name"].(string)
	of := slices.Contains([]string{"", "chat", "text_completion", "generate_content"}, operation)
	return call, of && (call.messages != nil || call.input != nil)
}

// numberedPrompts returns messages whose parts are attributes: gen_ai.prompt.0.role and so on; nil: there are none.
func numberedPrompts(attributes rows.Row) any {
	var list []any
	for i := 0; ; i++ {
		at := "gen_ai.prompt." + strconv.Itoa(i) + "."
		content, ok := attributes[at+"content"].(string)
		if !ok {
			break
		}
		role, _ := attributes[at+"role"].(string)
		list = append(list, map[string]any{"role": cmp.Or(role, "user"), "content": content})
	}
	if list == nil {
		return nil
	}
	return list
}

// harCalls takes the times of the requests out of an archive of a browser or a proxy.
func harCalls(o rows.Row) (calls []recordedCall) {
	log, _ := o["log"].(map[string]any)
	for _, entry := range objectsIn(log, "entries") {
		calls = append(calls, recordedCall{at: first(entry, "startedDateTime")})
	}
	return calls
}

// accessLine is a line of the combined format of web servers, and what begins like it.
var accessLine = pattern.New(`^\S+ \S+ .{1,200}?\[([^\]]{10,40})\] "[A-Z]+ [^"]*" \d{3} `)

// readAccessLog reads the times of the lines of a web server's log.
func readAccessLog(l *load) error {
	var read []row
	err := l.eachLine(func(line []byte) {
		call := recordedCall{}
		if m := accessLine.FindSubmatch(line); m != nil {
			call.at = string(m[1])
		}
		r, ok := call.row()
		if !ok {
			l.skip(l.line)
			return
		}
		r.line = l.line
		read = append(read, r)
	})
	if err != nil {
		return err
	}
	l.warnSkipped()
	return l.groupLog(read, true)
}

var batchKeys = []string{"custom_id", "method", "url", "body", headersKey}

// batchLine reads a line of a batch, whose body is sent as it is.
func (l *lineReader) batchLine(line []byte) (r row) {
	o, err := parseObject(line)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	l.checkKeys(o, batchKeys)
	if !o.has("body") || o.members["body"][0] != '{' {
		l.errorOf(o, o.wrong("body", "an object, the body of a request"))
		return r
	}
	return l.bodyIn(o, "body")
}

// isExport returns which tool a record is of; empty: none.
func isExport(o *object) string {
	text := func(key string) string {
		s, _ := o.text(key)
		return s
	}
	switch {
	case o.hasAll("custom_id", "url", "body"):
		return openAIBatch
	case o.isList("resourceSpans"):
		return otelSpans
	case text("run_type") != "" && o.has("inputs"):
		return langSmith
	case o.hasAll("traceId", "startTime", "type") && slices.Contains([]string{"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL",
		"CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}, text("type")):
		return langfuse
	case o.has("log"):
		var log struct {
			Entries []struct {
				Started *string `json:"startedDateTime"`
			} `json:"entries"`
		}
		if json.Unmarshal(o.members["log"], &log) == nil && len(log.Entries) > 0 && log.Entries[0].Started != nil {
			return harFile
		}
	}
	return ""
}

// exportOfArray returns which tool wrote a JSON array, by its first item; empty: none.
func exportOfArray(path string) string {
	in, err := Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	dec := json.NewDecoder(bufio.NewReader(in))
	if token, err := dec.Token(); err != nil || token != json.Delim('[') || !dec.More() {
		return ""
	}
	var item json.RawMessage
	if dec.Decode(&item) != nil {
		return ""
	}
	o, err := parseObject(item)
	if err != nil {
		return ""
	}
	return isExport(o)
}

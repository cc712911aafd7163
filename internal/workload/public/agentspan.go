package public

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/workload/dataset"
)

// attributes are those of a span; what is null is absent.
type attributes map[string]any

// turn makes the request of a span; nil: it is none that was answered.
func (n *spanCounts) turn(v any) (*agentTurn, error) {
	span, ok := asObject(v)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	attrs, ok := asObject(span["attributes"])
	if !ok {
		return nil, errors.New(`"attributes" is not an object`)
	}
	a := attributes(attrs)
	if kind := span["type"]; kind != "llm_call" && (kind != nil || a["gen_ai.operation.name"] != "chat") {
		n.foreign++
		return nil, nil
	}
	if status, _ := asObject(span["status"]); status != nil {
		if code, ok := whole(status["code"]); ok && code == 2 {
			n.failed++
			return nil, nil
		}
	}
	in, err := a.tokens("gen_ai.usage.input_tokens")
	if err != nil {
		return nil, err
	}
	out, err := a.tokens("gen_ai.usage.output_tokens")
	if err != nil {
		return nil, err
	}
	if in <= 0 || out <= 0 {
		n.zero++
		return nil, nil
	}
	t := &agentTurn{}
	if t.start, err = instant(span, "start_time"); err != nil {
		return nil, err
	}
	if t.end, err = instant(span, "end_time"); err != nil {
		return nil, err
	}
	if t.end.Before(t.start) {
		return nil, fmt.Errorf(`"end_time" %v lies before "start_time" %v`, span["end_time"], span["start_time"])
	}
	return t, a.request(&t.turn, out)
}

// request reads what was asked.
func (a attributes) request(t *dataset.Turn, recorded int) (err error) {
	limit := recorded
	if v := a["gen_ai.request.max_tokens"]; v != nil {
		n, ok := whole(v)
		if !ok || n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("gen_ai.request.max_tokens: want a whole number above 0, got %v", v)
		}
		limit = int(n)
	}
	t.MaxTokens = &limit
	if t.RawMessages, err = a.messages(); err != nil {
		return err
	}
	if len(t.RawMessages) == 0 {
		return errors.New("gen_ai.input.messages holds no message")
	}
	if t.RawTools, err = a.functions(); err != nil {
		return err
	}
	if x, ok := number(a["gen_ai.request.temperature"]); ok {
		t.Extra = append(t.Extra, dataset.Field{Name: "temperature", Value: json.RawMessage(x)})
	}
	stop, err := a.stops()
	if len(stop) > 0 {
		t.Extra = append(t.Extra, dataset.Field{Name: "stop", Value: encoded(stop)})
	}
	return err
}

// tokens returns a number of tokens.
func (a attributes) tokens(name string) (int, error) {
	n, ok := whole(a[name])
	if !ok {
		return 0, fmt.Errorf("%s: want a whole number, got %v", name, a[name])
	}
	return int(max(math.MinInt32, min(n, math.MaxInt32))), nil
}

// whole returns a whole number.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}

// number returns a finite number as JSON.
func number(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false
		}
		return string(encoded(v)), true
	case json.Number:
		x, err := v.Float64()
		return v.String(), err == nil && !math.IsInf(x, 0)
	}
	return "", false
}

func instant(span map[string]any, name string) (t time.Time, err error) {
	text, _ := span[name].(string)
	if t, err = scalar.Instant(text); err != nil {
		err = fmt.Errorf("%q: want a time such as 2026-01-31T12:00:00Z, got %v", name, span[name])
	}
	return t, err
}

// stops returns the texts at which an answer ends.
func (a attributes) stops() (stops []string, err error) {
	const name = "gen_ai.request.stop_sequences"
	list, ok := asList(a[name])
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText
		stops = append(stops, text)
	}
	if !ok {
		return nil, fmt.Errorf("%s: want a list of texts", name)
	}
	return stops, nil
}

// chatMessage is a message as it is sent.
type chatMessage struct {
	Role      string     `json:"role"`
	CallID    *string    `json:"tool_call_id,omitempty"`
	Content   string     `json:"content"`
	Reasoning *string    `json:"reasoning_content,omitempty"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// recordedMessage is a message of a recording.
type recordedMessage struct {
	Role  string         `json:"role"`
	Parts []recordedPart `json:"parts"`
}

type recordedPart struct {
	Type      string          `json:"type"`
	Content   string          `json:"content"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// messages returns those of the request, behind the system's.
func (a attributes) messages() (list []json.RawMessage, err error) {
	if text := a.system(); text != "" {
		list = append(list, encoded(chatMessage{Role: "system", Content: text}))
	}
	const name = "gen_ai.input.messages"
	var recorded []recordedMessage
	if v := a[name]; v != nil && json.Unmarshal(asJSON(v), &recorded) != nil {
		return nil, fmt.Errorf("%s: want a list of messages with a role and parts", name)
	}
	for i, m := range recorded {
		made, err := m.chatMessages()
		if err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", name, i, err)
		}
		for _, message := range made {
			list = append(list, encoded(message))
		}
	}
	return list, nil
}

// system returns the text of the system's instructions: a text, or the parts of one.
func (a attributes) system() string {
	v := a["gen_ai.system_instructions"]
	var parts []recordedPart
	if v == nil || json.Unmarshal(asJSON(v), &parts) != nil {
		text, _ := asText("", v)
		return text
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			text.WriteString(p.Content)
		}
	}
	return text.String()
}

// chatMessages returns the messages of a recorded one: results of tools are messages of their own.
func (m recordedMessage) chatMessages() (made []chatMessage, err error) {
	role := m.Role
	switch role {
	case "":
		return nil, errors.New("the role is missing")
	case "developer":
		role = "system"
	}
	var pending chatMessage
	var text strings.Builder
	begun := len(m.Parts) == 0
	flush := func() {
		if !begun {
			return
		}
		pending.Role, pending.Content = role, text.String()
		made = append(made, pending)
		pending, begun = chatMessage{}, false
		text.Reset()
	}
	for i, p := range m.Parts {
		begun = begun || p.Type != "tool_call_response"
		switch p.Type {
		case "text":
			text.WriteString(p.Content)
		case "thinking":
			thought := cmp.Or(p.Thinking, p.Content)
			if pending.Reasoning != nil {
				thought = *pending.Reasoning + thought
			}
			pending.Reasoning = &thought
		case "tool_call":
			pending.Calls = append(pending.Calls,
				toolCall{p.ID, "function", calledByName{p.Name, textOr(p.Arguments, "{}")}})
		case "tool_call_response":
			flush()
			made = append(made, chatMessage{Role: "tool", CallID: &p.ID, Content: textOr(p.Result, "null")})
		default:
			return nil, fmt.Errorf("part %d has the unknown type %q", i, p.Type)
		}
	}
	flush()
	return made, nil
}

// textOr returns a JSON text: that of a string, else the value itself; what is absent is something else.
func textOr(raw json.RawMessage, absent string) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return absent
	case json.Unmarshal(raw, &text) == nil && raw[0] == '"':
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return absent
	}
	return compact.String()
}

// functions returns the definitions of tools.
func (a attributes) functions() (list []json.RawMessage, err error) {
	const name = "gen_ai.tool.definitions"
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	var recorded []struct {
		Type string `json:"type"`
		function
	}
	if v := a[name]; v != nil && json.Unmarshal(asJSON(v), &recorded) != nil {
		return nil, fmt.Errorf("%s: want a list of definitions", name)
	}
	for _, d := range recorded {
		if d.Type != "function" {
			continue
		}
		list = append(list, encoded(struct {
			Type     string   `json:"type"`
			Function function `json:"function"`
		}{d.Type, d.function}))
	}
	return list, nil
}

// asJSON returns a value as JSON; a text counts as JSON already.
func asJSON(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return encoded(withoutNulls(v))
}

// encoded returns a value as JSON, with the characters of HTML as they are; nil if it holds no number of JSON.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

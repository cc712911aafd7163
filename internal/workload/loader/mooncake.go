package loader

import (
	"encoding/json"
	"fmt"
)

var mooncakeKeys = []string{
	"type", "session_id", "timestamp", "delay", "output_length", "extra",
	"input_length", "hash_ids", "text_input", "messages", "tools", "message_mode", "payload", headersKey,
}

// mooncake reads one request: its content is a length, a text, messages or a whole payload.
func (l *lineReader) mooncake(line []byte) (r row) {
	o, session, ok := l.object(line, mooncakeKeys)
	if !ok {
		return r
	}
	r.session = session
	err := r.mooncakeFields(o)
	if err == nil {
		r.turn.Headers, err = l.headers(o)
	}
	if err != nil {
		l.errorOf(o, err)
		return r
	}
	if r.kind == messageDelta && !l.options.Window.open() {
		l.errorf("--fixed-schedule-start-offset and --fixed-schedule-end-offset cannot be used with rows of " +
			"message_mode delta, which need the rows before them")
	}
	return r
}

// mooncakeFields reads a line: when it is sent, and exactly one of the four ways to say what. Two of them would
// contradict each other.
func (r *row) mooncakeFields(o *object) error {
	var err error
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	var e error
	r.turn.TimestampMS, e = o.milliseconds("timestamp")
	keep(e)
	r.turn.DelayMS, e = o.milliseconds("delay")
	keep(e)
	r.turn.MaxTokens, e = o.outputLength("output_length")
	keep(e)
	r.turn.Extra, e = o.fields("extra")
	keep(e)
	if err != nil {
		return err
	}
	var contents []string
	for _, key := range []string{"input_length", "text_input", "messages", "payload"} {
		if o.has(key) {
			contents = append(contents, key)
		}
	}
	if len(contents) != 1 {
		return fmt.Errorf("want exactly one of input_length, text_input, messages and payload, got %d", len(contents))
	}
	for _, x := range []struct{ key, with string }{
		{"hash_ids", "input_length"}, {"tools", "messages"}, {"message_mode", "messages"},
	} {
		if o.has(x.key) && contents[0] != x.with {
			return fmt.Errorf("field %q goes only with %q, not with %q", x.key, x.with, contents[0])
		}
	}
	return r.mooncakeContent(o, contents[0])
}

// mooncakeContent reads what is sent: a length with blocks, a text, messages, or a whole body.
func (r *row) mooncakeContent(o *object, key string) error {
	switch key {
	case "input_length":
		n, err := o.positive(key)
		if err != nil {
			return err
		}
		r.tokens = *n
		r.ids, err = o.blockIDs("hash_ids")
		return err
	case "text_input":
		text, err := o.text(key)
		if err == nil && text == "" {
			err = o.wrong(key, "a text that is not empty")
		}
		r.kind, r.turn.Texts = givenText, textMedia(text)
		return err
	case "messages":
		return r.mooncakeMessages(o)
	}
	payload, err := o.fields(key)
	if err == nil && len(payload) == 0 {
		err = o.wrong(key, "an object that is not empty")
	}
	r.kind, r.turn.RawPayload = wholePayload, o.members[key]
	return err
}

// mooncakeMessages reads messages, which are sent as they are written, members and order kept: only what is needed is
// checked. With message_mode delta they go on from the turn before, and must not be replaced then.
func (r *row) mooncakeMessages(o *object) error {
	const want = "a list of at least one object with a role"
	var list []json.RawMessage
	if json.Unmarshal(o.members["messages"], &list) != nil || len(list) == 0 {
		return o.wrong("messages", want)
	}
	for i, text := range list {
		message, err := parseObject(text)
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		if role, err := message.text("role"); err != nil || role == "" {
			return fmt.Errorf("messages[%d]: field \"role\": want the name of a role", i)
		}
	}
	mode, err := o.text("message_mode")
	switch {
	case err != nil:
		return err
	case mode == "delta":
		r.kind = messageDelta
	case mode == "" || mode == "history":
		r.kind = messageList
	default:
		return o.wrong("message_mode", "history or delta")
	}
	if o.has("tools") {
		if json.Unmarshal(o.members["tools"], &r.turn.RawTools) != nil || len(r.turn.RawTools) == 0 {
			return o.wrong("tools", "a list of at least one tool")
		}
	}
	for _, f := range r.turn.Extra {
		if f.Name == "messages" && r.kind == messageDelta {
			return fmt.Errorf(`field "extra": "messages" would replace those that message_mode delta builds up`)
		}
	}
	r.turn.RawMessages = list
	return nil
}

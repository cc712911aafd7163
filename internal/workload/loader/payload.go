package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"aiperf/internal/base/bounded"
	"aiperf/internal/workload/dataset"
)

// rawPayloads reads lines that are whole request bodies. The lines of a file are conversations of one
// turn each; in a folder each file is one conversation.
func (l *load) rawPayloads() error {
	files, others, err := filesAt(l.path, ".jsonl")
	if err != nil {
		return err
	}
	folder := len(files) != 1 || files[0] != l.path
	if folder {
		l.noteSkipped(others)
	}
	if !folder {
		return l.lines()
	}
	for _, file := range files {
		var turns []dataset.Turn
		first := 0
		err := l.eachFile([]string{file}, func(line []byte) {
			if turns = append(turns, l.payloadLine(line).turn); len(turns) == 1 {
				first = l.line
			}
		})
		if err != nil {
			return err
		}
		if len(turns) > 0 {
			l.line = first
			l.conversation("").Turns = turns
		}
	}
	return nil
}

// payloadKey is the member with the body where a line of request bodies has headers beside it.
const payloadKey = "payload"

// payloadLine reads a turn whose body is the line, or stands in it with the headers that go along, and nothing else.
func (l *lineReader) payloadLine(line []byte) (r row) {
	o, err := parseObject(line)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	if len(o.keys) == 2 && o.hasAll(payloadKey, headersKey) && o.members[payloadKey][0] == '{' {
		return l.bodyIn(o, payloadKey)
	}
	return l.body(line, o)
}

// bodyIn reads a turn whose body is a member of a record, which may have headers beside it.
func (l *lineReader) bodyIn(record *object, key string) (r row) {
	line := bytes.TrimSpace(record.members[key])
	headers, err := l.headers(record)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	o, err := parseObject(line)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	r = l.body(line, o)
	r.turn.Headers = headers
	return r
}

// body reads a turn that is sent exactly as the text of an object says.
func (l *lineReader) body(line []byte, o *object) (r row) {
	body := bytes.Clone(line)
	if _, says := o.members["stream"]; !says && l.options.Stream && o.isList("messages") {
		body = withMember(line, `"stream":true`)
		l.dropped.streams++
	}
	r.turn = dataset.Turn{RawPayload: body, MaxTokens: outputLimit(o)}
	return r
}

// WithModel returns a body with messages and the name of a model, which it lacks; false if it needs none.
func WithModel(body []byte, model string) ([]byte, bool) {
	o, err := parseObject(body)
	if err != nil || !o.isList("messages") {
		return body, false
	}
	if _, named := o.members["model"]; named {
		return body, false
	}
	name, err := json.Marshal(model)
	if err != nil {
		return body, false
	}
	return withMember(body, `"model":`+string(name)), true
}

// withMember returns an object that is not empty with a member before its own.
func withMember(object []byte, member string) []byte {
	return slices.Concat([]byte("{"+member+","), bytes.TrimLeft(object, " \t\r\n")[1:])
}

// outputLimit returns the limit that a request body asks for, nil if it asks for none.
func outputLimit(body *object) *int {
	for _, key := range []string{"max_completion_tokens", "max_tokens"} {
		if n, err := body.positive(key); err == nil && n != nil {
			return n
		}
	}
	return nil
}

// inputsReader reads a document with the payloads of sessions.
type inputsReader struct {
	*load
	// took gets each session that was read; false ends the reading.
	took func(item []byte) bool
}

// readInputs reads a document like our own inputs.json: a list of sessions with their payloads. It is
// read as a stream; only one session is in memory twice.
func readInputs(from *load) error {
	return readSessions(from, func([]byte) bool { return true })
}

// readSessions reads the sessions of a document like inputs.json; took gets each when it was read, and ends the reading
// with false.
func readSessions(from *load, took func(item []byte) bool) error {
	l := inputsReader{from, took}
	in, err := Open(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	dec := json.NewDecoder(in)
	if err := l.document(dec); err != nil {
		l.line = LineAt(l.path, faultOffset(l.path))
		l.errorf("%v", jsonError(err))
	}
	return l.ctx.Err()
}

// document walks the document; its error is that of the JSON.
func (l inputsReader) document(dec *json.Decoder) error {
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		if err == nil {
			l.line = 1
			l.errorf(`want an object with "data"`)
		}
		if err == io.EOF { // an empty file has no records, which is reported elsewhere
			return nil
		}
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key != "data" {
			l.line = LineAt(l.path, dec.InputOffset())
			l.warnUnknown(key.(string), nil) // the decoder lets nothing else stand here
			if err := dec.Decode(new(json.RawMessage)); err != nil {
				return err
			}
			continue
		}
		if token, err := dec.Token(); err != nil {
			return err
		} else if token != json.Delim('[') {
			l.line = LineAt(l.path, dec.InputOffset())
			l.errorf(`field "data": want a list of sessions`)
			return nil
		}
		for dec.More() && l.ctx.Err() == nil {
			var item json.RawMessage
			if err := dec.Decode(&item); err != nil {
				return err
			}
			l.session(item, dec.InputOffset()-int64(len(item)))
			if !l.took(item) {
				return nil
			}
		}
		if l.ctx.Err() != nil {
			return nil
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		l.line = LineAt(l.path, dec.InputOffset())
		l.errorf("more text follows the JSON object")
	}
	return nil
}

// session reads one session that begins at a place of the document.
func (l inputsReader) session(item []byte, at int64) {
	fault := func(err error) {
		l.line = LineAt(l.path, at)
		l.errorf("%v", err)
	}
	o, err := parseObject(item)
	if err != nil {
		fault(err)
		return
	}
	id, err := o.text("session_id")
	if err != nil {
		fault(err)
		return
	}
	if _, twice := l.sessions[id]; twice {
		fault(fmt.Errorf("the session %q occurs twice", shorten(id)))
		return
	}
	var payloads []json.RawMessage
	if json.Unmarshal(o.members["payloads"], &payloads) != nil || len(payloads) == 0 {
		fault(fmt.Errorf(`the session %q: field "payloads": want a list of at least one request body`, shorten(id)))
		return
	}
	var turns []dataset.Turn
	for i, payload := range payloads {
		body, err := parseObject(payload)
		if err != nil {
			fault(fmt.Errorf("payloads[%d]: %w", i, err))
			return
		}
		var compact bytes.Buffer // the white space is that of the document
		if err := json.Compact(&compact, payload); err != nil {
			fault(fmt.Errorf("payloads[%d]: %w", i, err))
			return
		}
		turns = append(turns, dataset.Turn{RawPayload: compact.Bytes(), MaxTokens: outputLimit(body)})
	}
	if err := l.turnHeaders(o, turns); err != nil {
		fault(fmt.Errorf("the session %q: %w", shorten(id), err))
		return
	}
	for _, key := range o.keys {
		if key != "session_id" && key != "payloads" && key != headersKey {
			l.line = LineAt(l.path, at)
			l.warnUnknown(key, nil)
		}
	}
	l.line = 0 // the line of a session without times is never reported
	l.conversation(id).Turns = turns
}

// turnHeaders gives the turns of a session its headers: an object for all of them, or a list with one for each.
func (l inputsReader) turnHeaders(o *object, turns []dataset.Turn) error {
	if !o.isList(headersKey) {
		all, err := l.headers(o)
		withHeaders(turns, all)
		return err
	}
	var list []json.RawMessage
	if json.Unmarshal(o.members[headersKey], &list) != nil || len(list) != len(turns) {
		return fmt.Errorf("field %q: want an object, or a list with an object for each of the %d payloads", headersKey,
			len(turns))
	}
	for i, text := range list {
		one := &object{members: map[string]json.RawMessage{headersKey: text}}
		var err error
		if turns[i].Headers, err = l.headers(one); err != nil {
			return fmt.Errorf("payloads[%d]: %w", i, err)
		}
	}
	return nil
}

// faultOffset returns the place at which the file stops being JSON. A decoder does not report it, so the file
// is read again, as a whole.
func faultOffset(path string) int64 {
	in, err := Open(path)
	if err != nil {
		return 0
	}
	defer in.Close()
	document, err := io.ReadAll(io.LimitReader(in, bounded.MaxDocument))
	if err != nil {
		return 0
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(document, new(json.RawMessage))); ok {
		return syntax.Offset
	}
	return int64(len(document))
}

// startsInputsJSON reports whether a document begins like inputs.json: its first session has payloads.
func startsInputsJSON(path string) bool {
	in, err := Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	dec := json.NewDecoder(io.LimitReader(in, 4*detectLimit))
	for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('[')} {
		if token, err := dec.Token(); err != nil || token != want {
			return false
		}
	}
	var first map[string]json.RawMessage
	return dec.More() && dec.Decode(&first) == nil && first["payloads"] != nil
}

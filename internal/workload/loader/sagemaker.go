package loader

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/scalar"
)

// sageMaker reads what SageMaker's data capture wrote: one file, or all files of a folder and below it.
// Each record is a conversation of one turn; times count from the earliest record.
func (l *load) sageMaker() error {
	files, err := filesBelow(l.path, ".jsonl")
	if err != nil {
		return err
	}
	rows, err := l.rowsOf(files)
	if err != nil {
		return err
	}
	return l.group(rows)
}

// capture reads one record.
func (l *lineReader) capture(line []byte) (r row) {
	o, err := parseObject(line)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	event, err := o.object("eventMetadata")
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	id, _ := event.text("eventId")
	if r, err = l.captured(o, event); err != nil {
		l.errorf("event %q: %v", shorten(id), err)
	}
	return r
}

// captured reads a record of data capture. A request that filters leave out is still a row, marked absent: its time may
// be the first one, from which all others count.
func (l *lineReader) captured(o, event *object) (r row, err error) {
	when, err := event.text("inferenceTime")
	if err != nil {
		return r, err
	}
	at, err := captureTime(when)
	if err != nil {
		return r, err
	}
	data, err := o.object("captureData")
	if err != nil {
		return r, err
	}
	body, err := data.captureBody("endpointInput")
	if err != nil {
		return r, err
	}
	r.kind = messageList
	if json.Unmarshal(body.members["messages"], &r.turn.RawMessages) != nil || len(r.turn.RawMessages) == 0 {
		return r, errors.New(`the request has no "messages": want a list of at least one message`)
	}
	if body.has("tools") && json.Unmarshal(body.members["tools"], &r.turn.RawTools) != nil {
		return r, body.wrong("tools", "a list")
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		if n, err := body.positive(key); err == nil && n != nil {
			r.turn.MaxTokens = n
			break
		}
	}
	// The earliest record is the zero of all, also if it is left out.
	r.turn.TimestampMS = &at
	if l.options.MaxISL > 0 && promptTokens(data) > l.options.MaxISL {
		l.dropped.long++
		r.absent = true
	}
	return r, nil
}

// captureTime reads an ISO 8601 time as milliseconds; one without a zone is UTC.
func captureTime(text string) (float64, error) {
	t, err := scalar.Instant(text)
	if err != nil {
		return 0, fmt.Errorf(`field "inferenceTime": want a time such as 2026-01-31T12:00:00Z, got %q`, shorten(text))
	}
	return float64(t.UnixMicro()) / 1000, nil
}

// captureBody returns the JSON object that was captured on one side of the endpoint.
func (o *object) captureBody(side string) (*object, error) {
	captured, err := o.object(side)
	if err != nil {
		return nil, err
	}
	text, err := captured.text("data")
	if err != nil {
		return nil, err
	}
	encoding, err := captured.text("encoding")
	if err != nil {
		return nil, err
	}
	raw := []byte(text)
	switch strings.ToUpper(encoding) {
	case "JSON":
	case "", "BASE64":
		if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("%s: the data is not base64: %w", side, err)
		}
	default:
		return nil, fmt.Errorf("%s: the encoding %q is not known: want JSON or BASE64", side, shorten(encoding))
	}
	body, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", side, err)
	}
	return body, nil
}

// promptTokens returns the length of the prompt as the recorded reply counted it, 0 if it did not.
func promptTokens(data *object) int {
	reply, err := data.captureBody("endpointOutput")
	if err != nil {
		return 0
	}
	var usage struct {
		Prompt int `json:"prompt_tokens"`
	}
	if json.Unmarshal(reply.members["usage"], &usage) != nil {
		return 0
	}
	return usage.Prompt
}

// object returns a member that is an object itself.
func (o *object) object(key string) (*object, error) {
	if !o.has(key) {
		return nil, fmt.Errorf("field %q is missing", key)
	}
	inner, err := parseObject(o.members[key])
	if err != nil {
		return nil, o.wrong(key, "an object")
	}
	return inner, nil
}

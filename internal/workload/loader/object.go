package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// object is a JSON object with the order of its keys. A member that is null counts as absent.
type object struct {
	keys    []string
	members map[string]json.RawMessage
}

var errNotObject = errors.New("want a JSON object")

// parseObject reads a line that is one JSON object, into its members as they are written. A key that occurs twice is an
// error, since programs disagree about which one counts. The text is copied: its buffer is used again for other lines.
func parseObject(text []byte) (*object, error) {
	if !utf8.Valid(text) {
		if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
			return nil, errors.New("the file is UTF-16 text: convert it to UTF-8")
		}
		return nil, errors.New("the line is not UTF-8 text")
	}
	in := jsonscan.Scanner{Text: bytes.Clone(text)} // the members outlive the line
	o := &object{members: make(map[string]json.RawMessage, 8)}
	for name := range in.Members() {
		key, value := string(name), in.Value()
		if in.At < 0 {
			break
		}
		if _, twice := o.members[key]; twice {
			return nil, fmt.Errorf("the key %q occurs twice in one object", shorten(key))
		}
		o.keys = append(o.keys, key)
		o.members[key] = json.RawMessage(value[:len(value):len(value)])
	}
	if in.End(); in.At >= 0 {
		return o, nil
	}
	if _, fault := jsonscan.FaultOf(in.At); fault == jsonscan.WantEnd {
		return nil, errors.New("more text follows the JSON object on the same line")
	}
	return nil, cmp.Or(syntaxError(text), fmt.Errorf("%w, got %s", errNotObject, shorten(string(text))))
}

// syntaxError returns where text stops being JSON, nil if it is JSON.
func syntaxError(text []byte) error {
	var syntax *json.SyntaxError
	err := json.Unmarshal(text, new(json.RawMessage))
	if !errors.As(err, &syntax) {
		return nil
	}
	at := int(syntax.Offset) - 1
	if at >= len(text)-1 && strings.HasPrefix(syntax.Error(), "unexpected end") || at < 0 || at >= len(text) {
		return jsonError(io.ErrUnexpectedEOF)
	}
	column := utf8.RuneCount(text[:at]) + 1
	found, _ := utf8.DecodeRune(text[at:])
	if found < ' ' {
		return fmt.Errorf("not valid JSON: column %d: a control character in a text", column)
	}
	return fmt.Errorf("not valid JSON: column %d: %q is not expected here", column, string(found))
}

// jsonError returns the error of text that is not JSON, where the place is not known.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || err.Error() == "unexpected end of JSON input":
		return errors.New("not valid JSON: the text ends too early")
	case errors.As(err, &syntax):
		if c := strings.SplitN(syntax.Error(), "'", 3); len(c) == 3 {
			return fmt.Errorf("not valid JSON: %q is not expected here", c[1])
		}
		return errors.New("not valid JSON")
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

func (o *object) has(key string) bool {
	value := o.members[key]
	return value != nil && string(value) != "null"
}

func (o *object) hasAll(keys ...string) bool {
	for _, key := range keys {
		if !o.has(key) {
			return false
		}
	}
	return true
}

func (o *object) isList(key string) bool { return o.has(key) && o.members[key][0] == '[' }

// text returns a string member; "" if it is absent.
func (o *object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	if o.members[key][0] != '"' {
		return "", o.wrong(key, "a string")
	}
	return jsonscan.Text(o.members[key]), nil
}

// number returns a member that is a number.
func (o *object) number(key string) (float64, bool) {
	raw := o.members[key]
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	return x, err == nil
}

// maxMS is about the largest time that nanoseconds can count: 285 years.
const maxMS = 9e12

// milliseconds returns a number from 0 to maxMS; nil if it is absent.
func (o *object) milliseconds(key string) (*float64, error) {
	if !o.has(key) {
		return nil, nil
	}
	ms, ok := o.number(key)
	if !ok || ms < 0 || ms > maxMS {
		return nil, o.wrong(key, "a number of milliseconds of at least 0")
	}
	return &ms, nil
}

// positive returns a whole number above 0; nil if it is absent.
func (o *object) positive(key string) (*int, error) {
	if !o.has(key) {
		return nil, nil
	}
	x, ok := o.number(key)
	if !ok || x < 1 || x != math.Trunc(x) || x > math.MaxInt32 {
		return nil, o.wrong(key, "a whole number above 0")
	}
	n := int(x)
	return &n, nil
}

// fields returns the members of an object member in their order.
func (o *object) fields(key string) ([]dataset.Field, error) {
	if !o.has(key) {
		return nil, nil
	}
	inner, err := parseObject(o.members[key])
	if err != nil {
		if errors.Is(err, errNotObject) {
			return nil, o.wrong(key, "an object")
		}
		return nil, fmt.Errorf("field %q: %w", key, err)
	}
	var fields []dataset.Field
	for _, name := range inner.keys {
		fields = append(fields, dataset.Field{Name: name, Value: inner.members[name]})
	}
	return fields, nil
}

// wrong returns the error of a member that is not what it should be.
func (o *object) wrong(key, want string) error {
	return fmt.Errorf("field %q: want %s, got %s", key, want, shorten(string(o.members[key])))
}

package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"aiperf/internal/dataset"
)

// object is a JSON object that knows the order of its keys. A member that is null counts as absent.
type object struct {
	keys    []string
	members map[string]json.RawMessage
}

var errNoObject = errors.New("want a JSON object")

func parseObject(text []byte) (*object, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the line is not UTF-8 text")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	token, err := dec.Token()
	if err != nil {
		return nil, jsonError(err)
	}
	if token != json.Delim('{') {
		if !json.Valid(text) {
			return nil, jsonError(json.Unmarshal(text, new(any)))
		}
		return nil, fmt.Errorf("%w, got %s", errNoObject, shorten(string(text)))
	}
	o := &object{members: map[string]json.RawMessage{}}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, jsonError(err)
		}
		key, _ := token.(string) // the decoder lets nothing else stand here
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, jsonError(err)
		}
		if _, twice := o.members[key]; twice {
			return nil, fmt.Errorf("the key %q stands twice in one object", shorten(key))
		}
		o.keys = append(o.keys, key)
		o.members[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonError(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more text follows the JSON object on the same line")
	}
	return o, nil
}

func jsonError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("not valid JSON: the text ends too early")
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

// text is a string member; "" if it is absent.
func (o *object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	var s string
	if json.Unmarshal(o.members[key], &s) != nil {
		return "", o.wrong(key, "a string")
	}
	return s, nil
}

// maxMS is about the largest time that nanoseconds can count: 285 years.
const maxMS = 9e12

// milliseconds is a number from 0 to maxMS; nil if it is absent.
func (o *object) milliseconds(key string) (*float64, error) {
	if !o.has(key) {
		return nil, nil
	}
	var ms float64
	if json.Unmarshal(o.members[key], &ms) != nil || ms < 0 || ms > maxMS {
		return nil, o.wrong(key, "a number of milliseconds of at least 0")
	}
	return &ms, nil
}

// positive is a whole number above 0; nil if it is absent.
func (o *object) positive(key string) (*int, error) {
	if !o.has(key) {
		return nil, nil
	}
	var x float64
	if json.Unmarshal(o.members[key], &x) != nil || x < 1 || x != math.Trunc(x) || x > math.MaxInt32 {
		return nil, o.wrong(key, "a whole number above 0")
	}
	n := int(x)
	return &n, nil
}

// fields is the members of an object member in their order.
func (o *object) fields(key string) ([]dataset.Field, error) {
	if !o.has(key) {
		return nil, nil
	}
	inner, err := parseObject(o.members[key])
	if err != nil {
		if errors.Is(err, errNoObject) {
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

// wrong is the error of a member that is not what it should be.
func (o *object) wrong(key, want string) error {
	return fmt.Errorf("field %q: want %s, got %s", key, want, shorten(string(o.members[key])))
}

package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// object is a JSON object whose members keep their order, which templates show.
type object struct {
	names   []string
	members map[string]any
}

// maxChatNesting bounds values within values.
const maxChatNesting = 1000

// decode reads a list of messages.
func decode(messages []byte) ([]any, error) {
	d := json.NewDecoder(bytes.NewReader(messages))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("the messages are not a list")
	}
	return list, nil
}

// decodeValue decodes a value with the order of members kept, which templates that iterate over them show. A member
// that occurs twice has its first place and its last value, as in Python.
func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxChatNesting {
		return nil, fmt.Errorf("the messages are nested deeper than %d levels", maxChatNesting)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := &object{members: map[string]any{}}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			if _, twice := o.members[name.(string)]; !twice {
				o.names = append(o.names, name.(string))
			}
			o.members[name.(string)] = v
		}
		_, err := d.Token()
		return o, err
	}
	return token, nil
}

// python returns a value of JSON as a template in Python would have it.
func python(v any) any {
	switch v := v.(type) {
	case nil:
		return None
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		f, _ := v.Float64() // what is too large is infinite, as in Python
		return f
	case []any:
		for i := range v {
			v[i] = python(v[i])
		}
	case *object:
		values := make([]any, len(v.names))
		for i, name := range v.names {
			values[i] = python(v.members[name])
		}
		return Dict(v.names, values)
	}
	return v
}

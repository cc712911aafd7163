package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"unicode/utf8"
)

// An object, and what is wrong with it, are what the decoder of encoding/json finds.
func FuzzObjectsAgreeWithTheDecoder(f *testing.F) {
	for _, text := range []string{
		`{}`, `{ }`, `{"a":1}`, "{\"a\" :\t[1,{\"b\":\"}\\\"\"}] , \"c\\u0041\":null}\n", `{"a":-1.5e3,"a":2}`,
		`{"a":"é\\","b":true}`, `[1]`, `{"a":{}`, `{"\"":{"x":[]},"z":""}`,
		`{"a":1} x`, `{"a":"\ud800","b":[[],[[]],{}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return // refused before
		}
		line := bytes.Clone(text)
		split, wrong := parseObject(line)
		want, err := decodeObject(text)
		if fmt.Sprint(wrong) != fmt.Sprint(err) {
			t.Fatalf("%q: %v, want %v", text, wrong, err)
		}
		if err != nil {
			return
		}
		clear(line) // what was split does not lie in the line
		if !slices.Equal(split.keys, want.keys) {
			t.Fatalf("%q: keys %q, want %q", text, split.keys, want.keys)
		}
		for key, value := range want.members {
			if !bytes.Equal(split.members[key], value) {
				t.Errorf("%q: %s is %s, want %s", text, key, split.members[key], value)
			}
		}
	})
}

// decodeObject is parseObject by the decoder of encoding/json.
func decodeObject(text []byte) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	token, err := dec.Token()
	if err != nil {
		return nil, cmp.Or(syntaxError(text), jsonError(err))
	}
	if token != json.Delim('{') {
		if err := syntaxError(text); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w, got %s", errNotObject, shorten(string(text)))
	}
	o := &object{members: map[string]json.RawMessage{}}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, cmp.Or(syntaxError(text), jsonError(err))
		}
		key, _ := token.(string) // the decoder lets nothing else stand here
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, cmp.Or(syntaxError(text), jsonError(err))
		}
		if _, twice := o.members[key]; twice {
			return nil, fmt.Errorf("the key %q occurs twice in one object", shorten(key))
		}
		o.keys = append(o.keys, key)
		o.members[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, cmp.Or(syntaxError(text), jsonError(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more text follows the JSON object on the same line")
	}
	return o, nil
}

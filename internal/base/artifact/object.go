// Package artifact writes files: ordered JSON, JSONL and CSV in the number formats of the published files, atomic
// replacement, file names, redaction of secrets.
//
// The invariants: a file appears as a whole or not at all, unless it grows line by line; every line in it is whole; a
// secret given to a [Redactor] reaches no file in any of its spellings. The package must never know what the files are
// about.
package artifact

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Object is a JSON object that keeps the order of its members. Values may be nil, bool, string, any
// integer or float type, json.RawMessage, Object, []any, or slices of the former.
type Object []Member

// Member is one key and its value.
type Member struct {
	Key   string
	Value any
}

// MarshalJSON writes the members in their order, so that an object may stand in a struct.
func (o Object) MarshalJSON() ([]byte, error) { return AppendJSON(nil, o) }

// UnmarshalJSON reads an object as [ParseObject] does; null leaves it as it is.
func (o *Object) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := ParseObject(data)
	if err != nil {
		return &json.UnmarshalTypeError{Value: "value other than an object", Type: reflect.TypeFor[Object]()}
	}
	*o = parsed
	return nil
}

// Get returns the value of a key, and whether the object has it.
func (o Object) Get(key string) (any, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// Sorted returns the object with its members, and those of the objects in it, in the order of their keys.
func (o Object) Sorted() Object {
	out := make(Object, len(o))
	for i, m := range o {
		out[i] = Member{m.Key, Sorted(m.Value)}
	}
	slices.SortStableFunc(out, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Sorted returns a value with the members of all objects in it in the order of their keys.
func Sorted(v any) any {
	switch v := v.(type) {
	case Object:
		return v.Sorted()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Sorted(v[i])
		}
		return out
	}
	return v
}

// Set replaces the value of a key in its place or appends the key.
func (o Object) Set(key string, value any) Object {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = value
			return o
		}
	}
	return append(o, Member{key, value})
}

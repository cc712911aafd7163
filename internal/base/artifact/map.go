package artifact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Map is a JSON object with values of one type that keeps the order of its members, to be written and read as the
// field of a struct (see [ObjectOf]).
type Map[T any] []Entry[T]

// Entry is a member of a [Map].
type Entry[T any] struct {
	Key   string
	Value T
}

// Add appends a member.
func (m *Map[T]) Add(key string, value T) { *m = append(*m, Entry[T]{key, value}) }

// Get returns the value of a key, and whether there is one.
func (m Map[T]) Get(key string) (value T, found bool) {
	for i := range m {
		if m[i].Key == key {
			return m[i].Value, true
		}
	}
	return value, false
}

// MarshalJSON writes the members in their order.
func (m Map[T]) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m.object()) }

// UnmarshalJSON reads an object; null leaves the map as it is.
func (m *Map[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return json.Unmarshal(data, &map[string]T{}) // which says what it is instead
	}
	*m = Map[T]{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value T
		if err := d.Decode(&value); err != nil {
			return err
		}
		m.Add(key.(string), value)
	}
	return nil
}

func (m Map[T]) object() Object {
	o := make(Object, len(m))
	for i, values := 0, reflect.ValueOf(m); i < len(m); i++ {
		o[i] = Member{m[i].Key, memberValue(values.Index(i).Field(1), false)}
	}
	return o
}

// LargestFirst returns counts by name, the largest first.
func LargestFirst(counts map[string]int64) (m Map[int64]) {
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		m.Add(name, counts[name])
	}
	return m
}

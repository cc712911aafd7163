package endpoint

import (
	"bytes"
	"iter"
)

// rawMember is a member of an object; its value is raw JSON text.
type rawMember struct{ key, value []byte }

// members walks the members of a raw object, in order; any other value has none. It serves the rare
// values (usage, errors, tool calls, request bodies); a broken text ends the walk.
func members(raw []byte) iter.Seq[rawMember] {
	return func(yield func(rawMember) bool) {
		i := skipSpace(raw, 0)
		if i >= len(raw) || raw[i] != '{' {
			return
		}
		i, more := open(raw, i, '}', 1)
		for more {
			key, at := member(raw, i)
			if at == bad {
				return
			}
			if i = skipValue(raw, at, 1); i == bad || !yield(rawMember{key, raw[at:i]}) {
				return
			}
			i, more = next(raw, i, '}')
		}
	}
}

// elements walks the elements of a raw array; any other value has none.
func elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(raw, 0)
		if i >= len(raw) || raw[i] != '[' {
			return
		}
		i, more := open(raw, i, ']', 1)
		for more {
			at := skipSpace(raw, i)
			if i = skipValue(raw, at, 1); i == bad || !yield(raw[at:i]) {
				return
			}
			i, more = next(raw, i, ']')
		}
	}
}

// find is the last value of a key in a raw object, nil if there is none.
func find(raw []byte, key string) []byte {
	var value []byte
	for m := range members(raw) {
		if string(m.key) == key {
			value = m.value
		}
	}
	return value
}

// textOf is the text of a raw string; any other value has none.
func textOf(raw []byte) string {
	if !isText(raw) {
		return ""
	}
	return string(appendText(nil, raw))
}

// WithoutNulls is a JSON value without the members whose value is null, at any depth.
func WithoutNulls(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	return appendWithoutNulls(nil, raw)
}

func appendWithoutNulls(dst, raw []byte) []byte {
	n := 0
	comma := func() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
	}
	switch raw[skipSpace(raw, 0)] {
	case '{':
		dst = append(dst, '{')
		for m := range members(raw) {
			if isNull(m.value) {
				continue
			}
			comma()
			dst = append(appendString(dst, m.key), ':')
			dst = appendWithoutNulls(dst, m.value)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for e := range elements(raw) {
			comma()
			dst = appendWithoutNulls(dst, e)
		}
		return append(dst, ']')
	}
	return appendValue(dst, raw)
}

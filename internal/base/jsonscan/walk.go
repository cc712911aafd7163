package jsonscan

import "iter"

// Member is a member of an object. The key is decoded, the value raw.
type Member struct{ Key, Value []byte }

// Members walks over the members of a raw object, in order; any other value has none. A fault ends the walk.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		i := Space(raw, 0)
		if i >= len(raw) || raw[i] != '{' {
			return
		}
		i, more := Open(raw, i, '}', 1)
		for more {
			key, at := Key(raw, i)
			if at < 0 {
				return
			}
			if i = Value(raw, at, 1); i < 0 || !yield(Member{key, raw[at:i]}) {
				return
			}
			i, more = Next(raw, i, '}')
		}
	}
}

// Elements walks over the elements of a raw array; any other value has none. A fault ends the walk.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := Space(raw, 0)
		if i >= len(raw) || raw[i] != '[' {
			return
		}
		i, more := Open(raw, i, ']', 1)
		for more {
			at := Space(raw, i)
			if i = Value(raw, at, 1); i < 0 || !yield(raw[at:i]) {
				return
			}
			i, more = Next(raw, i, ']')
		}
	}
}

// Find returns the last value of a key in a raw object, nil if there is none.
func Find(raw []byte, key string) []byte {
	var value []byte
	for m := range Members(raw) {
		if string(m.Key) == key {
			value = m.Value
		}
	}
	return value
}

// FindText returns the text of the last value of a key, "" if there is none or it is not a string.
func FindText(raw []byte, key string) string { return Text(Find(raw, key)) }

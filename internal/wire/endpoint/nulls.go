package endpoint

import (
	"bytes"

	"aiperf/internal/base/jsonscan"
)

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
	switch raw[jsonscan.Space(raw, 0)] {
	case '{':
		dst = append(dst, '{')
		for m := range jsonscan.Members(raw) {
			if jsonscan.IsNull(m.Value) {
				continue
			}
			comma()
			dst = append(jsonscan.AppendString(dst, m.Key), ':')
			dst = appendWithoutNulls(dst, m.Value)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for e := range jsonscan.Elements(raw) {
			comma()
			dst = appendWithoutNulls(dst, e)
		}
		return append(dst, ']')
	}
	return jsonscan.AppendCompact(dst, raw)
}

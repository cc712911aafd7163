package jsonscan

import "bytes"

// WithoutNulls returns a raw value without the members whose value is null, at any depth, compact if there may be one.
// Elements of arrays stay, because their place counts. raw must be valid.
func WithoutNulls(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	return appendWithoutNulls(nil, raw)
}

// appendWithoutNulls appends a value without the members that are null, at any depth. Elements that are null stay:
// without them the others would move.
func appendWithoutNulls(dst, raw []byte) []byte {
	n := 0
	comma := func() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
	}
	switch raw[Space(raw, 0)] {
	case '{':
		dst = append(dst, '{')
		for m := range Members(raw) {
			if IsNull(m.Value) {
				continue
			}
			comma()
			dst = append(AppendString(dst, m.Key), ':')
			dst = appendWithoutNulls(dst, m.Value)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for e := range Elements(raw) {
			comma()
			dst = appendWithoutNulls(dst, e)
		}
		return append(dst, ']')
	}
	return AppendCompact(dst, raw)
}

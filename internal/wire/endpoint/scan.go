package endpoint

import (
	"encoding/binary"
	"math/bits"
)

// The scanner walks JSON text in place and allocates nothing. Its functions take the text and the
// position of a value and return the position after it, or bad. It accepts exactly what
// encoding/json accepts, so that a text is either read whole or not at all.

const (
	bad = -1
	// maxDepth is the nesting that encoding/json allows.
	maxDepth = 10000
)

// skipSpace returns the position of the next byte that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipDocument checks that the value at i is the whole rest of the text.
func skipDocument(b []byte, i int) bool {
	i = skipValue(b, skipSpace(b, i), 0)
	return i != bad && skipSpace(b, i) == len(b)
}

// skipValue passes over one value of any kind.
func skipValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return bad
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{':
		return skipObject(b, i, depth+1)
	case c == '[':
		return skipArray(b, i, depth+1)
	case c == 'n':
		return skipLiteral(b, i, "null")
	case c == 't':
		return skipLiteral(b, i, "true")
	case c == 'f':
		return skipLiteral(b, i, "false")
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(b, i)
	}
	return bad
}

func skipLiteral(b []byte, i int, literal string) int {
	if len(b)-i < len(literal) || string(b[i:i+len(literal)]) != literal {
		return bad
	}
	return i + len(literal)
}

func skipObject(b []byte, i, depth int) int {
	i, more := open(b, i, '}', depth)
	for more {
		var at int
		if _, at = member(b, i); at == bad {
			return bad
		}
		if i = skipValue(b, at, depth); i == bad {
			return bad
		}
		i, more = next(b, i, '}')
	}
	return i
}

func skipArray(b []byte, i, depth int) int {
	i, more := open(b, i, ']', depth)
	for more {
		if i = skipValue(b, skipSpace(b, i), depth); i == bad {
			return bad
		}
		i, more = next(b, i, ']')
	}
	return i
}

// open enters the object or array at i. more tells that it has a first element, which begins at the
// returned position or after white space; otherwise the position is the one after it, or bad.
func open(b []byte, i int, end byte, depth int) (at int, more bool) {
	if depth > maxDepth {
		return bad, false
	}
	i = skipSpace(b, i+1)
	if i >= len(b) {
		return bad, false
	}
	if b[i] == end {
		return i + 1, false
	}
	return i, true
}

// next moves from the end of an element to the next one; it returns as open does.
func next(b []byte, i int, end byte) (at int, more bool) {
	if i < len(b) && b[i] == ',' {
		return i + 1, true
	}
	if i = skipSpace(b, i); i < len(b) {
		switch b[i] {
		case ',':
			return i + 1, true
		case end:
			return i + 1, false
		}
	}
	return bad, false
}

// member reads a key and the colon after it. It returns the key without quotes, decoded if need be,
// and the position of the value.
func member(b []byte, i int) (key []byte, at int) {
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != '"' {
		return nil, bad
	}
	end, escaped := scanString(b, i)
	if end == bad {
		return nil, bad
	}
	if key = b[i+1 : end-1]; escaped {
		key = appendText(nil, b[i:end])
	}
	if end = skipSpace(b, end); end >= len(b) || b[end] != ':' {
		return nil, bad
	}
	if end++; end < len(b) && b[end] > ' ' {
		return key, end
	}
	return key, skipSpace(b, end)
}

func skipString(b []byte, i int) int {
	end, _ := scanString(b, i)
	return end
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanString passes over the string at i and tells whether it holds escapes. Eight bytes are looked
// at together: a quote, a backslash or a control character in any of them ends the fast walk.
func scanString(b []byte, i int) (end int, escaped bool) {
	i++
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote, slash := x^(ones*'"'), x^(ones*'\\')
			hit := ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs
			if hit != 0 {
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return bad, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = skipEscape(b, i); i == bad {
				return bad, false
			}
		case c < ' ':
			return bad, false
		default:
			i++
		}
	}
}

// skipEscape passes over the escape at i.
func skipEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return bad
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if hex4(b, i+2) >= 0 {
			return i + 6
		}
	}
	return bad
}

// hex4 is the value of the four hexadecimal digits at i, or -1.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// skipNumber passes over a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(b, i); i == start || b[start] == '0' && i > start+1 {
		return bad
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = skipDigits(b, start); i == start {
			return bad
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(b, start); i == start {
			return bad
		}
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

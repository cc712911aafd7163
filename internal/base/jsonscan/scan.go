// Package jsonscan reads JSON in place: texts too hot, too large or too foreign for encoding/json, which builds what it
// reads.
//
// The functions take a text and a position in it and return the position after what they passed over. A negative one
// says that the text is wrong; [FaultOf] returns where and how. [Members], [Elements] and [Find] walk over a value that
// is known to be right, or whose faults do not matter; a [Scanner] reads a text from left to right and keeps its first
// fault. Values are returned as they are in the text: [AppendText] decodes a string, strconv a number;
// [AppendString] and [AppendCompact] write them again.
//
// What holds:
//
//   - Reading copies and allocates nothing, except for keys with an escape.
//   - Nesting is bounded by [MaxDepth].
//   - [Valid], and every walk that comes to its end, accepts exactly what encoding/json accepts. [Skim] accepts more:
//     it looks at brackets and quotes alone.
//   - A string decodes to what encoding/json makes of it: half a surrogate pair and invalid UTF-8 become U+FFFD.
//   - Unlike encoding/json, keys count in their own case, a key that occurs twice is returned twice, and a key
//     without an escape is returned as it is, even if it is not UTF-8.
//
// The package must never know what a text is about: no endpoint, no record, no message of an error.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// MaxDepth is the nesting that encoding/json allows.
const MaxDepth = 10000

// Valid reports whether a text is one JSON value.
func Valid(b []byte) bool { return Document(b, 0) >= 0 }

// Document passes over the value that is all of the text from i on.
func Document(b []byte, i int) int {
	if i = Value(b, Space(b, i), 0); i < 0 {
		return i
	}
	return End(b, i)
}

// End passes over the white space at the end of the text; anything else is wrong.
func End(b []byte, i int) int {
	if i = Space(b, i); i < len(b) {
		return WantEnd.at(i)
	}
	return i
}

// Space returns the position of the next byte that is not white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// Value passes over the value of any kind that begins at i. depth is the number of values around it.
func Value(b []byte, i, depth int) int {
	if i >= len(b) {
		return WantValue.at(i)
	}
	switch c := b[i]; {
	case c == '"':
		end, _ := String(b, i)
		return end
	case c == '{':
		return object(b, i, depth+1)
	case c == '[':
		return array(b, i, depth+1)
	case c == 'n':
		return literal(b, i, "null")
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == '-' || '0' <= c && c <= '9':
		return number(b, i)
	}
	return WantValue.at(i)
}

// Skim passes over the value that begins at i and looks only for its end: strings have one, as many brackets are closed
// as opened. It is for values that are read afterwards, or that nobody reads.
func Skim(b []byte, i int) int {
	for depth := 0; ; {
		if i >= len(b) {
			return WantValue.at(i)
		}
		switch b[i] {
		case '"':
			if i = skimString(b, i); i < 0 {
				return i
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth--; depth < 0 {
				return WantValue.at(i)
			}
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return WantValue.at(i)
			}
			i++
		default:
			i = Word(b, i+1)
		}
		if depth == 0 {
			return i
		}
	}
}

func skimString(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return UnterminatedString.at(len(b))
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// Word passes over what is not a bracket, string, comma, colon or white space: a number, a literal, or neither.
func Word(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\r', '\t', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

func literal(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return WantValue.at(i)
	}
	return i + len(word)
}

func object(b []byte, i, depth int) int {
	i, more := Open(b, i, '}', depth)
	for more {
		if _, i = Key(b, i); i < 0 {
			return i
		}
		if i = Value(b, i, depth); i < 0 {
			return i
		}
		i, more = Next(b, i, '}')
	}
	return i
}

func array(b []byte, i, depth int) int {
	i, more := Open(b, i, ']', depth)
	for more {
		if i = Value(b, Space(b, i), depth); i < 0 {
			return i
		}
		i, more = Next(b, i, ']')
	}
	return i
}

// Open enters the object or array at i, whose closing bracket is end. more reports that an element must follow at the
// returned position or after white space; otherwise the position is the one after the closing bracket.
func Open(b []byte, i int, end byte, depth int) (at int, more bool) {
	if depth > MaxDepth {
		return TooDeep.at(i + 1), false
	}
	if i = Space(b, i+1); i < len(b) && b[i] == end {
		return i + 1, false
	}
	return i, true
}

// Next moves from the end of an element to the next one; it returns as [Open] does.
func Next(b []byte, i int, end byte) (at int, more bool) {
	if i < len(b) && b[i] == ',' {
		return i + 1, true
	}
	if i = Space(b, i); i < len(b) {
		switch b[i] {
		case ',':
			return i + 1, true
		case end:
			return i + 1, false
		}
	}
	if end == '}' {
		return WantBrace.at(i), false
	}
	return WantBracket.at(i), false
}

// Key reads a key and the colon after it. It returns the key without quotes, decoded if need be, and the position of
// the value.
func Key(b []byte, i int) (key []byte, at int) {
	i = Space(b, i)
	if i >= len(b) || b[i] != '"' {
		return nil, WantKey.at(i)
	}
	end, escaped := String(b, i)
	if end < 0 {
		return nil, end
	}
	if key = b[i+1 : end-1]; escaped {
		key = AppendText(nil, b[i:end])
	}
	if end = Space(b, end); end >= len(b) || b[end] != ':' {
		return nil, WantColon.at(end)
	}
	if end++; end < len(b) && b[end] > ' ' {
		return key, end
	}
	return key, Space(b, end)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// String passes over the string at i and reports whether it holds escapes. Eight bytes are examined together: a quote,
// a backslash or a control character in any of them ends the fast walk.
func String(b []byte, i int) (end int, escaped bool) {
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
			return UnterminatedString.at(len(b)), false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = escape(b, i); i < 0 {
				return i, false
			}
		case c < ' ':
			return ControlCharacter.at(i), false
		default:
			i++
		}
	}
}

// escape passes over the escape at i.
func escape(b []byte, i int) int {
	if i+1 < len(b) {
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return i + 2
		case 'u':
			if hex4(b, i+2) >= 0 {
				return i + 6
			}
		}
	}
	return InvalidEscape.at(i)
}

// hex4 returns the value of the four hexadecimal digits at i, or -1.
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

// number passes over a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digits(b, i); i == start {
		return MalformedNumber.at(i)
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return MalformedNumber.at(i)
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return MalformedNumber.at(i)
		}
	}
	return i
}

// Int reads the whole number at i. A fraction, an exponent and what no int64 holds are faults.
func Int(b []byte, i int) (n int64, end int) {
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	size := i - start
	if size == 0 || size > 19 || n < 0 || b[start] == '0' && size > 1 ||
		i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return 0, MalformedNumber.at(start)
	}
	if negative {
		n = -n
	}
	return n, i
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

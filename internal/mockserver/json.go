package mockserver

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of a request body.
const maxJSONDepth = 1000

// scanner pulls values out of JSON text, left to right, without building a tree. It accepts exactly
// the JSON grammar. The first error stays in bad; after it every method returns a zero value.
type scanner struct {
	data  []byte
	pos   int
	depth int
	bad   string
}

func (s *scanner) fail(what string) {
	if s.bad == "" {
		s.bad = what + " at byte " + strconv.Itoa(s.pos)
		s.pos = len(s.data)
	}
}

// kind is the first byte of the next value ('0' for any number), or 0 when there is none.
func (s *scanner) kind() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return '0'
		default:
			return c
		}
	}
	return 0
}

// end demands that nothing follows.
func (s *scanner) end() {
	if s.kind() != 0 || s.pos < len(s.data) {
		s.fail("unexpected text after the value")
	}
}

// open enters an object or array whose bracket was seen by kind.
func (s *scanner) open() {
	s.pos++
	if s.depth++; s.depth > maxJSONDepth {
		s.fail("too deeply nested")
	}
}

// more steps to the next member or element and tells whether there is one; closing is the bracket
// that ends the surrounding value. The first call of a value passes first.
func (s *scanner) more(first bool, closing byte) bool {
	c := s.kind()
	switch {
	case s.bad != "":
		return false
	case c == closing:
		s.pos++
		s.depth--
		return false
	case first:
		return true
	case c != ',':
		s.fail("expected , or " + string(closing))
		return false
	}
	s.pos++
	return true
}

// key reads a member's name and its colon. The name is as written, without the quotes; a name with
// an escape in it is decoded.
func (s *scanner) key() []byte {
	if s.kind() != '"' {
		s.fail("expected a member name")
		return nil
	}
	name, plain := s.rawString()
	if s.kind() != ':' {
		s.fail("expected :")
		return nil
	}
	s.pos++
	if !plain {
		name = appendUnescaped(nil, name)
	}
	return name
}

// skip reads over one value of any kind and returns its text.
func (s *scanner) skip() []byte {
	c := s.kind()
	start := s.pos
	switch c {
	case '{':
		s.open()
		for first := true; s.more(first, '}'); first = false {
			s.key()
			s.skip()
		}
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			s.skip()
		}
	case '"':
		s.rawString()
	case '0':
		s.number()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.fail("expected a value")
	}
	if s.bad != "" {
		return nil
	}
	return s.data[start:s.pos]
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		s.fail("expected a value")
		return
	}
	s.pos += len(word)
}

// rawString reads a string and returns what stands between its quotes; plain means no escapes.
func (s *scanner) rawString() (raw []byte, plain bool) {
	s.pos++
	start := s.pos
	plain = true
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			raw = s.data[start:s.pos]
			s.pos++
			return raw, plain
		case c == '\\':
			plain = false
			if !s.escape() {
				s.fail("invalid escape in a string")
				return nil, false
			}
		case c < ' ':
			s.fail("control character in a string")
			return nil, false
		default:
			s.pos++
		}
	}
	s.fail("unterminated string")
	return nil, false
}

func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.data) {
		return false
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		if s.pos+6 > len(s.data) {
			return false
		}
		for _, b := range s.data[s.pos+2 : s.pos+6] {
			if unhex(b) < 0 {
				return false
			}
		}
		s.pos += 6
		return true
	}
	return false
}

// number reads a number and returns its text.
func (s *scanner) number() []byte {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		s.fail("malformed number")
		return nil
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			s.fail("malformed number")
			return nil
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			s.fail("malformed number")
			return nil
		}
	}
	return s.data[start:s.pos]
}

func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

// appendText appends the decoded text of a string value to dst.
func (s *scanner) appendText(dst []byte) []byte {
	raw, plain := s.rawString()
	if plain {
		return append(dst, raw...)
	}
	return appendUnescaped(dst, raw)
}

// appendUnescaped decodes what rawString accepted. Halves of surrogate pairs become U+FFFD.
func appendUnescaped(dst, raw []byte) []byte {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := rune4(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = rune4(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func rune4(hex []byte) rune {
	return rune(unhex(hex[0])<<12 | unhex(hex[1])<<8 | unhex(hex[2])<<4 | unhex(hex[3]))
}

// integer is the value of a number's text if that is a whole number (1e2 and 50.0 are).
func integer(text []byte) (int, bool) {
	n := 0
	for _, b := range text {
		if b < '0' || b > '9' || n > math.MaxInt32 {
			f, err := strconv.ParseFloat(string(text), 64)
			if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
				return 0, false
			}
			return int(f), true
		}
		n = n*10 + int(b-'0')
	}
	return n, n <= math.MaxInt32
}

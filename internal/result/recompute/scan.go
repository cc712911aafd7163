package recompute

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// scanner reads a line of JSON from left to right, without building a tree.
type scanner struct {
	text []byte
	at   int
	err  error // the first; from then on everything is empty
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d: %s", s.at+1, fmt.Sprintf(format, args...))
		s.at = len(s.text)
	}
}

// peek is the next byte that is no white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte) bool {
	if s.peek() != c {
		s.fail("expected %q", string(c))
		return false
	}
	s.at++
	return true
}

// each calls do for each member of an object, which must read the value.
func (s *scanner) each(do func(key []byte)) {
	if !s.expect('{') {
		return
	}
	if s.peek() == '}' {
		s.at++
		return
	}
	for s.err == nil {
		key := s.str()
		if !s.expect(':') {
			return
		}
		do(key)
		if s.peek() == ',' {
			s.at++
			continue
		}
		s.expect('}')
		return
	}
}

// items calls do for each element of a list, which must read it.
func (s *scanner) items(do func()) {
	if !s.expect('[') {
		return
	}
	if s.peek() == ']' {
		s.at++
		return
	}
	for s.err == nil {
		do()
		if s.peek() == ',' {
			s.at++
			continue
		}
		s.expect(']')
		return
	}
}

// raw reads a string as it stands, without its quotes.
func (s *scanner) raw() (text []byte, escaped bool) {
	if !s.expect('"') {
		return nil, false
	}
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.at++
			return s.text[start : s.at-1], escaped
		case '\\':
			escaped = true
			s.at++
		}
	}
	s.fail("the string has no end")
	return nil, false
}

// str reads a string.
func (s *scanner) str() []byte {
	start := s.at
	text, escaped := s.raw()
	if !escaped {
		return text
	}
	var out string
	s.peek()
	if err := json.Unmarshal(s.text[start:s.at], &out); err != nil {
		s.fail("%v", err)
		return nil
	}
	return []byte(out)
}

// number reads a number; null is 0.
func (s *scanner) number() float64 {
	token := s.token()
	if string(token) == "null" {
		return 0
	}
	v, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		s.fail("expected a number, found %q", token)
	}
	return v
}

// integer reads an integer; null is 0.
func (s *scanner) integer() int64 {
	token := s.token()
	if string(token) == "null" {
		return 0
	}
	v, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		s.fail("expected an integer, found %q", token)
	}
	return v
}

// token reads a value that is neither string, object nor list.
func (s *scanner) token() []byte {
	s.peek()
	start := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', ':', '"', '{', '[':
			return s.text[start:s.at]
		}
		s.at++
	}
	return s.text[start:s.at]
}

// skip reads any value and returns its text; within lists and objects it only looks where they end.
func (s *scanner) skip() []byte {
	s.peek()
	start := s.at
	for depth := 0; s.err == nil; {
		switch c := s.peek(); c {
		case '"':
			s.raw()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			if depth > 0 {
				s.at++
				continue
			}
			fallthrough
		default:
			if len(s.token()) == 0 {
				s.fail("expected a value")
			}
		}
		if depth <= 0 && s.err == nil {
			return s.text[start:s.at]
		}
	}
	return nil
}

// end wants nothing more to follow.
func (s *scanner) end() {
	if s.err == nil && s.peek() != 0 {
		s.fail("unexpected text after the object")
	}
}

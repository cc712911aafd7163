package recompute

import (
	"fmt"
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// scanner reads a line of JSON from left to right. Values that nobody reads are not checked.
type scanner struct {
	jsonscan.Scanner
	err error // what fail says
}

func newScanner(text []byte, at int) scanner {
	return scanner{Scanner: jsonscan.Scanner{Text: text, At: at}}
}

// fail ends the reading, unless it is over.
func (s *scanner) fail(format string, args ...any) {
	if s.At >= 0 {
		s.err = fmt.Errorf("column %d: %s", s.At+1, fmt.Sprintf(format, args...))
		s.Fail(jsonscan.WantValue)
	}
}

var faults = map[jsonscan.Fault]string{
	jsonscan.WantObject: `expected "{"`, jsonscan.WantArray: `expected "["`, jsonscan.WantKey: `expected "\""`,
	jsonscan.WantColon: `expected ":"`, jsonscan.WantBrace: `expected "}"`, jsonscan.WantBracket: `expected "]"`,
	jsonscan.WantValue: "expected a value", jsonscan.WantEnd: "unexpected text after the object",
	jsonscan.UnterminatedString: "the string has no end", jsonscan.InvalidEscape: "invalid escape in a string",
	jsonscan.ControlCharacter: "control character in a string", jsonscan.TooDeep: "too deeply nested",
}

// fault is the first that was found, nil if there was none.
func (s *scanner) fault() error {
	if s.At >= 0 || s.err != nil {
		return s.err
	}
	at, fault := jsonscan.FaultOf(s.At)
	return fmt.Errorf("column %d: %s", at+1, faults[fault])
}

// str reads a string.
func (s *scanner) str() []byte {
	if s.Peek() != '"' {
		s.Fail(jsonscan.WantKey)
		return nil
	}
	start := s.At
	end, escaped := jsonscan.String(s.Text, start)
	if s.At = end; end < 0 {
		return nil
	}
	if escaped {
		return jsonscan.AppendText(nil, s.Text[start:end])
	}
	return s.Text[start+1 : end-1]
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
	s.Peek()
	if s.At < 0 {
		return nil
	}
	start := s.At
	s.At = jsonscan.Word(s.Text, start)
	return s.Text[start:s.At]
}

// skip reads any value and returns its text.
func (s *scanner) skip() []byte {
	s.Peek()
	if s.At < 0 {
		return nil
	}
	start := s.At
	if s.At = jsonscan.Skim(s.Text, start); s.At < 0 {
		return nil
	}
	return s.Text[start:s.At]
}

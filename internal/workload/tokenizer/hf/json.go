package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"aiperf/internal/base/jsonscan"
)

// jsonReader walks over JSON text without building a tree: vocabularies hold hundreds of thousands of entries. The
// strings that it returns lie in the text where they can.
type jsonReader struct {
	b  []byte
	at int
}

// peek returns the next character that is no white space, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at = jsonscan.Space(r.b, r.at); r.at < len(r.b) {
		return r.b[r.at]
	}
	return 0
}

func inPlace(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// take takes a character.
func (r *jsonReader) take(want byte) error {
	if r.peek() != want {
		return r.want(strconv.Quote(string(want)))
	}
	r.at++
	return nil
}

func (r *jsonReader) want(what string) error {
	if r.at >= len(r.b) {
		return fmt.Errorf("expected %s, found the end of the text", what)
	}
	c, _ := utf8.DecodeRune(r.b[r.at:])
	return fmt.Errorf("expected %s, found %q at byte %d", what, c, r.at)
}

// more moves to the n-th element of an object or array; at its end it takes the closing character.
func (r *jsonReader) more(n int, end byte) (bool, error) {
	c := r.peek()
	if c == end {
		r.at++
		return false, nil
	}
	if n == 0 {
		return true, nil
	}
	if c != ',' {
		return false, r.want("',' or '" + string(end) + "'")
	}
	r.at++
	if r.peek() == end {
		return false, r.want("an element behind ','")
	}
	return true, nil
}

// value reads a value without parsing it: it finds its end only.
func (r *jsonReader) value() ([]byte, error) {
	r.peek()
	start := r.at
	if r.at = jsonscan.Skim(r.b, start); r.at < 0 {
		switch at, fault := jsonscan.FaultOf(r.at); {
		case fault == jsonscan.UnterminatedString:
			return nil, errNotClosed
		case at > start:
			return nil, errors.New("the text ends before a bracket is closed")
		}
		r.at = start
	}
	return r.b[start:r.at], nil
}

var errNotClosed = errors.New("a string is not closed")

// object takes the members of an object: large ones are taken by their own function, the others are read into to.
func (r *jsonReader) object(to any, large map[string]func() error) error {
	if err := r.take('{'); err != nil {
		return err
	}
	rest := []byte{'{'}
	for n := 0; ; n++ {
		if more, err := r.more(n, '}'); err != nil {
			return err
		} else if !more {
			return json.Unmarshal(append(rest, '}'), to)
		}
		start := r.at
		key, err := r.text()
		if err != nil {
			return err
		}
		name := r.b[start:r.at]
		if err := r.take(':'); err != nil {
			return err
		}
		if take, ok := large[key]; ok {
			if err := take(); err != nil {
				return err
			}
			continue
		}
		value, err := r.value()
		if err != nil {
			return err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), value...)
	}
}

// end fails where something follows.
func (r *jsonReader) end() error {
	if r.peek() != 0 || r.at < len(r.b) {
		return r.want("the end of the text")
	}
	return nil
}

// text takes a string.
func (r *jsonReader) text() (string, error) {
	if r.peek() != '"' {
		return "", r.want("a string")
	}
	start := r.at
	end, escaped := jsonscan.String(r.b, start)
	if end < 0 {
		return "", r.broken(end)
	}
	r.at = end
	s := r.b[start+1 : end-1]
	if escaped {
		s = jsonscan.AppendText(make([]byte, 0, len(s)), r.b[start:end])
	}
	return inPlace(s), nil
}

// broken returns what is wrong with a string.
func (r *jsonReader) broken(end int) error {
	at, fault := jsonscan.FaultOf(end)
	r.at = at
	switch {
	case fault == jsonscan.ControlCharacter:
		return r.want("no control character in a string")
	case fault == jsonscan.UnterminatedString || at+1 == len(r.b):
		return errNotClosed
	}
	if r.at++; r.b[r.at] == 'u' {
		r.at++
		return r.want(`four digits behind \u`)
	}
	return r.want(`an escape behind \`)
}

// number takes a number.
func (r *jsonReader) number() (float64, error) {
	r.peek()
	start := r.at
	for r.at < len(r.b) && strings.IndexByte("+-0123456789.eE", r.b[r.at]) >= 0 {
		r.at++
	}
	if r.at == start {
		return 0, r.want("a number")
	}
	return strconv.ParseFloat(inPlace(r.b[start:r.at]), 64)
}

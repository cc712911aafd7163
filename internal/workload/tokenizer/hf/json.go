package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader walks over JSON text without building a tree: vocabularies hold hundreds of thousands of entries.
type reader struct {
	s  string
	at int
}

func (r *reader) blanks() {
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// peek is the next character that is no white space, 0 at the end.
func (r *reader) peek() byte {
	r.blanks()
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

// take takes a character.
func (r *reader) take(want byte) error {
	if r.peek() != want {
		return r.want(strconv.Quote(string(want)))
	}
	r.at++
	return nil
}

func (r *reader) want(what string) error {
	if r.at >= len(r.s) {
		return fmt.Errorf("want %s where the text ends", what)
	}
	c, _ := utf8.DecodeRuneInString(r.s[r.at:])
	return fmt.Errorf("want %s where %q stands, at byte %d", what, c, r.at)
}

// more goes to the n-th element of an object or array; at its end it takes the closing character.
func (r *reader) more(n int, end byte) (bool, error) {
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

// value takes a value as it is spelled. Strings inside it are skipped and brackets counted, nothing else is
// looked at.
func (r *reader) value() (string, error) {
	r.blanks()
	start, depth := r.at, 0
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case '"':
			if !r.skipString() {
				return "", errors.New("a string is not closed")
			}
			if depth == 0 {
				return r.s[start:r.at], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return r.s[start:r.at], nil
			}
			if depth == 0 {
				r.at++
				return r.s[start:r.at], nil
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return r.s[start:r.at], nil
			}
		}
		r.at++
	}
	if depth > 0 {
		return "", errors.New("the text ends before a bracket is closed")
	}
	return r.s[start:], nil
}

// skipString goes behind the string that starts here.
func (r *reader) skipString() bool {
	for r.at++; ; r.at++ {
		n := strings.IndexByte(r.s[r.at:], '"')
		if n < 0 {
			r.at = len(r.s)
			return false
		}
		r.at += n
		slashes := 0
		for r.s[r.at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			r.at++
			return true
		}
	}
}

// object takes the members of an object: large ones are taken by their own function, the others are read into to.
func (r *reader) object(to any, large map[string]func() error) error {
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
		name := r.s[start:r.at]
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
func (r *reader) end() error {
	if r.peek() != 0 || r.at < len(r.s) {
		return r.want("the end of the text")
	}
	return nil
}

// text takes a string.
func (r *reader) text() (string, error) {
	if r.peek() != '"' {
		return "", r.want("a string")
	}
	r.at++
	start := r.at
	for i := start; i < len(r.s); i++ {
		switch c := r.s[i]; {
		case c == '"':
			r.at = i + 1
			return r.s[start:i], nil
		case c == '\\':
			r.at = i
			return r.escaped(start)
		case c < ' ':
			r.at = i
			return "", r.want("no control character in a string")
		}
	}
	return "", errors.New("a string is not closed")
}

func (r *reader) escaped(start int) (string, error) {
	var b strings.Builder
	b.WriteString(r.s[start:r.at])
	for r.at < len(r.s) {
		c := r.s[r.at]
		r.at++
		switch {
		case c == '"':
			return b.String(), nil
		case c < ' ':
			r.at--
			return "", r.want("no control character in a string")
		case c != '\\':
			b.WriteByte(c)
		case r.at < len(r.s):
			e := r.s[r.at]
			r.at++
			switch e {
			case 'u':
				c, ok := r.unicode()
				if !ok {
					return "", r.want(`four digits behind \u`)
				}
				b.WriteRune(c)
			case 'n', 't', 'r', 'b', 'f':
				b.WriteByte("\n\t\r\b\f"[strings.IndexByte("ntrbf", e)])
			case '"', '\\', '/':
				b.WriteByte(e)
			default:
				r.at--
				return "", r.want(`an escape behind \`)
			}
		}
	}
	return "", errors.New("a string is not closed")
}

// unicode takes the digits of a \u escape, and a second one if they make a pair.
func (r *reader) unicode() (rune, bool) {
	one, ok := r.hex(r.at)
	if !ok {
		return 0, false
	}
	r.at += 4
	if !utf16.IsSurrogate(one) {
		return one, true
	}
	if strings.HasPrefix(r.s[r.at:], `\u`) {
		if two, ok := r.hex(r.at + 2); ok {
			if c := utf16.DecodeRune(one, two); c != utf8.RuneError {
				r.at += 6
				return c, true
			}
		}
	}
	return utf8.RuneError, true
}

func (r *reader) hex(at int) (rune, bool) {
	if at+4 > len(r.s) {
		return 0, false
	}
	v, err := strconv.ParseUint(r.s[at:at+4], 16, 16)
	return rune(v), err == nil
}

// number takes a number.
func (r *reader) number() (float64, error) {
	r.blanks()
	start := r.at
	for r.at < len(r.s) && strings.IndexByte("+-0123456789.eE", r.s[r.at]) >= 0 {
		r.at++
	}
	if r.at == start {
		return 0, r.want("a number")
	}
	return strconv.ParseFloat(r.s[start:r.at], 64)
}

// small takes up to nine digits; ok tells that they are a whole number.
func (r *reader) small() (n int32, ok bool) {
	r.blanks()
	start := r.at
	for r.at < len(r.s) && r.at-start < 10 && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		n = n*10 + int32(r.s[r.at]-'0')
		r.at++
	}
	if size := r.at - start; size == 0 || size > 9 || r.at < len(r.s) && strings.IndexByte(".eE+-", r.s[r.at]) >= 0 {
		return 0, false
	}
	return n, true
}

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

// reader walks over JSON text that is known to be valid, without building a tree: vocabularies hold
// hundreds of thousands of entries.
type reader struct {
	s  string
	at int
}

// value takes a value as it is spelled. Strings inside it are skipped, nothing else is looked at.
func (r *reader) value() string {
	r.next()
	start, depth := r.at, 0
	for r.at < len(r.s) {
		switch c := r.s[r.at]; c {
		case '"':
			for r.at++; r.at < len(r.s) && r.s[r.at] != '"'; r.at++ {
				if r.s[r.at] == '\\' {
					r.at++
				}
			}
			if r.at = min(r.at+1, len(r.s)); depth == 0 {
				return r.s[start:r.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return r.s[start:r.at]
			}
			if depth--; depth == 0 {
				r.at++
				return r.s[start:r.at]
			}
		case ',':
			if depth == 0 {
				return strings.TrimRight(r.s[start:r.at], " \t\r\n")
			}
		}
		r.at++
	}
	return r.s[start:]
}

// object takes the members of an object: large ones are kept as they are spelled, the others are read into to.
func (r *reader) object(to any, large map[string]*string) error {
	if err := r.enter('{'); err != nil {
		return err
	}
	rest := []byte{'{'}
	for !r.leaves('}') {
		start := r.at
		key, err := r.text()
		if err != nil {
			return err
		}
		name := r.s[start:r.at]
		value := r.value()
		if place, ok := large[key]; ok {
			*place = value
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), value...)
	}
	return json.Unmarshal(append(rest, '}'), to)
}

// next is the next character that is no white space or separator, 0 at the end.
func (r *reader) next() byte {
	for r.at < len(r.s) {
		switch c := r.s[r.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// enter takes the character that opens an object or array.
func (r *reader) enter(open byte) error {
	if c := r.next(); c != open {
		return fmt.Errorf("want %q where %q stands", string(open), string(c))
	}
	r.at++
	return nil
}

// leaves takes the closing character if it is next.
func (r *reader) leaves(end byte) bool {
	if r.next() == end {
		r.at++
		return true
	}
	return false
}

// text takes a string.
func (r *reader) text() (string, error) {
	if r.next() != '"' {
		return "", errors.New("want a string")
	}
	r.at++
	start := r.at
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case '"':
			r.at++
			return r.s[start : r.at-1], nil
		case '\\':
			return r.escaped(start)
		}
		r.at++
	}
	return "", errors.New("a string is not closed")
}

func (r *reader) escaped(start int) (string, error) {
	var b strings.Builder
	b.WriteString(r.s[start:r.at])
	for r.at < len(r.s) {
		c := r.s[r.at]
		r.at++
		switch c {
		case '"':
			return b.String(), nil
		case '\\':
			if r.at >= len(r.s) {
				return "", errors.New("a string is not closed")
			}
			e := r.s[r.at]
			r.at++
			switch e {
			case 'u':
				b.WriteRune(r.unicode())
			case 'n', 't', 'r', 'b', 'f':
				b.WriteByte("\n\t\r\b\f"[strings.IndexByte("ntrbf", e)])
			default:
				b.WriteByte(e)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a string is not closed")
}

// unicode takes the digits of a \u escape, and a second one if they make a pair.
func (r *reader) unicode() rune {
	one := r.hex(r.at)
	r.at = min(r.at+4, len(r.s))
	if utf16.IsSurrogate(one) && strings.HasPrefix(r.s[r.at:], `\u`) {
		if c := utf16.DecodeRune(one, r.hex(r.at+2)); c != utf8.RuneError {
			r.at += 6
			return c
		}
	}
	if utf16.IsSurrogate(one) {
		return utf8.RuneError
	}
	return one
}

func (r *reader) hex(at int) rune {
	if at+4 > len(r.s) {
		return utf8.RuneError
	}
	v, err := strconv.ParseUint(r.s[at:at+4], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(v)
}

// number takes a number.
func (r *reader) number() (float64, error) {
	r.next()
	start := r.at
	for r.at < len(r.s) && strings.IndexByte("+-0123456789.eE", r.s[r.at]) >= 0 {
		r.at++
	}
	if n, ok := small(r.s[start:r.at]); ok {
		return float64(n), nil
	}
	return strconv.ParseFloat(r.s[start:r.at], 64)
}

// small reads up to nine digits.
func small(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// maxID bounds the ids of a file; tables are made as long as the largest id.
const maxID = 1 << 22

// readVocab takes an object of tokens and their ids.
func readVocab(raw string) (map[string]int32, error) {
	r := &reader{s: raw}
	if err := r.enter('{'); err != nil {
		return nil, fmt.Errorf("model.vocab: %w", err)
	}
	vocab := make(map[string]int32, len(raw)/24)
	for !r.leaves('}') {
		token, err := r.text()
		if err != nil {
			return nil, fmt.Errorf("model.vocab: %w", err)
		}
		id, err := r.number()
		if err != nil || id < 0 || id >= maxID || id != float64(int32(id)) {
			return nil, fmt.Errorf("model.vocab: the id of %q is no number below %d", token, maxID)
		}
		vocab[token] = int32(id)
	}
	return vocab, nil
}

// readMerges calls merge with the two parts of each entry: "a b" or ["a","b"].
func readMerges(raw string, merge func(left, right string) error) error {
	if raw == "" || raw == "null" {
		return nil
	}
	r := &reader{s: raw}
	if err := r.enter('['); err != nil {
		return fmt.Errorf("model.merges: %w", err)
	}
	for n := 0; !r.leaves(']'); n++ {
		var left, right string
		var err error
		if r.leaves('[') {
			if left, err = r.text(); err == nil {
				right, err = r.text()
			}
			if err == nil && !r.leaves(']') {
				err = errors.New("want two strings")
			}
		} else {
			var both string
			if both, err = r.text(); err == nil {
				var ok bool
				if left, right, ok = strings.Cut(both, " "); !ok || strings.Contains(right, " ") {
					err = fmt.Errorf("%q is not two tokens", both)
				}
			}
		}
		if err == nil {
			err = merge(left, right)
		}
		if err != nil {
			return fmt.Errorf("model.merges, entry %d: %w", n, err)
		}
	}
	return nil
}

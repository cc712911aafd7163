package sse

import (
	"bytes"
	"unicode/utf8"
)

// field is one line of an event, with the lines that go on with its value.
type field struct {
	name  []byte // "comment" for a line that begins with a colon
	value []byte // nil for a line without a colon
	owned bool   // value is a copy that may grow
}

const dataColon = "data:"

func isData(line []byte) bool {
	return len(line) >= len(dataColon) && string(line[:len(dataColon)]) == dataColon
}

// parse makes the event of a message; false if there is no text in it.
func (s *Scanner) parse(text []byte, lines int) bool {
	if !utf8.Valid(text) {
		s.valid = appendValid(s.valid[:0], text)
		text = s.valid
	}
	text = trim(text)
	if len(text) == 0 {
		return false
	}
	if lines == 1 && isData(text) {
		s.event = Event{Data: trim(text[len(dataColon):]), Text: text}
		return true
	}
	s.event = Event{Text: text}
	s.several = false
	var last field // its value may go on in the next line
	for len(text) > 0 {
		line := text
		if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if line = trim(line); len(line) == 0 {
			continue
		}
		if continues(last.value, line) {
			last.extend(line)
			continue
		}
		s.take(&last)
		last = splitField(line)
	}
	s.take(&last)
	return true
}

// take adds a whole field to the event.
func (s *Scanner) take(f *field) {
	if f.value == nil {
		return
	}
	ev := &s.event
	switch string(f.name) {
	case "event":
		ev.Name = f.value
	case "comment":
		if ev.Comment == nil {
			ev.Comment = f.value
		}
	case "data":
		if ev.Data == nil {
			ev.Data = f.value
			return
		}
		if !s.several {
			s.joined = append(s.joined[:0], ev.Data...)
			s.several = true
		}
		s.joined = append(s.joined, '\n')
		s.joined = append(s.joined, f.value...)
		ev.Data = s.joined
	}
}

// continues reports whether line is the rest of a JSON value that a server broke over two lines without
// repeating the field name.
func continues(previous, line []byte) bool {
	return len(previous) > 0 && previous[0] == '{' && previous[len(previous)-1] != '}' && !isData(line)
}

// extend appends the line break as JSON spells it, and the line.
func (f *field) extend(line []byte) {
	if !f.owned {
		f.value = append(make([]byte, 0, len(f.value)+len(line)+64), f.value...)
		f.owned = true
	}
	f.value = append(f.value, '\\', 'n')
	f.value = append(f.value, line...)
}

func splitField(line []byte) field {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return field{name: line}
	}
	name := trim(line[:i])
	if len(name) == 0 {
		name = []byte("comment")
	}
	return field{name: name, value: trim(line[i+1:])}
}

// trim is bytes.TrimSpace that never makes an empty slice nil.
func trim(b []byte) []byte {
	if n := len(b); n > 0 && isGraphic(b[0]) && isGraphic(b[n-1]) {
		return b
	}
	if t := bytes.TrimSpace(b); t != nil {
		return t
	}
	return b[:0:0]
}

// isGraphic reports whether a byte is a character of ASCII that is seen: no space is one.
func isGraphic(c byte) bool { return ' ' < c && c < 0x7f }

// appendValid appends src with each maximal part of an ill-formed sequence replaced by U+FFFD.
func appendValid(dst, src []byte) []byte {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(src)
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, src[:n]...)
		}
		src = src[n:]
	}
	return dst
}

// illFormed is the length of the longest start of src that could have begun a character, at least 1.
func illFormed(src []byte) int {
	low, high, want := byte(0x80), byte(0xBF), 0
	switch b := src[0]; {
	case b >= 0xC2 && b <= 0xDF:
		want = 1
	case b >= 0xE0 && b <= 0xEF:
		want = 2
	case b >= 0xF0 && b <= 0xF4:
		want = 3
	}
	switch src[0] {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for n <= want && n < len(src) && src[n] >= low && src[n] <= high {
		n++
		low, high = 0x80, 0xBF
	}
	return n
}

// ToValid is text as valid UTF-8: each maximal part of an ill-formed sequence becomes U+FFFD.
func ToValid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return appendValid(make([]byte, 0, len(text)+len(text)/8), text)
}

package sse

import (
	"bytes"
	"unicode/utf8"
)

// Field is one line of an event.
type Field struct {
	// Name is "comment" for a line that begins with a colon.
	Name []byte
	// Value is nil for a line without a colon.
	Value []byte
	owned bool // Value is a copy that may grow
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
	s.fields = appendFields(s.fields[:0], text)
	s.event = Event{Text: text}
	ev := &s.event
	joined := false
	for i := range s.fields {
		f := &s.fields[i]
		if f.Value == nil {
			continue
		}
		switch string(f.Name) {
		case "event":
			ev.Name = f.Value
		case "comment":
			if ev.Comment == nil {
				ev.Comment = f.Value
			}
		case "data":
			if ev.Data == nil {
				ev.Data = f.Value
				continue
			}
			if !joined {
				s.joined = append(s.joined[:0], ev.Data...)
				joined = true
			}
			s.joined = append(s.joined, '\n')
			s.joined = append(s.joined, f.Value...)
			ev.Data = s.joined
		}
	}
	return true
}

func appendFields(fields []Field, text []byte) []Field {
	for len(text) > 0 {
		line := text
		if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		line = trim(line)
		if len(line) == 0 {
			continue
		}
		if n := len(fields); n > 0 && continues(fields[n-1].Value, line) {
			fields[n-1].extend(line)
			continue
		}
		fields = append(fields, splitField(line))
	}
	return fields
}

// continues says whether line is the rest of a JSON value that a server broke over two lines without
// repeating the field name.
func continues(previous, line []byte) bool {
	return len(previous) > 0 && previous[0] == '{' && previous[len(previous)-1] != '}' && !isData(line)
}

// extend appends the line break as JSON spells it, and the line.
func (f *Field) extend(line []byte) {
	if !f.owned {
		f.Value = append(make([]byte, 0, len(f.Value)+len(line)+64), f.Value...)
		f.owned = true
	}
	f.Value = append(f.Value, '\\', 'n')
	f.Value = append(f.Value, line...)
}

func splitField(line []byte) Field {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return Field{Name: line}
	}
	name := trim(line[:i])
	if len(name) == 0 {
		name = []byte("comment")
	}
	return Field{Name: name, Value: trim(line[i+1:])}
}

// trim is bytes.TrimSpace that never makes an empty slice nil.
func trim(b []byte) []byte {
	if t := bytes.TrimSpace(b); t != nil {
		return t
	}
	return b[:0:0]
}

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

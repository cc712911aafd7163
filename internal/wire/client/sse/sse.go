// Package sse scans a stream of server-sent events as it arrives.
//
// An event is the text between blank lines; \n, \r\n and a lone \r end a line, also mixed. The scanner is fed with the
// bytes of each network read and returns each event with the read that completed it; how the bytes were split never
// changes the events. In the common case nothing is allocated: the slices of an event point into the scanner's buffer
// and are valid until the next call of Space or Next. The package reads no socket and no clock, and does not know what
// events mean.
package sse

import (
	"bytes"
	"fmt"
)

// maxLines bounds the lines of one event: a server may send lines without end, and each costs work.
const maxLines = 65536

// errLines is the error of an event beyond maxLines.
var errLines = fmt.Errorf("an event of more than %d lines", maxLines)

// Event is one server-sent event that has any text.
type Event struct {
	// Name is the value of the event field, nil if there is none.
	Name []byte
	// Data is the values of all data fields joined by a newline, nil if there is none.
	Data []byte
	// Comment is the first comment, nil if there is none.
	Comment []byte
	// Text is the whole message: valid UTF-8, without the space around it.
	Text []byte
}

// Scanner cuts a stream into events. The zero value is ready for a stream.
type Scanner struct {
	buf        []byte
	start, end int // the bytes of buf not returned yet
	line       int // start of the current line
	scan       int // the line has no end before here
	lines      int // lines of the current event so far
	cr         int // a known CR at or after scan, plus 1; 0 = none known
	crDone     int // bytes before this were looked at for a CR
	afterCRLF  bool
	skipLF     bool
	begun      bool // the place of a byte order mark has passed
	apart      bool // lines of data are events by themselves: no blank line divides them
	cut        bool // the event returned last ended before the line that showed it

	event   Event  // returned last
	several bool   // joined holds the data of event
	joined  []byte // several data values
	valid   []byte // a text that was not UTF-8
}

// Reset makes the scanner ready for another stream and keeps memory for what is rare, unless it grew beyond keep bytes.
// The memory of the stream has been given away.
func (s *Scanner) Reset(keep int) {
	fresh := Scanner{joined: s.joined, valid: s.valid}
	if cap(s.joined) > keep {
		fresh.joined = nil
	}
	if cap(s.valid) > keep {
		fresh.valid = nil
	}
	*s = fresh
}

// Use gives a scanner without memory some for the stream.
func (s *Scanner) Use(buf []byte) { s.buf = buf }

// Give takes the memory of the stream from the scanner, which returned all that it had of the stream: another may have it
// until this one gets more. It returns nil if there is none, or part of an event is in it.
func (s *Scanner) Give() []byte {
	if s.start != s.end {
		return nil
	}
	buf := s.buf
	s.shift(s.end)
	s.buf = nil
	return buf
}

// Space is room for at least n more bytes of the stream.
func (s *Scanner) Space(n int) []byte {
	if s.start == s.end {
		s.shift(s.end)
	}
	if len(s.buf)-s.end < n {
		s.shift(s.start)
	}
	if len(s.buf)-s.end < n {
		grown := make([]byte, max(2*len(s.buf), s.end+n, 2*n))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	return s.buf[s.end:]
}

// shift drops the first n bytes of the buffer.
func (s *Scanner) shift(n int) {
	if n == 0 {
		return
	}
	copy(s.buf, s.buf[n:s.end])
	s.start -= n
	s.end -= n
	s.line -= n
	s.scan -= n
	s.crDone = max(0, s.crDone-n)
	s.cr = max(0, s.cr-n)
}

// Filled is called when the first n bytes of Space hold the stream's next bytes.
func (s *Scanner) Filled(n int) { s.end += n }

// Pending is the number of bytes of the event that is not complete yet.
func (s *Scanner) Pending() int { return s.end - s.start }

// Next is the next complete event, valid until the next call; nil when more bytes are needed or the
// stream is over because of [Scanner.Err].
func (s *Scanner) Next() *Event {
	s.cut = false
	if s.Err() != nil {
		return nil
	}
	if !s.begun && !s.begin() {
		return nil
	}
	if s.skipLF {
		if s.line == s.end {
			return nil
		}
		s.skipLF = false
		if s.buf[s.line] == '\n' {
			s.line++
			s.start, s.scan = s.line, s.line
		}
	}
	for {
		if i := s.single(); i > 0 {
			text := s.buf[s.start:i]
			s.start = i + len("\n\n")
			s.line, s.scan, s.afterCRLF = s.start, s.start, false
			if s.parse(text, 1) {
				return &s.event
			}
			continue
		}
		i, next := s.lineEnd()
		if i < 0 {
			return nil
		}
		line, blank := s.line, i == s.line
		s.afterCRLF = next == i+2 && !blank
		s.line, s.scan = next, next
		if !blank && (s.lines > 0 || s.apart) {
			if ev := s.divide(line, i, next); ev != nil {
				return ev
			}
			if s.start == next {
				continue
			}
		}
		if !blank {
			if s.lines++; s.lines > maxLines {
				return nil
			}
			continue
		}
		text, lines := s.buf[s.start:i], s.lines
		s.start, s.lines = next, 0
		if s.parse(text, lines) {
			return &s.event
		}
		if s.skipLF {
			return nil
		}
	}
}

// divide is the event that ends before the line from i to end, or with it: some servers forget the blank line between
// events. Data that is a whole object has no further lines. Once that was seen an event ends with its own line.
func (s *Scanner) divide(i, end, next int) *Event {
	line, before := s.buf[i:end], s.buf[s.start:i]
	// A second object, or a second name, is that of another event.
	begins := isData(line) && (isWhole(trim(line)) || bytes.HasPrefix(trim(line[len(dataColon):]), []byte("{"))) ||
		bytes.HasPrefix(line, eventColon) && bytes.HasPrefix(before, eventColon)
	if before = trim(before); begins && s.lines > 0 && isWhole(before[bytes.LastIndexAny(before, "\r\n")+1:]) {
		lines := s.lines
		s.start, s.lines, s.apart, s.cut = i, 0, true, true
		s.line, s.scan = i, i // the line is read again, as the first of its event
		s.parse(before, lines)
		return &s.event
	}
	if !s.apart || !isWhole(trim(s.buf[i:end])) {
		return nil
	}
	text, lines := s.buf[s.start:end], s.lines+1
	s.start, s.lines = next, 0
	if s.parse(text, lines) {
		return &s.event
	}
	return nil
}

var eventColon = []byte("event:")

// isWhole reports whether a line is data that is an object from its first to its last bracket, or the end mark.
func isWhole(line []byte) bool {
	if !isData(line) {
		return false
	}
	data := trim(line[len(dataColon):])
	if len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return string(data) == "[DONE]"
	}
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 && i < len(data)-1 {
				return false
			}
		}
	}
	return depth == 0 && !quoted
}

// Lines is how many lines of the event that is not complete yet have come.
func (s *Scanner) Lines() int { return s.lines }

// Cut reports that the event returned last ended before the line that showed it, which may have come later.
func (s *Scanner) Cut() bool { return s.cut }

// First is the first byte that is not white space of what has come and was not returned; 0 if there is none.
func (s *Scanner) First() byte {
	for _, c := range s.Unread() {
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		default:
			return c
		}
	}
	return 0
}

// Unread is what has come and was not returned.
func (s *Scanner) Unread() []byte { return s.buf[s.start:s.end] }

// Repeater knows events by their beginning.
type Repeater interface {
	// Again takes the data of an event off the beginning of b if it is like the last one and an empty line follows it,
	// and returns its length without that; 0 if it is not. The event came at an instant.
	Again(b []byte, atNS int64) int
}

// Repeat passes the next event to r if it is one line of data that has come as a whole; false if r does not take it,
// which Next returns then. Most events of a stream differ in a word, and cutting them costs more than all that is done
// with it.
func (s *Scanner) Repeat(r Repeater, atNS int64) bool {
	if !s.begun || s.skipLF || s.lines != 0 || s.line != s.start || s.scan != s.start {
		return false
	}
	const prefix = dataColon + " "
	b := s.buf[s.start:s.end]
	if len(b) < len(prefix) || string(b[:len(prefix)]) != prefix {
		return false
	}
	n := r.Again(b[len(prefix):], atNS)
	if n == 0 {
		return false
	}
	s.start += len(prefix) + n + len("\n\n")
	s.line, s.scan, s.afterCRLF = s.start, s.start, false
	return true
}

// Err is errLines once an event has too many lines. No event follows it.
func (s *Scanner) Err() error {
	if s.lines > maxLines {
		return errLines
	}
	return nil
}

// Rest is the text of the event that is not complete yet, as [Event.Text] would be.
func (s *Scanner) Rest() []byte { return trim(ToValid(s.buf[s.start:s.end])) }

// End is the event left over at the end of the stream, if any; call it when Next has no more.
func (s *Scanner) End() *Event {
	text := s.buf[s.start:s.end]
	s.start, s.line, s.scan, s.skipLF = s.end, s.end, s.end, false
	if s.parse(text, s.lines+2) {
		return &s.event
	}
	return nil
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// begin strips a byte order mark; false while it is not clear whether there is one.
func (s *Scanner) begin() bool {
	head := s.buf[s.start:s.end]
	if len(head) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, head) {
		return false
	}
	s.begun = true
	if bytes.HasPrefix(head, byteOrderMark) {
		s.start += len(byteOrderMark)
		s.line, s.scan = s.start, s.start
	}
	return true
}

// single is the end of the first line if that is a whole event whose blank line was read, and both end in LF: most
// events are. Otherwise it is 0. It saves the second search for a line's end.
func (s *Scanner) single() int {
	if s.lines != 0 || s.line != s.start || s.scan != s.start {
		return 0
	}
	limit := s.end
	if cr := s.nextCR(); cr >= 0 {
		limit = cr
	}
	k := bytes.IndexByte(s.buf[s.scan:limit], '\n')
	if k < 0 {
		s.scan = limit
		return 0
	}
	i := s.scan + k
	if k > 0 && i+1 < limit && s.buf[i+1] == '\n' {
		return i
	}
	s.scan = i
	return 0
}

// lineEnd is the index of the end of the current line and that of the next line; -1 while the line goes
// on. A CR at the end of what was read may be half of a CRLF. It is waited for where it does not matter
// (the line has text) and where the stream is of the CRLF kind; a blank line ended by CR in any other
// stream completes its event at once, as no LF may ever come.
func (s *Scanner) lineEnd() (end, next int) {
	limit := s.end
	cr := s.nextCR()
	if cr >= 0 {
		limit = cr
	}
	if k := bytes.IndexByte(s.buf[s.scan:limit], '\n'); k >= 0 {
		return s.scan + k, s.scan + k + 1
	}
	s.scan = limit
	switch {
	case cr < 0:
		return -1, 0
	case cr+1 < s.end:
		if s.buf[cr+1] == '\n' {
			return cr, cr + 2
		}
		return cr, cr + 1
	case cr > s.line || s.afterCRLF:
		return -1, 0
	}
	s.skipLF = true
	return cr, cr + 1
}

// nextCR is the index of the first CR at or after scan, -1 if there is none; each byte is looked at once.
func (s *Scanner) nextCR() int {
	if s.cr > s.scan {
		return s.cr - 1
	}
	s.cr = 0
	from := max(s.crDone, s.scan)
	if k := bytes.IndexByte(s.buf[from:s.end], '\r'); k >= 0 {
		s.cr = from + k + 1
		s.crDone = s.cr
		return s.cr - 1
	}
	s.crDone = s.end
	return -1
}

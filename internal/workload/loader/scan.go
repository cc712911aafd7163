package loader

import (
	"math"
	"strconv"
	"unsafe"
)

// scannedRow is a mooncake row of the common shape: lengths, times, ids and a session, written plainly.
type scannedRow struct {
	has           fields
	timestamp     float64
	delay         float64
	input, output int
	session       []byte // in the line
	ids           []int64
	line          []byte
	at            int
	ignoresMember func(key []byte) bool
}

type fields uint8

const (
	hasTimestamp fields = 1 << iota
	hasDelay
	hasInput
	hasOutput
	hasSession
	hasIDs
	hasType
)

// scan reads a line without white space around it. False means that the row may be anything, right or wrong: the
// strict reader decides. What scan accepts the strict reader takes for the same row.
func (r *scannedRow) scan(line []byte) bool {
	r.has, r.line, r.at = 0, line, 0
	r.session, r.ids = nil, r.ids[:0]
	if !r.next('{') {
		return false
	}
	for {
		key, ok := r.text()
		if !ok || !r.next(':') || !r.member(key) {
			return false
		}
		r.blanks()
		if r.at >= len(line) {
			return false
		}
		switch line[r.at] {
		case ',':
			r.at++
		case '}':
			return r.at+1 == len(line)
		default:
			return false
		}
	}
}

func (r *scannedRow) member(key []byte) bool {
	r.blanks()
	switch string(key) {
	case "timestamp":
		return r.first(hasTimestamp) && r.milliseconds(&r.timestamp)
	case "delay":
		return r.first(hasDelay) && r.milliseconds(&r.delay)
	case "input_length":
		return r.first(hasInput) && r.length(&r.input)
	case "output_length":
		return r.first(hasOutput) && r.length(&r.output)
	case "hash_ids":
		return r.first(hasIDs) && r.list()
	case "session_id":
		var ok bool
		r.session, ok = r.text()
		return r.first(hasSession) && ok
	case "type":
		name, ok := r.text()
		return r.first(hasType) && ok && string(name) == mooncakeTrace
	}
	if r.ignoresMember == nil || !r.ignoresMember(key) {
		return false
	}
	return r.skipScalar()
}

func (r *scannedRow) first(f fields) bool {
	if r.has&f != 0 {
		return false
	}
	r.has |= f
	return true
}

func (r *scannedRow) blanks() {
	for r.at < len(r.line) && (r.line[r.at] == ' ' || r.line[r.at] == '\t') {
		r.at++
	}
}

func (r *scannedRow) next(c byte) bool {
	r.blanks()
	if r.at >= len(r.line) || r.line[r.at] != c {
		return false
	}
	r.at++
	return true
}

// text is a string of plain ASCII.
func (r *scannedRow) text() ([]byte, bool) {
	if !r.next('"') {
		return nil, false
	}
	start := r.at
	for ; r.at < len(r.line); r.at++ {
		switch c := r.line[r.at]; {
		case c == '"':
			r.at++
			return r.line[start : r.at-1], true
		case c < 0x20 || c >= 0x80 || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// whole is a whole number of at most 18 digits.
func (r *scannedRow) whole() (n int64, ok bool) {
	start := r.at
	negative := start < len(r.line) && r.line[start] == '-'
	if negative {
		r.at++
		start++
	}
	for r.at < len(r.line) && r.line[r.at]-'0' <= 9 {
		n = n*10 + int64(r.line[r.at]-'0')
		r.at++
	}
	digits := r.at - start
	if digits == 0 || digits > 18 || digits > 1 && r.line[start] == '0' {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, r.at >= len(r.line) || r.line[r.at] != '.' && r.line[r.at]|0x20 != 'e'
}

func (r *scannedRow) length(to *int) bool {
	n, ok := r.whole()
	*to = int(n)
	return ok && n >= 1 && n <= math.MaxInt32
}

func (r *scannedRow) milliseconds(to *float64) bool {
	start := r.at
	if n, ok := r.whole(); ok {
		*to = float64(n)
		return n >= 0 && n <= maxMS && r.line[start] != '-'
	}
	// A fraction: digits, a point, digits.
	if r.at == start || r.line[start] == '-' || r.at >= len(r.line) || r.line[r.at] != '.' || r.at > start+1 && r.line[start] == '0' {
		return false
	}
	point := r.at
	r.at++
	for r.at < len(r.line) && r.line[r.at]-'0' <= 9 {
		r.at++
	}
	if r.at == point+1 || r.at < len(r.line) && r.line[r.at]|0x20 == 'e' {
		return false
	}
	text := r.line[start:r.at]
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	*to = x
	return err == nil && x <= maxMS
}

func (r *scannedRow) list() bool {
	if !r.next('[') {
		return false
	}
	r.blanks()
	if r.at < len(r.line) && r.line[r.at] == ']' {
		r.at++
		return true
	}
	for {
		r.blanks()
		n, ok := r.whole()
		if !ok {
			return false
		}
		r.ids = append(r.ids, n)
		r.blanks()
		if r.at >= len(r.line) {
			return false
		}
		switch r.line[r.at] {
		case ',':
			r.at++
		case ']':
			r.at++
			return true
		default:
			return false
		}
	}
}

// skipScalar passes over a number or a plain text.
func (r *scannedRow) skipScalar() bool {
	if r.at < len(r.line) && r.line[r.at] == '"' {
		_, ok := r.text()
		return ok
	}
	_, ok := r.whole()
	return ok
}

// row is the row of a line that was scanned; it keeps nothing of the line.
func (r *scannedRow) row() traceRow {
	row := traceRow{session: string(r.session), tokens: r.input}
	if r.has&hasTimestamp != 0 {
		at := r.timestamp
		row.turn.TimestampMS = &at
	}
	if r.has&hasDelay != 0 {
		delay := r.delay
		row.turn.DelayMS = &delay
	}
	if r.has&hasOutput != 0 {
		limit := r.output
		row.turn.MaxTokens = &limit
	}
	if len(r.ids) > 0 {
		row.ids = append([]int64(nil), r.ids...)
	}
	return row
}

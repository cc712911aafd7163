package loader

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"aiperf/internal/base/jsonscan"
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
	unknown       map[string]bool // members that are ignored
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
	r.has, r.line = 0, line
	r.session, r.ids = nil, r.ids[:0]
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	i, more := jsonscan.Open(line, 0, '}', 1)
	for more {
		key, at := jsonscan.Key(line, i)
		if at < 0 {
			return false
		}
		if i = r.member(key, at); i < 0 {
			return false
		}
		i, more = jsonscan.Next(line, i, '}')
	}
	return i == len(line)
}

// rare is returned instead of a position where the strict reader has to read the row.
const rare = -1

// member reads the value at a position and returns the one after it.
func (r *scannedRow) member(key []byte, at int) int {
	switch string(key) {
	case "timestamp":
		return r.milliseconds(at, hasTimestamp, &r.timestamp)
	case "delay":
		return r.milliseconds(at, hasDelay, &r.delay)
	case "input_length":
		return r.length(at, hasInput, &r.input)
	case "output_length":
		return r.length(at, hasOutput, &r.output)
	case "hash_ids":
		return r.list(at)
	case "session_id":
		if r.first(hasSession) {
			r.session, at = r.text(at)
			return at
		}
	case "type":
		if name, end := r.text(at); r.first(hasType) && string(name) == mooncakeTrace {
			return end
		}
	default:
		if r.unknown[string(key)] {
			return r.skipScalar(at)
		}
	}
	return rare
}

func (r *scannedRow) first(f fields) bool {
	if r.has&f != 0 {
		return false
	}
	r.has |= f
	return true
}

// text returns a string of plain ASCII.
func (r *scannedRow) text(at int) ([]byte, int) {
	if at >= len(r.line) || r.line[at] != '"' {
		return nil, rare
	}
	end, escaped := jsonscan.String(r.line, at)
	if end < 0 || escaped {
		return nil, rare
	}
	text := r.line[at+1 : end-1]
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return nil, rare
		}
	}
	return text, end
}

func (r *scannedRow) length(at int, f fields, to *int) int {
	n, end := jsonscan.Int(r.line, at)
	if !r.first(f) || n < 1 || n > math.MaxInt32 {
		return rare
	}
	*to = int(n)
	return end
}

// milliseconds reads a time at the usual form; whatever else a time may be, or what is wrong with it, is rare and for
// the slower reader, whose errors are the only ones.
func (r *scannedRow) milliseconds(at int, f fields, to *float64) int {
	if !r.first(f) || at < len(r.line) && r.line[at] == '-' {
		return rare
	}
	n, end := jsonscan.Int(r.line, at)
	*to = float64(n)
	if end < 0 { // a fraction
		if end = jsonscan.Value(r.line, at, 1); end < 0 {
			return rare
		}
		text := r.line[at:end]
		x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
		if err != nil {
			return rare
		}
		*to = x
	}
	if *to > maxMS {
		return rare
	}
	return end
}

func (r *scannedRow) list(i int) int {
	if !r.first(hasIDs) || i >= len(r.line) || r.line[i] != '[' {
		return rare
	}
	i, more := jsonscan.Open(r.line, i, ']', 2)
	for more {
		n, end := jsonscan.Int(r.line, jsonscan.Space(r.line, i))
		if end < 0 {
			return rare
		}
		r.ids = append(r.ids, n)
		if end < len(r.line) && r.line[end] == ',' {
			i = end + 1 // as most often
		} else {
			i, more = jsonscan.Next(r.line, end, ']')
		}
	}
	return i
}

// skipScalar passes over a whole number or a plain text.
func (r *scannedRow) skipScalar(at int) int {
	_, end := r.text(at)
	if end < 0 {
		_, end = jsonscan.Int(r.line, at)
	}
	return end
}

// row returns the row of a line that was scanned; it keeps nothing of the line.
func (r *scannedRow) row() row {
	to := row{session: string(r.session), prompt: prompt{tokens: r.input}}
	if r.has&hasTimestamp != 0 {
		at := r.timestamp
		to.turn.TimestampMS = &at
	}
	if r.has&hasDelay != 0 {
		delay := r.delay
		to.turn.DelayMS = &delay
	}
	if r.has&hasOutput != 0 {
		limit := r.output
		to.turn.MaxTokens = &limit
	}
	if len(r.ids) > 0 {
		to.ids = append([]int64(nil), r.ids...)
	}
	return to
}

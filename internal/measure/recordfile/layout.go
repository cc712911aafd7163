package recordfile

import (
	"bytes"
	"slices"
	"sync"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// layout is what earlier lines had for metrics and in which order: lines of a run hardly differ, and to compare a text
// with an expected one is cheaper than to read its keys.
type layout struct{ slots []slot }

// slot is a metric: the text before and after its value, {"value": and the unit included, and what it tells.
type slot struct {
	before, after []byte
	told          metrics.Told
}

// maxSlots bounds what a file of strange lines makes a layout learn.
const maxSlots = 256

// layouts are those of the goroutines that read lines.
var layouts = sync.Pool{New: func() any { return new(layout) }}

// metrics reads the object of metrics into a record.
func (l *layout) metrics(s *lineScanner, r *record.Record) {
	next := 0 // the slot that is expected
	s.object(func(tag []byte) {
		start := s.At
		s.metric(r, tag)
		if s.At >= 0 {
			next = l.learn(s.Text[:s.At], tag, start, next)
		}
		for s.At >= 0 && s.At < len(s.Text) && s.Text[s.At] == ',' && l.known(s, r, &next) {
		}
	})
}

// known passes over a comma and a known metric after it; false, and nothing is passed over, where another one follows.
// What it has then put into the record is put there again when the metric is read.
func (l *layout) known(s *lineScanner, r *record.Record, next *int) bool {
	at := s.At + 1
	i := l.find(s.Text, at, *next)
	if i < 0 {
		return false
	}
	metric := &l.slots[i]
	at = metric.told.Scan(r, s.Text, at+len(metric.before))
	if at < 0 || !bytes.HasPrefix(s.Text[at:], metric.after) {
		return false
	}
	s.At, *next = at+len(metric.after), i+1
	return true
}

// learn keeps the metric at the end of a text, whose value begins at start, and returns the slot after its own.
func (l *layout) learn(text, tag []byte, start, next int) int {
	const value, unit = `{"value":`, `,"unit":`
	key := start - len(tag) - len(`"":`)
	if key < 0 || string(text[key:start]) != `"`+string(tag)+`":` {
		return next // a key that is written in another way
	}
	if i := l.find(text, key, next); i >= 0 {
		return i + 1
	}
	if len(l.slots) == maxSlots {
		return next
	}
	l.slots = slices.Insert(l.slots, min(next, len(l.slots)), slot{
		before: bytes.Clone(text[key : start+len(value)]),
		after:  bytes.Clone(text[bytes.LastIndex(text, []byte(unit)):]),
		told:   metrics.ToldBy(string(tag)),
	})
	return next + 1
}

// find returns the slot whose text stands at a position, -1 for none.
func (l *layout) find(text []byte, at, next int) int {
	for i := next; i < len(l.slots); i++ {
		if bytes.HasPrefix(text[at:], l.slots[i].before) {
			return i
		}
	}
	for i := range min(next, len(l.slots)) {
		if bytes.HasPrefix(text[at:], l.slots[i].before) {
			return i
		}
	}
	return -1
}

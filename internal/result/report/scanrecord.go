package report

import (
	"unicode/utf8"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// scanRecord reads a line as this program writes those of successful requests, at several times the speed of the general
// reader. A line of another shape (a failed request, blanks, escapes, members it does not know or in another order) is
// not for it: false then, and the general reader says what it is.
func scanRecord(line []byte) (*record.Record, bool) {
	s := lineScanner{text: line, good: true}
	r := &record.Record{Identity: record.Identity{ProfilingIndex: -1}, Facts: record.NewFacts()}
	seen, started := 0, false
	s.object(func(key []byte) {
		order := 0
		switch string(key) {
		case "metadata":
			order, started = 1, s.metadata(r)
		case "metrics":
			order = 2
			s.object(func(tag []byte) { s.metric(r, tag) })
		case specDecodeKey:
			order = 3
			s.specDecode(r)
		case "trace_data":
			order = 4
			s.value(0)
		case "facts":
			order = 5
			s.object(func(name []byte) {
				if value := s.value(0); s.good && metrics.RestoreFact(r, string(name), value) != nil {
					s.good = false
				}
			})
		}
		if order <= seen {
			s.good = false
		}
		seen = order
	})
	if s.at != len(line) || seen != 5 || !started {
		return nil, false
	}
	return r, s.good
}

// lineScanner walks compact JSON. Once it is not good it stays so, and moves no further.
type lineScanner struct {
	text []byte
	at   int
	good bool
}

// metadata reads which request it was; it tells whether a start was among it.
func (s *lineScanner) metadata(r *record.Record) bool {
	const absent = record.Absent
	start, credit, intended, ack, cancelled := absent, absent, absent, absent, absent
	whole := func(into *int) { *into = int(s.integer()) }
	s.object(func(key []byte) {
		switch string(key) {
		case "session_num":
			r.SessionNum = s.integer()
		case "x_request_id":
			r.RequestID = s.string()
		case "x_correlation_id":
			r.CorrelationID = s.string()
		case "conversation_id":
			r.ConversationID = s.string()
		case "turn_index":
			whole(&r.TurnIndex)
		case "credit_issued_ns":
			credit = s.integer()
		case "intended_send_ns":
			intended = s.integer()
		case "request_start_ns":
			start = s.integer()
		case "request_ack_ns":
			ack = s.integer()
		case "cancellation_time_ns":
			cancelled = s.integer()
		case "worker_id":
			r.WorkerID = s.string()
		case "record_processor_id":
			r.ProcessorID = s.string()
		case "benchmark_phase":
			r.Phase = s.string()
		case "phase_index":
			whole(&r.PhaseIndex)
		case "profiling_index":
			whole(&r.ProfilingIndex)
		case "phase_name":
			r.PhaseName = s.string()
		case "was_cancelled":
			r.WasCancelled = s.bool()
		case "context_overflow_skip":
			r.ContextOverflowSkip = s.bool()
		case "agent_depth":
			whole(&r.AgentDepth)
		case "parent_correlation_id":
			r.ParentCorrelationID = s.string()
		case "root_correlation_id":
			r.RootCorrelationID = s.string()
		default:
			s.value(0)
		}
	})
	if start == absent {
		return false
	}
	r.Facts[record.StartWall] = start
	for _, f := range [...]struct {
		field record.Field
		at    int64
	}{{record.CreditIssued, credit}, {record.IntendedSend, intended}, {record.Ack, ack}, {record.Cancelled, cancelled}} {
		if f.at != absent {
			r.Facts[f.field] = f.at - start
		}
	}
	return true
}

// quantity reads {"value":…,"unit":"…"} and returns the value.
func (s *lineScanner) quantity() []byte {
	s.literal(`{"value":`)
	value := s.value(0)
	s.literal(`,"unit":"`)
	s.quoted()
	s.literal(`}`)
	return value
}

func (s *lineScanner) metric(r *record.Record, tag []byte) {
	value := s.quantity()
	if s.good && metrics.RestoreMetric(r, string(tag), value) != nil {
		s.good = false
	}
}

// specDecode reads what the server said of speculative decoding. A metric of the line that tells one of its facts counts
// before it.
func (s *lineScanner) specDecode(r *record.Record) {
	text := s.value(0)
	if !s.good {
		return
	}
	told := r.Facts
	if r.SpecDecode, s.good = record.ParseSpecDecode(text); !s.good {
		return
	}
	r.SpecDecode.Fill(&r.Facts)
	for _, field := range [...]record.Field{record.SpecAccepted, record.SpecDrafted, record.SpecSteps} {
		if v, ok := told.Get(field); ok {
			r.Facts[field] = v
		}
	}
}

// object calls member with the key of each member; it reads the value.
func (s *lineScanner) object(member func(key []byte)) {
	s.literal("{")
	if s.next() == '}' {
		s.at++
		return
	}
	for s.good {
		s.literal(`"`)
		key := s.quoted()
		s.literal(":")
		if !s.good || !plainKey(key) {
			s.good = false
			return
		}
		member(key)
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return
		default:
			s.good = false
		}
	}
}

// plainKey tells keys that are equal only to themselves: the general reader does not look at the case of those it knows.
func plainKey(key []byte) bool {
	for _, c := range key {
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// next is the next byte, 0 at the end.
func (s *lineScanner) next() byte {
	if !s.good || s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *lineScanner) literal(want string) {
	if !s.good || len(s.text)-s.at < len(want) || string(s.text[s.at:s.at+len(want)]) != want {
		s.good = false
		return
	}
	s.at += len(want)
}

// quoted reads a string to its closing quote, which it takes; one with an escape is not good.
func (s *lineScanner) quoted() []byte {
	start, ascii := s.at, true
	for s.good && s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			text := s.text[start:s.at]
			s.at++
			s.good = ascii || utf8.Valid(text)
			return text
		case c == '\\' || c < ' ':
			s.good = false
			return nil
		default:
			ascii = ascii && c < utf8.RuneSelf
		}
		s.at++
	}
	s.good = false
	return nil
}

func (s *lineScanner) string() string {
	s.literal(`"`)
	return string(s.quoted())
}

func (s *lineScanner) bool() bool {
	if s.next() == 't' {
		s.literal("true")
		return s.good
	}
	s.literal("false")
	return false
}

// integer reads a whole number of up to 18 digits.
func (s *lineScanner) integer() int64 {
	negative := s.next() == '-'
	if negative {
		s.at++
	}
	start, n := s.at, int64(0)
	for c := s.next(); '0' <= c && c <= '9'; c = s.next() {
		n = n*10 + int64(c-'0')
		s.at++
		if s.at-start > 19 {
			break
		}
	}
	digits := s.at - start
	if digits == 0 || digits > 19 || n < 0 || digits > 1 && s.text[start] == '0' {
		s.good = false
	}
	switch s.next() {
	case '.', 'e', 'E':
		s.good = false
	}
	if negative {
		return -n
	}
	return n
}

// deepest is how far values may be nested.
const deepest = 16

// value reads a value of any kind and returns its text.
func (s *lineScanner) value(depth int) []byte {
	start := s.at
	switch c := s.next(); {
	case depth > deepest:
		s.good = false
	case c == '"':
		s.at++
		s.quoted()
	case c == '{':
		s.object(func([]byte) { s.value(depth + 1) })
	case c == '[':
		s.array(depth)
	case c == 't', c == 'f':
		s.bool()
	case c == 'n':
		s.literal("null")
	default:
		s.number()
	}
	if !s.good {
		return nil
	}
	return s.text[start:s.at]
}

func (s *lineScanner) array(depth int) {
	s.literal("[")
	if s.next() == ']' {
		s.at++
		return
	}
	for s.good {
		s.value(depth + 1)
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			return
		default:
			s.good = false
		}
	}
}

// number reads a number without checking more than that its bytes are those of one and stand in their order.
func (s *lineScanner) number() {
	if s.next() == '-' {
		s.at++
	}
	start := s.at
	s.digits()
	if s.good && s.at-start > 1 && s.text[start] == '0' {
		s.good = false
	}
	if s.next() == '.' {
		s.at++
		s.digits()
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.at++
		if c := s.next(); c == '+' || c == '-' {
			s.at++
		}
		s.digits()
	}
}

func (s *lineScanner) digits() {
	start := s.at
	for c := s.next(); '0' <= c && c <= '9'; c = s.next() {
		s.at++
	}
	if s.at == start {
		s.good = false
	}
}

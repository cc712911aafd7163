package recordfile

import (
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// scanRecord reads a line as this program writes those of successful requests, at several times the speed of the
// general reader. A line of another shape (a failed request, members it does not know or in another order) is not for
// it: false then, and the general reader says what it is.
func scanRecord(line []byte) (*record.Record, bool) {
	s := newLineScanner(line)
	r, m := &record.Record{Facts: record.NewFacts()}, noMetadata
	seen, started := 0, false
	s.object(func(key []byte) {
		order := 0
		switch string(key) {
		case "metadata":
			s.metadata(&m)
			order, started = 1, m.fill(r)
		case "metrics":
			order = 2
			known := layouts.Get().(*layout)
			known.metrics(&s, r)
			layouts.Put(known)
		case "spec_decode_acceptance":
			order = 3
			s.specDecode(r)
		case "trace_data":
			order = 4
			s.Value()
		case "facts":
			order = 5
			s.object(func(name []byte) {
				if value := s.Value(); value != nil && metrics.RestoreFact(r, string(name), value) != nil {
					s.giveUp()
				}
			})
		}
		if order <= seen {
			s.giveUp()
		}
		seen = order
	})
	s.End()
	return r, s.At >= 0 && seen == 5 && started
}

// lineScanner reads a line, up to what only the general reader can read.
type lineScanner struct{ jsonscan.Scanner }

func newLineScanner(line []byte) lineScanner {
	return lineScanner{jsonscan.Scanner{Text: line}}
}

// giveUp leaves the line to the general reader.
func (s *lineScanner) giveUp() { s.Fail(jsonscan.WantValue) }

// metadata reads which request it was.
func (s *lineScanner) metadata(m *metadata) {
	whole := func(into *int) { *into = int(s.Int()) }
	s.object(func(key []byte) {
		switch string(key) {
		case "session_num":
			m.SessionNum = s.Int()
		case "x_request_id":
			m.RequestID = s.string()
		case "x_correlation_id":
			m.CorrelationID = s.string()
		case "conversation_id":
			m.ConversationID = s.string()
		case "turn_index":
			whole(&m.TurnIndex)
		case "credit_issued_ns":
			m.CreditIssuedNS = s.Int()
		case "intended_send_ns":
			m.IntendedSendNS = s.Int()
		case "request_start_ns":
			m.StartNS = s.Int()
		case "request_ack_ns":
			m.AckNS = s.Int()
		case "request_end_ns":
			m.EndNS = s.Int()
		case "cancellation_time_ns":
			m.CancelledNS = s.Int()
		case "worker_id":
			m.WorkerID = s.string()
		case "record_processor_id":
			m.ProcessorID = s.string()
		case "benchmark_phase":
			m.Phase = s.string()
		case "phase_index":
			whole(&m.PhaseIndex)
		case "profiling_index":
			whole(&m.ProfilingIndex)
		case "phase_name":
			m.PhaseName = s.string()
		case "was_cancelled":
			m.WasCancelled = s.bool()
		case "was_cut_off":
			m.WasCutOff = s.bool()
		case "context_overflow_skip":
			m.ContextOverflowSkip = s.bool()
		case "archetype":
			m.Archetype = s.string()
		case "agent_depth":
			whole(&m.AgentDepth)
		case "parent_correlation_id":
			m.ParentCorrelationID = s.string()
		case "root_correlation_id":
			m.RootCorrelationID = s.string()
		default:
			s.Value()
		}
	})
}

// usual reads the line of a successful request: the metadata and the metrics, one by one. It ends with the first that
// is false.
func (s *lineScanner) usual(metadata func(), metric func(tag, value []byte) bool) bool {
	s.object(func(key []byte) {
		switch string(key) {
		case "metadata":
			metadata()
		case "metrics":
			s.object(func(tag []byte) {
				if value := s.quantity(); s.At >= 0 && !metric(tag, value) {
					s.giveUp()
				}
			})
		case "spec_decode_acceptance", "trace_data", "facts":
			s.Value()
		default:
			s.giveUp()
		}
	})
	s.End()
	return s.At >= 0
}

// quantity reads {"value":…,"unit":"…"} and returns the value.
func (s *lineScanner) quantity() []byte {
	s.literal(`{"value":`)
	value := s.Value()
	s.literal(`,"unit":`)
	s.quoted()
	s.literal(`}`)
	return value
}

func (s *lineScanner) metric(r *record.Record, tag []byte) {
	value := s.quantity()
	if s.At >= 0 && metrics.RestoreMetric(r, string(tag), value) != nil {
		s.giveUp()
	}
}

// specDecode reads what the server said of speculative decoding. A metric of the line that has one of its facts
// counts before it.
func (s *lineScanner) specDecode(r *record.Record) {
	text := s.Value()
	told, ok := r.Facts, false
	if r.SpecDecode, ok = record.ParseSpecDecode(text); !ok {
		s.giveUp()
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
	for key := range s.Members() {
		if !plainKey(key) {
			s.giveUp()
			return
		}
		member(key)
	}
}

// plainKey reports whether a key equals no other one: the general reader ignores the case of those that it knows.
func plainKey(key []byte) bool {
	for _, c := range key {
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// literal reads a text that must be there as it is.
func (s *lineScanner) literal(want string) {
	if s.At < 0 || len(s.Text)-s.At < len(want) || string(s.Text[s.At:s.At+len(want)]) != want {
		s.giveUp()
		return
	}
	s.At += len(want)
}

// quoted reads a string and returns it raw.
func (s *lineScanner) quoted() []byte {
	raw := s.Value()
	if len(raw) > 0 && raw[0] != '"' {
		s.giveUp()
	}
	return raw
}

func (s *lineScanner) string() string { return jsonscan.Text(s.quoted()) }

func (s *lineScanner) bool() bool {
	raw := s.Value()
	if len(raw) > 0 && raw[0] != 't' && raw[0] != 'f' {
		s.giveUp()
	}
	return string(raw) == "true"
}

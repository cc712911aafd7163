package recordfile

import (
	"bytes"
	"cmp"
	"encoding/json"

	"aiperf/internal/measure/record"
)

// Request is what a line of either file, of this program or of the original, says of when a request ran and for whom.
type Request struct {
	record.Identity
	// StartNS and EndNS are of the wall clock; 0 if they are not there.
	StartNS, EndNS int64
	WasCutOff      bool
	// Err is nil for a success.
	Err *record.Error
	// Metrics are the values of those of the per-request file by tag, Payload is the body in the raw export.
	Metrics map[string]json.RawMessage
	Payload json.RawMessage
}

// Session returns the name of the session of the request.
func (r *Request) Session() string {
	if r.CorrelationID != "" {
		return r.CorrelationID
	}
	return r.ConversationID
}

// Failure returns the error's message, or its type; empty for a success.
func (r *Request) Failure() string {
	if r.Err == nil {
		return ""
	}
	return cmp.Or(r.Err.Message, r.Err.Type, "failed")
}

// Number returns the value of a metric; nil without one that is a number.
func (r *Request) Number(tag string) (v *float64) {
	if json.Unmarshal(r.Metrics[tag], &v) != nil {
		return nil
	}
	return v
}

// ParseRequest reads a line.
func ParseRequest(text []byte) (*Request, error) {
	if r, ok := scanRequest(text); ok {
		return r, nil
	}
	l, err := parseLine(text)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for tag, m := range l.Metrics {
		values[tag] = m.Value
	}
	r := l.Metadata.request(values)
	r.Err, r.Payload = l.err(), l.Payload
	return r, nil
}

// scanRequest reads a usual line, see scanRecord.
func scanRequest(line []byte) (*Request, bool) {
	s, m, values := newLineScanner(line), noMetadata, map[string]json.RawMessage{}
	ok := s.usual(func() { s.metadata(&m) }, func(tag, value []byte) bool {
		values[string(tag)] = bytes.Clone(value)
		return true
	})
	return m.request(values), ok
}

// request returns the request without its error and its body.
func (m *metadata) request(values map[string]json.RawMessage) *Request {
	r := &Request{Identity: record.Identity(m.identity), WasCutOff: m.WasCutOff, Metrics: values}
	if m.StartNS != record.Absent {
		r.StartNS = m.StartNS
	}
	if m.EndNS != record.Absent {
		r.EndNS = m.EndNS
	}
	return r
}

// ReadRequests calls take with the requests of a file, in their order. A last line that is not whole, of a run that was
// killed, is left out.
func ReadRequests(path string, take func(*Request)) error {
	var fault error
	for line, err := range Lines(path) {
		if err := cmp.Or(fault, err); err != nil {
			return err
		}
		r, err := ParseRequest(line.Text)
		if err == nil {
			take(r)
		}
		fault = line.Fault(err)
	}
	return nil
}

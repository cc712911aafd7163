package recordfile

import (
	"cmp"
	"encoding/json"

	"aiperf/internal/measure/metrics"
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
	// Metrics are those of the per-request file by tag, Payload is the body in the raw export.
	Metrics map[string]metrics.Written
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
	if json.Unmarshal(r.Metrics[tag].Value, &v) != nil {
		return nil
	}
	return v
}

// ParseRequest reads a line.
func ParseRequest(text []byte) (*Request, error) {
	l, err := parseLine(text)
	if err != nil {
		return nil, err
	}
	m := &l.Metadata
	for _, at := range [...]*int64{&m.StartNS, &m.EndNS} {
		if *at == record.Absent {
			*at = 0
		}
	}
	return &Request{
		Identity: record.Identity(m.identity), StartNS: m.StartNS, EndNS: m.EndNS, WasCutOff: m.WasCutOff,
		Err: l.err(), Metrics: l.Metrics, Payload: l.Payload,
	}, nil
}

// ReadRequests hands the requests of a file to take, in their order. A last line that is not whole, of a run that was
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

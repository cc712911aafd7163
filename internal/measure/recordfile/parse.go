package recordfile

import (
	"encoding/json"
	"errors"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// anyLine is a line of any shape: of either file, of this program or of the original.
type anyLine struct {
	Metadata metadata                      `json:"metadata"`
	Metrics  map[string]metrics.LineMetric `json:"metrics"`
	Error    *struct {
		Code       *int     `json:"code"`
		Type       string   `json:"type"`
		Message    string   `json:"message"`
		Cause      string   `json:"cause"`
		CauseChain []string `json:"cause_chain"`
		Details    string   `json:"details"`
	} `json:"error"`
	SpecDecode json.RawMessage `json:"spec_decode_acceptance"`
	Facts      json.RawMessage `json:"facts"`
	Payload    json.RawMessage `json:"payload"`
}

// metadata are the member that says which request it was. Instants that are not there are [record.Absent].
type metadata struct {
	identity
	CreditIssuedNS int64 `json:"credit_issued_ns"`
	IntendedSendNS int64 `json:"intended_send_ns"`
	StartNS        int64 `json:"request_start_ns"`
	AckNS          int64 `json:"request_ack_ns"`
	EndNS          int64 `json:"request_end_ns"`
	CancelledNS    int64 `json:"cancellation_time_ns"`
	WasCutOff      bool  `json:"was_cut_off"`
}

// noMetadata are those of an empty line.
var noMetadata = metadata{
	identity: identity{ProfilingIndex: -1}, CreditIssuedNS: record.Absent, IntendedSendNS: record.Absent,
	StartNS: record.Absent, AckNS: record.Absent, EndNS: record.Absent, CancelledNS: record.Absent,
}

// fill copies the metadata into a record; false if they lack its start.
func (m *metadata) fill(r *record.Record) bool {
	r.Identity = record.Identity(m.identity)
	r.Facts[record.StartWall] = m.StartNS
	for _, f := range [...]struct {
		field record.Field
		at    int64
	}{
		{record.CreditIssued, m.CreditIssuedNS}, {record.IntendedSend, m.IntendedSendNS},
		{record.Ack, m.AckNS}, {record.Cancelled, m.CancelledNS},
	} {
		if f.at != record.Absent {
			r.Facts[f.field] = f.at - m.StartNS
		}
	}
	return m.StartNS != record.Absent
}

// identity is a [record.Identity] with its names in the metadata.
type identity struct {
	SessionNum          int64  `json:"session_num"`
	RequestID           string `json:"x_request_id"`
	CorrelationID       string `json:"x_correlation_id"`
	ConversationID      string `json:"conversation_id"`
	TurnIndex           int    `json:"turn_index"`
	WorkerID            string `json:"worker_id"`
	ProcessorID         string `json:"record_processor_id"`
	Phase               string `json:"benchmark_phase"`
	PhaseIndex          int    `json:"phase_index"`
	ProfilingIndex      int    `json:"profiling_index"`
	PhaseName           string `json:"phase_name"`
	CacheBustMarker     string `json:"-"`
	CacheBustTarget     string `json:"-"`
	Archetype           string `json:"archetype"`
	AgentDepth          int    `json:"agent_depth"`
	ParentCorrelationID string `json:"parent_correlation_id"`
	RootCorrelationID   string `json:"root_correlation_id"`
	WasCancelled        bool   `json:"was_cancelled"`
	ContextOverflowSkip bool   `json:"context_overflow_skip"`
}

// errNoFacts is the error of a line that another program wrote, or an old version of this one: it does
// not have all that the metrics are computed from.
var errNoFacts = errors.New(`it has no "facts": this program, or a version of it, ` +
	`that does not keep them wrote the file`)

// Parse reads a line of the per-request file.
func Parse(line []byte) (*record.Record, error) {
	if r, ok := scanRecord(line); ok {
		return r, nil
	}
	return parseRecord(line)
}

// parseRecord reads a line of any shape.
func parseRecord(line []byte) (*record.Record, error) {
	l, err := parseLine(line)
	if err != nil {
		return nil, err
	}
	r, err := l.record()
	if err != nil {
		return nil, err
	}
	if len(l.Facts) == 0 || l.Facts[0] != '{' {
		return nil, errNoFacts
	}
	for tag, value := range l.Metrics {
		if r.Err != nil {
			break // metrics of failures are other ones, and all facts stand apart
		}
		if err := metrics.RestoreMetric(r, tag, value.Value); err != nil {
			return nil, err
		}
	}
	for fact := range jsonscan.Members(l.Facts) {
		if err := metrics.RestoreFact(r, string(fact.Key), fact.Value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ParseOriginal reads a line of the original's per-request file: it has metrics and no facts, and some facts follow
// from them ([metrics.RestoreFromMetrics]).
func ParseOriginal(line []byte) (*record.Record, error) {
	l, err := parseLine(line)
	if err != nil {
		return nil, err
	}
	r, err := l.record()
	if err != nil {
		return nil, err
	}
	if l.Metadata.EndNS == record.Absent {
		return nil, errors.New("it has no request_end_ns")
	}
	return r, metrics.RestoreFromMetrics(r, l.Metadata.EndNS, l.Metrics)
}

func parseLine(text []byte) (*anyLine, error) {
	l := &anyLine{Metadata: noMetadata}
	return l, json.Unmarshal(text, l)
}

// record returns the request without what its metrics and facts tell.
func (l *anyLine) record() (*record.Record, error) {
	r := &record.Record{Facts: record.NewFacts(), Err: l.err()}
	if !l.Metadata.fill(r) {
		return nil, errors.New("it has no request_start_ns")
	}
	if r.Err != nil {
		r.Facts[record.Failed] = 1
	}
	if l.SpecDecode != nil {
		s, ok := record.ParseSpecDecode(l.SpecDecode)
		if !ok {
			return nil, errors.New("its spec_decode_acceptance cannot be read")
		}
		r.SpecDecode = s
		s.Fill(&r.Facts)
	}
	return r, nil
}

// err returns what went wrong with the request, nil if nothing.
func (l *anyLine) err() *record.Error {
	e := l.Error
	if e == nil {
		return nil
	}
	err := &record.Error{Type: e.Type, Message: e.Message, Cause: e.Cause, CauseChain: e.CauseChain, Details: e.Details}
	if e.Code != nil {
		err.HasCode, err.Code = true, *e.Code
	}
	return err
}

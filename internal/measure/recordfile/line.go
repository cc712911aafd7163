package recordfile

import (
	"cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// AppendMetrics appends the JSON object of a record's metrics to dst; {} when it has none.
type AppendMetrics func(dst []byte, r *record.Record) []byte

// Format is the form of the lines of profile_export.jsonl: one for each request of the profiling phase.
type Format struct {
	// Metrics writes the metrics of a record, Facts what is known of it besides; nil writes no facts.
	Metrics, Facts AppendMetrics
	Redactor       *artifact.Redactor
}

// AppendLine implements [AppendLine]. Warm-up requests and requests that the end of the run cut off have no line, nor
// has a valid record without a metric.
func (f Format) AppendLine(dst []byte, r *record.Record) ([]byte, bool) {
	if r.Phase != record.PhaseProfiling || r.Raw != nil && r.Raw.CutOff {
		return dst, false
	}
	m := artifact.Members{Dst: dst}
	m.Open()
	appendMetadata(&m, r)
	m.Key("metrics")
	start := len(m.Dst)
	m.Dst = f.Metrics(m.Dst, r)
	if string(m.Dst[start:]) == "{}" && r.Err == nil {
		return dst, false
	}
	appendSpecDecode(&m, r.SpecDecode)
	if r.Trace != nil {
		appendTrace(&m, r.Trace, f.Redactor)
	}
	appendError(&m, r.Err)
	if f.Facts != nil {
		m.Key("facts")
		m.Dst = f.Facts(m.Dst, r)
	}
	m.Close()
	return m.Dst, true
}

// AppendRow appends a record as a line that has its facts and no metric; [Parse] reads it.
func AppendRow(dst []byte, r *record.Record) []byte {
	m := artifact.Members{Dst: dst}
	m.Open()
	appendMetadata(&m, r)
	m.Key("metrics")
	m.Dst = append(m.Dst, "{}"...)
	appendSpecDecode(&m, r.SpecDecode)
	appendError(&m, r.Err)
	m.Key("facts")
	m.Dst = new(metrics.Set).AppendRecordFacts(m.Dst, r)
	m.Close()
	return m.Dst
}

// appendMetadata appends the member that says which request it was. All instants are wall clock
// nanoseconds since the epoch.
func appendMetadata(m *artifact.Members, r *record.Record) {
	start := r.Facts[record.StartWall]
	m.Object("metadata")
	m.Int("session_num", r.SessionNum)
	m.String("x_request_id", r.RequestID)
	m.String("x_correlation_id", r.CorrelationID)
	m.String("conversation_id", r.ConversationID)
	m.Int("turn_index", int64(r.TurnIndex))
	appendWall(m, "credit_issued_ns", r, record.CreditIssued)
	appendWall(m, "intended_send_ns", r, record.IntendedSend)
	m.Int("request_start_ns", start)
	appendWall(m, "request_ack_ns", r, record.Ack)
	m.Int("request_end_ns", EndNS(r))
	m.String("worker_id", r.WorkerID)
	m.String("record_processor_id", r.ProcessorID)
	m.String("benchmark_phase", r.Phase)
	m.Int("phase_index", int64(r.PhaseIndex))
	if r.ProfilingIndex >= 0 {
		m.Int("profiling_index", int64(r.ProfilingIndex))
	}
	m.String("phase_name", r.PhaseName)
	m.String("phase_kind", r.Phase)
	m.Bool("was_cancelled", r.WasCancelled)
	appendWall(m, "cancellation_time_ns", r, record.Cancelled)
	m.Bool("context_overflow_skip", r.ContextOverflowSkip)
	m.Int("agent_depth", int64(r.AgentDepth))
	if r.ParentCorrelationID != "" {
		m.String("parent_correlation_id", r.ParentCorrelationID)
	}
	if r.Archetype != "" {
		m.String("archetype", r.Archetype)
	}
	m.String("root_correlation_id", cmp.Or(r.RootCorrelationID, r.CorrelationID))
	if r.Raw != nil && r.Raw.CutOff {
		m.Bool("was_cut_off", true)
	}
	m.Close()
}

func appendWall(m *artifact.Members, key string, r *record.Record, f record.Field) {
	if at, ok := r.Get(f); ok {
		m.Int(key, r.Facts[record.StartWall]+at)
	}
}

// EndNS returns the end of a request on the wall clock: the last response of any kind, or the moment at which it failed
// or was cut off; its start when there was neither.
func EndNS(r *record.Record) int64 {
	first, second := record.LastResponse, record.End
	if r.Err != nil || r.Raw != nil && r.Raw.CutOff {
		first, second = second, first
	}
	at, _ := r.First(first, second)
	return r.Facts[record.StartWall] + at
}

func appendError(m *artifact.Members, e *record.Error) {
	if e == nil {
		return
	}
	m.Key("error")
	// An error object holds nothing that cannot be written.
	m.Dst, _ = artifact.AppendJSON(m.Dst, ErrorObject(e))
}

// ErrorObject returns the JSON object of one error, the same in every file.
func ErrorObject(e *record.Error) artifact.Object {
	o := artifact.Object{}
	if e.HasCode {
		o = append(o, artifact.Member{Key: "code", Value: e.Code})
	}
	for _, m := range []struct{ key, text string }{{"type", e.Type}, {"message", e.Message}, {"cause", e.Cause}} {
		if m.text != "" {
			o = append(o, artifact.Member{Key: m.key, Value: m.text})
		}
	}
	if len(e.CauseChain) > 0 {
		o = append(o, artifact.Member{Key: "cause_chain", Value: e.CauseChain})
	}
	if e.Details != "" {
		o = append(o, artifact.Member{Key: "details", Value: e.Details})
	}
	return o
}

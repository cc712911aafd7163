package report

import (
	"cmp"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// AppendMetrics appends the JSON object of a record's metrics to dst; {} when it has none.
type AppendMetrics func(dst []byte, r *record.Record) []byte

// RecordsOptions shape a Records file.
type RecordsOptions struct {
	Path  string
	Lines artifact.LinesOptions
	// Metrics writes the metrics of a record, Facts what is known of it besides; nil writes no facts.
	Metrics, Facts AppendMetrics
	Redactor       *artifact.Redactor
}

// Records writes profile_export.jsonl: one line per request of the profiling phase, in the order in
// which records arrive.
type Records struct {
	lines          *artifact.Lines
	metrics, facts AppendMetrics
	redactor       *artifact.Redactor
	buffers        *sync.Pool
}

// OpenRecords creates the file.
func OpenRecords(o RecordsOptions) (*Records, error) {
	lines, err := artifact.CreateLines(o.Path, o.Lines)
	if err != nil {
		return nil, err
	}
	return &Records{lines: lines, metrics: o.Metrics, facts: o.Facts, redactor: o.Redactor, buffers: newBuffers()}, nil
}

// newBuffers pools the buffers in which lines are built outside of the file's lock.
func newBuffers() *sync.Pool {
	return &sync.Pool{New: func() any { return new([]byte) }}
}

// Add implements Sink. Warm-up requests and requests that the end of the run cut off are not written,
// nor is a valid record without a metric.
func (s *Records) Add(r *record.Record) {
	if r.Phase != record.PhaseProfiling || r.Raw != nil && r.Raw.CutOff {
		return
	}
	buf := s.buffers.Get().(*[]byte)
	line, ok := s.appendLine((*buf)[:0], r)
	if ok {
		_ = s.lines.Add(line) // kept by the file, see Err
	}
	*buf = line
	s.buffers.Put(buf)
}

// Err implements Sink.
func (s *Records) Err() error { return s.lines.Err() }

// Close implements Sink.
func (s *Records) Close() error { return s.lines.Close() }

func (s *Records) appendLine(dst []byte, r *record.Record) ([]byte, bool) {
	m := artifact.Members{Dst: dst}
	m.Open()
	appendMetadata(&m, r)
	m.Key("metrics")
	start := len(m.Dst)
	m.Dst = s.metrics(m.Dst, r)
	if string(m.Dst[start:]) == "{}" && r.Err == nil {
		return dst, false
	}
	appendSpecDecode(&m, r.SpecDecode)
	if r.Trace != nil {
		appendTrace(&m, r.Trace, s.redactor)
	}
	appendError(&m, r.Err)
	if s.facts != nil {
		m.Key("facts")
		m.Dst = s.facts(m.Dst, r)
	}
	m.Close()
	return m.Dst, true
}

// AppendRow appends a record as a line that tells its facts and no metric; ParseRecord reads it.
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
	m.Int("request_end_ns", start+endOffset(r))
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

// endOffset is the end of a request relative to its start: the last response of any kind, or the
// moment at which it failed or was cut off; the start itself when there was neither.
func endOffset(r *record.Record) int64 {
	first, second := record.LastResponse, record.End
	if r.Err != nil || r.Raw != nil && r.Raw.CutOff {
		first, second = second, first
	}
	at, _ := r.First(first, second)
	return at
}

func appendError(m *artifact.Members, e *record.Error) {
	if e == nil {
		return
	}
	m.Key("error")
	// An error object holds nothing that cannot be written.
	m.Dst, _ = artifact.AppendJSON(m.Dst, ErrorObject(e))
}

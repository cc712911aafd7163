package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// recordLine is a line of the per-request file as it is read back.
type recordLine struct {
	Metadata struct {
		SessionNum     int64  `json:"session_num"`
		RequestID      string `json:"x_request_id"`
		CorrelationID  string `json:"x_correlation_id"`
		ConversationID string `json:"conversation_id"`
		TurnIndex      int    `json:"turn_index"`
		CreditIssuedNS *int64 `json:"credit_issued_ns"`
		IntendedSendNS *int64 `json:"intended_send_ns"`
		StartNS        *int64 `json:"request_start_ns"`
		AckNS          *int64 `json:"request_ack_ns"`
		WorkerID       string `json:"worker_id"`
		ProcessorID    string `json:"record_processor_id"`
		Phase          string `json:"benchmark_phase"`
		PhaseIndex     int    `json:"phase_index"`
		ProfilingIndex *int   `json:"profiling_index"`
		PhaseName      string `json:"phase_name"`
		WasCancelled   bool   `json:"was_cancelled"`
		AgentDepth     int    `json:"agent_depth"`
		ParentID       string `json:"parent_correlation_id"`
		RootID         string `json:"root_correlation_id"`
		CancelledNS    *int64 `json:"cancellation_time_ns"`
		Skip           bool   `json:"context_overflow_skip"`
		EndNS          *int64 `json:"request_end_ns"`
	} `json:"metadata"`
	Metrics map[string]metrics.Written `json:"metrics"`
	Error   *struct {
		Code       *int     `json:"code"`
		Type       string   `json:"type"`
		Message    string   `json:"message"`
		Cause      string   `json:"cause"`
		CauseChain []string `json:"cause_chain"`
		Details    string   `json:"details"`
	} `json:"error"`
	SpecDecode json.RawMessage            `json:"spec_decode_acceptance"`
	Facts      map[string]json.RawMessage `json:"facts"`
}

// ErrNoFacts is the error of a line that another program wrote, or an old version of this one: it does
// not tell all that the metrics are computed from.
var ErrNoFacts = errors.New(`it has no "facts": this program, or a version of it, that does not keep them wrote the file`)

// ParseRecord reads a line of the per-request file back.
func ParseRecord(line []byte) (*record.Record, error) {
	if r, ok := scanRecord(line); ok {
		return r, nil
	}
	return parseRecord(line)
}

// parseRecord reads a line of any shape.
func parseRecord(line []byte) (*record.Record, error) {
	l, err := readLine(line)
	if err != nil {
		return nil, err
	}
	if l.Facts == nil {
		return nil, ErrNoFacts
	}
	r, err := l.record()
	if err != nil {
		return nil, err
	}
	for tag, value := range l.Metrics {
		if r.Err != nil {
			break // metrics of failures are other ones, and all facts stand apart
		}
		if err := metrics.RestoreMetric(r, tag, value.Value); err != nil {
			return nil, err
		}
	}
	for name, value := range l.Facts {
		if err := metrics.RestoreFact(r, name, value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ParseOriginalRecord reads a line of the original's per-request file: it has metrics and no facts, and some facts
// follow from them ([metrics.RestoreFromMetrics]).
func ParseOriginalRecord(line []byte) (*record.Record, error) {
	l, err := readLine(line)
	if err != nil {
		return nil, err
	}
	if l.Metadata.EndNS == nil {
		return nil, errors.New("it has no request_end_ns")
	}
	r, err := l.record()
	if err != nil {
		return nil, err
	}
	return r, metrics.RestoreFromMetrics(r, *l.Metadata.EndNS, l.Metrics)
}

func readLine(line []byte) (*recordLine, error) {
	var l recordLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	if l.Metadata.StartNS == nil {
		return nil, errors.New("it has no request_start_ns")
	}
	return &l, nil
}

// record is the request without what its metrics and facts tell.
func (l *recordLine) record() (*record.Record, error) {
	m := &l.Metadata
	r := &record.Record{
		Identity: record.Identity{
			SessionNum: m.SessionNum, RequestID: m.RequestID, CorrelationID: m.CorrelationID, ConversationID: m.ConversationID,
			TurnIndex: m.TurnIndex, WorkerID: m.WorkerID, ProcessorID: m.ProcessorID,
			Phase: m.Phase, PhaseIndex: m.PhaseIndex, ProfilingIndex: -1, PhaseName: m.PhaseName, WasCancelled: m.WasCancelled, ContextOverflowSkip: m.Skip,
			AgentDepth: m.AgentDepth, ParentCorrelationID: m.ParentID, RootCorrelationID: m.RootID,
		},
		Facts: record.NewFacts(),
	}
	if m.ProfilingIndex != nil {
		r.ProfilingIndex = *m.ProfilingIndex
	}
	r.Facts[record.StartWall] = *m.StartNS
	for field, at := range map[record.Field]*int64{
		record.CreditIssued: m.CreditIssuedNS, record.IntendedSend: m.IntendedSendNS, record.Ack: m.AckNS, record.Cancelled: m.CancelledNS,
	} {
		if at != nil {
			r.Facts[field] = *at - *m.StartNS
		}
	}
	if e := l.Error; e != nil {
		r.Err = &record.Error{Type: e.Type, Message: e.Message, Cause: e.Cause, CauseChain: e.CauseChain, Details: e.Details}
		if e.Code != nil {
			r.Err.HasCode, r.Err.Code = true, *e.Code
		}
		r.Facts[record.Failed] = 1
	}
	if l.SpecDecode != nil {
		s, ok := record.ParseSpecDecode(l.SpecDecode)
		if !ok {
			return nil, fmt.Errorf("its %s cannot be read", specDecodeKey)
		}
		r.SpecDecode = s
		s.Fill(&r.Facts)
	}
	return r, nil
}

// batchSize is how much of a file is handed to a reader at a time, where no line is longer.
const batchSize = 256 << 10

// batch are whole lines of a file, and the number of the first of them, from 1.
type batch struct {
	text  []byte
	first int
}

// ReadRecords reads a per-request file and hands its records to take, from several goroutines and in
// no order. A last line that is not whole, of a run that was killed, is left out: cut tells. Any other
// line that cannot be read is an error that names it.
func ReadRecords(path string, take func(*record.Record)) (cut bool, err error) {
	return readRecords(path, ParseRecord, take)
}

// ReadOriginalRecords is ReadRecords for a file of the original.
func ReadOriginalRecords(path string, take func(*record.Record)) (cut bool, err error) {
	return readRecords(path, ParseOriginalRecord, take)
}

func readRecords(path string, parse func(line []byte) (*record.Record, error), take func(*record.Record)) (cut bool, err error) {
	file, err := bounded.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	batches, empty := make(chan batch, 2), make(buffers, 8)
	var faults faultKeeper
	var group sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for b := range batches {
				number := b.first
				for line := range bytes.Lines(b.text) {
					r, err := parse(line[:len(line)-1])
					if err != nil {
						faults.keep(number, fmt.Errorf("%s:%d: %w", path, number, err))
						break
					}
					take(r)
					number++
				}
				empty.put(b.text)
			}
		})
	}
	lines, cut, err := splitLines(bounded.NewLines(file, bounded.MaxLine, ""), batches, empty)
	close(batches)
	group.Wait()
	if err != nil {
		return cut, fmt.Errorf("%s: %w", path, err)
	}
	var syntax *json.SyntaxError
	if faults.number == lines && errors.As(faults.err, &syntax) {
		return true, nil
	}
	return cut, faults.err
}

// splitLines sends a file in batches of whole lines and counts them. The last one may lack its end.
func splitLines(in io.Reader, batches chan<- batch, empty buffers) (lines int, cut bool, err error) {
	text := empty.get()
	for {
		text = slices.Grow(text, batchSize)
		n, err := in.Read(text[len(text) : len(text)+batchSize])
		fresh := text[len(text) : len(text)+n]
		text = text[:len(text)+n]
		if last := bytes.LastIndexByte(fresh, '\n'); last >= 0 {
			whole := len(text) - len(fresh) + last + 1
			rest := append(empty.get(), text[whole:]...)
			batches <- batch{text[:whole], lines + 1}
			lines += bytes.Count(fresh, []byte{'\n'})
			text = rest
		}
		switch {
		case err == io.EOF:
			return lines, len(text) > 0, nil
		case err != nil:
			return lines, false, err
		}
	}
}

// buffers are memory to be used again.
type buffers chan []byte

func (b buffers) get() []byte {
	select {
	case text := <-b:
		return text[:0]
	default:
		return nil
	}
}

func (b buffers) put(text []byte) {
	select {
	case b <- text:
	default:
	}
}

// faultKeeper keeps the error of the first line.
type faultKeeper struct {
	mu     sync.Mutex
	number int
	err    error
}

func (k *faultKeeper) keep(number int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || number < k.number {
		k.number, k.err = number, err
	}
}

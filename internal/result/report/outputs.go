package report

import (
	"bytes"
	"fmt"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// outputsSchemaVersion is the version of the shape of outputs.json.
const outputsSchemaVersion = "1.1"

// OutputMetrics are the metrics of an entry of outputs.json, in its order.
var OutputMetrics = []string{
	"input_sequence_length", "output_token_count", "output_sequence_length",
	"request_latency", "time_to_first_token", "inter_token_latency",
}

// OutputsSpool is the form of the lines in which the entries of outputs.json are collected on disk as requests
// complete, so that neither memory nor a crash is a concern: the file itself is sorted, and made from the spool when
// the run is over.
type OutputsSpool struct {
	// Metrics writes the OutputMetrics of a record, tag → number; {} when it has none.
	Metrics  recordfile.AppendMetrics
	Redactor *artifact.Redactor
}

// AppendLine is a [recordfile.AppendLine]. Requests that the end of the run cut off have no entry.
func (s OutputsSpool) AppendLine(dst []byte, r *record.Record) ([]byte, bool) {
	if r.Raw != nil && r.Raw.CutOff {
		return dst, false
	}
	return append(s.appendEntry(outputKeyOf(r).append(dst), r), '}'), true
}

func (s OutputsSpool) appendEntry(dst []byte, r *record.Record) []byte {
	m := artifact.Members{Dst: dst}
	m.Open()
	m.Int("session_num", r.SessionNum)
	m.String("conversation_id", r.ConversationID)
	m.Int("turn_index", int64(r.TurnIndex))
	m.String("x_request_id", r.RequestID)
	m.String("benchmark_phase", r.Phase)
	m.Int("request_start_ns", r.Facts[record.StartWall])
	m.Int("request_end_ns", recordfile.EndNS(r))
	m.Key("metrics")
	m.Dst = s.Metrics(m.Dst, r)
	m.Key("response_text")
	if len(r.Text) > 0 {
		m.Dst = artifact.AppendString(m.Dst, s.Redactor.Said(r.Text))
	} else {
		m.Dst = append(m.Dst, "null"...)
	}
	m.Close()
	return m.Dst
}

// outputKey is what entries are sorted by: those of the warm-up are in a list of their own, after the
// others; equal ones keep the order in which they completed.
type outputKey struct {
	warmup              int8
	session, turn, line int64
}

func outputKeyOf(r *record.Record) outputKey {
	k := outputKey{session: r.SessionNum, turn: int64(r.TurnIndex)}
	if r.Phase == record.PhaseWarmup {
		k.warmup = 1
	}
	return k
}

// A line of the spool is {"key":[0,12,3],"entry":{…}}.
const (
	outputKeyStart = `{"key":[`
	outputKeyEnd   = `],"entry":`
)

func (k outputKey) append(dst []byte) []byte {
	dst = append(dst, outputKeyStart...)
	dst = strconv.AppendInt(dst, int64(k.warmup), 10)
	for _, n := range [...]int64{k.session, k.turn} {
		dst = strconv.AppendInt(append(dst, ','), n, 10)
	}
	return append(dst, outputKeyEnd...)
}

// parseOutput splits a line of the spool into its key and its entry.
func parseOutput(line []byte) (outputKey, []byte, error) {
	var k outputKey
	rest, ok := bytes.CutPrefix(line, []byte(outputKeyStart))
	key, entry, found := bytes.Cut(rest, []byte(outputKeyEnd))
	parts := bytes.Split(key, []byte{','})
	entry, whole := bytes.CutSuffix(entry, []byte{'}'})
	if !ok || !found || !whole || len(parts) != 3 || len(entry) < 2 || entry[0] != '{' || entry[len(entry)-1] != '}' {
		return k, nil, fmt.Errorf("not an entry of outputs: %.60q", line)
	}
	var numbers [3]int64
	for i, p := range parts {
		n, err := strconv.ParseInt(string(p), 10, 64)
		if err != nil {
			return k, nil, fmt.Errorf("not an entry of outputs: %.60q", line)
		}
		numbers[i] = n
	}
	if numbers[0] != 0 {
		k.warmup = 1
	}
	k.session, k.turn = numbers[1], numbers[2]
	return k, entry, nil
}

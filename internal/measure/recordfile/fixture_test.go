package recordfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// exchange returns a valid record of the profiling phase.
func exchange() *record.Record {
	r := &record.Record{
		Identity: record.Identity{
			SessionNum: 0, RequestID: "r0", CorrelationID: "c0", ConversationID: "s0",
			WorkerID: "worker_1", ProcessorID: "record_processor_1", Phase: record.PhaseProfiling,
		},
		Facts: record.NewFacts(),
	}
	r.Facts[record.StartWall] = 1700000000001000000
	r.Facts[record.CreditIssued] = -1000000
	r.Facts[record.Ack] = 10000000
	r.Facts[record.LastResponse] = 305000000
	r.Facts[record.End] = 306000000
	return r
}

// exampleMetrics stands for the metric table.
func exampleMetrics(dst []byte, r *record.Record) []byte {
	if r.Err != nil {
		return append(dst, `{"error_isl":{"value":40,"unit":"tokens"}}`...)
	}
	return append(dst, `{"request_latency":{"value":300.0,"unit":"ms"},"output_sequence_length":{"value":10,"unit":"tokens"},"inter_chunk_latency":{"value":[50.0,60.0,90.0],"unit":"ms"}}`...)
}

// drained returns the lines of a file of records.
func drained(t testing.TB, line AppendLine, records []*record.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	w, err := Create(path, artifact.LinesOptions{}, line)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		w.Add(r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if !json.Valid(line) {
			t.Fatalf("not JSON: %s", line)
		}
		if bytes.Contains(line, []byte(":null")) {
			t.Errorf("null in %s", line)
		}
	}
	return string(data)
}

// streamed returns a valid record with gaps, usage and a trace.
func streamed() *record.Record {
	r := exchange()
	r.WorkerID, r.ProfilingIndex, r.PhaseName, r.TurnIndex, r.SessionNum = "w", 0, "profiling", 2, 9
	for field, v := range map[record.Field]int64{
		record.IntendedSend: -2e6, record.FirstContent: 10e6 + 1, record.SecondContent: 20e6 + 3,
		record.FirstOutput: 10e6 + 1,
		record.LastContent: 300e6 + 7, record.Contents: 3, record.InputTokens: 100, record.OutputTokens: 3,
		record.RequestedTokens: 3,
		record.UsagePrompt:     101, record.Blocked: 0, record.BytesSent: 900, record.ReadLag: 12_345,
	} {
		r.Facts[field] = v
	}
	r.GapsNS = []int64{10e6 + 2, 280e6 + 4}
	return r
}

// speculated returns a valid record of a server with speculative decoding.
func speculated() *record.Record {
	r := streamed()
	length, tokens := 2.6, int64(13)
	r.SpecDecode = &record.SpecDecode{Engine: "vllm", MeanAcceptanceLength: &length, Accepted: 8, Drafted: 15, Steps: 5,
		SpecTokens:      &tokens,
		Histogram:       []record.AcceptedSteps{{Accepted: 0, Steps: 1}, {Accepted: 2, Steps: 4}},
		PerStepAccepted: []int64{2, 2, 0, 2, 2}}
	r.SpecDecode.Fill(&r.Facts)
	return r
}

func broken() *record.Record {
	r := exchange()
	r.ProfilingIndex, r.WasCancelled = -1, true
	r.Facts[record.Failed], r.Facts[record.Cancelled], r.Facts[record.InputTokens], r.Facts[record.Connecting] = 1, 7e6,
		40, 5
	r.Err = &record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError", Message: "m\n\"ü", Cause: "c",
		CauseChain: []string{"A", "B"}, Details: "d"}
	return r
}

// linesOf returns the per-request file of records.
func linesOf(t testing.TB, records ...*record.Record) string {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	format := Format{Metrics: set.AppendRecordMetrics, Facts: set.AppendRecordFacts, Redactor: artifact.NewRedactor()}
	return drained(t, format.AppendLine, records)
}

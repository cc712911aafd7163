package recordfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// originalLine is a line as the original writes it: metrics and no facts.
const originalLine = `{"metadata":{"session_num":1,"x_request_id":"r","x_correlation_id":"c","conversation_id":"s","turn_index":0,"credit_issued_ns":990,` +
	`"request_start_ns":1000,"request_ack_ns":1200,"request_end_ns":9000,"worker_id":"w","record_processor_id":"p","benchmark_phase":"profiling",` +
	`"phase_index":1,"profiling_index":0,"phase_name":"profiling","was_cancelled":false},"metrics":{"request_latency":{"value":0.007,"unit":"ms"},` +
	`"time_to_first_token":{"value":0.003,"unit":"ms"},"inter_chunk_latency":{"value":[0.001,0.003],"unit":"ms"},"output_sequence_length":{"value":7,"unit":"tokens"}}}`

func TestOriginalRecord(t *testing.T) {
	r, err := ParseOriginal([]byte(originalLine))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[record.Field]int64{
		record.StartWall: 1000, record.CreditIssued: -10, record.Ack: 200, record.FirstContent: 3000,
		record.LastContent:  7000,
		record.LastResponse: 8000, record.Contents: 3, record.OutputTokens: 7, record.End: record.Absent,
		record.Failed: record.Absent,
	} {
		if r.Facts[field] != want {
			t.Errorf("%s = %d, want %d", field, r.Facts[field], want)
		}
	}
	if diff := cmp.Diff([]int64{1000, 3000}, r.GapsNS); diff != "" || r.PhaseIndex != 1 || r.RequestID != "r" {
		t.Errorf("gaps %s, phase %d, request %s", diff, r.PhaseIndex, r.RequestID)
	}
	if _, err := Parse([]byte(originalLine)); err != errNoFacts {
		t.Errorf("as a line of this program: %v", err)
	}
	for missing, want := range map[string]string{`"request_end_ns":9000,`: "request_end_ns",
		`"request_start_ns":1000,`: "request_start_ns"} {
		if _, err := ParseOriginal([]byte(strings.Replace(originalLine, missing, "", 1))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

// Whatever a line says, its metrics can be computed, and reading it again tells the same.
func FuzzParseOriginal(f *testing.F) {
	f.Add(originalLine)
	f.Add(`{"metadata":{"request_start_ns":1,"request_end_ns":1},"metrics":{"error_isl":{"value":3,"unit":"tokens"}},"error":{"type":"T"}}`)
	f.Add(`{"metadata":{"request_start_ns":1,"request_end_ns":-9},"metrics":{"osl_mismatch_diff_pct":{"value":-99.99,"unit":"%"},"output_token_count":{"value":9e17,"unit":"tokens"}}}`)
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := ParseOriginal([]byte(line))
		if err != nil {
			return
		}
		set.AppendRecordMetrics(nil, r)
		again, err := ParseOriginal([]byte(line))
		if diff := cmp.Diff(r, again); err != nil || diff != "" {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	})
}

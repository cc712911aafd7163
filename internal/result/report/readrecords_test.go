package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// streamed is a valid record with gaps, usage and a trace.
func streamed() *record.Record {
	r := exchange()
	r.WorkerID, r.ProfilingIndex, r.PhaseName, r.TurnIndex, r.SessionNum = "w", 0, "profiling", 2, 9
	for field, v := range map[record.Field]int64{
		record.IntendedSend: -2e6, record.FirstContent: 10e6 + 1, record.SecondContent: 20e6 + 3, record.FirstOutput: 10e6 + 1,
		record.LastContent: 300e6 + 7, record.Contents: 3, record.InputTokens: 100, record.OutputTokens: 3, record.RequestedTokens: 3,
		record.UsagePrompt: 101, record.Blocked: 0, record.BytesSent: 900, record.ReadLag: 12_345,
	} {
		r.Facts[field] = v
	}
	r.GapsNS = []int64{10e6 + 2, 280e6 + 4}
	return r
}

// speculated is a valid record of a server with speculative decoding.
func speculated() *record.Record {
	r := streamed()
	length, tokens := 2.6, int64(13)
	r.SpecDecode = &record.SpecDecode{Engine: "vllm", MeanAcceptanceLength: &length, Accepted: 8, Drafted: 15, Steps: 5, SpecTokens: &tokens,
		Histogram: []record.AcceptedSteps{{Accepted: 0, Steps: 1}, {Accepted: 2, Steps: 4}}, PerStepAccepted: []int64{2, 2, 0, 2, 2}}
	r.SpecDecode.Fill(&r.Facts)
	return r
}

func broken() *record.Record {
	r := exchange()
	r.ProfilingIndex, r.WasCancelled = -1, true
	r.Facts[record.Failed], r.Facts[record.Cancelled], r.Facts[record.InputTokens], r.Facts[record.Connecting] = 1, 7e6, 40, 5
	r.Err = &record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError", Message: "m\n\"ü", Cause: "c", CauseChain: []string{"A", "B"}, Details: "d"}
	return r
}

// linesOf is the per-request file of records.
func linesOf(t testing.TB, records ...*record.Record) string {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profile_export.jsonl")
	s, err := OpenRecords(RecordsOptions{Path: path, Metrics: set.AppendRecordMetrics, Facts: set.AppendRecordFacts, Redactor: artifact.NewRedactor()})
	if err != nil {
		t.Fatal(err)
	}
	return drained(t, s, path, records)
}

func TestRecordsAreReadBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]*record.Record{"valid": streamed(), "speculative": speculated(), "failed": broken()} {
		line := linesOf(t, want)
		want.RootCorrelationID = want.CorrelationID // as files have it for a session of its own
		got, err := ParseRecord([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, line)
		}
	}
}

// The rows of the warm-up in the state file tell as much as lines with metrics.
func TestRowsAreReadBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]*record.Record{"valid": streamed(), "speculative": speculated(), "failed": broken()} {
		row := AppendRow(nil, want)
		want.RootCorrelationID = want.CorrelationID
		got, err := ParseRecord(row)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, row)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, row)
		}
	}
}

// manyLines are more than one batch.
const manyLines = 500

func TestReadRecords(t *testing.T) {
	line := linesOf(t, streamed())
	var many strings.Builder
	for range 3 * manyLines {
		many.WriteString(line)
	}
	for _, c := range []struct {
		name, text string
		records    int
		cut        bool
		err        string
	}{
		{"all", many.String(), 3 * manyLines, false, ""},
		{"none", "", 0, false, ""},
		{"a last line without an end", many.String() + line[:len(line)-1], 3 * manyLines, true, ""},
		{"half a last line", line + line[:100], 1, true, ""},
		{"half a last line with an end", line + line[:100] + "\n", 1, true, ""},
		{"half a line before another", line + line[:100] + "\n" + line, 0, false, "f.jsonl:2: "},
		{"the original's", line + `{"metadata":{"request_start_ns":1},"metrics":{}}` + "\n" + line, 0, false, `f.jsonl:2: it has no "facts"`},
		{"no start", `{"metadata":{},"facts":{}}` + "\n", 0, false, "f.jsonl:1: it has no request_start_ns"},
		{"a fact that is none", strings.Replace(line, `"facts":{`, `"facts":{"good":"x",`, 1), 0, false, "fact good"},
		{"several faults", many.String() + "{}\n" + many.String() + "[]\n", 0, false, fmt.Sprintf("f.jsonl:%d: ", 3*manyLines+1)},
	} {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		n := 0
		cut, err := ReadRecords(path, func(*record.Record) { mu.Lock(); n++; mu.Unlock() })
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if err == nil && (n != c.records || cut != c.cut) {
			t.Errorf("%s: %d records, cut %v; want %d, %v", c.name, n, cut, c.records, c.cut)
		}
	}
	if _, err := ReadRecords(filepath.Join(t.TempDir(), "absent"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// The usual lines take the short way, and it leads to the same place.
func TestUsualLinesAreScanned(t *testing.T) {
	traced := streamed()
	traced.Trace = &record.Trace{}
	for _, r := range []*record.Record{streamed(), traced, speculated()} {
		line := strings.TrimSuffix(linesOf(t, r), "\n")
		fast, ok := scanRecord([]byte(line))
		if !ok {
			t.Fatalf("%s is not scanned", line)
		}
		slow, err := parseRecord([]byte(line))
		if diff := cmp.Diff(slow, fast); err != nil || diff != "" {
			t.Errorf("%s: %v %s", line, err, diff)
		}
		for end := range len(line) {
			if _, ok := scanRecord([]byte(line[:end])); ok {
				t.Errorf("%s is taken for a whole line", line[:end])
			}
		}
	}
	if v := (&Values{names: map[string]string{}}); !v.scanRow([]byte(strings.TrimSuffix(linesOf(t, speculated()), "\n")), new(row)) {
		t.Error("the values of a request with speculative decoding are not scanned")
	}
	if _, ok := scanRecord([]byte(strings.TrimSpace(linesOf(t, broken())))); ok {
		t.Error("a failed request is scanned")
	}
}

// duplicates tells that a tag stands twice, of which the general reader sees the last alone.
func duplicates(values []tagged) bool {
	for i := 1; i < len(values); i++ {
		if values[i].tag == values[i-1].tag {
			return true
		}
	}
	return false
}

// BenchmarkParseRecord reads a line of a request that went well.
func BenchmarkParseRecord(b *testing.B) {
	line := []byte(strings.TrimSuffix(linesOf(b, streamed()), "\n"))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRecord(line); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(`{"metadata":{"request_start_ns":1,"request_ack_ns":2},"metrics":{"inter_chunk_latency":{"value":[1.5],"unit":"ms"}},"facts":{"end":3}}`)
	f.Add(`{"metadata":{"request_start_ns":1},"metrics":{},"error":{"code":0,"type":"T"},"facts":{"gaps":[-1]}}`)
	f.Add(`{"metadata":{"request_start_ns":1},"metrics":{"spec_decode_steps":{"value":9,"unit":"count"}},"spec_decode_acceptance":{"mean_acceptance_length":2,"acceptance_histogram":{"1":5},"num_accepted_draft_tokens":4,"num_draft_tokens":8,"num_spec_steps":5},"facts":{"end":3}}`)
	f.Add(`{"metadata":{"session_num":1,"x_request_id":"r","request_start_ns":170,"was_cancelled":true,"phase_kind":"x"},"metrics":{"request_latency":{"value":1.5,"unit":"ms"},"input_sequence_length":{"value":3,"unit":"tokens"}},"trace_data":{"a":[1,{"b":null}]},"facts":{"end":3}}`)
	f.Fuzz(func(t *testing.T, line string) {
		if fast, ok := scanRecord([]byte(line)); ok {
			slow, err := parseRecord([]byte(line))
			if diff := cmp.Diff(slow, fast); err != nil || diff != "" {
				t.Fatalf("%s is read differently: %v %s", line, err, diff)
			}
		}
		var fast, slow row
		if v := (&Values{names: map[string]string{}}); v.scanRow([]byte(line), &fast) {
			err := parseRow([]byte(line), &slow)
			byTag := func(a, b tagged) int { return strings.Compare(a.tag, b.tag) }
			slices.SortFunc(fast.values, byTag)
			slices.SortFunc(slow.values, byTag)
			if err != nil || fast.key != slow.key || fast.warmup != slow.warmup || !slices.Equal(fast.values, slow.values) && !duplicates(fast.values) {
				t.Fatalf("%s: %+v or %+v, %v", line, fast, slow, err)
			}
		}
		r, err := ParseRecord([]byte(line))
		if err != nil {
			return
		}
		if _, started := r.Get(record.StartWall); !started && !strings.Contains(line, "start_wall") {
			t.Errorf("%s is read as a request without a start", line)
		}
	})
}

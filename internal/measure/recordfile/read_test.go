package recordfile

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
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

func TestRecordsAreReadBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]*record.Record{"valid": streamed(), "speculative": speculated(),
		"failed": broken(), "of a mix": mixed(), "speech": spoken()} {
		line := linesOf(t, want)
		want.RootCorrelationID = want.CorrelationID // as files have it for a session of its own
		got, err := Parse([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, line)
		}
	}
}

// spoken is a record of a request for speech.
func spoken() *record.Record {
	r := streamed()
	r.Facts[record.AudioBytes], r.Facts[record.FirstAudioBytes], r.Facts[record.AudioMade] = 120_044, 2444, 2_500_000_001
	return r
}

// Among the metrics of speech are those facts, in other units: a whole number of kilobytes, and one that is not.
func TestSpeechIsReadBackAsItWas(t *testing.T) {
	cfg := metrics.DefaultConfig()
	cfg.TokenizesInput, cfg.ProducesAudio = true, true
	set, err := metrics.NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{120_044, 117 << 10, 1} {
		want := spoken()
		want.Facts[record.AudioBytes] = n
		format := Format{Metrics: set.AppendRecordMetrics, Facts: set.AppendRecordFacts, Redactor: artifact.NewRedactor()}
		line := drained(t, format.AppendLine, []*record.Record{want})
		want.RootCorrelationID = want.CorrelationID
		got, err := Parse([]byte(line))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v %s\n%s", err, diff, line)
		}
	}
}

// mixed is a record of a request of several shapes.
func mixed() *record.Record {
	r := streamed()
	r.Archetype = "chat"
	return r
}

// The rows of the warm-up in the state file tell as much as lines with metrics.
func TestRowsAreReadBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]*record.Record{"valid": streamed(), "speculative": speculated(),
		"failed": broken()} {
		row := AppendRow(nil, want)
		want.RootCorrelationID = want.CorrelationID
		got, err := Parse(row)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, row)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, row)
		}
	}
}

// Programs that rewrite JSON, such as jq, write 50.0 ms as 50: it stays 50 ms.
func TestWholeMillisecondsAreMilliseconds(t *testing.T) {
	const line = `{"metadata":{"request_start_ns":1},"metrics":{"request_latency":{"value":50,"unit":"ms"},` +
		`"time_to_first_token":{"value":5e1,"unit":"ms"},"output_sequence_length":{"value":9007199254740993,"unit":"tokens"}},` +
		`"facts":{}}`
	with, err := Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	without, err := Parse([]byte(strings.Replace(line, `"value":50,`, `"value":50.0,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if with.Facts != without.Facts {
		t.Errorf("%v, with a decimal point %v", with.Facts, without.Facts)
	}
}

// manyLines are more than one batch.
const manyLines = 500

func TestRead(t *testing.T) {
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
		{"the original's", line + `{"metadata":{"request_start_ns":1},"metrics":{}}` + "\n" + line, 0, false,
			`f.jsonl:2: it has no "facts"`},
		{"no start", `{"metadata":{},"facts":{}}` + "\n", 0, false, "f.jsonl:1: it has no request_start_ns"},
		{"a fact that is none", strings.Replace(line, `"facts":{`, `"facts":{"good":"x",`, 1), 0, false, "fact good"},
		{"several faults", many.String() + "{}\n" + many.String() + "[]\n", 0, false,
			fmt.Sprintf("f.jsonl:%d: ", 3*manyLines+1)},
	} {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		n := 0
		cut, err := Read(path, Parse, func(*record.Record) { mu.Lock(); n++; mu.Unlock() })
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if err == nil && (n != c.records || cut != c.cut) {
			t.Errorf("%s: %d records, cut %v; want %d, %v", c.name, n, cut, c.records, c.cut)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent"), Parse, nil); !errors.Is(err, os.ErrNotExist) {
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
	if !new(RowParser).scan([]byte(strings.TrimSuffix(linesOf(t, speculated()), "\n"))) {
		t.Error("the values of a request with speculative decoding are not scanned")
	}
	if _, ok := scanRecord([]byte(strings.TrimSpace(linesOf(t, broken())))); ok {
		t.Error("a failed request is scanned")
	}
}

// duplicates reports whether a tag stands twice, of which the general reader sees the last alone.
func duplicates(r *Row) bool {
	tags := slices.Clone(r.Lists)
	for _, v := range r.Values {
		tags = append(tags, v.Tag)
	}
	slices.Sort(tags)
	return len(slices.Compact(tags)) < len(r.Values)+len(r.Lists)
}

// BenchmarkParse reads a line of a request that went well.
func BenchmarkParse(b *testing.B) {
	line := []byte(strings.TrimSuffix(linesOf(b, streamed()), "\n"))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	scanRecord([]byte(linesOf(f, streamed()))) // the layouts know some metrics
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
		if fast, ok := scanRequest([]byte(line)); ok {
			l, err := parseLine([]byte(line))
			if err != nil || l.Error != nil || len(l.Metrics) != len(fast.Metrics) {
				t.Fatalf("%s is read differently: %v %+v", line, err, fast)
			}
			if diff := cmp.Diff(l.Metadata.request(fast.Metrics), fast); diff != "" {
				t.Fatalf("%s is read differently: %s", line, diff)
			}
		}
		var fast, slow RowParser
		if fast.scan([]byte(line)) {
			err := slow.parse([]byte(line))
			for _, p := range []*RowParser{&fast, &slow} {
				slices.SortFunc(p.row.Values, func(a, b Value) int { return strings.Compare(a.Tag, b.Tag) })
				slices.Sort(p.row.Lists)
			}
			diff := cmp.Diff(slow.row, fast.row, cmpopts.EquateEmpty())
			// The scanner does not look at what a row does not need: there may be an error besides.
			if err == nil && diff != "" && !duplicates(&fast.row) {
				t.Fatalf("%s is read differently: %v %s", line, err, diff)
			}
		}
		r, err := Parse([]byte(line))
		if err != nil {
			return
		}
		if _, started := r.Get(record.StartWall); !started && !strings.Contains(line, "start_wall") {
			t.Errorf("%s is read as a request without a start", line)
		}
	})
}

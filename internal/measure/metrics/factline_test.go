package metrics

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
)

// restored returns the record that the metrics and facts of a line tell.
func restored(t *testing.T, s *Set, rec *record.Record) *record.Record {
	t.Helper()
	var told map[string]struct{ Value json.RawMessage }
	if err := json.Unmarshal(s.AppendRecordMetrics(nil, rec), &told); err != nil {
		t.Fatal(err)
	}
	var facts map[string]json.RawMessage
	if err := json.Unmarshal(s.AppendRecordFacts(nil, rec), &facts); err != nil {
		t.Fatal(err)
	}
	back := &record.Record{Identity: rec.Identity, Facts: record.NewFacts(), Err: rec.Err}
	for i, known := range inMetadata {
		if known {
			back.Facts[i] = rec.Facts[i]
		}
	}
	for tag, m := range told {
		if err := RestoreMetric(back, tag, m.Value); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range facts {
		if err := RestoreFact(back, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return back
}

// Whatever the facts, their line tells all of them: absurd ones, gaps that run backwards, failures.
func TestALineTellsTheWholeRow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	unary := chatConfig()
	unary.Streaming = false
	shown := chatConfig()
	shown.ShowInternal = true
	for _, c := range []Config{chatConfig(), unary, shown, DefaultConfig()} {
		set, err := NewSet(c)
		if err != nil {
			t.Fatal(err)
		}
		for round := range testkit.Seeds(300, 2000) {
			rec := &record.Record{Facts: record.NewFacts()}
			for i := range record.NumFields {
				switch random.IntN(6) {
				case 0:
				case 1:
					rec.Facts[i] = 0
				case 2:
					rec.Facts[i] = -random.Int64N(1e12)
				default:
					rec.Facts[i] = random.Int64N(1 << (1 + random.IntN(52)))
				}
			}
			rec.Facts[record.Failed], rec.Facts[record.Good] = record.Absent, record.Absent
			for range random.IntN(4) {
				rec.GapsNS = append(rec.GapsNS, random.Int64N(1e10)-int64(random.IntN(20)/19)*1e10)
			}
			if len(rec.GapsNS) > 0 && random.IntN(2) == 0 {
				rec.Facts[record.Contents] = int64(len(rec.GapsNS)) + 1
			}
			if random.IntN(4) == 0 {
				rec.Facts[record.Failed], rec.Err = 1, &record.Error{Type: "T"}
			}
			back := restored(t, set, rec)
			if len(rec.GapsNS) > 0 && rec.Facts[record.Contents] == record.Absent &&
				back.Facts[record.Contents] != record.Absent {
				rec.Facts[record.Contents] = back.Facts[record.Contents] // gaps without contents do not occur
			}
			if diff := cmp.Diff(rec, back); diff != "" {
				t.Fatalf("round %d: %s", round, diff)
			}
		}
	}
}

func TestFactsThatAreNoNumbers(t *testing.T) {
	rec := &record.Record{Facts: record.NewFacts()}
	for _, c := range []struct{ name, value string }{{"end", `"x"`}, {"end", "1.5"}, {"end", "null"}, {gapsKey, "3"}} {
		if RestoreFact(rec, c.name, []byte(c.value)) == nil {
			t.Errorf("fact %s of %s is accepted", c.name, c.value)
		}
	}
	for _, c := range []struct{ tag, value string }{{"request_latency", `"x"`}, {"request_latency", "1e300"},
		{listTag, "{}"}} {
		if RestoreMetric(rec, c.tag, []byte(c.value)) == nil {
			t.Errorf("metric %s of %s is accepted", c.tag, c.value)
		}
	}
	if err := RestoreFact(rec, "of_a_later_version", []byte("{}")); err != nil {
		t.Errorf("a fact of a later version: %v", err)
	}
}

func BenchmarkAppendRecordFacts(b *testing.B) {
	set := mustSet(b, chatConfig())
	rec := worked()[0]
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = set.AppendRecordFacts(line[:0], rec)
	}
}

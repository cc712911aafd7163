package recordfile

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"aiperf/internal/measure/record"
)

const ms = 1_000_000

// recordbatchStreamed returns n records such as a streaming run makes them, with a number of gaps each.
func recordbatchStreamed(n, gapsEach int) []*record.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	uuid := func() string {
		var b [16]byte
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return unpackUUID(b[:])
	}
	list := make([]*record.Record, n)
	for i := range list {
		f := record.NewFacts()
		first := 80*ms + rng.Int64N(20*ms)
		f[record.StartWall] = 1_764_000_000_000_000_000 + int64(i)*ms + rng.Int64N(ms)
		f[record.CreditIssued], f[record.IntendedSend] = -rng.Int64N(50_000), -rng.Int64N(60_000)
		f[record.CreditDrop], f[record.Ack] = rng.Int64N(20_000), first-rng.Int64N(ms)
		f[record.FirstContent], f[record.FirstOutput] = first, first
		f[record.SecondContent], f[record.LastContent] = first+10*ms+rng.Int64N(ms), first+int64(gapsEach)*10*ms
		f[record.LastResponse] = f[record.LastContent] + rng.Int64N(100_000)
		f[record.End] = f[record.LastResponse] + rng.Int64N(100_000)
		f[record.Contents] = int64(gapsEach + 1)
		f[record.InputTokens], f[record.OutputTokens] = 500+rng.Int64N(50), int64(gapsEach+1)
		f[record.RequestedTokens], f[record.ReadLag] = int64(gapsEach+1), rng.Int64N(100_000)
		f[record.UsagePrompt], f[record.UsageCompletion] = f[record.InputTokens], f[record.OutputTokens]
		r := &record.Record{Facts: f, Identity: record.Identity{
			SessionNum: int64(i), RequestID: uuid(), CorrelationID: uuid(),
			ConversationID: fmt.Sprintf("session_%06d", i%100), WorkerID: fmt.Sprintf("worker_%d", i%3+1),
			ProcessorID: "record_processor_1", Phase: record.PhaseProfiling, PhaseName: "profiling",
		}}
		for range gapsEach {
			r.GapsNS = append(r.GapsNS, 10*ms+rng.Int64N(200_000))
		}
		list[i] = r
	}
	return list
}

// odd are records with everything that few have.
func odd() []*record.Record {
	f := record.NewFacts()
	for i := range f {
		f[i] = int64(i) - 7
	}
	f[record.Failed], f[record.StartWall] = 1, record.Absent+1
	zero := 0.0
	return []*record.Record{
		{Facts: record.NewFacts()},
		{Facts: f, GapsNS: []int64{0, -5, 1 << 62},
			Identity: record.Identity{SessionNum: -1, RequestID: "Not-A-UUID", CorrelationID: "", TurnIndex: 3,
				ProfilingIndex: -1, PhaseIndex: 2, CacheBustMarker: "m", CacheBustTarget: "t", Archetype: "a", AgentDepth: 2,
				ParentCorrelationID: "p", RootCorrelationID: "r", WasCancelled: true, ContextOverflowSkip: true},
			Err: &record.Error{Code: 0, HasCode: true, Type: "T", Message: "m", CauseChain: []string{"a", ""}},
			Trace: &record.Trace{RequestHeaders: []record.Header{{Name: "A", Value: "b"}},
				ResponseChunks: []record.Chunk{{AtNS: 1, Bytes: 2}}, RemoteIP: "127.0.0.1", RemotePort: 9},
			Raw:        &record.Raw{Payload: []byte("{}"), Responses: []record.RawResponse{{Bytes: []byte{0}, IsEvent: true}}},
			SpecDecode: &record.SpecDecode{MeanAcceptanceLength: &zero, Histogram: []record.AcceptedSteps{{Accepted: 1}}},
			Reply:      record.Reply{Ending: "e", Unfinished: true, Cumulative: true, Unread: []string{"a", "b"}},
			Text:       []byte("text"), Answer: &record.Answer{Content: []byte("c"), Thinking: []byte("t")}},
		{Facts: f, Identity: record.Identity{RequestID: "0123456789ABCDEF0123456789abcdef0123"}, Text: []byte{}},
		{Facts: f, Reply: record.Reply{Ending: "stop"}}, {Facts: f, Reply: record.Reply{Unstreamed: true}},
	}
}

func readAll(t testing.TB, batch []byte) (list []*record.Record) {
	if err := ReadBatch(batch, keep(&list)); err != nil {
		t.Fatal(err)
	}
	return list
}

// keep returns what adds copies of records to a list.
func keep(list *[]*record.Record) func(*record.Record) {
	return func(r *record.Record) {
		own := *r
		*list = append(*list, &own)
	}
}

func pack(t testing.TB, list []*record.Record) []byte {
	var w BatchWriter
	for _, r := range list {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return w.Take()
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	want := append(append(recordbatchStreamed(300, 5), odd()...), recordbatchStreamed(3, 0)...)
	got := readAll(t, pack(t, want))
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("record %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func TestBatchesDoNotDependOnEarlierOnes(t *testing.T) {
	var w BatchWriter
	records := recordbatchStreamed(2, 3)
	for range 2 {
		for _, r := range records {
			if err := w.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		if got := readAll(t, w.Take()); !reflect.DeepEqual(got, records) {
			t.Fatal("a batch is read back as something else")
		}
	}
	if w.Take() != nil {
		t.Error("a batch without records is not nil")
	}
}

func TestIDsCanBeLeftOut(t *testing.T) {
	w := BatchWriter{WithoutIDs: true}
	r := recordbatchStreamed(1, 0)[0]
	if err := w.Add(r); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, w.Take())[0]; got.RequestID != "" || got.CorrelationID != "" || got.ConversationID == "" {
		t.Errorf("got %+v", got.Identity)
	}
}

func TestDamagedBatchesAreErrors(t *testing.T) {
	batch := pack(t, append(recordbatchStreamed(1, 3), odd()[1]))
	whole := len(readAll(t, batch))
	for n := range batch {
		rows := 0
		if err := ReadBatch(batch[:n], func(*record.Record) { rows++ }); err == nil && rows == whole {
			t.Fatalf("%d of %d bytes were taken for all", n, len(batch))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, recordbatchStreamed(3, 2)))
	f.Add(pack(f, odd()))
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []*record.Record
		if ReadBatch(data, keep(&list)) != nil {
			return
		}
		again := readAll(t, pack(t, list))
		if len(again) != len(list) {
			t.Fatalf("%d records became %d", len(list), len(again))
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	records := recordbatchStreamed(1000, 0)
	var w BatchWriter
	bytes := 0
	for i := 0; b.Loop(); i++ {
		if err := w.Add(records[i%1000]); err != nil {
			b.Fatal(err)
		}
		if w.Rows() == 1000 {
			bytes = len(w.Take())
		}
	}
	b.ReportMetric(float64(bytes)/1000, "bytes/row")
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name string
		ids  bool
		gaps int
	}{{"facts", false, 0}, {"ids", true, 0}, {"ids+20gaps", true, 20}} {
		b.Run(c.name, func(b *testing.B) {
			w := BatchWriter{WithoutIDs: !c.ids}
			for _, r := range recordbatchStreamed(1000, c.gaps) {
				if err := w.Add(r); err != nil {
					b.Fatal(err)
				}
			}
			batch := w.Take()
			rows := 0
			for b.Loop() {
				if rows == 0 {
					if err := ReadBatch(batch, func(*record.Record) { rows++ }); err != nil {
						b.Fatal(err)
					}
				}
				rows--
			}
			b.ReportMetric(float64(len(batch))/1000, "bytes/row")
		})
	}
}

package otlp

import (
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// sampleRecord is a streamed request of so many chunks, in which every usual metric has a value.
func sampleRecord(chunks int) *record.Record {
	r := &record.Record{Facts: record.NewFacts(), Identity: record.Identity{Phase: record.PhaseProfiling}}
	for field, v := range map[record.Field]int64{
		record.StartWall: 1, record.FirstContent: 20e6, record.SecondContent: 25e6, record.FirstOutput: 20e6,
		record.LastContent:  20e6 + 5e6*int64(chunks-1),
		record.LastResponse: 600e6, record.End: 601e6, record.Ack: 1e6, record.Contents: int64(chunks),
		record.InputTokens: 550, record.OutputTokens: int64(chunks),
		record.RequestedTokens: int64(chunks), record.UsagePrompt: 550, record.UsageCompletion: int64(chunks),
		record.UsageTotal: 550 + int64(chunks),
		record.Blocked:    0, record.DNSLookup: 0, record.Connecting: 0, record.Sending: 1e5, record.Waiting: 20e6,
		record.Receiving: 500e6, record.TraceDuration: 520e6,
		record.ConnectionReused: 1, record.BytesSent: 3000, record.ChunksSent: 1, record.BytesReceived: 30000,
		record.ChunksReceived: int64(chunks), record.ReadLag: 5e4,
	} {
		r.Facts[field] = v
	}
	for range chunks - 1 {
		r.GapsNS = append(r.GapsNS, 5e6)
	}
	return r
}

func streamingSet(tb testing.TB) *metrics.Set {
	tb.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// BenchmarkRecord is what a request of 100 chunks costs alongside the load.
func BenchmarkRecord(b *testing.B) {
	reader := metric.NewManualReader()
	meter := metric.NewMeterProvider(metric.WithReader(reader),
		metric.WithExemplarFilter(exemplar.AlwaysOffFilter)).Meter(scope)
	f, err := newFigures(meter, streamingSet(b).Samples(), labels{operation: "chat", provider: otherName, model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	list := []*record.Record{sampleRecord(100)}
	b.ReportAllocs()
	for b.Loop() {
		f.addAll(list)
	}
}

// BenchmarkPush is what a push costs beside what the collector does: collecting and encoding.
func BenchmarkPush(b *testing.B) {
	s, _ := newTestStream(b, nil)
	defer s.close()
	for range 100 {
		s.record(sampleRecord(100))
	}
	for b.Loop() {
		if p := s.pushOnce(); p != nil {
			b.Fatal(p.Text)
		}
	}
}

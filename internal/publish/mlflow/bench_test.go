package mlflow

import (
	"testing"

	"aiperf/internal/measure/metrics"
)

// BenchmarkRecord is what a finished request costs alongside the load.
func BenchmarkRecord(b *testing.B) {
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		b.Fatal(err)
	}
	l, r := newLive(set), sampleRecord(20e6)
	for range 99 {
		r.GapsNS = append(r.GapsNS, 5e6)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.record(r)
	}
}

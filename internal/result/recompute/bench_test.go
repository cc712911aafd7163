package recompute_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/result/recompute"
	"aiperf/internal/watch/servermetrics"
)

// BenchmarkRead reads lines of 1,000 changing gauges and 100 histograms into a store.
func BenchmarkRead(b *testing.B) {
	const lines = 200
	var text bytes.Buffer
	for n := range lines {
		fmt.Fprintf(&text, `{"endpoint_url":"http://h/metrics","timestamp_ns":%d,"metrics":{`, n+1)
		for f := range 100 {
			fmt.Fprintf(&text, `"vllm:gauge_%d":[`, f)
			for i := range 10 {
				if i > 0 {
					text.WriteByte(',')
				}
				fmt.Fprintf(&text, `{"labels":{"engine":"%d","model_name":"meta-llama/Llama-3.1-8B-Instruct"},"value":%d.0}`, i, n*(i+f))
			}
			fmt.Fprintf(&text, `],"vllm:latency_%d_seconds":[{"labels":{"engine":"0"},"buckets":{"0.1":%d.0,"1.0":%d.0,"5.0":%d.0,"+Inf":%d.0},"sum":%d.5,"count":%d.0}],`,
				f, n, 2*n, 3*n, 4*n, n, 4*n)
		}
		fmt.Fprintf(&text, `"last":[{"value":%d.0}]},"request_sent_ns":1}`+"\n", n)
	}
	path := filepath.Join(b.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		store := servermetrics.NewStore(servermetrics.Options{})
		r, err := recompute.OpenRecording(path, &recompute.Options{}, true)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Read(context.Background(),
			func(url string, s servermetrics.Scrape) { store.Endpoint(url).Add(s) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

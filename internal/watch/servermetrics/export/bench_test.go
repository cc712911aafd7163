package export_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// hour is an hour of scrapes, one each 333 ms.
const hour = 10_800

// benchSeries describes 1,000 changing and 4,000 constant scalar series of an inference server.
func benchSeries(changing, constant int) []*prom.Series {
	var list []*prom.Series
	for i := range changing + constant {
		f := &prom.Family{Name: fmt.Sprintf("vllm:family_%d_tokens", i/10), Help: "What this family counts.",
			Type: prom.Gauge}
		if i/10%2 == 0 {
			f.Type = prom.Counter
		}
		if n := len(list); n > 0 && i%10 > 0 {
			f = list[n-1].Family
		}
		list = append(list, &prom.Series{Family: f, Labels: []prom.Label{
			{Name: "engine", Value: strconv.Itoa(i % 10)},
			{Name: "model_name", Value: "meta-llama/Llama-3.1-8B-Instruct"},
		}})
	}
	return list
}

// benchRun returns a run of that many scrapes.
func benchRun(scrapes, changing, constant int) *export.Collection {
	store := servermetrics.NewStore(servermetrics.Options{})
	series := benchSeries(changing, constant)
	samples := make([]prom.Sample, len(series))
	e := store.Endpoint("http://localhost:8000/metrics")
	r := rand.New(rand.NewPCG(1, 2))
	for n := range scrapes {
		for i, s := range series {
			samples[i].Series = s
			if n == 0 || i < changing {
				samples[i].Value = float64(10*n*(i%7+1)) + float64(r.IntN(10)) // a counter never falls
			}
		}
		e.Add(servermetrics.Scrape{TimestampNS: int64(n) * 333e6, LatencyNS: 1e6, Samples: samples})
	}
	return export.NewRun(store, export.Info{Window: servermetrics.Window{StartNS: 100 * 333e6,
		EndNS: int64(scrapes) * 333e6}})
}

// peak watches the heap while do runs, and returns by how much it grew at most.
func peak(do func()) int64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var highest atomic.Int64
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				highest.Store(max(highest.Load(), int64(m.HeapInuse)-int64(before.HeapInuse)))
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return highest.Load()
}

// BenchmarkParquet writes the rows of an hour; -short those of a minute.
func BenchmarkParquet(b *testing.B) {
	scrapes := hour
	if testing.Short() {
		scrapes = 180
	}
	run := benchRun(scrapes, 1000, 4000)
	debug.FreeOSMemory()
	p := export.Parquet{Path: filepath.Join(b.TempDir(), "x.parquet"), Run: run}
	var grown int64
	for b.Loop() {
		grown = max(grown, peak(func() {
			if err := p.Export(context.Background()); err != nil {
				b.Fatal(err)
			}
		}))
	}
	file, err := os.Open(p.Path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	written, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		b.Fatal(err)
	}
	perSecond := float64(written.NumRows()) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(perSecond, "rows/s")
	b.ReportMetric(perSecond/float64(runtime.GOMAXPROCS(0)), "rows/s/core")
	b.ReportMetric(float64(grown)/(1<<20), "MiB-beside-store")
	b.ReportMetric(float64(info.Size())/(1<<20), "MiB-file")
}

// BenchmarkJSONAndCSV computes and writes an hour of 5,000 series.
func BenchmarkJSONAndCSV(b *testing.B) {
	scrapes := hour
	if testing.Short() {
		scrapes = 180
	}
	run := benchRun(scrapes, 1000, 4000)
	for b.Loop() {
		run = export.NewRun(run.Store, run.Info)
		if err := (export.JSON{Run: run}).Write(context.Background(), io.Discard); err != nil {
			b.Fatal(err)
		}
		if err := (export.CSV{Run: run}).Write(context.Background(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecorder writes lines of 5,000 series, of which 1,000 change.
func BenchmarkRecorder(b *testing.B) {
	dir := b.TempDir()
	r, err := export.NewRecorder(filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "x.json"), export.Info{},
		export.RecorderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	series := benchSeries(1000, 4000)
	samples := make([]prom.Sample, len(series))
	n := 0
	for b.Loop() {
		n++
		for i, s := range series {
			samples[i].Series = s
			if n == 1 || i < 1000 {
				samples[i].Value = float64(n * (i%7 + 1))
			}
		}
		r.Scraped("http://localhost:8000/metrics", servermetrics.Scrape{TimestampNS: int64(n), Samples: samples})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

package servermetrics

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"aiperf/internal/watch/prom"
)

const (
	hourScrapes  = 10_800
	hourInterval = 333_000_000
	changing     = 1000
	constant     = 4000
)

// hour records one hour of a busy server. Of the changing series, a third each are queue lengths, counters of
// tokens, and ratios with all digits; or all are ratios.
func hour(b *testing.B, allRatios bool) *Store {
	b.Helper()
	store := NewStore(Options{})
	e := store.Endpoint("http://localhost:8000/metrics")
	r := rand.New(rand.NewPCG(1, 2))
	samples := make([]prom.Sample, changing+constant)
	for i := range samples {
		name := fmt.Sprintf("m%d", i)
		samples[i].Series = gaugeOf(name)
		if i%3 == 1 {
			samples[i].Series = counterOf(name)
		}
		samples[i].Value = float64(i) / 3
	}
	for n := range hourScrapes {
		for i := range samples[:changing] {
			switch {
			case allRatios || i%3 == 2:
				samples[i].Value = r.Float64()
			case i%3 == 1:
				samples[i].Value = float64(int64(samples[i].Value)) + float64(r.IntN(4000))
			default:
				samples[i].Value = float64(r.IntN(256))
			}
		}
		e.Add(Scrape{TimestampNS: int64(n) * hourInterval, LatencyNS: 5e6, Samples: samples})
	}
	return store
}

// BenchmarkHourMemory reports what one hour at 333 ms of 1,000 changing and 4,000 constant series keeps.
func BenchmarkHourMemory(b *testing.B) {
	for _, c := range []struct {
		name      string
		allRatios bool
	}{{"mixed", false}, {"all ratios", true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				store := hour(b, c.allRatios)
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapSys-before.HeapSys)/1e6, "MB-heap-peak")
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-kept")
				runtime.KeepAlive(store)
			}
		})
	}
}

// BenchmarkHourCompute computes all statistics of that hour.
func BenchmarkHourCompute(b *testing.B) {
	for _, c := range []struct {
		name    string
		sliceNS int64
	}{{"whole", 0}, {"slices of 1 s", 1e9}} {
		b.Run(c.name, func(b *testing.B) {
			store := hour(b, false)
			window := Window{60e9, (hourScrapes - 10) * hourInterval}
			for b.Loop() {
				r := Compute(store, Settings{Phase: window, SliceNS: c.sliceNS})
				if len(r.Families) != changing+constant {
					b.Fatalf("%d families", len(r.Families))
				}
			}
		})
	}
}

// BenchmarkHistograms records and computes ten minutes of 200 histograms with 22 buckets.
func BenchmarkHistograms(b *testing.B) {
	const scrapes, count = 1800, 200
	upper := append([]float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20,
		40, 80, 160, 640, 2560}, inf)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		store := NewStore(Options{})
		r := rand.New(rand.NewPCG(3, 4))
		samples := make([]prom.Sample, count)
		for i := range samples {
			samples[i] = prom.Sample{Series: histogramOf(fmt.Sprintf("h%d", i), upper...),
				Buckets: make([]float64, len(upper))}
		}
		for n := range scrapes {
			for i := range samples {
				s := &samples[i]
				for range r.IntN(20) {
					k := 4 + r.IntN(8)
					for j := k; j < len(upper); j++ {
						s.Buckets[j]++
					}
					s.Sum += upper[k] * r.Float64()
					s.Count++
				}
			}
			store.Endpoint("e").Add(Scrape{TimestampNS: int64(n) * hourInterval, Samples: samples})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(scrapes*count), "B/row")
		Compute(store, Settings{Phase: Window{0, scrapes * hourInterval}})
	}
}

// BenchmarkEstimate estimates from a distribution that has to be scaled.
func BenchmarkEstimate(b *testing.B) {
	d := Distribution{Upper: []float64{0.1, 0.5, 1, 2, inf},
		Buckets: []int64{50_000, 250_000, 400_000, 490_000, 500_000}, Sum: 300_000, Count: 500_000}
	var e Estimator
	for b.Loop() {
		e.Estimate(d)
	}
}

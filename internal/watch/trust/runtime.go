package trust

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// classes are a histogram of the runtime: counts of times that lie between neighbouring bounds.
type classes struct {
	counts []uint64
	bounds []float64 // seconds, one more than counts
}

// since returns what was added after an earlier state of the same histogram.
func (c *classes) since(earlier *classes) *classes {
	out := classes{counts: make([]uint64, len(c.counts)), bounds: c.bounds}
	for i, n := range c.counts {
		out.counts[i] = n
		if i < len(earlier.counts) {
			out.counts[i] -= min(n, earlier.counts[i])
		}
	}
	return &out
}

func (c *classes) count() (n int64) {
	for _, k := range c.counts {
		n += int64(k)
	}
	return n
}

// upper returns the upper end of a class in seconds, the lower one where it has none.
func (c *classes) upper(i int) float64 {
	if up := c.bounds[i+1]; !math.IsInf(up, 1) {
		return up
	}
	return c.bounds[i]
}

func (c *classes) middle(i int) float64 {
	lo, hi := c.bounds[i], c.upper(i)
	if math.IsInf(lo, -1) {
		lo = 0
	}
	return (lo + hi) / 2
}

func (c *classes) total() time.Duration {
	var seconds float64
	for i, n := range c.counts {
		seconds += float64(n) * c.middle(i)
	}
	return time.Duration(seconds * 1e9)
}

func (c *classes) largest() time.Duration {
	for i := len(c.counts) - 1; i >= 0; i-- {
		if c.counts[i] > 0 {
			return time.Duration(c.upper(i) * 1e9)
		}
	}
	return 0
}

// lags describe the histogram; percentiles and the maximum are upper ends of classes.
func (c *classes) lags() Lags {
	n := c.count()
	if n == 0 {
		return Lags{}
	}
	at := func(q float64) float64 {
		rank, seen := uint64(math.Ceil(q*float64(n))), uint64(0)
		for i, k := range c.counts {
			if seen += k; seen >= rank {
				return c.upper(i) * 1e3
			}
		}
		return 0
	}
	return Lags{Count: n, Avg: float64(c.total()) / 1e6 / float64(n), P50: at(0.5), P90: at(0.9), P99: at(0.99),
		Max: float64(c.largest()) / 1e6}
}

// The names of the runtime's figures, in the order in which they are read.
var runtimeNames = [...]string{
	"/sched/latencies:seconds",
	"/sched/pauses/total/gc:seconds",
	"/gc/cycles/total:gc-cycles",
	"/cpu/classes/gc/mark/assist:cpu-seconds",
	"/memory/classes/heap/objects:bytes",
	"/gc/heap/live:bytes",
}

// readRuntime reads the metrics of Go's runtime in one call, in the order of runtimeNames. One that this version of Go
// does not have is of no kind, and its field stays as it is.
func readRuntime(r *reading) {
	var samples [len(runtimeNames)]metrics.Sample
	for i, name := range runtimeNames {
		samples[i].Name = name
	}
	metrics.Read(samples[:])
	if samples[0].Value.Kind() == metrics.KindFloat64Histogram {
		r.runnable = classesOf(samples[0].Value.Float64Histogram())
	}
	if samples[1].Value.Kind() == metrics.KindFloat64Histogram {
		r.pauses = classesOf(samples[1].Value.Float64Histogram())
	}
	if samples[2].Value.Kind() == metrics.KindUint64 {
		r.cycles = int64(samples[2].Value.Uint64())
	}
	if samples[3].Value.Kind() == metrics.KindFloat64 {
		r.assistSeconds = samples[3].Value.Float64()
	}
	if samples[4].Value.Kind() == metrics.KindUint64 {
		r.heap = int64(samples[4].Value.Uint64())
	}
	if samples[5].Value.Kind() == metrics.KindUint64 {
		r.live = int64(samples[5].Value.Uint64())
	}
	r.procs = runtime.GOMAXPROCS(0)
}

func classesOf(h *metrics.Float64Histogram) classes {
	return classes{counts: h.Counts, bounds: h.Buckets}
}

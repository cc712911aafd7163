package load

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
)

// batching is a server that can be saturated, as the scheduler of the mock server is: it works in steps, in each of
// which the oldest replies, as many as there are places, advance by a token.
type batching struct {
	places int
	step   time.Duration
	seed   uint64
	// free is when each place is free again.
	free instants
	sent uint64

	mu     sync.Mutex
	window Window
}

// instants are a heap.
type instants []int64

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *instants) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func newBatching(places int, seed uint64) *batching {
	return &batching{places: places, step: 5 * time.Millisecond, seed: seed, free: make(instants, places)}
}

// tokens returns how long the reply to a request is: 50 to 150.
func (b *batching) tokens(i uint64) int { return 50 + rand.New(rand.NewPCG(b.seed, i)).IntN(101) }

// take returns when a request of now has its first token and its last one.
func (b *batching) take(nowNS int64) (first, last int64) {
	i := b.sent
	b.sent++
	start := max(nowNS+int64(b.step), b.free[0])
	last = start + int64(b.tokens(i))*int64(b.step)
	b.free[0] = last
	heap.Fix(&b.free, 0)
	return start + int64(b.step), last
}

func (b *batching) serve(Credit) answer {
	now := time.Now()
	first, last := b.take(now.UnixNano())
	sample := Sample{IssuedNS: now.UnixNano(), LatencyMS: float64(last-now.UnixNano()) / 1e6,
		TTFTMS: float64(first-now.UnixNano()) / 1e6, ITLMS: 5}
	after := time.Duration(last - now.UnixNano())
	time.AfterFunc(after, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.window.Successes = append(b.window.Successes, sample)
	})
	return answer{content: time.Duration(first - now.UnixNano()), after: after}
}

func (b *batching) TakeWindow(int) Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.window
	b.window = Window{}
	return taken
}

// requests are how many the true capacity is measured with, the first quarter of them unheard.
const requests = 3000

// p95 returns that of the time to the first token of requests that come when due says so; it is told when each is
// answered.
func (b *batching) p95(due func() int64, answered func(last int64)) float64 {
	var all []float64
	for i := range requests {
		at := due()
		first, last := b.take(at)
		answered(last)
		if i > requests/4 {
			all = append(all, float64(first-at)/1e6)
		}
	}
	slices.Sort(all)
	return statistic(all, "p95")
}

// closedLoop returns the p95 with a number of clients that send again as soon as they are answered.
func (b *batching) closedLoop(clients float64) float64 {
	idle := make(instants, int(clients))
	return b.p95(func() int64 { return heap.Pop(&idle).(int64) }, func(last int64) { heap.Push(&idle, last) })
}

// openLoop returns the p95 at a constant rate.
func (b *batching) openLoop(rate float64) float64 {
	i := 0.
	return b.p95(func() int64 { i++; return int64(i / rate * 1e9) }, func(int64) {})
}

// TestSearchEndsNearTheTrueCapacity: the load that is found is within 10 % of the largest one with which the service
// meets its limit in the long run, whatever its size and the lengths of its replies.
func TestSearchEndsNearTheTrueCapacity(t *testing.T) {
	const limitMS, tolerance = 60, 0.1
	seeds := testkit.Seeds(4, 20)
	slas := []SLA{{"ttft", "p95", "le", limitMS}}
	for _, test := range []struct {
		name  string
		phase Phase
		adapt Adaptive
		truth func(places int, seed uint64) float64
	}{
		{"concurrency by margin", Phase{Concurrency: 1000}, Adaptive{BaseStep: 2}, closedTruth},
		{"concurrency by 5 %", Phase{Concurrency: 1000}, Adaptive{Policy: FixedPercentStep, StepPercent: 5, Min: 20},
			closedTruth},
		{"rate by 4 %", Phase{Arrivals: constantly(10000)},
			Adaptive{Variable: ControlRequestRate, Policy: FixedPercentStep, StepPercent: 4, Min: 40}, openTruth},
	} {
		for seed := range uint64(seeds) {
			places := 60 + rand.New(rand.NewPCG(seed, 99)).IntN(60)
			server, phase, adapt := newBatching(places, seed), test.phase, test.adapt
			adapt.Period, adapt.Sustain, adapt.SLA = 3*time.Second, 9*time.Second, slas
			phase.Duration, phase.Adaptive = time.Hour, &adapt
			p := scenario{plan: one(phase), serve: server.serve, opt: Options{Windows: server}}.run(t)
			s := p.result.Adaptive[0].Summary
			truth := test.truth(places, seed)
			if s.LastPassingValue == nil {
				t.Errorf("%s, seed %d: %s", test.name, seed, s.CompletedReason)
				continue
			}
			off := *s.LastPassingValue/truth - 1
			t.Logf("%-22s seed %2d: %3d places, true capacity %5.1f, found %5.1f (%+.1f %%) in %2d windows, %s",
				test.name, seed, places, truth, *s.LastPassingValue, 100*off, len(s.Candidates), s.CompletedReason)
			// At a rate the queue of the window that failed is still there when the rate is lower again: a value at
			// the very edge is then not held, but it is the right one.
			held := s.Status == "completed" || adapt.Variable == ControlRequestRate
			if math.Abs(off) > tolerance || !held {
				t.Errorf("%s, seed %d: found %v, the true capacity is %v", test.name, seed, *s.LastPassingValue, truth)
			}
		}
	}
}

// largest returns the largest value up to which a limit of 60 ms is met.
func largest(from, step float64, p95 func(value float64) float64) float64 {
	for value := from; ; value += step {
		if p95(value) > 60 {
			return value - step
		}
	}
}

func closedTruth(places int, seed uint64) float64 {
	return largest(float64(places), 1, func(v float64) float64 { return newBatching(places, seed).closedLoop(v) })
}

func openTruth(places int, seed uint64) float64 {
	// A place is taken for about half a second.
	return largest(math.Floor(1.8*float64(places)), 1,
		func(v float64) float64 { return newBatching(places, seed).openLoop(v) })
}

// BenchmarkWindow is what a window costs the loop, which sends nothing meanwhile.
func BenchmarkWindow(b *testing.B) {
	const samples = 100_000
	window := fixedWindow{}
	draw := rand.New(rand.NewPCG(1, 1))
	for range samples {
		window.w.Successes = append(window.w.Successes,
			Sample{LatencyMS: draw.ExpFloat64(), TTFTMS: draw.ExpFloat64(), ITLMS: draw.ExpFloat64()})
	}
	c := newController(Phase{Concurrency: 1 << 40, Adaptive: adaptive(SLA{"request_latency", "p95", "le", 100},
		SLA{"ttft", "p99", "le", 100})}, window, clock.New(), 0)
	c.start(1)
	for b.Loop() {
		c.assess(c.dueNS, tally{})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/samples*1000, "us/1000-requests")
}

package boundary

import (
	"math"
	"math/rand/v2"
	"testing"

	"aiperf/internal/experiment/search"
)

// server is a simulated server: the value of its metric at a load without noise, and the noise of a probe.
type server struct {
	name  string
	value func(load float64) float64
	// noise is the relative standard deviation of a probe, spread what is different from one probe to the next beside it.
	noise, spread, drift float64
	known                bool
	limit                float64
	lo, hi               float64
	real                 bool
	// saturates is the load from which the server cannot keep up, 0: none.
	saturates float64
	// client is the load that the client does not reach, 0: none.
	client float64
	// each is called after each probe.
	each func(*Capacity)
}

func (s *server) dimension() search.Dimension {
	return search.Dimension{Path: "phases.profiling.concurrency", Lo: s.lo, Hi: s.hi, Int: !s.real}
}

var latency = search.Filter{Metric: "time_to_first_token", Stat: "p99", Op: search.LE, Threshold: 200}

// truth returns the largest load that holds.
func (s *server) truth() float64 {
	holds := func(x float64) bool {
		return s.value(x) <= s.limit && !(s.saturates > 0 && x >= s.saturates)
	}
	if !s.real {
		for x := s.hi; x >= s.lo; x-- {
			if holds(x) {
				return x
			}
		}
		return math.NaN()
	}
	lo, hi := s.lo, s.hi
	for range 100 {
		if m := math.Sqrt(lo * hi); holds(m) {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

// search runs a search to its end.
func (s *server) search(t testing.TB, o CapacityOptions, seed uint64) *Capacity {
	f := latency
	f.Threshold = s.limit
	problem := search.Problem{Filters: []search.Filter{f}}
	c, err := NewCapacity(s.dimension(), problem.Filters, o)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for n := 0; ; n++ {
		at, ok := c.Ask()
		if !ok {
			return c
		}
		if at[0] < s.lo || at[0] > s.hi || !s.real && at[0] != math.Trunc(at[0]) || n > 200 {
			t.Fatalf("%s: load %v of probe %d", s.name, at[0], n)
		}
		true := s.value(at[0]) * (1 + s.drift*float64(n))
		v := true * math.Exp(s.noise*r.NormFloat64()+s.spread*r.NormFloat64())
		trial := search.Trial(func(metric, stat string) (float64, bool) { return v, metric == f.Metric && stat == f.Stat })
		e := Evidence{Seconds: 30}
		if s.known {
			e.Errors = []float64{s.noise * v}
		}
		if s.saturates > 0 && at[0] >= s.saturates {
			e.Verdict = Saturated
		}
		if s.client > 0 && at[0] >= s.client {
			e.Verdict = ClientLimited
		}
		c.Observe(problem.Judge(at, []search.Trial{trial}, nil), e)
		if s.each != nil {
			s.each(c)
		}
	}
}

func knee(at float64) func(float64) float64 {
	return func(x float64) float64 { return 50 + 150*math.Pow(x/at, 4) }
}

func queue(capacity float64) func(float64) float64 {
	return func(x float64) float64 {
		if x >= capacity {
			return 20000
		}
		return 40 / (1 - x/capacity)
	}
}

func cliff(at float64) func(float64) float64 {
	return func(x float64) float64 {
		if x > at {
			return 1500 + x
		}
		return 80
	}
}

var servers = []server{
	{name: "linear", value: func(x float64) float64 { return 20 + 0.6*x }, limit: 200, lo: 1, hi: 1000, noise: 0.02, known: true},
	{name: "linear exact", value: func(x float64) float64 { return 20 + 0.6*x }, limit: 200, lo: 1, hi: 1000},
	{name: "slow rise", value: func(x float64) float64 { return 100 * math.Pow(x, 0.12) }, limit: 200, lo: 1, hi: 1000, noise: 0.01, known: true},
	{name: "knee", value: knee(77), limit: 200, lo: 1, hi: 1000, noise: 0.04, known: true},
	{name: "knee unknown", value: knee(311), limit: 200, lo: 1, hi: 1000, noise: 0.04},
	{name: "knee small", value: knee(7.5), limit: 200, lo: 1, hi: 1000, noise: 0.04, known: true},
	{name: "knee rate", value: knee(12.37), limit: 200, lo: 0.1, hi: 100, noise: 0.04, known: true, real: true},
	{name: "knee spread", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.02, spread: 0.06, known: true},
	{name: "knee noisy", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.12, known: true},
	{name: "knee noisy unknown", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.12},
	{name: "queue", value: queue(40), limit: 200, lo: 0.1, hi: 1000, noise: 0.05, known: true, real: true, saturates: 40},
	{name: "queue unknown", value: queue(40), limit: 200, lo: 0.1, hi: 1000, noise: 0.05, real: true, saturates: 40},
	{name: "saturation first", value: func(x float64) float64 { return 100 + x }, limit: 400, lo: 0.1, hi: 500, noise: 0.03, known: true, real: true, saturates: 61},
	{name: "cliff", value: cliff(203), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
	{name: "cliff unknown", value: cliff(29), limit: 200, lo: 1, hi: 4096, noise: 0.03},
	{name: "step up", value: func(x float64) float64 { return cliff(300)(x)/20 + 0.3*x }, limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
	{name: "drift", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true, drift: 0.004},
	{name: "high", value: knee(930), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
	{name: "low", value: knee(1.5), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
}

// TestCapacityIsCalibrated compares interval and estimate of many searches with the boundary of the server.
func TestCapacityIsCalibrated(t *testing.T) {
	const seeds = 100
	for _, s := range servers {
		truth := s.truth()
		covered, close, probes, width := 0, 0, 0, 0.0
		reasons := map[string]int{}
		for seed := range uint64(seeds) {
			c := s.search(t, CapacityOptions{}, seed)
			a := c.Answer()
			if a.Low <= truth && truth <= a.High {
				covered++
			}
			if math.Abs(a.Estimate-truth) <= 0.05*truth+1e-9 {
				close++
			}
			probes += a.Probes
			width += (a.High - a.Low) / a.Estimate
			reasons[a.Reason]++
		}
		t.Logf("%-20s truth %8.3f covered %5.1f %% close %5.1f %% probes %4.1f width %5.1f %% %v", s.name, truth,
			100*float64(covered)/seeds, 100*float64(close)/seeds, float64(probes)/seeds, 100*width/seeds, reasons)
		if close < seeds*9/10 {
			t.Errorf("%s: %d of %d estimates within 5 %%", s.name, close, seeds)
		}
	}
}

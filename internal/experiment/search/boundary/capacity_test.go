package boundary

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/base/testkit"
	"aiperf/internal/experiment/search"
)

// server is a simulated server: the value of its metric at a load without noise, and the noise of a probe.
type server struct {
	name  string
	value func(load float64) float64
	// noise is the relative standard deviation of a probe, spread what differs from one probe to the next beside it.
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
		trial := search.Trial(func(metric, stat string) (float64, bool) {
			return v, metric == f.Metric && stat == f.Stat
		})
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

func straight(level, slope float64) func(float64) float64 {
	return func(x float64) float64 { return level + slope*x }
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
	{name: "linear", value: straight(20, 0.6), limit: 200, lo: 1, hi: 1000, noise: 0.02, known: true},
	{name: "linear exact", value: straight(20, 0.6), limit: 200, lo: 1, hi: 1000},
	{name: "slow rise", value: func(x float64) float64 { return 100 * math.Pow(x, 0.12) }, limit: 200, lo: 1, hi: 1000,
		noise: 0.01, known: true},
	{name: "knee", value: knee(77), limit: 200, lo: 1, hi: 1000, noise: 0.04, known: true},
	{name: "knee unknown", value: knee(311), limit: 200, lo: 1, hi: 1000, noise: 0.04},
	{name: "knee small", value: knee(7.5), limit: 200, lo: 1, hi: 1000, noise: 0.04, known: true},
	{name: "knee rate", value: knee(12.37), limit: 200, lo: 0.1, hi: 100, noise: 0.04, known: true, real: true},
	{name: "knee spread", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.02, spread: 0.06, known: true},
	{name: "knee noisy", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.12, known: true},
	{name: "knee noisy unknown", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.12},
	{name: "queue", value: queue(40), limit: 200, lo: 0.1, hi: 1000, noise: 0.05, known: true,
		real: true, saturates: 40},
	{name: "queue unknown", value: queue(40), limit: 200, lo: 0.1, hi: 1000, noise: 0.05, real: true,
		saturates: 40},
	{name: "saturation first", value: straight(100, 1), limit: 400, lo: 0.1, hi: 500, noise: 0.03,
		known: true, real: true, saturates: 61},
	{name: "cliff", value: cliff(203), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
	{name: "cliff unknown", value: cliff(29), limit: 200, lo: 1, hi: 4096, noise: 0.03},
	{name: "step up", value: func(x float64) float64 { return cliff(300)(x)/20 + 0.3*x }, limit: 200, lo: 1, hi: 1000,
		noise: 0.03, known: true},
	{name: "drift", value: knee(140), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true, drift: 0.004},
	{name: "high", value: knee(930), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
	{name: "low", value: knee(1.5), limit: 200, lo: 1, hi: 1000, noise: 0.03, known: true},
}

// TestCapacityIsCalibrated compares interval and estimate of many searches with the boundary of the server.
func TestCapacityIsCalibrated(t *testing.T) {
	seeds := testkit.Seeds(10, 40)
	if testing.Short() {
		seeds = 10
	}
	all := 0
	for _, s := range servers {
		truth := s.truth()
		covered, near, probes, width := 0, 0, 0, 0.0
		reasons := map[string]int{}
		for seed := range uint64(seeds) {
			c := s.search(t, CapacityOptions{}, seed)
			a := c.Answer()
			if a.Low <= truth && truth <= a.High {
				covered++
			}
			if math.Abs(a.Estimate-truth) <= 0.05*truth+1e-9 {
				near++
			}
			if !(a.Low <= a.Estimate && a.Estimate <= a.High) {
				t.Errorf("%s: %v is not in its interval from %v to %v", s.name, a.Estimate, a.Low, a.High)
			}
			probes += a.Probes
			width += (a.High - a.Low) / a.Estimate
			reasons[a.Reason]++
		}
		all += covered
		t.Logf("%-20s boundary %8.3f covered %5.1f %%, within 5 %%: %5.1f %%, probes %4.1f, width %5.1f %% %v", s.name,
			truth, 100*float64(covered)/float64(seeds), 100*float64(near)/float64(seeds),
			float64(probes)/float64(seeds), 100*width/float64(seeds), reasons)
		if near < seeds*95/100 || covered < seeds*85/100 {
			t.Errorf("%s: of %d estimates %d within 5 %%, %d intervals cover %v", s.name, seeds, near, covered, truth)
		}
	}
	if all < seeds*len(servers)*95/100 {
		t.Errorf("%d of %d intervals cover the boundary", all, seeds*len(servers))
	}
}

func TestCapacityEnds(t *testing.T) {
	flat := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	for _, c := range []struct {
		server          server
		options         CapacityOptions
		reason          string
		estimate        float64 // NaN: none
		low, high       float64
		most            int
		limitedByClient bool
	}{
		{server: server{name: "all hold", value: flat(10), lo: 1, hi: 500}, reason: CapacityNoFailure,
			estimate: 500, low: 500, high: math.Inf(1), most: 4},
		{server: server{name: "none holds", value: flat(1000), lo: 3, hi: 500}, reason: CapacityNoPass,
			estimate: math.NaN(), low: 0, high: 3, most: 4},
		{server: server{name: "one load holds", value: flat(10), lo: 7, hi: 7}, reason: CapacityNoFailure,
			estimate: 7, low: 7, high: math.Inf(1), most: 1},
		{server: server{name: "the client is the limit", value: flat(10), lo: 1, hi: 1000, client: 100},
			reason: CapacityClientLimited, estimate: 96, low: 90, high: math.Inf(1), most: 12, limitedByClient: true},
		{server: server{name: "the client cannot even start", value: flat(10), lo: 8, hi: 1000, client: 2},
			reason: CapacityClientLimited, estimate: math.NaN(), low: 0, high: math.Inf(1), most: 12,
			limitedByClient: true},
		{server: server{name: "the server is the limit before the client", value: knee(77), lo: 1, hi: 1000,
			client: 200, noise: 0.02, known: true}, reason: CapacityPrecision, estimate: 77, low: 74, high: 80,
			most: 14},
		{server: server{name: "no time", value: knee(77), lo: 1, hi: 1000}, options: CapacityOptions{Budget: 80},
			reason: CapacityBudget, estimate: 77, low: 30, high: 150, most: 3},
		{server: server{name: "few probes", value: knee(77), lo: 1, hi: 1000}, options: CapacityOptions{MaxProbes: 4},
			reason: CapacityMaxProbes, estimate: 77, low: 30, high: 150, most: 4},
		{server: server{name: "the boundary is the end of the range", value: knee(500), lo: 1, hi: 500, noise: 0.03},
			reason: CapacityNoFailure, estimate: 500, low: 450, high: math.Inf(1), most: 12},
		{server: server{name: "the boundary is the start of the range", value: knee(21), lo: 20, hi: 500, noise: 0.03},
			reason: CapacityPrecision, estimate: 21, low: 0, high: 24, most: 14},
	} {
		t.Run(c.server.name, func(t *testing.T) {
			c.server.limit = 200
			a := c.server.search(t, c.options, 1).Answer()
			if a.Reason != c.reason || a.Probes > c.most || (a.Limited > 0) != c.limitedByClient ||
				math.IsNaN(a.Estimate) != math.IsNaN(c.estimate) || math.Abs(a.Estimate-c.estimate) > 0.2*c.estimate ||
				a.Low < c.low || a.Low > a.Estimate || a.High > c.high || a.High < a.Estimate {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestCapacityNamesWhatBinds(t *testing.T) {
	filters := []search.Filter{
		latency,
		{Metric: "inter_token_latency", Stat: "p95", Op: search.LT, Threshold: 25},
		{Metric: "good_request_fraction", Stat: "avg", Op: search.GE, Threshold: 0.95},
		{Metric: "request_error_rate", Stat: "avg", Op: search.LT, Threshold: 1},
	}
	// The boundary of each filter, in the order of the filters.
	for binding, limits := range [][]float64{{100, 300, 400, 500}, {300, 100, 400, 500}, {300, 400, 100, 500},
		{300, 400, 500, 100}} {
		c, err := NewCapacity(concurrency, filters, CapacityOptions{})
		if err != nil {
			t.Fatal(err)
		}
		drive(c, filters, 100, func(x float64, _ int) []search.Trial {
			over := func(filter int) float64 { return math.Pow(x/limits[filter], 2) }
			return []search.Trial{figures(map[string]float64{
				"time_to_first_token:p99": 200 * over(0), "inter_token_latency:p95": 25 * over(1),
				"good_request_fraction:avg": max(0, 1-0.05*over(2)),
				"request_error_rate:avg":    math.Floor(over(3)*100) / 100,
			})}
		})
		a := c.Answer()
		if a.Binding != binding || a.Sureness < 0.9 || math.Abs(a.Estimate-100) > 3 || a.Reason != CapacityPrecision {
			t.Errorf("filter %d binds at 100: %+v", binding, a)
		}
		if b := c.Boundary(); b.Binding != binding || b.Type != "smooth" {
			t.Errorf("%+v", b)
		}
	}
}

func TestCapacitySaysThatTheServerSaturated(t *testing.T) {
	s := server{value: straight(100, 0.01), limit: 200, lo: 0.1, hi: 100, real: true, saturates: 8}
	a := s.search(t, CapacityOptions{}, 1).Answer()
	if !a.Saturated || a.Binding != -1 || a.Low > 8 || a.High < 8 || a.Reason != CapacityPrecision {
		t.Errorf("%+v", a)
	}
}

func TestCapacityOutvotesAnOutlier(t *testing.T) {
	s := server{value: knee(120), limit: 200, lo: 1, hi: 1000, noise: 0.02, known: true}
	for outlier := range 5 {
		n := 0
		steady := s.value
		disturbed := s
		disturbed.value = func(x float64) float64 {
			if n++; n == outlier+1 {
				return 8 * steady(x)
			}
			return steady(x)
		}
		a := disturbed.search(t, CapacityOptions{}, 3).Answer()
		if math.Abs(a.Estimate-120) > 6 {
			t.Errorf("probe %d is an outlier: %+v", outlier+1, a)
		}
	}
}

// TestCapacityTrustsTheSideOfEarlyEnds has probes that end as soon as they are far from the limit, with figures that
// are far off: only their side counts.
func TestCapacityTrustsTheSideOfEarlyEnds(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := server{value: knee(120), limit: 200}
		c, err := NewCapacity(concurrency, []search.Filter{latency}, CapacityOptions{})
		if err != nil {
			t.Fatal(err)
		}
		problem := search.Problem{Filters: []search.Filter{latency}}
		for at, ok := c.Ask(); ok; at, ok = c.Ask() {
			v, e := s.value(at[0]), Evidence{Errors: []float64{4}}
			if far := math.Log(v / 200); math.Abs(far) > 0.3 {
				v, e.Verdict = 200*math.Exp(far*(0.7+r.Float64())), Certain
			} else {
				v += 4 * r.NormFloat64()
			}
			c.Observe(problem.Judge(at, []search.Trial{ttft(v)}, nil), e)
		}
		if a := c.Answer(); a.Low > 120 || a.High < 120 || a.Probes > 12 || a.Reason != CapacityPrecision {
			t.Errorf("seed %d: %+v", seed, a)
		}
	}
}

func TestCapacityLearnsErrorsFromTrials(t *testing.T) {
	covered := 0
	const seeds = 20
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 4))
		c, err := NewCapacity(concurrency, []search.Filter{latency}, CapacityOptions{MaxProbes: 12})
		if err != nil {
			t.Fatal(err)
		}
		value := knee(120)
		drive(c, []search.Filter{latency}, 100, func(x float64, _ int) (trials []search.Trial) {
			for range 4 {
				trials = append(trials, ttft(value(x)*math.Exp(0.15*r.NormFloat64())))
			}
			return trials
		})
		a := c.Answer()
		if a.Low <= 120 && 120 <= a.High {
			covered++
		}
		if a.High-a.Low < 2 || a.High-a.Low > 24 {
			t.Errorf("seed %d: interval from %v to %v", seed, a.Low, a.High)
		}
	}
	if covered < seeds*9/10 {
		t.Errorf("%d of %d intervals cover the boundary", covered, seeds)
	}
}

func TestCapacityRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		d       search.Dimension
		filters []search.Filter
	}{
		{"no filter", concurrency, nil},
		{"from 0", search.Dimension{Lo: 0, Hi: 10}, []search.Filter{latency}},
		{"inverted", search.Dimension{Lo: 11, Hi: 10}, []search.Filter{latency}},
		{"no whole number", search.Dimension{Lo: 1.2, Hi: 1.8, Int: true}, []search.Filter{latency}},
		{"not a number", search.Dimension{Lo: math.NaN(), Hi: 1.8}, []search.Filter{latency}},
		{"infinite", search.Dimension{Lo: 1, Hi: math.Inf(1)}, []search.Filter{latency}},
	} {
		if p, err := NewCapacity(c.d, c.filters, CapacityOptions{}); err == nil {
			t.Errorf("%s: %+v", c.name, p.dim)
		}
	}
}

// FuzzCapacity feeds a search with any figures and verdicts: it must stay in its range, end, and repeat itself.
func FuzzCapacity(f *testing.F) {
	f.Add(1.0, 1000.0, true, []byte{1, 2, 3, 200, 100, 50})
	f.Add(0.01, 0.02, false, []byte{255, 0, 255, 0, 7})
	f.Add(5.0, 5.0, true, []byte{128})
	f.Fuzz(func(t *testing.T, lo, hi float64, whole bool, script []byte) {
		if !(lo >= 1e-6) || !(hi <= 1e9) || len(script) == 0 {
			t.Skip()
		}
		d := search.Dimension{Lo: lo, Hi: hi, Int: whole}
		filters := []search.Filter{latency, {Metric: "goodput", Stat: "avg", Op: search.GE, Threshold: 0}}
		problem := search.Problem{Filters: filters}
		run := func() (loads []float64, a Answer) {
			c, err := NewCapacity(d, filters, CapacityOptions{MaxProbes: 12})
			if err != nil {
				t.Skip()
			}
			for n := 0; ; n++ {
				at, ok := c.Ask()
				if !ok {
					return loads, c.Answer()
				}
				if n >= 12 || at[0] < lo || at[0] > hi || whole && at[0] != math.Trunc(at[0]) {
					t.Fatalf("load %v of probe %d in [%v, %v]", at[0], n, lo, hi)
				}
				loads = append(loads, at[0])
				b := script[n%len(script)]
				e := Evidence{Verdict: Verdict(b % 8), Seconds: float64(b)}
				if b%16 > 8 {
					e.Errors = []float64{float64(b), math.NaN()}
				}
				var trials []search.Trial
				for i := range int(b>>4) % 3 {
					trials = append(trials, figures(map[string]float64{
						"time_to_first_token:p99": float64(b) * 3 * float64(i+1), "goodput:avg": float64(b) - 100}))
				}
				c.Observe(problem.Judge(at, trials, nil), e)
			}
		}
		loads, a := run()
		again, b := run()
		if diff := cmp.Diff(loads, again); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(a, b, cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
		if a.Low > a.High || math.IsNaN(a.Low) || math.IsNaN(a.High) {
			t.Fatalf("interval from %v to %v", a.Low, a.High)
		}
	})
}

func TestCapacityOutOfBudgetAnswersWithItsBracket(t *testing.T) {
	dim := search.Dimension{Path: "concurrency", Lo: 10, Hi: 64, Int: true, LogUniform: true}
	c, err := NewCapacity(dim, []search.Filter{latency}, CapacityOptions{Budget: 100})
	if err != nil {
		t.Fatal(err)
	}
	// A cliff: the value jumps at 26, then rises slowly.
	value := func(x float64) float64 {
		if x < 26 {
			return latency.Threshold / 4
		}
		return latency.Threshold * (1 + x/64)
	}
	problem := search.Problem{Filters: []search.Filter{latency}}
	for at, ok := c.Ask(); ok; at, ok = c.Ask() {
		c.Observe(problem.Judge(at, []search.Trial{ttft(value(at[0]))}, nil), Evidence{Seconds: 40})
	}
	a := c.Answer()
	if a.Reason != CapacityBudget || a.Low > a.Pass || a.High < a.Fail-1 || a.Low > 25 || a.High < 25 {
		t.Errorf("%+v", a)
	}
}

// A limit that is missed at the smallest load bound first, not one whose chance rises a little over the range.
func TestCapacityBelowTheRangeNamesWhatIsMissed(t *testing.T) {
	errors := search.Filter{Metric: "request_error_rate", Stat: "avg", Op: search.LE, Threshold: 1}
	filters := []search.Filter{latency, errors}
	c, err := NewCapacity(concurrency, filters, CapacityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	drive(c, filters, 30, func(x float64, _ int) []search.Trial {
		return []search.Trial{func(metric, _ string) (float64, bool) {
			if metric == errors.Metric {
				return 0, true
			}
			return latency.Threshold * (4 + x/100), true
		}}
	})
	if a := c.Answer(); a.Reason != CapacityNoPass || a.Binding != 0 {
		t.Errorf("%+v", a)
	}
}

// The number of arrivals of an open loop varies: the steeper the margin, the less its figures say. What this does to
// answers is measured by bench/search, on the server rate-saturation.
func TestArrivalsWidenTheErrorsOfARate(t *testing.T) {
	rate := search.Dimension{Path: "rate", Lo: 1, Hi: 100, LogUniform: true}
	for _, c := range []struct {
		dim                  search.Dimension
		slope, seconds, want float64
	}{
		{rate, 8, 20, 0.4}, {rate, 8, 2000, 0.04}, {rate, 100, 20, 0.6}, {rate, -1, 20, 0}, {rate, 8, 0, 0},
		{concurrency, 8, 20, 0},
	} {
		planner := Capacity{dim: c.dim, posterior: posterior{slope: c.slope}}
		if got := planner.arrivalDeviation(&probe{load: 20, seconds: c.seconds}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Probes of one load that contradict each other leave open what holds there: the interval reaches to the loads whose
// probes agree, and the limit is less sure. One outlier among many is outvoted.
func TestContradictoryProbesWidenTheInterval(t *testing.T) {
	observe := func(values map[float64][]float64, order ...float64) *Capacity {
		problem := search.Problem{Filters: []search.Filter{{Metric: latency.Metric, Stat: latency.Stat, Op: search.LE,
			Threshold: 1500}}}
		c, err := NewCapacity(search.Dimension{Path: "phases.profiling.concurrency", Lo: 1, Hi: 32, Int: true},
			problem.Filters, CapacityOptions{Budget: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, load := range order {
			v := values[load][0]
			values[load] = values[load][1:]
			c.next, c.asked, c.reason = load, true, ""
			trial := search.Trial(func(string, string) (float64, bool) { return v, true })
			c.Observe(problem.Judge(search.Point{load}, []search.Trial{trial}, nil), Evidence{Seconds: 8})
		}
		return c
	}
	a := observe(map[float64][]float64{6: {900}, 8: {1151}, 9: {733, 2259, 2233}, 13: {4000}}, 6, 13, 9, 9, 9, 8).Answer()
	if a.Low > 8 || a.High < 12 || len(a.Disputed) != 1 || a.Disputed[0] != 9 || a.Sureness > 0.67 {
		t.Errorf("contradictory: %+v", a)
	}
	a = observe(map[float64][]float64{6: {900}, 8: {1151}, 9: {733, 2259, 2233, 2241, 2250}, 13: {4000}},
		6, 13, 9, 9, 9, 9, 9, 8).Answer()
	if len(a.Disputed) != 0 || a.Sureness < 0.9 {
		t.Errorf("one outlier: %+v", a)
	}
	a = observe(map[float64][]float64{6: {900}, 8: {1151}, 9: {1450, 1550}, 13: {4000}}, 6, 13, 9, 9, 8).Answer()
	if len(a.Disputed) != 0 {
		t.Errorf("a load that just holds: %+v", a)
	}
}

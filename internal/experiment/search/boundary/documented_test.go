package boundary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"aiperf/internal/experiment/search"
)

var concurrency = search.Dimension{Path: "phases.profiling.concurrency", Lo: 1, Hi: 1000, Int: true}

// figures returns a trial with values by "metric:stat".
func figures(values map[string]float64) search.Trial {
	return func(metric, stat string) (float64, bool) {
		v, ok := values[metric+":"+stat]
		return v, ok
	}
}

// ttft returns a trial with one latency.
func ttft(v float64) search.Trial { return figures(map[string]float64{"time_to_first_token:p99": v}) }

// drive asks for points and reports the trials at each until the planner or most end it; it returns the loads.
func drive(p search.Planner, filters []search.Filter, most int,
	trials func(x float64, n int) []search.Trial) []float64 {
	problem := search.Problem{Filters: filters}
	var xs []float64
	for n := range most {
		at, ok := p.Ask()
		if !ok {
			break
		}
		xs = append(xs, at[0])
		p.Tell(problem.Judge(at, trials(at[0], n), nil))
	}
	return xs
}

// upTo returns a server whose loads hold up to a limit.
func upTo(limit float64) func(float64, int) []search.Trial {
	return func(x float64, _ int) []search.Trial { return []search.Trial{ttft(200 + x - limit)} }
}

func TestMonotonicBisectsAsWorked(t *testing.T) {
	m := NewMonotonic(concurrency, 1)
	got := drive(m, []search.Filter{latency}, 100, upTo(311))
	want := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 384, 320, 288, 304, 312}
	if !slices.Equal(got, want) || m.Reason() != MonotonicPrecision {
		t.Errorf("%v, %q", got, m.Reason())
	}
}

func TestTrapMonotonicNeedsTwoOutcomesAPoint(t *testing.T) {
	m := NewMonotonic(concurrency, 2)
	if got := drive(m, []search.Filter{latency}, 20, upTo(311)); len(got) != 20 || m.Reason() != "" {
		t.Errorf("20 iterations: %v, %q", got, m.Reason())
	}
	got := drive(m, []search.Filter{latency}, 100, upTo(311))
	if len(got) != 10 || m.Reason() != MonotonicPrecision {
		t.Errorf("the other 10: %v, %q", got, m.Reason())
	}
}

func TestMonotonicEnds(t *testing.T) {
	for _, c := range []struct {
		name      string
		limit     float64
		stability int
		lo, hi    float64
		reason    string
		probes    int
	}{
		{"none passes", 0, 2, 1, 1000, MonotonicNoPass, 2},
		{"all pass", 5000, 1, 1, 1000, MonotonicNoFailure, 11},
		{"one value", 5000, 1, 7, 7, MonotonicNoFailure, 1},
		{"neighbours", 3, 1, 3, 4, MonotonicPrecision, 2},
	} {
		m := NewMonotonic(search.Dimension{Lo: c.lo, Hi: c.hi, Int: true}, c.stability)
		got := drive(m, []search.Filter{latency}, 100, upTo(c.limit))
		if m.Reason() != c.reason || len(got) != c.probes {
			t.Errorf("%s: %v, %q", c.name, got, m.Reason())
		}
	}
}

func TestMonotonicFlagsContradictions(t *testing.T) {
	m := NewMonotonic(concurrency, 1)
	drive(m, []search.Filter{latency}, 10, upTo(311))
	before := m.bracket
	for _, r := range []search.Result{{Point: search.Point{600}, Feasible: true}, {Point: search.Point{8}}} {
		if m.Tell(r); !m.Boundary().NonMonotonic || m.bracket != before {
			t.Errorf("%v: %v, %v", r.Point, m.Boundary().NonMonotonic, m.bracket)
		}
	}
	if m.Tell(search.Result{Point: search.Point{600}}); m.Boundary().NonMonotonic {
		t.Error("a failure above the bracket is flagged")
	}
}

func TestTrapOneTrialMustPassAllFilters(t *testing.T) {
	itl := search.Filter{Metric: "inter_token_latency", Stat: "p95", Op: search.LT, Threshold: 25}
	trial := func(first, gap float64) search.Trial {
		return figures(map[string]float64{"time_to_first_token:p99": first, "inter_token_latency:p95": gap})
	}
	for _, c := range []struct {
		name   string
		trials []search.Trial
		want   string
	}{
		{"A passes the first, B both", []search.Trial{trial(100, 30), trial(100, 20)}, ""},
		{"A passes the first, B the second", []search.Trial{trial(100, 30), trial(300, 20)}, MonotonicNoPass},
		{"no trial", nil, MonotonicNoPass},
	} {
		m := NewMonotonic(concurrency, 1)
		drive(m, []search.Filter{latency, itl}, 1, func(float64, int) []search.Trial { return c.trials })
		if m.Reason() != c.want {
			t.Errorf("%s: %q", c.name, m.Reason())
		}
	}
}

func TestTrapPooledMarginsRise(t *testing.T) {
	ys := []float64{-120, -80, -90, -10, 40}
	pooled := isotonic(ys)
	if !slices.Equal(pooled, []float64{-120, -85, -85, -10, 40}) {
		t.Errorf("pooled %v", pooled)
	}
	s := strict(pooled)
	for i := 1; i < len(s); i++ {
		if s[i]-s[i-1] < 1e-9*160*0.999999 {
			t.Errorf("%v and %v differ by %g", s[i-1], s[i], s[i]-s[i-1])
		}
	}
	root, ok := crossing([]float64{64, 128, 192, 256, 320}, ys, 256, 320)
	if !ok || math.Abs(root-266.912) > 0.001 {
		t.Errorf("root %v", root)
	}
}

func TestTrapReplicatesFollowTheSpread(t *testing.T) {
	for _, c := range []struct {
		deviation, threshold float64
		want                 int
	}{{10, 200, 3}, {500, 200, 20}, {200, 200, 4}, {300, 200, 9}, {10, 0, 20}, {0, 0, 3}} {
		if got := autoReplicates(c.deviation, c.threshold); got != c.want {
			t.Errorf("σ %v, threshold %v: %d replicates", c.deviation, c.threshold, got)
		}
	}
}

func TestTrapUnmeasuredConditionIsNeverMet(t *testing.T) {
	filters := []search.Filter{{Metric: "no_such_metric", Stat: "avg", Op: search.LT, Threshold: 1}}
	answer := func(float64, int) []search.Trial { return []search.Trial{ttft(1)} }
	planner, err := NewCapacity(concurrency, filters, CapacityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []search.Bounded{
		NewMonotonic(concurrency, 2), NewIsotonic(concurrency, filters, IsotonicOptions{}),
		NewTiers(concurrency, []Tier{{"a", filters}, {"b", filters}}, nil), planner,
	} {
		xs := drive(p, filters, 100, answer)
		if _, more := p.Ask(); more || !slices.Contains([]string{MonotonicNoPass, IsotonicNoPass, TiersConverged,
			CapacityNoPass}, p.Reason()) {
			t.Errorf("%T: %v, %q", p, xs, p.Reason())
		}
	}
}

func TestIsotonicFindsTheRoot(t *testing.T) {
	s := NewIsotonic(concurrency, []search.Filter{latency}, IsotonicOptions{Replicates: 3})
	xs := drive(s, []search.Filter{latency}, 100, func(x float64, n int) []search.Trial {
		return []search.Trial{ttft(200 + 0.5*(x-301.5) + 0.01*float64(n%3))}
	})
	want := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 320, 384, 448}
	if len(xs) < 16 || !slices.Equal(xs[:13], want) || math.Abs(xs[13]-301) > 1 || xs[13] != xs[15] {
		t.Errorf("%v", xs)
	}
	b := s.Boundary()
	if s.Reason() != IsotonicPrecision || b.Type != "smooth" || b.Binding != 0 || !(b.MarginLow < b.MarginHigh) ||
		math.Abs(b.MarginLow) > 1 {
		t.Errorf("%q %+v", s.Reason(), b)
	}
}

func TestIsotonicProbesOnceWithoutSpread(t *testing.T) {
	s := NewIsotonic(concurrency, []search.Filter{latency}, IsotonicOptions{})
	xs := drive(s, []search.Filter{latency}, 100, upTo(311))
	if len(xs) != 14 || math.Abs(xs[13]-311) > 1 || s.Reason() != IsotonicPrecision {
		t.Errorf("%v %q", xs, s.Reason())
	}
	if b := s.Boundary(); !math.IsNaN(b.MarginLow) {
		t.Errorf("an interval of one margin: %+v", b)
	}
}

func TestIsotonicBisectsACliff(t *testing.T) {
	s := NewIsotonic(concurrency, []search.Filter{latency}, IsotonicOptions{})
	xs := drive(s, []search.Filter{latency}, 100, func(x float64, _ int) []search.Trial {
		if x >= 470 {
			return []search.Trial{ttft(9000)}
		}
		return []search.Trial{ttft(100 + x/100)}
	})
	if s.Reason() != IsotonicCliff || s.Boundary().Type != "cliff" || xs[len(xs)-1] < 440 || xs[len(xs)-1] > 512 {
		t.Errorf("%v %q %+v", xs, s.Reason(), s.Boundary())
	}
}

func TestIsotonicBindsOnTheLargestScaledMargin(t *testing.T) {
	e2e := search.Filter{Metric: "request_latency", Stat: "p95", Op: search.LT, Threshold: 5000}
	filters := []search.Filter{latency, e2e}
	trials := func(x float64, _ int) (all []search.Trial) {
		for _, d := range []float64{-1, 1} {
			// At the largest load: TTFT 100 over with a deviation of 1 (floor of 1 %: 2), latency 400 over with 100.
			all = append(all, figures(map[string]float64{"time_to_first_token:p99": 100 + x/5.12*2 + d,
				"request_latency:p95": 5000 + (x-400)*400/112 + 100*d}))
		}
		return all
	}
	s := NewIsotonic(search.Dimension{Lo: 1, Hi: 512, Int: true}, filters, IsotonicOptions{})
	drive(s, filters, 100, trials)
	if got := s.Boundary().Binding; got != 0 {
		t.Errorf("binding filter %d, %q", got, s.Reason())
	}
}

func TestIsotonicEnds(t *testing.T) {
	for _, c := range []struct {
		limit, lo, hi float64
		reason        string
	}{{0, 1, 1000, IsotonicNoPass}, {5000, 1, 1000, IsotonicNoFailure}, {1.5, 1, 1000, IsotonicPrecision},
		{3, 3, 4, IsotonicPrecision}, {5000, 9, 9, IsotonicNoFailure}} {
		s := NewIsotonic(search.Dimension{Lo: c.lo, Hi: c.hi, Int: true}, []search.Filter{latency}, IsotonicOptions{})
		if xs := drive(s, []search.Filter{latency}, 100, upTo(c.limit)); s.Reason() != c.reason {
			t.Errorf("limit %v: %v %q", c.limit, xs, s.Reason())
		}
	}
}

// tiersOf returns tiers with limits of the latency.
func tiersOf(limits ...float64) (all []Tier) {
	for i, v := range limits {
		all = append(all, Tier{Label: fmt.Sprintf("tier_%d", i+1), Filters: []search.Filter{
			{Metric: "time_to_first_token", Stat: "p99", Op: search.LT, Threshold: v}}})
	}
	return all
}

func TestTrapTiersImplyEachOther(t *testing.T) {
	// Gold is stricter: silver's failure at 64 bounds gold above, gold's pass at 16 bounds silver below.
	p := NewTiers(concurrency, tiersOf(100, 200), nil)
	p.tiers[1].fail = 64
	p.imply(64, []bool{false, false})
	p.tiers[0].pass = 16
	p.imply(16, []bool{true, true})
	if gold, silver := p.tiers[0].bracket, p.tiers[1].bracket; gold.fail != 64 || silver.pass != 16 {
		t.Errorf("gold %v, silver %v", gold, silver)
	}
	if got := p.Metadata().Ordering; !slices.Equal(got, []TierPair{{0, 1}}) {
		t.Errorf("ordering %v", got)
	}
	// A contradiction ends what the pair implies, but not what is reported of it.
	p.imply(32, []bool{true, false})
	if len(p.pairs) != 0 || len(p.Metadata().Ordering) != 1 || !p.contradicted {
		t.Errorf("after a contradiction: %v", p.pairs)
	}
}

func TestTiersShareProbes(t *testing.T) {
	p := NewTiers(concurrency, tiersOf(100, 200), []search.Filter{
		{Metric: "time_to_first_token", Stat: "p99", Op: search.GT, Threshold: -1}})
	xs := drive(p, nil, 200, func(x float64, _ int) []search.Trial { return []search.Trial{ttft(x)} })
	if p.Reason() != TiersConverged || !slices.Equal(xs[:8], []float64{1, 2, 4, 8, 16, 32, 64, 128}) || len(xs) > 18 {
		t.Errorf("%v %q", xs, p.Reason())
	}
	got := p.Results()
	for i, want := range []TierResult{
		{Label: "tier_1", Status: TierConverged, Reason: tierPrecision, Binding: 0},
		{Label: "tier_2", Status: TierConverged, Reason: tierPrecision, Binding: 0},
	} {
		if diff := cmp.Diff(want, got[i], cmpopts.IgnoreFields(TierResult{}, "Boundary", "Low", "High", "Probes",
			"Filters", "Observed", "Breached")); diff != "" {
			t.Error(diff)
		}
		limit := 100 * float64(i+1)
		if g := got[i]; !(g.Low < limit && limit <= g.High && narrow(g.Low, g.High)) || g.Observed[0] != g.Boundary ||
			len(g.Filters) != 2 {
			t.Errorf("%+v", g)
		}
	}
	if m := p.Metadata(); m.Probes != len(xs) || m.Evaluations != got[0].Probes+got[1].Probes {
		t.Errorf("%+v of %d probes", m, len(xs))
	}
}

func TestTiersEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits []float64
		reason string
		status []string
	}{
		{"none passes", []float64{0.5, 0.7}, TiersConverged, []string{TierNoPass, TierNoPass}},
		{"all pass", []float64{5000, 6000}, TiersConverged, []string{TierNoFailure, TierNoFailure}},
		{"one of each", []float64{0.5, 30, 5000}, TiersConverged, []string{TierNoPass, TierConverged, TierNoFailure}},
	} {
		p := NewTiers(concurrency, tiersOf(c.limits...), nil)
		drive(p, nil, 200, func(x float64, _ int) []search.Trial { return []search.Trial{ttft(x)} })
		var status []string
		for _, r := range p.Results() {
			status = append(status, r.Status)
		}
		if p.Reason() != c.reason || !slices.Equal(status, c.status) {
			t.Errorf("%s: %q %v", c.name, p.Reason(), status)
		}
	}
	p := NewTiers(concurrency, tiersOf(100, 200), nil)
	drive(p, nil, 3, upTo(311))
	if r := p.Results()[0]; r.Status != TierPartial || r.Boundary != 4 || !math.IsNaN(r.High) {
		t.Errorf("cut short: %+v", r)
	}
}

func TestStricterTiers(t *testing.T) {
	f := func(metric, op string, v float64) search.Filter {
		return search.Filter{Metric: metric, Stat: "p95", Op: op, Threshold: v}
	}
	for _, c := range []struct {
		name string
		a, b []search.Filter
		want bool
	}{
		{"smaller limit", []search.Filter{f("a", "lt", 1)}, []search.Filter{f("a", "lt", 2)}, true},
		{"larger floor", []search.Filter{f("a", "ge", 2)}, []search.Filter{f("a", "ge", 1)}, true},
		{"equal", []search.Filter{f("a", "lt", 1)}, []search.Filter{f("a", "lt", 1)}, false},
		{"other operator", []search.Filter{f("a", "le", 1)}, []search.Filter{f("a", "lt", 2)}, false},
		{"other metric", []search.Filter{f("b", "lt", 1)}, []search.Filter{f("a", "lt", 2)}, false},
		{"one is not harder", []search.Filter{f("a", "lt", 1), f("b", "lt", 2)},
			[]search.Filter{f("b", "lt", 2), f("a", "lt", 2)}, false},
		{"both in any order", []search.Filter{f("a", "lt", 1), f("b", "lt", 1)},
			[]search.Filter{f("b", "lt", 2), f("a", "lt", 2)}, true},
	} {
		if got := stricter(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestWarmupOfProbes(t *testing.T) {
	for _, c := range []struct {
		base  float64
		first bool
		want  float64
	}{{0, true, 0}, {0, false, 0}, {DefaultWarmup, true, 60}, {DefaultWarmup, false, 30}, {5, true, 60}, {5, false, 15},
		{90, true, 90}, {90, false, 90}} {
		if got := Warmup(c.base, c.first); got != c.want {
			t.Errorf("%v, first %v: %v s", c.base, c.first, got)
		}
	}
}

// planners returns one of each kind over a range.
func planners(t testing.TB, d search.Dimension, seed uint64) map[string]search.Bounded {
	filters := []search.Filter{latency}
	c, err := NewCapacity(d, filters, CapacityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]search.Bounded{
		"monotonic": NewMonotonic(d, 2), "isotonic": NewIsotonic(d, filters, IsotonicOptions{Seed: seed}),
		"tiers": NewTiers(d, tiersOf(100, 200, 300), nil), "capacity": c,
	}
}

// TestPlannersStayInRangeEndAndRepeat holds for servers that answer anything at all.
func TestPlannersStayInRangeEndAndRepeat(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lo := rapid.IntRange(1, 2000).Draw(r, "lo")
		d := search.Dimension{Lo: float64(lo), Hi: float64(rapid.IntRange(lo, 4000).Draw(r, "hi")), Int: true}
		seed := rapid.Uint64().Draw(r, "seed")
		kind := rapid.SampledFrom([]string{"random", "noisy", "none", "equal"}).Draw(r, "kind")
		answer := func(x float64, n int) []search.Trial {
			g := rand.New(rand.NewPCG(seed, uint64(n)))
			switch kind {
			case "random":
				return []search.Trial{ttft(400 * g.Float64()), ttft(400 * g.Float64())}
			case "noisy":
				return []search.Trial{ttft(x * (1 + g.Float64()))}
			case "none":
				return nil
			}
			return []search.Trial{ttft(200)}
		}
		for name := range planners(t, d, seed) {
			p, again := planners(t, d, seed)[name], planners(t, d, seed)[name]
			xs := drive(p, []search.Filter{latency}, 20000, answer)
			if p.Reason() == "" {
				r.Fatalf("%s does not end after %d probes", name, len(xs))
			}
			for _, x := range xs {
				if x < d.Lo || x > d.Hi || x != math.Trunc(x) {
					r.Fatalf("%s proposes %v", name, x)
				}
			}
			if ys := drive(again, []search.Filter{latency}, 20000, answer); !slices.Equal(xs, ys) {
				r.Fatalf("%s is told the same and proposes %v, then %v", name, xs, ys)
			}
			if diff := cmp.Diff(p.Boundary(), again.Boundary(), cmpopts.EquateNaNs()); diff != "" {
				r.Fatal(diff)
			}
		}
	})
}

package bayes_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/bayes"
)

// server is a function with a known optimum: figures of a run at a point, with the noise of r.
type server func(p search.Point, r *rand.Rand) map[string]float64

// explore runs a search of n iterations, and returns its results.
func explore(t testing.TB, p *search.Problem, planner search.Planner, n int, seed uint64, s server) []search.Result {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	var results []search.Result
	for range n {
		at, more := planner.Ask()
		if !more {
			break
		}
		for i, d := range p.Space {
			if at[i] < d.Lo || at[i] > d.Hi || d.Int && at[i] != math.Trunc(at[i]) {
				t.Fatalf("%v is outside of %+v", at, d)
			}
		}
		results = append(results, visit(p, at, r, s))
		planner.Tell(results[len(results)-1])
	}
	return results
}

func visit(p *search.Problem, at search.Point, r *rand.Rand, s server) search.Result {
	figures := s(at, r)
	if figures == nil {
		return p.Judge(at, nil, nil)
	}
	return p.Judge(at, []search.Trial{func(metric, _ string) (float64, bool) {
		v, ok := figures[metric]
		return v, ok
	}}, nil)
}

func branin(p search.Point, _ *rand.Rand) map[string]float64 {
	x, y := p[0], p[1]
	c := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return map[string]float64{"f": c*c + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10}
}

var braninProblem = search.Problem{Space: []search.Dimension{{Lo: -5, Hi: 10}, {Lo: 0, Hi: 15}},
	Objectives: []search.Objective{{Metric: "f"}}}

const braninBest = 0.39788735772973816

func hartmann3(p search.Point, _ *rand.Rand) map[string]float64 {
	weights := [4]float64{1, 1.2, 3, 3.2}
	a := [4][3]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	c := [4][3]float64{{0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547},
		{0.0381, 0.5743, 0.8828}}
	sum := 0.0
	for i, w := range weights {
		e := 0.0
		for j, x := range p {
			e += a[i][j] * (x - c[i][j]) * (x - c[i][j])
		}
		sum += w * math.Exp(-e)
	}
	return map[string]float64{"f": sum}
}

var hartmann3Problem = search.Problem{Space: []search.Dimension{{Hi: 1}, {Hi: 1}, {Hi: 1}},
	Objectives: []search.Objective{{Metric: "f", Maximize: true}}}

const hartmann3Best = 3.86277978

// peak is a throughput with its largest value 100 at 0.3, and noise of deviation 3.
func peak(p search.Point, r *rand.Rand) map[string]float64 {
	return map[string]float64{"f": peakAt(p[0]) + 3*r.NormFloat64()}
}

func peakAt(x float64) float64 { return 100 * math.Exp(-(x-0.3)*(x-0.3)/(2*0.15*0.15)) }

var peakProblem = search.Problem{Space: []search.Dimension{{Hi: 1}},
	Objectives: []search.Objective{{Metric: "f", Maximize: true}}}

// saturating is a server whose throughput grows to a concurrency of about 300 and whose latency is over the limit of 200
// from 219.
func saturating(p search.Point, _ *rand.Rand) map[string]float64 {
	c := p[0]
	return map[string]float64{"throughput": 50 * c / (1 + c/300), "latency": 40 + math.Pow(c/60, 2.2)*9.29}
}

var saturatingProblem = search.Problem{
	Space:      []search.Dimension{{Lo: 1, Hi: 1000, Int: true, LogUniform: true}},
	Objectives: []search.Objective{{Metric: "throughput", Stat: "avg", Maximize: true}},
	Filters:    []search.Filter{{Metric: "latency", Stat: "p95", Op: search.LT, Threshold: 200}},
}

// saturatingBest is the throughput at the largest concurrency that meets the limit.
var saturatingBest = func() float64 {
	v := math.Inf(-1)
	for c := 1.; c <= 1000; c++ {
		if f := saturating(search.Point{c}, nil); f["latency"] < 200 {
			v = max(v, f["throughput"])
		}
	}
	return v
}()

// best returns the best value of the objective among feasible results, NaN if there is none.
func best(p *search.Problem, results []search.Result) float64 {
	v := math.NaN()
	for _, r := range results {
		if r.Objectives == nil || len(p.Filters) > 0 && !r.Feasible {
			continue
		}
		if math.IsNaN(v) || p.Objectives[0].Improves(r.Objectives[0], v) {
			v = r.Objectives[0]
		}
	}
	return v
}

// atRandom runs a search at random points.
func atRandom(p *search.Problem, n int, seed uint64, s server) []search.Result {
	r := rand.New(rand.NewPCG(seed, 8))
	var results []search.Result
	for range n {
		at := make(search.Point, len(p.Space))
		for i, d := range p.Space {
			at[i] = d.At(r.Float64())
		}
		results = append(results, visit(p, at, r, s))
	}
	return results
}

func gaussian(t testing.TB, p *search.Problem, o bayes.Options) search.Planner {
	t.Helper()
	b, err := bayes.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func estimator(t testing.TB, p *search.Problem, o bayes.Options) search.Planner {
	t.Helper()
	b, err := bayes.NewParzen(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seeds are those of the tests on functions with known optima.
var seeds = testkit.Seeds(2, 8)

// regrets returns for each of n seeds how far the best feasible result is from the optimum.
func regrets(t *testing.T, n int, p *search.Problem, optimum float64, find func(seed uint64) []search.Result) (all []float64) {
	t.Helper()
	for seed := range uint64(n) {
		v := best(p, find(seed))
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		all = append(all, math.Abs(v-optimum))
	}
	return all
}

// Both planners come closer to the optimum, with every seed, than random search does with most.
func TestPlannersFindKnownOptima(t *testing.T) {
	for _, c := range []struct {
		name       string
		p          *search.Problem
		s          server
		optimum    float64
		parzen     bool
		iterations int
		most       float64
	}{
		{"Branin", &braninProblem, branin, braninBest, false, 30, 0.06},
		{"Hartmann-3", &hartmann3Problem, hartmann3, hartmann3Best, false, 30, 0.03},
		{"concurrency under a limit", &saturatingProblem, saturating, saturatingBest, false, 15, 25},
		{"Branin, Parzen", &braninProblem, branin, braninBest, true, 60, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			seeds := seeds
			if c.parzen {
				seeds = 8 // costs next to nothing
			}
			found := regrets(t, seeds, c.p, c.optimum, func(seed uint64) []search.Result {
				o := bayes.Options{Initial: 5, Seed: seed}
				planner := gaussian(t, c.p, o)
				if c.parzen {
					planner = estimator(t, c.p, o)
				}
				return explore(t, c.p, planner, c.iterations, seed, c.s)
			})
			random := regrets(t, seeds, c.p, c.optimum, func(seed uint64) []search.Result {
				return atRandom(c.p, c.iterations, seed, c.s)
			})
			t.Logf("regret %.4f, at random %.4f", found, random)
			if v := slices.Max(found); v > c.most {
				t.Errorf("regret %v, want at most %v", found, c.most)
			}
			slices.Sort(random)
			slices.Sort(found)
			if !c.parzen && random[seeds/4] <= c.most || random[seeds/2] <= 2*found[seeds/2] {
				t.Errorf("random search has regret %v, the planner %v", random, found)
			}
		})
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// With noise the best result is near the best point, and nearer than that of random search.
func TestNoiseDoesNotHideThePeak(t *testing.T) {
	var found, random []float64
	for seed := range uint64(seeds) {
		at := func(results []search.Result) float64 {
			i := slices.IndexFunc(results, func(r search.Result) bool {
				return r.Objectives[0] == best(&peakProblem, results)
			})
			return 100 - peakAt(results[i].Point[0])
		}
		planner := gaussian(t, &peakProblem, bayes.Options{Initial: 5, Seed: seed})
		found = append(found, at(explore(t, &peakProblem, planner, 30, seed, peak)))
		random = append(random, at(atRandom(&peakProblem, 30, seed, peak)))
	}
	t.Logf("regret %.2f, at random %.2f", found, random)
	if slices.Max(found) > 3 || mean(found) > 0.6*mean(random) {
		t.Errorf("regret %v, at random %v", found, random)
	}
}

// front is a problem of two objectives to minimise whose front is f2 = 1−√f1.
func front(p search.Point, _ *rand.Rand) map[string]float64 {
	g := 1 + 9*p[1]
	return map[string]float64{"f1": p[0], "f2": g * (1 - math.Sqrt(p[0]/g))}
}

// The front of two objectives covers almost what the true one does: 0.1 + 2/3 + 0.11.
func TestFrontOfTwoObjectives(t *testing.T) {
	corner := 1.1
	p := &search.Problem{Space: []search.Dimension{{Hi: 1}, {Hi: 1}},
		Objectives: []search.Objective{{Metric: "f1", Threshold: &corner}, {Metric: "f2", Threshold: &corner}}}
	volume := func(results []search.Result) float64 {
		var values [][]float64
		for _, r := range results {
			values = append(values, r.Objectives)
		}
		return search.Hypervolume(values, []float64{corner, corner}, p.Objectives)
	}
	for seed := range uint64(testkit.Seeds(1, 2)) {
		found := volume(explore(t, p, gaussian(t, p, bayes.Options{Initial: 5, Seed: seed}), 25, seed, front))
		parzen := volume(explore(t, p, estimator(t, p, bayes.Options{Initial: 5, Seed: seed}), 25, seed, front))
		random := volume(atRandom(p, 25, seed, front))
		t.Logf("hypervolume %.4f, Parzen %.4f, at random %.4f", found, parzen, random)
		if found < 0.84 || random > 0.7 || parzen <= random {
			t.Errorf("hypervolume %v, Parzen %v, at random %v; that of the true front is 0.877", found, parzen, random)
		}
	}
}

// Three objectives and a constraint: every point of the front of the results has its share.
func TestThreeObjectives(t *testing.T) {
	p := &search.Problem{Space: []search.Dimension{{Lo: 1, Hi: 64, Int: true, LogUniform: true}, {Hi: 1}},
		Objectives: []search.Objective{{Metric: "a", Maximize: true}, {Metric: "b"}, {Metric: "c"}},
		Filters:    []search.Filter{{Metric: "b", Op: search.LT, Threshold: 30}}}
	s := func(at search.Point, _ *rand.Rand) map[string]float64 {
		return map[string]float64{"a": at[0] * (1 - at[1]), "b": at[0], "c": (at[1] - 0.5) * (at[1] - 0.5)}
	}
	results := explore(t, p, gaussian(t, p, bayes.Options{Initial: 4}), 14, 0, s)
	feasible := 0
	for _, r := range results[4:] {
		if r.Feasible {
			feasible++
		}
	}
	if feasible < 8 {
		t.Errorf("%d of 10 proposals met the constraint: %v", feasible, results)
	}
}

// A search is resumed by telling its history, whether or not the planner was asked in between; asking twice changes
// nothing.
func TestHistoryAloneDecidesTheProposals(t *testing.T) {
	for name, make := range map[string]func(testing.TB, *search.Problem, bayes.Options) search.Planner{
		"Gaussian process": gaussian, "Parzen": estimator} {
		o := bayes.Options{Initial: 5, Seed: 3, Terminator: bayes.EMMR}
		results := explore(t, &saturatingProblem, make(t, &saturatingProblem, o), 20, 1, saturating)
		asked, told := make(t, &saturatingProblem, o), make(t, &saturatingProblem, o)
		other := make(t, &saturatingProblem, bayes.Options{Initial: 5, Seed: 4})
		same := true
		for i, r := range results {
			first, _ := asked.Ask()
			second, _ := asked.Ask()
			if !slices.Equal(first, r.Point) || !slices.Equal(second, r.Point) {
				t.Fatalf("%s: iteration %d proposes %v, then %v, not %v", name, i, first, second, r.Point)
			}
			at, _ := other.Ask()
			same = same && slices.Equal(at, r.Point)
			asked.Tell(r)
			told.Tell(r)
			other.Tell(r)
		}
		for _, r := range atRandom(&saturatingProblem, 60, 5, saturating) {
			asked.Tell(r)
			told.Tell(r)
		}
		next, more := asked.Ask()
		again, still := told.Ask()
		if !slices.Equal(next, again) || more != still || asked.Reason() != told.Reason() {
			t.Errorf("%s: after its history %v %v, with questions in between %v %v", name, again, still, next, more)
		}
		if same {
			t.Errorf("%s: another seed proposes the same", name)
		}
	}
}

func TestTerminatorsEndASearch(t *testing.T) {
	for kind, reason := range map[string]string{bayes.Regret: "posterior_regret_bound", bayes.EMMR: "emmr"} {
		for seed := range uint64(4) {
			planner := gaussian(t, &saturatingProblem, bayes.Options{Initial: 5, Seed: seed, Terminator: kind})
			results := explore(t, &saturatingProblem, planner, 40, seed, saturating)
			if n := len(results); n == 40 || n < 6 || planner.Reason() != reason {
				t.Errorf("%s: ended after %d results, because of %q", kind, n, planner.Reason())
			}
			if v := best(&saturatingProblem, results); v < 0.99*saturatingBest {
				t.Errorf("%s: ended at %v of %v", kind, v, saturatingBest)
			}
			if _, more := planner.Ask(); more {
				t.Errorf("%s: goes on after its end", kind)
			}
		}
	}
}

// Points that fail are worse than all others: the search leaves their region, even if its first point is there.
func TestFailedPointsAreAvoided(t *testing.T) {
	p := &search.Problem{Space: []search.Dimension{{Lo: 1, Hi: 1000, Int: true}},
		Objectives: []search.Objective{{Metric: "throughput", Maximize: true}}}
	crash := func(at search.Point, r *rand.Rand) map[string]float64 {
		if at[0] > 600 {
			return nil
		}
		return map[string]float64{"throughput": at[0]}
	}
	for name, planner := range map[string]search.Planner{"Gaussian process": gaussian(t, p, bayes.Options{Initial: 1}),
		"Parzen": estimator(t, p, bayes.Options{Initial: 1})} {
		r := p.Judge(search.Point{900}, nil, nil)
		planner.Tell(r)
		results := explore(t, p, planner, 25, 0, crash)
		failed := 0
		for _, r := range results[10:] {
			if r.Objectives == nil {
				failed++
			}
		}
		if v := best(p, results); failed > 7 || !(v > 540) {
			t.Errorf("%s: %d of 15 failed, best %v", name, failed, v)
		}
	}
}

// A constraint whose figure no run has does not steer; the search goes on.
func TestTrapUnmeasurableConstraint(t *testing.T) {
	p := &search.Problem{Space: peakProblem.Space, Objectives: peakProblem.Objectives,
		Filters: []search.Filter{{Metric: "missing", Op: search.LT, Threshold: 1}}}
	for name, planner := range map[string]search.Planner{"Gaussian process": gaussian(t, p, bayes.Options{Initial: 3}),
		"Parzen": estimator(t, p, bayes.Options{Initial: 3})} {
		results := explore(t, p, planner, 20, 0, peak)
		near := 0
		for _, r := range results[10:] {
			if r.Feasible {
				t.Fatalf("%s: feasible without the figure", name)
			}
			if math.Abs(r.Point[0]-0.3) < 0.1 {
				near++
			}
		}
		if len(results) != 20 || name == "Gaussian process" && near < 4 {
			t.Errorf("%s: %d results, of the last ten %d near the peak", name, len(results), near)
		}
	}
}

// Values of any size and sign, and none that differ, do not stop a search.
func TestOddValues(t *testing.T) {
	for _, v := range []float64{0, 5, 1e300, -1e300, math.Inf(1), math.NaN(), 1e-300} {
		p := &search.Problem{Space: []search.Dimension{{Lo: 1, Hi: 64, Int: true, LogUniform: true}, {Hi: 1}},
			Objectives: []search.Objective{{Metric: "f"}}, Filters: []search.Filter{{Metric: "f", Op: search.LT}}}
		for _, planner := range []search.Planner{gaussian(t, p, bayes.Options{Initial: 3, Terminator: bayes.Regret}),
			estimator(t, p, bayes.Options{Initial: 3, Terminator: bayes.EMMR})} {
			results := explore(t, p, planner, 10, 0, func(at search.Point, _ *rand.Rand) map[string]float64 {
				return map[string]float64{"f": v * float64(1+int(at[0])%2)}
			})
			if len(results) < 10 && planner.Reason() == "" {
				t.Errorf("with values of %v the search ends after %d results", v, len(results))
			}
		}
	}
}

// Five objectives of which every point is on the front.
func TestManyObjectives(t *testing.T) {
	p := &search.Problem{Space: []search.Dimension{{Hi: 1}, {Hi: 1}, {Hi: 1}, {Hi: 1}}}
	for i := range 5 {
		p.Objectives = append(p.Objectives, search.Objective{Metric: string(rune('a' + i))})
	}
	s := func(at search.Point, _ *rand.Rand) map[string]float64 {
		return map[string]float64{"a": at[0], "b": at[1], "c": at[2], "d": at[3], "e": 4 - at[0] - at[1] - at[2] - at[3]}
	}
	for _, planner := range []search.Planner{gaussian(t, p, bayes.Options{}), estimator(t, p, bayes.Options{})} {
		results := atRandom(p, testkit.Seeds(40, 100), 0, s)
		for _, r := range results {
			planner.Tell(r)
		}
		if at, more := planner.Ask(); !more || len(at) != 4 {
			t.Errorf("after %d results: %v, %v", len(results), at, more)
		}
	}
}

// Small and odd spaces: few whole numbers, bounds between them, one value, a wide range.
func TestProposalsStayInTheSpace(t *testing.T) {
	for _, space := range [][]search.Dimension{
		{{Lo: 1, Hi: 3, Int: true}}, {{Lo: 0.5, Hi: 2.5, Int: true, LogUniform: true}}, {{Lo: 4, Hi: 4, Int: true}},
		{{Lo: -5, Hi: 1e9, Int: true}, {Lo: 1e-3, Hi: 1e3, LogUniform: true}, {Lo: 0, Hi: 1, Int: true}},
	} {
		p := &search.Problem{Space: space, Objectives: []search.Objective{{Metric: "f"}}}
		for _, planner := range []search.Planner{gaussian(t, p, bayes.Options{Initial: 4}),
			estimator(t, p, bayes.Options{})} {
			if n := len(explore(t, p, planner, 12, 0, func(at search.Point, r *rand.Rand) map[string]float64 {
				return map[string]float64{"f": at[0] + r.NormFloat64()}
			})); n != 12 {
				t.Errorf("%v: %d results", space, n)
			}
		}
	}
}

func TestOptionsThatDoNotFit(t *testing.T) {
	two := &search.Problem{Space: peakProblem.Space, Objectives: make([]search.Objective, 2)}
	for _, c := range []struct {
		p          *search.Problem
		terminator string
	}{{&search.Problem{}, ""}, {&peakProblem, "gap"}, {two, bayes.EMMR},
		{&search.Problem{Space: make([]search.Dimension, 65), Objectives: make([]search.Objective, 1)}, ""}} {
		_, err := bayes.New(c.p, bayes.Options{Terminator: c.terminator})
		if _, other := bayes.NewParzen(c.p, bayes.Options{Terminator: c.terminator}); err == nil || other == nil {
			t.Errorf("%+v with terminator %q is accepted", c.p, c.terminator)
		}
	}
}

// A search of the longest length that a configuration allows.
func Benchmark200Iterations(b *testing.B) {
	for _, c := range []struct {
		name    string
		problem *search.Problem
		server  server
	}{{"branin", &braninProblem, branin}, {"concurrency", &saturatingProblem, saturating}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				explore(b, c.problem, gaussian(b, c.problem, bayes.Options{Initial: 5}), 200, 0, c.server)
			}
		})
	}
}

package bayes

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"aiperf/internal/base/random"
	"aiperf/internal/experiment/search"
)

// The terminators, as --optuna-terminator names them.
const (
	// Regret ends a search when a bound on how much better than the best point another may be is below the noise of an
	// observation or 1 % of the best value, whichever is larger (Makarova et al., "Automatic termination for
	// hyperparameter optimization", 2022).
	Regret = "regret"
	// EMMR ends a search when a bound on how much a result changed the expected minimum regret has fallen to 1 % of the
	// median of its first values (Ishibashi et al., "A stopping criterion for Bayesian optimization by the gap of
	// expected minimum simple regrets", 2023).
	EMMR = "emmr"
)

// The reasons of [Planner.Reason].
const (
	ReasonRegret = "posterior_regret_bound"
	ReasonEMMR   = "emmr"
)

const (
	// share is that of the best value, and of the first bounds, below which nothing is left to win.
	share = 0.01
	// firsts is the number of bounds of which EMMR takes the median.
	firsts = 5
	// looked is the number of points at which the bounds look for a better one.
	looked = 512
)

// terminator decides when a search has nothing left to win. It sees the models after each result.
type terminator struct {
	kind   string
	space  []search.Dimension
	bounds []float64
	reason string
}

// see looks at models that have seen one more result.
func (t *terminator) see(m *models) {
	if t.kind == "" || t.reason != "" || len(m.x) < 2 || len(m.feasible) == 0 {
		return
	}
	g := m.all[0]
	switch t.kind {
	case Regret:
		best := math.Inf(-1)
		for _, i := range m.feasible {
			best = max(best, g.middle+g.spread*g.y[i])
		}
		if t.regret(m, g) <= max(math.Sqrt(g.theta.noise()), share*math.Abs(best)/g.spread) {
			t.reason = ReasonRegret
		}
	case EMMR:
		t.bounds = append(t.bounds, t.gap(m))
		if n := len(t.bounds); n > firsts {
			first := slices.Sorted(slices.Values(t.bounds[:firsts]))
			if t.bounds[n-1] <= share*first[firsts/2] {
				t.reason = ReasonEMMR
			}
		}
	}
}

// regret returns an upper bound, with a probability of 90 %, on how much better than the best observed point any point
// is that may meet the constraints.
func (t *terminator) regret(m *models, g *Process) float64 {
	n, d := float64(len(g.x)), float64(len(t.space))
	width := math.Sqrt(2 * math.Log(d*n*n*math.Pi*math.Pi/(6*0.1)) / 5)
	least, most := math.Inf(-1), math.Inf(-1)
	upper := func(x []float64) {
		for _, c := range m.all[m.objectives:] {
			if mean, variance := c.Predict(x); mean-width*math.Sqrt(variance) > c.Standardise(0) {
				return
			}
		}
		mean, variance := g.Predict(x)
		most = max(most, mean+width*math.Sqrt(variance))
	}
	for _, i := range m.feasible {
		if i < len(g.x) {
			mean, variance := g.Predict(g.x[i])
			least = max(least, mean-width*math.Sqrt(variance))
			upper(g.x[i])
		}
	}
	for _, u := range random.Sobol(len(t.space), looked, true, 0) {
		upper(unit(t.space, place(t.space, u)))
	}
	return most - least
}

// gap returns the bound on the change of the expected minimum regret by the last result.
func (t *terminator) gap(m *models) float64 {
	g, last := m.all[0], len(m.x)-1
	before := &Process{x: g.x[:last], y: g.y[:last], middle: g.middle, spread: g.spread}
	before.Use(g.theta)
	best := func(g *Process) (x []float64, mean float64) {
		mean = math.Inf(-1)
		for _, i := range m.feasible {
			if i >= len(g.x) {
				break
			}
			if v, _ := g.Predict(g.x[i]); v > mean {
				x, mean = g.x[i], v
			}
		}
		return x, mean
	}
	now, value := best(g)
	then, earlier := best(before)
	if then == nil {
		return math.Inf(1)
	}
	// The improvement from the best point of then to that of now, as the models of now see it.
	w, a := g.whiten(now, nil)
	v, b := g.whiten(then, nil)
	spread := math.Sqrt(max(0, 2*g.signal-2*g.kernel(now, then)-floats.Dot(w, w)-floats.Dot(v, v)+2*floats.Dot(w, v)))
	gain := max(0, a-b)
	if spread > 0 {
		gain = spread * math.Exp(LogImprovement((a-b)/spread))
	}
	// The divergence of the process of now from that of then is that of the last observation.
	noise := g.theta.noise()
	mean, variance := before.Predict(g.x[last])
	total := variance + noise
	miss := g.y[last] - mean
	divergence := 0.5 * (math.Log(total/noise) - variance/total + variance*miss*miss/(total*total))
	return math.Abs(value-earlier) + gain + t.regret(m, before)*math.Sqrt(max(0, divergence)/2)
}

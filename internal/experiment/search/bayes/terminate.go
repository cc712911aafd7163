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
	// relativeTolerance is the share of the best value, and of the first bounds, below which nothing is left to win:
	// 1 %, Optuna's ratio for EMMR.
	relativeTolerance = 0.01
	// baselineBounds is the number of bounds of which EMMR takes the median.
	baselineBounds = 5
	// regretCandidates is the number of points of a Sobol sequence over which the upper bound is maximised.
	regretCandidates = 512
)

// terminator decides when a search has nothing left to win. It sees the models after each result.
type terminator struct {
	kind   string
	space  []search.Dimension
	bounds []float64
	reason string
}

// observe ends the search if models that have seen one more result say that nothing is left to win. It must see each
// result once, in order: EMMR compares a bound with the first ones.
func (t *terminator) observe(m *models) {
	if t.kind == "" || t.reason != "" || len(m.x) < 2 || len(m.feasible) == 0 {
		return
	}
	g := m.all[0]
	switch t.kind {
	case Regret:
		best := math.Inf(-1)
		for _, i := range m.feasible {
			best = max(best, g.outputMean+g.outputDeviation*g.y[i])
		}
		if t.regret(m, g) <= max(math.Sqrt(g.theta.noise()), relativeTolerance*math.Abs(best)/g.outputDeviation) {
			t.reason = ReasonRegret
		}
	case EMMR:
		t.bounds = append(t.bounds, t.regretGap(m))
		if n := len(t.bounds); n > baselineBounds {
			first := slices.Sorted(slices.Values(t.bounds[:baselineBounds]))
			if t.bounds[n-1] <= relativeTolerance*first[baselineBounds/2] {
				t.reason = ReasonEMMR
			}
		}
	}
}

// regret returns an upper bound, with a probability of 90 %, on how much better than the best observed point any point
// is that may meet the constraints: the largest upper confidence bound less the largest lower one of an observed point.
// Their width is √β with β = 2 ln(d n² π²/(6δ)) / 5 and δ = 0.1: that of GP-UCB, scaled down by 5 as its authors do,
// since the bound is loose (Srinivas et al., "Gaussian process optimization in the bandit setting", 2010).
func (t *terminator) regret(m *models, g *Process) float64 {
	n, d := float64(len(g.x)), float64(len(t.space))
	width := math.Sqrt(2 * math.Log(d*n*n*math.Pi*math.Pi/(6*0.1)) / 5)
	lowerBest, upperBest := math.Inf(-1), math.Inf(-1)
	upper := func(x []float64) {
		for _, c := range m.all[m.objectives:] {
			if mean, variance := c.Predict(x); mean-width*math.Sqrt(variance) > c.Standardise(0) {
				return
			}
		}
		mean, variance := g.Predict(x)
		upperBest = max(upperBest, mean+width*math.Sqrt(variance))
	}
	for _, i := range m.feasible {
		if i < len(g.x) {
			mean, variance := g.Predict(g.x[i])
			lowerBest = max(lowerBest, mean-width*math.Sqrt(variance))
			upper(g.x[i])
		}
	}
	for _, u := range random.Sobol(len(t.space), regretCandidates, true, 0) {
		upper(unit(t.space, place(t.space, u)))
	}
	return upperBest - lowerBest
}

// regretGap returns the bound on the change of the expected minimum regret by the last result, in units of the
// standardised output: the change of the best posterior mean, the expected improvement from the old best point to the
// new one, and the regret times √(divergence/2), which bounds a change of expectation by that of the distribution
// (Pinsker).
func (t *terminator) regretGap(m *models) float64 {
	g, last := m.all[0], len(m.x)-1
	before := &Process{x: g.x[:last], y: g.y[:last], outputMean: g.outputMean, outputDeviation: g.outputDeviation}
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

package bayes

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"aiperf/internal/base/random"
	"aiperf/internal/experiment/search"
)

// The integration over what the objectives may be at the observed points.
const (
	// maxBase is the number of observed points of which the values are drawn, those that may be the best: each draw
	// costs its cube once and its square for every candidate.
	maxBase = 16
	// jitter is what is added to the diagonal of an almost singular covariance first, relative to the signal's
	// variance.
	jitter = 1e-8
)

// draws is the number of quasi-Monte Carlo draws for a number of objectives: powers of 2, for which a Sobol sequence is
// balanced, and the fewer the more boxes each draw's front has.
func draws(objectives int) int { return [...]int{64, 32, 8}[min(objectives, 3)-1] }

// maxFront is the number of points of a front whose boxes are looked at: with d objectives there are as many as its
// power of d−1.
func maxFront(objectives int) int {
	return [...]int{unlimited, unlimited, 32, 10, 6}[min(objectives, 5)-1]
}

// unlimited is more points than a search has: fronts of one or two objectives have as many boxes as points.
const unlimited = 1 << 20

// acquisition is the logarithm of the noisy expected improvement: of the expected improvement over the best, or of the
// hypervolume over the front, of the observed points, averaged over draws of their noiseless values (Letham et al.,
// "Constrained Bayesian optimization with noisy experiments", 2019), plus the logarithms of the probabilities that the
// constraints are met.
type acquisition struct {
	models *models
	base   [][]float64
	// white has of each model and base point its covariances with the data, whitened; factor of each model the Cholesky
	// factor of the base points' posterior covariance; normal of each model the standard normal variables of each draw;
	// boxes of each draw what would be better than it.
	white  [][][]float64
	factor []search.Lower
	normal [][][]float64
	boxes  [][]Box
	// The rest is scratch of [acquisition.at], which is therefore not for several goroutines.
	whitened, posteriorCovariance []float64
	means, deviation              []float64
}

// expectedImprovement returns the expected improvement over the posterior means at the observed points.
func (m *models) expectedImprovement() *acquisition {
	a := m.acquisition()
	values := make([][]float64, len(m.all))
	for i, g := range m.all {
		for _, x := range m.observed {
			mean, _ := g.Predict(x)
			values[i] = append(values[i], mean)
		}
	}
	a.boxes = [][]Box{m.improvementBoxes(values)}
	return a
}

func (m *models) acquisition() *acquisition {
	return &acquisition{models: m, means: make([]float64, m.objectives), deviation: make([]float64, m.objectives)}
}

// noisyExpectedImprovement returns the acquisition function that integrates over the noise, with draws of a seed: the
// values at the base points, those with the largest plain expected improvement, are drawn jointly from their posterior.
func (m *models) noisyExpectedImprovement(seed uint64) *acquisition {
	plain, a := m.expectedImprovement(), m.acquisition()
	a.base = slices.Clone(m.observed)
	scores := make(map[*float64]float64, len(a.base))
	for _, x := range a.base {
		scores[&x[0]] = plain.at(x)
	}
	slices.SortStableFunc(a.base, func(p, q []float64) int { return cmp.Compare(scores[&q[0]], scores[&p[0]]) })
	a.base = a.base[:min(len(a.base), maxBase, max(1, random.MaxDimensions/len(m.all)))]

	n, b := draws(m.objectives), len(a.base)
	points := random.Sobol(min(b*len(m.all), random.MaxDimensions), n, true, seed)
	values := make([][][]float64, n)
	for i, g := range m.all {
		white, means := make([][]float64, b), make([]float64, b)
		covariance := search.NewLower(b)
		for j, x := range a.base {
			white[j], means[j] = g.whiten(x, nil)
			for k := range j + 1 {
				covariance.Row(j)[k] = g.kernel(x, a.base[k]) - floats.Dot(white[j], white[k])
			}
		}
		lower := factorize(covariance, g.signal)
		normal := make([][]float64, n)
		for d, point := range points {
			normal[d] = make([]float64, b)
			value := slices.Clone(means)
			for j := range b {
				normal[d][j] = Quantile(point[(i*b+j)%len(point)])
				for k := range j + 1 {
					value[j] += lower.Row(j)[k] * normal[d][k]
				}
			}
			values[d] = append(values[d], value)
		}
		a.white, a.normal = append(a.white, white), append(a.normal, normal)
		a.factor = append(a.factor, lower)
	}
	for _, v := range values {
		a.boxes = append(a.boxes, m.improvementBoxes(v))
	}
	return a
}

// factorize returns the Cholesky factor of a covariance that may be almost singular. It adds to the diagonal, ten times
// as much each time, until there is one, and changes the covariance so. scale is the unit of its entries.
func factorize(covariance search.Lower, scale float64) search.Lower {
	for more := jitter * scale; ; more *= 10 {
		if factor, ok := search.Cholesky(covariance); ok {
			return factor
		}
		for i := range covariance.Size() {
			covariance.Row(i)[i] += more
		}
	}
}

// improvementBoxes returns what would be better than values of the models at some points: where none meets all
// constraints, what is better than a pessimistic value, so that the search is for a point that does.
func (m *models) improvementBoxes(values [][]float64) []Box {
	reference := m.reference
	var feasible [][]float64
	worst := math.Inf(1)
	for j := range values[0] {
		ok := true
		for c := m.objectives; c < len(values); c++ {
			ok = ok && values[c][j] <= m.all[c].Standardise(0)
		}
		point := make([]float64, m.objectives)
		for o := range point {
			point[o] = values[o][j]
		}
		worst = min(worst, point[0])
		if ok {
			feasible = append(feasible, point)
		}
	}
	if m.objectives == 1 && len(feasible) == 0 {
		reference = []float64{worst - 1}
	}
	return Undominated(truncatedFront(feasible, reference), reference, m.objectives)
}

// truncatedFront returns the values that no other dominates; of several objectives so many that their boxes are not too
// many, those that dominate most by themselves.
func truncatedFront(values [][]float64, reference []float64) [][]float64 {
	most, objectives := maxFront(len(reference)), make([]search.Objective, len(reference))
	for o := range objectives {
		objectives[o].Maximize = true
	}
	var front [][]float64
	for _, i := range search.Front(values, objectives) {
		front = append(front, values[i])
	}
	if len(front) <= most {
		return front
	}
	own := func(v []float64) float64 {
		product := 1.0
		for o, r := range reference {
			product *= max(0, v[o]-r)
		}
		return product
	}
	slices.SortStableFunc(front, func(a, b []float64) int { return cmp.Compare(own(b), own(a)) })
	return front[:most]
}

// at returns the acquisition function at a point of the unit cube. Given a draw of the base points, the objectives at
// the point are normal with a mean that moves with the draw and a variance that does not, so that one factor serves all
// draws. Far below the best the sum of the improvements underflows; then logarithms are added, which costs several
// times as much.
func (a *acquisition) at(x []float64) float64 {
	m := a.models
	feasible := 0.0
	for _, g := range m.all[m.objectives:] {
		mean, variance := g.Predict(x)
		feasible += LogProbability((g.Standardise(0) - mean) / math.Sqrt(variance))
	}
	b := len(a.base)
	a.posteriorCovariance = a.posteriorCovariance[:0]
	for o, g := range m.all[:m.objectives] {
		var mean float64
		a.whitened, mean = g.whiten(x, a.whitened[:0])
		variance := g.signal - floats.Dot(a.whitened, a.whitened)
		a.means[o] = mean
		if b > 0 {
			a.posteriorCovariance = append(a.posteriorCovariance, make([]float64, b)...)
			covariance := a.posteriorCovariance[o*b:]
			for j, p := range a.base {
				covariance[j] = g.kernel(x, p) - floats.Dot(a.whitened, a.white[o][j])
			}
			a.factor[o].Whiten(covariance)
			variance -= floats.Dot(covariance, covariance)
		}
		a.deviation[o] = math.Sqrt(max(variance, 1e-10*g.signal))
	}
	draw, n := make([]float64, m.objectives), math.Log(float64(len(a.boxes)))
	at := func(d int) []float64 {
		copy(draw, a.means)
		for o := range draw {
			if b > 0 {
				draw[o] += floats.Dot(a.posteriorCovariance[o*b:(o+1)*b], a.normal[o][d])
			}
		}
		return draw
	}
	total := 0.0
	for d, boxes := range a.boxes {
		total += expectedHypervolume(boxes, at(d), a.deviation)
	}
	if total > 1e-250 {
		return feasible + math.Log(total) - n
	}
	sum := emptySum()
	for d, boxes := range a.boxes {
		sum.add(LogExpectedHypervolume(boxes, at(d), a.deviation))
	}
	return feasible + sum.value() - n
}

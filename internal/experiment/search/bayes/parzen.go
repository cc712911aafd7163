package bayes

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/random"
	"aiperf/internal/experiment/search"
)

// Parzen is a search with a tree-structured Parzen estimator (Bergstra et al., "Algorithms for hyper-parameter
// optimization", 2011): densities are fitted to the best tenth of the points and to the rest, and of draws from the
// first the one is proposed whose densities have the largest ratio. It implements [search.Planner].
type Parzen struct {
	history
	stream random.Stream
	start  []search.Point
}

const (
	// goodShare is the share of the results that count as good, maxGood their largest number: a tenth and 25, as in
	// Optuna's estimator, so that the first density stays sharp in a long search.
	goodShare, maxGood = 0.1, 25
	// candidateDraws is the number of draws from the good density of which the best ratio is proposed.
	candidateDraws = 64
)

// NewParzen returns a planner with Parzen estimators. It fails for what [New] fails for.
func NewParzen(p *search.Problem, o Options) (*Parzen, error) {
	if err := check(p, o); err != nil {
		return nil, err
	}
	o.Initial = max(o.Initial, 1)
	return &Parzen{history: newHistory(p, o), stream: random.Root(o.Seed).Stream("parzen"),
		start: start(p.Space, o.Initial, o.Seed)}, nil
}

// Tell adds a result.
func (b *Parzen) Tell(r search.Result) { b.results = append(b.results, r) }

// Reason returns why the terminator ended the search, empty while it goes on.
func (b *Parzen) Reason() string { return b.end.reason }

// Ask returns the next point; false if the terminator ends the search.
func (b *Parzen) Ask() (search.Point, bool) {
	if b.end.kind != "" {
		if b.models(); b.end.reason != "" {
			return nil, false
		}
	}
	n, space := len(b.results), b.problem.Space
	if n < b.initial || !b.scored(n) {
		return slices.Clone(b.start[n%len(b.start)]), true
	}
	order := b.ranked()
	split := max(1, min(maxGood, int(math.Ceil(goodShare*float64(n)))))
	good, rest := parzen(b, order[:split]), parzen(b, order[split:])
	r := b.stream.At(uint64(n))
	var chosen search.Point
	most := math.Inf(-1)
	for range candidateDraws {
		p := place(space, good.draw(&r))
		if v := good.log(p) - rest.log(p); v > most {
			chosen, most = p, v
		}
	}
	return chosen, true
}

// ranked returns the indices of the results, best first: those that meet all constraints before the others, which are
// in the order of how far they are beyond, and those that could not be scored last. With several objectives a result is
// the better the fewer fronts are before its own, then the more hypervolume its front, unless it is large, would lose
// without it.
func (b *Parzen) ranked() []int {
	type key struct {
		class       int
		value, tied float64
	}
	keys := make([]key, len(b.results))
	var feasible []int
	var values [][]float64
	for i, r := range b.results {
		beyond := 0.0
		for _, v := range r.Constraints {
			beyond += max(0, v)
		}
		switch {
		case !scored(r):
			keys[i].class = 2
		case beyond > 0:
			keys[i] = key{class: 1, value: beyond}
		default:
			feasible, values = append(feasible, i), append(values, r.Objectives)
		}
	}
	objectives := b.problem.Objectives
	reference := search.Reference(values, objectives)
	if len(objectives) == 1 {
		for i, v := range values {
			keys[feasible[i]].value = -ascending(objectives[0], v[0])
		}
	}
	for depth := 0; len(objectives) > 1; depth++ {
		front := search.Front(values, objectives)
		if len(front) == 0 {
			break
		}
		var members [][]float64
		for _, i := range front {
			members = append(members, values[i])
		}
		whole := search.Hypervolume(members, reference, objectives)
		for k, i := range front {
			keys[feasible[i]].value = float64(depth)
			if len(front) <= maxFront(len(objectives)) {
				less := search.Hypervolume(slices.Delete(slices.Clone(members), k, k+1), reference, objectives)
				keys[feasible[i]].tied = less - whole
			}
			values[i] = nil
		}
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(keys[i].class, keys[j].class), cmp.Compare(keys[i].value, keys[j].value),
			cmp.Compare(keys[i].tied, keys[j].tied))
	})
	return order
}

// density is a mixture of products of normal densities, cut off at the unit cube, around points, and of one that covers
// the cube. Coordinates of whole numbers have the mass of the interval that is rounded to them.
type density struct {
	space   []search.Dimension
	centres [][]float64
	width   []float64
}

// parzen fits a density to results. Widths follow Scott's rule, n^(-1/(d+4)) of the standard deviation (Scott,
// "Multivariate Density Estimation", 1992), but are at least 1/n-th of the range, and 1/100-th: centres that agree in a
// coordinate would otherwise end the search along it.
func parzen(b *Parzen, results []int) *density {
	space := b.problem.Space
	d := &density{space: space, width: make([]float64, len(space))}
	for _, i := range results {
		d.centres = append(d.centres, unit(space, b.results[i].Point))
	}
	n := float64(len(d.centres) + 1)
	for j := range space {
		var sum, squares float64
		for _, c := range d.centres {
			sum, squares = sum+c[j], squares+c[j]*c[j]
		}
		// The covering component counts as one more centre in the middle.
		sum, squares = sum+0.5, squares+0.25+1./12
		deviation := math.Sqrt(max(0, squares/n-sum/n*sum/n))
		d.width[j] = max(1/min(100, n+1), deviation*math.Pow(n, -1/float64(len(space)+4)))
	}
	return d
}

// draw returns a place of the unit cube.
func (d *density) draw(r *random.Rand) []float64 {
	u := make([]float64, len(d.space))
	k := r.IntN(len(d.centres) + 1)
	for j := range u {
		if k == len(d.centres) {
			u[j] = r.Float64()
			continue
		}
		for u[j] = -1; u[j] < 0 || u[j] > 1; {
			u[j] = d.centres[k][j] + d.width[j]*r.Normal()
		}
	}
	return u
}

// log returns the logarithm of the density at a point; of whole numbers it is that of the mass. The components have
// equal weights; each is divided by its mass inside the unit cube, since draws outside of it are drawn again.
func (d *density) log(p search.Point) float64 {
	lo, hi := make([]float64, len(p)), make([]float64, len(p))
	for j, v := range p {
		lo[j] = d.space[j].Unit(v)
		if d.space[j].Int {
			// A range that begins at 1/2 has no logarithm below; the unit interval ends there in any case.
			lo[j], hi[j] = d.space[j].Unit(max(v-0.5, d.space[j].Lo)), d.space[j].Unit(min(v+0.5, d.space[j].Hi))
		}
	}
	sum := emptySum()
	part := func(mean func(j int) float64) {
		total := 0.0
		for j := range p {
			m, s := mean(j), d.width[j]
			inside := math.Log(normalMass((0-m)/s, (1-m)/s))
			if d.space[j].Int {
				total += math.Log(max(normalMass((lo[j]-m)/s, (hi[j]-m)/s), 1e-300)) - inside
			} else {
				total += logDensity((lo[j]-m)/s) - math.Log(s) - inside
			}
		}
		sum.add(total)
	}
	for _, c := range d.centres {
		part(func(j int) float64 { return c[j] })
	}
	cover := 0.0
	for j := range p {
		if d.space[j].Int {
			cover += math.Log(max(hi[j]-lo[j], 1e-300))
		}
	}
	sum.add(cover)
	return sum.value() - math.Log(float64(len(d.centres)+1))
}

// normalMass is the probability that a standard normal variable is between two values.
func normalMass(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	return 0.5 * (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2))
}

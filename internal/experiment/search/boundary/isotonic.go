package boundary

import (
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/experiment/search"
)

// Reasons why an [Isotonic] ended.
const (
	IsotonicPrecision = "smooth_isotonic_precision_reached"
	IsotonicCliff     = "smooth_isotonic_cliff_precision_reached"
	IsotonicNoPass    = "smooth_isotonic_no_pass_in_range"
	IsotonicNoFailure = "smooth_isotonic_no_failure_in_range"
	IsotonicBisection = "smooth_isotonic_pchip_fallback_bisection"
)

// The numbers of the documented search: probes of a root, fits before its margin counts as clear of 0, and resamples of
// the bootstrap. They are the original's, so that both programs probe the same loads.
const (
	maxReplicates = 20
	minReplicates = 3
	fitRounds     = 3
	resamples     = 10000
)

// Isotonic doubles the load until it is infeasible, fits rising curves through the margins, and probes their root again
// until its margin is clear of 0.
type Isotonic struct {
	hi         float64
	filters    []search.Filter
	replicates int
	seed       uint64

	bracket      bracket
	contradicted bool
	// margins are those of all trials at a load, by filter.
	margins map[float64][][]float64
	phase   isotonicPhase
	// queue are the loads of the phase that are still to be probed, round counts the fits.
	queue     []float64
	round     int
	candidate float64
	boundary  search.Boundary
	reason    string
}

// isotonicPhase is what the probes of an [Isotonic] are for.
type isotonicPhase int

const (
	bracketing isotonicPhase = iota
	interior
	bisecting
	single
	replicating
)

// IsotonicOptions configures an [Isotonic].
type IsotonicOptions struct {
	// Replicates is the number of probes at the root, at most 20; 0: by the spread of the margins.
	Replicates int
	// Seed is the seed of the bootstrap.
	Seed uint64
}

// NewIsotonic returns a planner over the whole numbers of a dimension, of which the lowest is at least 1.
func NewIsotonic(d search.Dimension, filters []search.Filter, o IsotonicOptions) *Isotonic {
	lo, hi := integers(d)
	return &Isotonic{hi: hi, filters: slices.Clone(filters), replicates: min(o.Replicates, maxReplicates), seed: o.Seed,
		bracket: unknown(), margins: map[float64][][]float64{}, queue: []float64{lo},
		boundary: search.Boundary{Binding: -1, MarginLow: math.NaN(), MarginHigh: math.NaN()}}
}

// Ask returns the next load.
func (s *Isotonic) Ask() (search.Point, bool) {
	if s.reason != "" {
		return nil, false
	}
	return search.Point{s.queue[0]}, true
}

// Tell reports the outcome of the last load. One at another load is only part of later fits.
func (s *Isotonic) Tell(r search.Result) {
	x := r.Point[0]
	at := s.margins[x]
	if at == nil {
		at = make([][]float64, len(s.filters))
	}
	for _, trial := range r.Margins {
		for f, m := range trial {
			if !math.IsNaN(m) {
				at[f] = append(at[f], m)
			}
		}
	}
	s.margins[x] = at
	s.contradicted = !s.bracket.add(x, r.Feasible)
	if s.reason != "" || x != s.queue[0] {
		return
	}
	s.queue = s.queue[1:]
	for s.reason == "" && len(s.queue) == 0 {
		s.advance(x)
	}
}

// advance plans the next probes or ends the search. x is the last load.
func (s *Isotonic) advance(x float64) {
	b := &s.bracket
	switch s.phase {
	case bracketing:
		switch {
		case math.IsNaN(b.pass):
			s.reason = IsotonicNoPass
		case b.pass >= s.hi:
			s.reason = IsotonicNoFailure
		case math.IsNaN(b.fail):
			s.queue = []float64{doubled(x, s.hi)}
		default:
			s.phase = interior
			s.plan(0.25, 0.5, 0.75)
		}
	case interior:
		s.fit()
	case bisecting:
		if narrow(b.pass, b.fail) {
			s.reason = IsotonicCliff
		} else {
			s.queue = []float64{halfway(b.pass, b.fail)}
		}
	case single:
		s.reason = IsotonicPrecision
	case replicating:
		s.judge()
	}
}

// plan queues loads inside the bracket that were not probed yet.
func (s *Isotonic) plan(shares ...float64) {
	b := &s.bracket
	for _, share := range shares {
		x := s.inside(b.pass + max(1, math.RoundToEven((b.fail-b.pass)*share)))
		if _, seen := s.margins[x]; !seen && !slices.Contains(s.queue, x) {
			s.queue = append(s.queue, x)
		}
	}
}

// inside moves a load into the bracket.
func (s *Isotonic) inside(x float64) float64 {
	return max(min(x, s.bracket.fail-1), s.bracket.pass+1)
}

// fit looks for the root of the binding filter: it asks for more loads while the fit has too few distinct values, falls
// back to bisection at a cliff, and else plans the probes of the root.
func (s *Isotonic) fit() {
	b := &s.bracket
	s.round++
	xs := s.loads()
	binding, ys := s.binding(xs)
	s.boundary.Binding = binding
	if (len(xs) < 4 || distinct(isotonic(ys)) < 3) && s.round < fitRounds {
		if s.plan(0.125, 0.625); len(s.queue) > 0 {
			return
		}
	}
	if s.cliff(xs, ys) {
		s.boundary.Type, s.phase = "cliff", bisecting
		return
	}
	s.boundary.Type = "smooth"
	root, ok := crossing(xs, ys, b.pass, b.fail)
	switch {
	case !ok && b.fail-b.pass <= 1:
		s.reason = IsotonicBisection
		return
	case narrow(b.pass, b.fail):
		s.reason = IsotonicPrecision
		return
	case ok:
		s.candidate = s.inside(math.RoundToEven(root))
	default:
		s.candidate = halfway(b.pass, b.fail)
	}
	n := s.replicates
	if n <= 0 {
		n = s.auto(xs[len(xs)-1], binding)
	}
	s.phase = replicating
	if n == 0 {
		n, s.phase = 1, single
	}
	s.queue = slices.Repeat([]float64{s.candidate}, n)
}

// loads returns the loads so far in ascending order.
func (s *Isotonic) loads() []float64 {
	var xs []float64
	for x := range s.margins {
		xs = append(xs, x)
	}
	slices.Sort(xs)
	return xs
}

// binding returns the filter whose margin is largest at the largest load, and its mean margin at each load: -1 and nil
// if no filter was measured everywhere.
func (s *Isotonic) binding(xs []float64) (filter int, ys []float64) {
	filter = -1
	last := s.margins[xs[len(xs)-1]]
	spread := false
	for _, m := range last {
		spread = spread || deviationOf(m) > 0
	}
	most := math.Inf(-1)
	for f := range s.filters {
		curve := make([]float64, 0, len(xs))
		for _, x := range xs {
			if m := s.margins[x][f]; len(m) > 0 {
				curve = append(curve, meanOf(m))
			}
		}
		if len(curve) < len(xs) {
			continue
		}
		size := curve[len(curve)-1]
		if spread {
			// A threshold of 0 has no percentage: the margin stays as it is where there is no spread either.
			if unit := max(deviationOf(last[f]), 0.01*math.Abs(s.filters[f].Threshold)); unit > 0 {
				size /= unit
			}
		}
		if size > most {
			most, filter, ys = size, f, curve
		}
	}
	return filter, ys
}

// cliff reports that the margin jumps between the ends of the bracket, at the upper end of what was probed: by more
// than three standard deviations of the three margins before.
func (s *Isotonic) cliff(xs, ys []float64) bool {
	n, b := len(ys), &s.bracket
	if n < 4 || xs[n-1] != b.fail || xs[n-2] != b.pass || b.fail-b.pass <= precision*b.fail {
		return false
	}
	return ys[n-1]-ys[n-2] > 3*deviationOf(ys[n-4:n-1])
}

// auto returns the number of replicates by the spread of the margins at a load.
func (s *Isotonic) auto(x float64, filter int) int {
	if filter < 0 || len(s.margins[x][filter]) < 2 {
		return 0
	}
	return autoReplicates(deviationOf(s.margins[x][filter]), s.filters[filter].Threshold)
}

// autoReplicates returns how many probes bring the standard error of the mean margin to half of the threshold:
// n = (deviation / (threshold/2))², within limits.
func autoReplicates(deviation, threshold float64) int {
	ratio := deviation / math.Abs(threshold)
	if math.IsNaN(ratio) {
		return minReplicates
	}
	return int(min(max(math.Ceil(4*ratio*ratio), minReplicates), maxReplicates))
}

// judge ends the search if the margin at the root is clear of 0, and else looks for a better root.
func (s *Isotonic) judge() {
	var m []float64
	if s.boundary.Binding >= 0 {
		m = s.margins[s.candidate][s.boundary.Binding]
	}
	if len(m) > 1 {
		lo, hi := meanInterval(m, s.seed)
		s.boundary.MarginLow, s.boundary.MarginHigh = lo, hi
		if lo <= 0 && hi >= 0 && s.round < fitRounds {
			s.phase = interior
			s.plan(0.125, 0.625)
			return
		}
	}
	s.reason = IsotonicPrecision
}

// Reason says why the search ended.
func (s *Isotonic) Reason() string { return s.reason }

// Boundary returns what is known of the boundary.
func (s *Isotonic) Boundary() search.Boundary {
	b := s.boundary
	b.NonMonotonic = s.contradicted
	return b
}

// strict makes non-decreasing values strictly increasing, by a share of their span that does not show.
func strict(ys []float64) []float64 {
	out := slices.Clone(ys)
	span := ys[len(ys)-1] - ys[0]
	for i := range out {
		out[i] += float64(i) * 1e-9 * span
	}
	return out
}

// crossing returns the first place in [from, to] at which the monotone cubic through the pooled values is 0, by
// bisection: the curve rises strictly, see strict, so that there is one. It fails where the curve has no root there.
func crossing(xs, ys []float64, from, to float64) (root float64, ok bool) {
	if len(ys) < 2 {
		return 0, false
	}
	ys = strict(isotonic(ys))
	curve, ok := search.NewMonotone(xs, ys)
	if !ok {
		return 0, false
	}
	if !(curve.At(from) <= 0) || !(curve.At(to) >= 0) {
		return 0, false
	}
	for range 200 {
		m := from + (to-from)/2
		if m <= from || m >= to {
			break
		}
		if curve.At(m) < 0 {
			from = m
		} else {
			to = m
		}
	}
	return to, true
}

// distinct returns the number of different values of a sorted list.
func distinct(sorted []float64) int { return len(slices.Compact(slices.Clone(sorted))) }

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// deviationOf returns the population standard deviation, 0 for less than two values.
func deviationOf(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean, sum := meanOf(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// meanInterval returns the 95 % percentile interval of the mean by a bootstrap (Efron, 1979), with linear interpolation
// between the resampled means.
func meanInterval(values []float64, seed uint64) (lo, hi float64) {
	r := rand.New(rand.NewPCG(seed, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[r.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	at := func(p float64) float64 {
		h := p * float64(len(means)-1)
		i := min(int(h), len(means)-2)
		return means[i] + (h-float64(i))*(means[i+1]-means[i])
	}
	return at(0.025), at(0.975)
}

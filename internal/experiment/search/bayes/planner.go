package bayes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"aiperf/internal/base/random"
	"aiperf/internal/experiment/search"
)

// Options configures a planner.
type Options struct {
	// Initial is the number of points of the start, 1 if it is less.
	Initial int
	Seed    uint64
	// Terminator is [Regret], [EMMR] or empty for none. It needs a problem of one objective.
	Terminator string
}

// Planner is a search with Gaussian processes. It implements [search.Planner].
type Planner struct {
	history
	seed  uint64
	start []search.Point
}

// New returns a planner with Gaussian processes. It fails for a problem without dimensions or objectives, for one of
// more than [random.MaxDimensions] dimensions, and for a terminator that does not fit.
func New(p *search.Problem, o Options) (*Planner, error) {
	if err := check(p, o); err != nil {
		return nil, err
	}
	o.Initial = max(o.Initial, 1)
	return &Planner{history: newHistory(p, o), seed: o.Seed, start: start(p.Space, o.Initial, o.Seed)}, nil
}

func check(p *search.Problem, o Options) error {
	switch {
	case len(p.Space) == 0 || len(p.Objectives) == 0:
		return errors.New("a search needs at least one dimension and one objective")
	case len(p.Space) > random.MaxDimensions:
		return fmt.Errorf("a search has at most %d dimensions, not %d; leave some out of the search space",
			random.MaxDimensions, len(p.Space))
	case o.Terminator != "" && o.Terminator != Regret && o.Terminator != EMMR:
		return fmt.Errorf("terminator %q is unknown; use %s or %s", o.Terminator, Regret, EMMR)
	case o.Terminator != "" && len(p.Objectives) > 1:
		return fmt.Errorf("terminator %s needs a search of one objective, not %d; leave it out", o.Terminator,
			len(p.Objectives))
	}
	return nil
}

// start returns the first points of a search: those of a Sobol sequence, without repeats as far as there are others.
func start(space []search.Dimension, n int, seed uint64) []search.Point {
	var points, repeats []search.Point
	for _, u := range random.Sobol(len(space), 16*n, true, seed) {
		p := place(space, u)
		if slices.ContainsFunc(points, func(o search.Point) bool { return slices.Equal(o, p) }) {
			repeats = append(repeats, p)
			continue
		}
		points = append(points, p)
	}
	return append(points, repeats...)
}

// place returns the point at a place of the unit cube.
func place(space []search.Dimension, u []float64) search.Point {
	p := make(search.Point, len(space))
	for i, d := range space {
		p[i] = d.At(u[i])
	}
	return p
}

// Tell adds a result.
func (b *Planner) Tell(r search.Result) { b.results = append(b.results, r) }

// Reason returns why the terminator ended the search, empty while it goes on.
func (b *Planner) Reason() string { return b.end.reason }

// Ask returns the next point; false if the terminator ends the search.
func (b *Planner) Ask() (search.Point, bool) {
	n, m := len(b.results), b.models()
	switch {
	case b.end.reason != "":
		return nil, false
	case m == nil:
		return slices.Clone(b.start[n%len(b.start)]), true
	}
	seed := random.Root(b.seed).ChildSeed("iteration:" + strconv.Itoa(n))
	return m.best(b.problem.Space, m.noisyExpectedImprovement(seed), seed), true
}

// The search for the largest value of the acquisition function.
const (
	// maxGrid is the number of points up to which all are looked at, where all dimensions have whole numbers.
	maxGrid = 1000
	// globalCandidates is the number of points of a Sobol sequence at which the acquisition function is evaluated,
	// localCandidates that of points around each good observed one, at distances that halve from 0.2 of the range;
	// localSearches is the number of the best of them from which a local search starts.
	globalCandidates, localCandidates, localSearches = 512, 8, 6
)

// candidate is a point with its place in the unit cube and its value.
type candidate struct {
	point search.Point
	x     []float64
	value float64
}

// best returns the point at which the acquisition function is largest: of a small grid by looking at all, else by local
// searches from the best candidates.
func (m *models) best(space []search.Dimension, a *acquisition, seed uint64) search.Point {
	var all []candidate
	evaluate := func(p search.Point) candidate {
		x := unit(space, p)
		return candidate{p, x, a.at(x)}
	}
	if points := grid(space); points != nil {
		for _, p := range points {
			all = append(all, evaluate(p))
		}
		return slices.MaxFunc(all, func(p, q candidate) int { return cmp.Compare(p.value, q.value) }).point
	}
	for _, u := range random.Sobol(len(space), globalCandidates, true, seed) {
		all = append(all, evaluate(place(space, u)))
	}
	stream := random.Root(seed).Stream("near")
	for i, x := range a.base {
		r := stream.At(uint64(i))
		for k := range localCandidates {
			u := slices.Clone(x)
			for d := range u {
				u[d] += r.Normal() * 0.2 / float64(int(1)<<k)
			}
			all = append(all, evaluate(place(space, u)))
		}
	}
	slices.SortStableFunc(all, func(p, q candidate) int { return cmp.Compare(q.value, p.value) })
	top := all[0]
	for _, c := range all[:min(localSearches, len(all))] {
		if c = coordinateSearch(space, c, evaluate); c.value > top.value {
			top = c
		}
	}
	return top.point
}

// coordinateSearch improves a candidate one dimension at a time, with steps that shrink when none does.
func coordinateSearch(space []search.Dimension, c candidate, evaluate func(search.Point) candidate) candidate {
	for step := 0.1; step > 5e-4; {
		moved := false
		for i, d := range space {
			for _, by := range [2]float64{step, -step} {
				p := slices.Clone(c.point)
				if p[i] = d.At(c.x[i] + by); p[i] == c.point[i] && d.Int {
					p[i] = d.At(d.Unit(p[i] + by/step))
				}
				if p[i] == c.point[i] {
					continue
				}
				if next := evaluate(p); next.value > c.value {
					c, moved = next, true
					break
				}
			}
		}
		if !moved {
			step /= 2
		}
	}
	return c
}

// grid returns all points of a space of whole numbers, nil if they are more than maxGrid.
func grid(space []search.Dimension) []search.Point {
	points := []search.Point{{}}
	for _, d := range space {
		lo, hi := d.At(0), d.At(1)
		if !d.Int || float64(len(points))*(hi-lo+1) > maxGrid {
			return nil
		}
		var next []search.Point
		for _, p := range points {
			for v := lo; v <= hi; v++ {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		points = next
	}
	return points
}

package boundary

import (
	"math"
	"slices"

	"aiperf/internal/experiment/search"
)

// TiersConverged is the reason why a [Tiers] ended: nothing more is to be found of any tier.
const TiersConverged = "multi_tier_all_converged"

// The states of a tier.
const (
	TierConverged = "converged"
	TierPartial   = "partial"
	TierNoPass    = "no_pass_in_range"
	TierNoFailure = "no_failure_in_range"
)

// tierPrecision is the reason of a tier that converged.
const tierPrecision = "multi_tier_precision_reached"

// Tier is a service level with a boundary of its own.
type Tier struct {
	Label   string
	Filters []search.Filter
}

// TierResult is what is known of a tier.
type TierResult struct {
	Label string
	// Boundary is the largest load that holds, NaN if none does. Low and High are the bracket, NaN where it is open.
	Boundary, Low, High float64
	// Status is one of the states of a tier; Reason is empty for a tier that has not converged.
	Status, Reason string
	// Binding is the filter that fails first at High, an index into Filters; -1 if none is known.
	Binding int
	// Probes are those that were judged for the tier.
	Probes int
	// Filters are those of the tier, and then those of all tiers. Observed has their means at the boundary, NaN where
	// they were not measured; nil without a boundary.
	Filters  []search.Filter
	Observed []float64
	// Breached is the mean of the binding filter at High, NaN if it is not known.
	Breached float64
}

// TierPair are two tiers of which one implies the other, as places in the list of tiers.
type TierPair struct{ Strict, Lenient int }

// TierMetadata counts what a search over tiers cost.
type TierMetadata struct {
	Probes, Evaluations int
	Ordering            []TierPair
}

// Tiers looks for the boundaries of several service levels with the same probes.
type Tiers struct {
	lo, hi, next float64
	tiers        []tier
	pairs        []TierPair
	detected     []TierPair
	metadata     TierMetadata
	bracketing   bool
	contradicted bool
	reason       string
}

// tier is a tier with its state.
type tier struct {
	Tier
	bracket
	passed, probes int
	status         string
	// observed has the means of the filters at each load.
	observed map[float64][]float64
	binding  map[float64]int
}

// NewTiers returns a planner over the whole numbers of a dimension, of which the lowest is at least 1. The filters that
// hold for all tiers are part of each.
func NewTiers(d search.Dimension, tiers []Tier, global []search.Filter) *Tiers {
	lo, hi := integers(d)
	t := &Tiers{lo: lo, hi: hi, next: lo, bracketing: true}
	for i, a := range tiers {
		for j, b := range tiers {
			if i != j && stricter(a.Filters, b.Filters) {
				t.detected = append(t.detected, TierPair{i, j})
			}
		}
		a.Filters = slices.Concat(a.Filters, global)
		t.tiers = append(t.tiers, tier{Tier: a, bracket: unknown(), observed: map[float64][]float64{},
			binding: map[float64]int{}})
	}
	t.pairs = slices.Clone(t.detected)
	return t
}

// stricter reports that every filter of a is one of b with a threshold that is harder to meet.
func stricter(a, b []search.Filter) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for _, f := range a {
		i := slices.IndexFunc(b, func(o search.Filter) bool {
			return o.Metric == f.Metric && o.Stat == f.Stat && o.Op == f.Op
		})
		if i < 0 {
			return false
		}
		harder := f.Threshold < b[i].Threshold
		if f.Op == search.GT || f.Op == search.GE {
			harder = f.Threshold > b[i].Threshold
		}
		if !harder {
			return false
		}
	}
	return true
}

// Ask returns the next load.
func (t *Tiers) Ask() (search.Point, bool) {
	if t.reason != "" {
		return nil, false
	}
	return search.Point{t.next}, true
}

// Tell reports the trials at the last load, which are judged for each tier.
func (t *Tiers) Tell(r search.Result) {
	if t.reason != "" {
		return
	}
	x := r.Point[0]
	t.metadata.Probes++
	t.contradicted = false
	feasible := make([]bool, len(t.tiers))
	for i := range t.tiers {
		t.metadata.Evaluations++
		t.tiers[i].probes++
		feasible[i] = t.tiers[i].judge(x, r.Trials)
	}
	for i := range t.tiers {
		t.bound(i, x, feasible[i])
	}
	t.imply(x, feasible)
	for i := range t.tiers {
		t.close(&t.tiers[i])
	}
	t.choose(x, feasible)
}

// judge reports whether a trial meets all filters of the tier.
func (t *tier) judge(x float64, trials []search.Trial) bool {
	problem := search.Problem{Filters: t.Filters}
	r := problem.Judge(search.Point{x}, trials, nil)
	observed := make([]float64, len(t.Filters))
	binding := -1
	for i, f := range t.Filters {
		v, ok := search.Mean(trials, f.Metric, f.Stat)
		if !ok {
			v = math.NaN()
		}
		observed[i] = v
		if binding < 0 && !slices.ContainsFunc(trials, func(one search.Trial) bool {
			v, ok := one(f.Metric, f.Stat)
			return ok && f.Passes(v)
		}) {
			binding = i
		}
	}
	t.observed[x], t.binding[x] = observed, binding
	return r.Feasible
}

// bound takes a verdict into the bracket of a tier. One that inverts the bracket opens its upper end.
func (t *Tiers) bound(i int, x float64, feasible bool) {
	b := &t.tiers[i]
	if feasible {
		b.passed++
		b.pass = max(orElse(b.pass, x), x)
	} else {
		b.fail = min(orElse(b.fail, x), x)
	}
	if b.pass >= b.fail {
		b.fail = math.NaN()
		t.contradicted = true
	}
}

// imply takes what a tier's verdict says of stricter and of more lenient ones. A pair of tiers that contradict each
// other implies nothing from then on.
func (t *Tiers) imply(x float64, feasible []bool) {
	t.pairs = slices.DeleteFunc(t.pairs, func(p TierPair) bool {
		strict, lenient := &t.tiers[p.Strict], &t.tiers[p.Lenient]
		if feasible[p.Strict] && !feasible[p.Lenient] || !feasible[p.Lenient] && x <= strict.pass ||
			feasible[p.Strict] && x >= lenient.fail {
			t.contradicted = true
			return true
		}
		if !feasible[p.Lenient] {
			strict.fail = min(orElse(strict.fail, x), x)
		}
		if feasible[p.Strict] {
			lenient.pass = max(orElse(lenient.pass, x), x)
		}
		return false
	})
}

// close ends a tier whose boundary is known, and opens one again whose bracket a later probe opened.
func (t *Tiers) close(one *tier) {
	one.status = ""
	switch {
	case one.pass >= t.hi:
		one.status = TierNoFailure
	case one.fail <= t.lo:
		one.status = TierNoPass
	case narrow(one.pass, one.fail):
		one.status = TierConverged
	}
}

// choose plans the next load after x, or ends the search.
func (t *Tiers) choose(x float64, feasible []bool) {
	if t.bracketing {
		switch {
		case !slices.Contains(feasible, false) && x >= t.hi:
			t.reason = TiersConverged
			return
		case !slices.Contains(feasible, false):
			t.next = doubled(x, t.hi)
			return
		}
		t.bracketing = false
		if !slices.ContainsFunc(t.tiers, func(one tier) bool { return one.passed > 0 }) {
			t.reason = TiersConverged
			for i := range t.tiers {
				t.tiers[i].status = TierNoPass
			}
			return
		}
	}
	widest, width := -1, -1.0
	for i := range t.tiers {
		one := &t.tiers[i]
		if w := orElse(one.fail, t.hi) - orElse(one.pass, t.lo); one.status == "" && w > width {
			widest, width = i, w
		}
	}
	if widest < 0 {
		t.reason = TiersConverged
		return
	}
	switch one := &t.tiers[widest]; {
	case math.IsNaN(one.fail):
		t.next = doubled(orElse(one.pass, t.lo), t.hi)
	case math.IsNaN(one.pass):
		t.next = max(math.Floor(one.fail/2), t.lo)
	default:
		t.next = halfway(one.pass, one.fail)
	}
}

// Reason says why the search ended.
func (t *Tiers) Reason() string { return t.reason }

// Boundary returns that the last probe contradicted earlier ones; the boundaries are those of the tiers.
func (t *Tiers) Boundary() search.Boundary {
	return search.Boundary{Binding: -1, MarginLow: math.NaN(), MarginHigh: math.NaN(), NonMonotonic: t.contradicted}
}

// Results returns what is known of each tier, in their order.
func (t *Tiers) Results() []TierResult {
	all := make([]TierResult, len(t.tiers))
	for i := range t.tiers {
		one := &t.tiers[i]
		r := TierResult{Label: one.Label, Boundary: one.pass, Low: one.pass, High: one.fail, Status: one.status,
			Binding: -1, Probes: one.probes, Filters: one.Filters, Observed: one.observed[one.pass],
			Breached: math.NaN()}
		switch one.status {
		case "":
			r.Status = TierPartial
		case TierConverged:
			r.Reason = tierPrecision
		default:
			r.Reason = one.status
		}
		if b, ok := one.binding[one.fail]; ok {
			r.Binding = b
			if seen := one.observed[one.fail]; b >= 0 && b < len(seen) {
				r.Breached = seen[b]
			}
		}
		all[i] = r
	}
	return all
}

// Metadata returns what the search cost, and which tiers imply others.
func (t *Tiers) Metadata() TierMetadata {
	m := t.metadata
	m.Ordering = slices.Clone(t.detected)
	return m
}

package boundary

import (
	"math"

	"aiperf/internal/experiment/search"
)

// Reasons why a [Monotonic] ended.
const (
	MonotonicPrecision = "monotonic_precision_reached"
	MonotonicNoPass    = "monotonic_no_pass_in_range"
	MonotonicNoFailure = "monotonic_no_failure_in_range"
)

// Monotonic doubles the load until it is infeasible, and then halves the bracket. A verdict needs equal outcomes of
// several probes of a load.
type Monotonic struct {
	hi, next      float64
	stability     int
	passes, fails int
	bracket       bracket
	contradicted  bool
	reason        string
}

// NewMonotonic returns a planner over the whole numbers of a dimension, of which the lowest is at least 1. stability is
// the number of equal outcomes that are a verdict; below 1: 2.
func NewMonotonic(d search.Dimension, stability int) *Monotonic {
	if stability < 1 {
		stability = 2
	}
	lo, hi := integers(d)
	return &Monotonic{hi: hi, next: lo, stability: stability, bracket: unknown()}
}

// Ask returns the next load.
func (m *Monotonic) Ask() (search.Point, bool) {
	if m.reason != "" {
		return nil, false
	}
	return search.Point{m.next}, true
}

// Tell reports the outcome of the last load. One at another load is checked against the bracket and has no other
// effect.
func (m *Monotonic) Tell(r search.Result) {
	x := r.Point[0]
	m.contradicted = r.Feasible && x >= m.bracket.fail || !r.Feasible && x <= m.bracket.pass
	if m.reason != "" || x != m.next {
		return
	}
	if r.Feasible {
		m.passes++
	} else {
		m.fails++
	}
	if max(m.passes, m.fails) < m.stability {
		return
	}
	feasible := m.passes >= m.stability
	m.passes, m.fails = 0, 0
	m.bracket.add(x, feasible)
	b := &m.bracket
	switch {
	case math.IsNaN(b.pass):
		m.reason = MonotonicNoPass
	case b.pass >= m.hi:
		m.reason = MonotonicNoFailure
	case math.IsNaN(b.fail):
		m.next = doubled(x, m.hi)
	case narrow(b.pass, b.fail):
		m.reason = MonotonicPrecision
	default:
		m.next = halfway(b.pass, b.fail)
	}
}

// Reason says why the search ended.
func (m *Monotonic) Reason() string { return m.reason }

// Boundary returns what is known of the boundary.
func (m *Monotonic) Boundary() search.Boundary {
	return search.Boundary{Binding: -1, MarginLow: math.NaN(), MarginHigh: math.NaN(), NonMonotonic: m.contradicted}
}

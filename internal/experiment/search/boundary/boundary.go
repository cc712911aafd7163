// Package boundary holds the planners of searches over one value: they look for the largest load at which all
// conditions hold.
//
// Vocabulary: a probe is one visit to a load; the margin of a filter is at most 0 where it is met; the bracket is the
// pair of the largest feasible and the smallest infeasible load; the boundary lies in it.
//
// [Monotonic], [Isotonic] and [Tiers] follow the documented searches step by step. [Capacity] is a planner of our own
// that needs fewer probes and returns an interval.
//
// Invariants: a planner is a pure function of its options and of what it was told; it never proposes a load outside of
// its range, and it ends.
package boundary

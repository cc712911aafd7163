// Package bayes plans a search with a model of what was measured: a Gaussian process ([New]), or densities of good and
// of bad points ([NewParzen]).
//
// Within, points are in the unit cube and more is better. A planner proposes points of a scrambled Sobol sequence
// first, then those that its model expects most of.
//
// Invariant: proposals are a pure function of the problem, the options and the results told, in their order. Asking
// changes nothing, so that a search is resumed by telling its history.
package bayes

// Package bayes plans a search with a model of what was measured: a Gaussian process, or densities of good and bad
// points.
package bayes

// Package stats describes populations of numbers: percentiles by linear interpolation, exact sums,
// population moments, and a histogram of fixed size for populations too large to keep.
//
// Its vocabulary: a population is a multiset of finite float64 values; Moments are its count,
// extremes, sum and spread; a Histogram adds the distribution with a relative error of at most
// RelativeError. The invariant: no result depends on the order in which values arrived or in which
// accumulators were merged, because sums are kept exactly and rounded once, when they are read.
package stats

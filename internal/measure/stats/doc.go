// Package stats describes populations of numbers: percentiles by linear interpolation, exact sums,
// population moments, and distributions in bounded memory for populations too large to keep.
//
// Its vocabulary: a population is a multiset of finite float64 values; [Moments] are its count, extremes, sum and
// spread; a [Histogram] adds the distribution with a relative error of at most [RelativeError], a [Sketch] does with
// [SketchRelativeError] in less memory; [Counts] are the bins of both; [Bins] are those of a line of instants or
// distances, which grow wider as it grows longer. The invariant: no
// result depends on the order in which values arrived or in which accumulators were merged, because sums
// are kept exactly (of a Sketch: those of whole numbers) and rounded once, when they are read. The package must
// never know what the numbers mean.
package stats

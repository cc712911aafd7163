// Package timeline holds what charts show of a run, in memory that does not grow with its requests.
//
// Vocabulary: a bin is a stretch of time, all bins of a recorder are equally long and count from the start of the
// profiling phase; a band is the distribution of a latency in each bin; a distribution is that of all requests.
//
// The invariant: what a recorder holds depends on the requests that it took and not on their order. A request counts
// in the bin in which it was sent, but for what it does later: it is in flight until it ends, it ends in the bin of
// its end, and its tokens come evenly from the first one to the end. The package must never know how a chart is drawn.
package timeline

// Package metrics computes every figure of a run from rows of facts.
//
// Its centre is one table of definitions ([Table]): tag, header, units, flags, formula. The table drives computing, the
// console, the exports and the reference page. A record metric is a pure function of one request's facts; an aggregate
// folds one number per request; a derived metric reads the results of others. A [Set] is the part of the table that
// applies to a run. An [Engine] takes the records of one phase and yields results, of the whole phase and of each time
// slice.
//
// The invariants: a metric yields a value or nothing, and nothing is not zero; results do not depend
// on the order of records or on how they were spread over engines that were merged; a request costs a
// bounded number of bytes up to the exact limits and none beyond. The package must never know where records come from
// and what files and screens show.
//
// It also names the units of metrics and converts between those of one dimension.
//
// A [Unit] is the string that files and reports print. The invariant: a conversion is one multiplication by a
// precomputed ratio, so that every output of a value in the same unit has the same last digit. The package must never
// know the metrics.
package metrics

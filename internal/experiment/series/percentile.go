package series

import (
	"fmt"
	"slices"
)

// PooledPercentile returns a percentile, p50, p90, p95 or p99, of a metric over the successful requests of several
// per-request files, taken as one population; ok is false for another statistic, and where no request has the metric.
func PooledPercentile(paths []string, metric, stat string) (value float64, ok bool, err error) {
	rank := slices.IndexFunc(poolRanks, func(r float64) bool { return fmt.Sprintf("p%g", r) == stat })
	if rank < 0 {
		return 0, false, nil
	}
	var p pool
	for _, path := range paths {
		_, err := readRequests(path, func(tag string, v float64) {
			if tag == metric {
				p.add(path, v)
			}
		})
		if err != nil {
			return 0, false, err
		}
	}
	if p.moments.Count() == 0 {
		return 0, false, nil
	}
	return p.percentiles()[rank], true, nil
}

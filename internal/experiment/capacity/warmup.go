package capacity

import (
	"fmt"
	"math"
)

// steadiness tells when the figures of a warm-up are stationary: the means of the second and of the last third of its
// requests are equal to within tolerance, with the confidence asked for, in latency and in time to first token.
type steadiness struct {
	series   [2][]float64 // of request_latency and time_to_first_token, in the order in which requests ended
	judgedAt int
}

// Bounds of the test.
const (
	// equivalenceMargin is the largest relative difference of two means that counts as equal, of which the upper
	// confidence bound must stay below it (an equivalence test: without evidence the warm-up goes on).
	equivalenceMargin = 0.1
	// minWarmupRequests is the least number of requests, minWarmupWaves the least in multiples of the concurrency.
	minWarmupRequests, minWarmupWaves = 30, 6
	// criticalValue is the standard normal quantile of the one-sided 95 % confidence bound of the difference.
	criticalValue = 1.645
)

// add adds a request; NaN is no value.
func (s *steadiness) add(latency, ttft float64) {
	for i, v := range [...]float64{latency, ttft} {
		if !math.IsNaN(v) {
			s.series[i] = append(s.series[i], v)
		}
	}
}

// steady reports whether the figures are stationary, and the evidence. It looks again when there are a tenth more
// requests.
func (s *steadiness) steady(concurrency int) (evidence string, ok bool) {
	n := len(s.series[0])
	if n < max(minWarmupRequests, minWarmupWaves*concurrency) || n*10 < s.judgedAt*11 {
		return "", false
	}
	s.judgedAt = n
	worst := 0.0
	for _, values := range s.series {
		if len(values) == 0 {
			continue
		}
		if len(values) < minWarmupRequests {
			return "", false
		}
		third := len(values) / 3
		var all, a, b Blocks
		for i, v := range values[third:] {
			all.Add(v)
			if i < third {
				a.Add(v)
			} else {
				b.Add(v)
			}
		}
		tau := all.Inflation()
		difference := math.Abs(a.Mean() - b.Mean())
		scatter := math.Sqrt(tau * (a.Deviation()*a.Deviation()/a.N() + b.Deviation()*b.Deviation()/b.N()))
		if difference+criticalValue*scatter > equivalenceMargin*math.Abs(all.Mean()) {
			return "", false
		}
		worst = max(worst, (difference+criticalValue*scatter)/math.Abs(all.Mean()))
	}
	return fmt.Sprintf("the figures are stationary: the means of the second and of the last third of %d requests differ "+
		"by at most %.1f %%", n, 100*worst), true
}

package capacity

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
)

// Bounds by which a run of a quick look is long enough: what it is asked for is a figure and a side of the limits, not
// a verdict at a level.
const (
	// steadyHalfWidth is the largest half-width of the 95 % intervals of the median time to first token and of the mean
	// latency, by which the throughput of a closed loop is known, in parts of the figure.
	steadyHalfWidth = 0.1
	// clearOfLimit is how far a limited figure must be from its limit, in parts of the limit, beyond
	// clearDeviations of its standard errors: 3, since the errors of percentiles are rough with few requests.
	clearOfLimit, clearDeviations = 0.1, 3.0
	// minSteadyRequests is the least number of requests behind the first wave, minSteadyTime the least time: what
	// scatters slower than that would not be seen.
	minSteadyRequests, minSteadyTime = 8, 1200 * time.Millisecond
	// normalQuantile is that of two-sided 95 % intervals.
	normalQuantile = 1.96
)

// HalfWidth returns the half-width of the 95 % intervals of the run's figures, relative to them: the larger of those of
// the median time to first token and of the throughput. NaN where it is not known.
func (j *Judge) HalfWidth() float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.halfWidth()
}

// halfWidth computes it of the requests so far.
func (j *Judge) halfWidth() float64 {
	inFlight := 1.0
	worst := math.NaN()
	for _, c := range j.conditions {
		inFlight = max(inFlight, c.inFlight)
		if c.filter.Metric != ttftTag || c.values.N() < minSteadyRequests {
			continue
		}
		if v, deviation := c.quantile(0.5); v > 0 {
			worst = normalQuantile * deviation / v
		}
	}
	l := &j.latencies
	if n, mean := l.N(), l.Mean(); n >= minSteadyRequests && mean > 0 {
		tau := l.Inflation()
		if n < minDependenceWaves*inFlight {
			tau = max(tau, inFlight)
		}
		if half := normalQuantile * l.Deviation() * math.Sqrt(tau/n) / mean; !(half <= worst) {
			worst = half
		}
	}
	return worst
}

// endSteady ends a phase whose figures are steady and clear of their limits. A client that was the bottleneck leaves no
// figure to be sure of: such a phase ends, too, once it is steady.
func (j *Judge) endSteady(p *progress.Phase, client *progress.Client) {
	if !j.options.Steady || j.options.End == nil || j.ended[p.Index] || j.open || p.Elapsed < minSteadyTime ||
		j.requests < int64(max(minSteadyRequests, (minWaves-1)*j.wave)) {
		return
	}
	half := j.halfWidth()
	if !(half <= steadyHalfWidth) {
		return
	}
	if j.limited(client) {
		if j.wave <= 1 { // a client that is not fast enough for one request at a time was disturbed: that may pass
			return
		}
	} else {
		for _, c := range j.conditions {
			if !c.clear() {
				return
			}
		}
	}
	j.verdict.EndedEarly = j.end(p, run.End{Phase: p.Index, Confidence: DefaultConfidence,
		Reason: fmt.Sprintf("the figures are steady: within %.1f %%, and clear of the limits", 100*half)})
}

// clear reports that the figure so far is far from its limit, on either side; a figure that no request has is.
func (c *condition) clear() bool {
	v, deviation := c.figure()
	if math.IsNaN(v) {
		return true
	}
	if math.IsNaN(deviation) {
		return false
	}
	margin := c.filter.Margin(v)
	return math.Abs(margin)-clearDeviations*deviation >= clearOfLimit*math.Abs(c.filter.Threshold)
}

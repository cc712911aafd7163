package boundary

import (
	"math"

	"aiperf/internal/experiment/search"
)

// Requests are the requests of a probe by sla_precision, where no number of requests is set.
var Requests = map[string]int{"tight": 10000, "normal": 1000, "coarse": 300}

// DefaultWarmup is sla_warmup_seconds where it is not set.
const DefaultWarmup = 30.0

// Warmup returns the seconds that a probe warms up: more for the first one at a load. A base of 0 is no warm-up.
func Warmup(base float64, first bool) float64 {
	switch {
	case base <= 0:
		return 0
	case first:
		return max(60, base)
	}
	return max(15, base)
}

// precision is the width of a bracket, relative to its upper end, below which the documented planners stop.
const precision = 0.05

// narrow reports that a bracket is not worth another probe.
func narrow(pass, fail float64) bool {
	return fail-pass <= 1 || (fail-pass)/max(fail, 1) < precision
}

// halfway returns the whole number in the middle of a bracket.
func halfway(pass, fail float64) float64 { return pass + math.Floor((fail-pass)/2) }

// bracket is the pair of the largest feasible and the smallest infeasible load; NaN where there is none.
type bracket struct{ pass, fail float64 }

func unknown() bracket { return bracket{math.NaN(), math.NaN()} }

// add takes a verdict, and reports whether it agrees with the bracket; one that does not leaves it as it is.
func (b *bracket) add(x float64, feasible bool) bool {
	if feasible {
		if x >= b.fail {
			return false
		}
		b.pass = max(orElse(b.pass, x), x)
		return true
	}
	if x <= b.pass {
		return false
	}
	b.fail = min(orElse(b.fail, x), x)
	return true
}

// doubled returns the load after x while none has failed.
func doubled(x, hi float64) float64 { return min(2*x, hi) }

// integers returns the whole numbers that bound a dimension, from 1.
func integers(d search.Dimension) (lo, hi float64) {
	lo = max(math.Ceil(d.Lo), 1)
	return lo, max(math.Floor(d.Hi), lo)
}

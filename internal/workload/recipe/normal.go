package recipe

import (
	"math"

	"aiperf/internal/base/random"
)

// Normal is a normal distribution of sizes; a Stddev of 0 makes it a fixed value.
type Normal struct{ Mean, Stddev float64 }

const maxRedraws = 10_000

// Draw returns a whole number of at least 1: the mean rounded half to even, or a draw that is repeated
// while it is negative and then rounded up. Rounding up makes the average about a half too large;
// this is how the sizes are defined.
func (d Normal) Draw(r *random.Rand) int {
	if d.Stddev <= 0 {
		return max(1, int(math.RoundToEven(d.Mean)))
	}
	return max(1, int(math.Ceil(d.positive(r))))
}

// positive returns the mean, or a draw that is repeated while it is negative.
func (d Normal) positive(r *random.Rand) float64 {
	if d.Stddev > 0 {
		for range maxRedraws {
			// The conversion keeps the compiler from fusing, so that every machine draws the same.
			if x := d.Mean + float64(d.Stddev*r.Normal()); x >= 0 {
				return x
			}
		}
	}
	return d.Mean
}

// Bounded returns a draw between lo and hi: the mean, or a draw that is repeated while it is outside.
func (d Normal) Bounded(r *random.Rand, lo, hi float64) float64 {
	if d.Stddev > 0 {
		for range maxRedraws {
			if x := d.Mean + float64(d.Stddev*r.Normal()); x >= lo && x <= hi {
				return x
			}
		}
	}
	return min(hi, max(lo, d.Mean))
}

// Expected implements [Sizes].
func (d Normal) Expected() float64 { return d.Mean }

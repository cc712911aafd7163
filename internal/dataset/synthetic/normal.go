package synthetic

import (
	"math"

	"aiperf/internal/random"
)

// Normal is a normal distribution of sizes; a Stddev of 0 makes it a fixed value.
type Normal struct{ Mean, Stddev float64 }

const maxRedraws = 10_000

// Draw is a whole number of at least 1: the mean rounded half to even, or a draw that is repeated
// while it is negative and then rounded up. Rounding up makes the average about a half too large;
// this is how the sizes are defined.
func (d Normal) Draw(r *random.Rand) int {
	if d.Stddev <= 0 {
		return max(1, int(math.RoundToEven(d.Mean)))
	}
	x := d.Mean
	for range maxRedraws {
		// The conversion keeps the compiler from fusing, so that every machine draws the same.
		if y := d.Mean + float64(d.Stddev*r.Normal()); y >= 0 {
			x = y
			break
		}
	}
	return max(1, int(math.Ceil(x)))
}

package synthetic

import (
	"math"

	"aiperf/internal/base/random"
)

// Window is a stretch of sizes around a mean, or below it, from which sizes are drawn uniformly.
type Window struct {
	// Ratio is how far the window reaches.
	Ratio float64
	// UpTo makes it a share below the largest size: from size·Ratio to size. Otherwise it reaches from
	// size·(1−Ratio) to size·(1+Ratio).
	UpTo bool
}

// bounds returns the ends of the window of a size, both included.
func (w Window) bounds(size float64) (lo, hi int) {
	const slip = 1e-9 // of products that are whole numbers
	if w.UpTo {
		return max(1, int(size*w.Ratio+slip)), max(1, int(size))
	}
	return int(math.Floor(size*(1-w.Ratio) + slip)), int(math.Ceil(size*(1+w.Ratio) - slip))
}

// Draw returns a size from the window, at least 1.
func (w Window) Draw(r *random.Rand, size float64) int {
	lo, hi := w.bounds(size)
	return max(1, lo+r.IntN(hi-lo+1))
}

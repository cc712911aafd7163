package servermetrics

import "math"

// Bound is between which bounds a percentile lies; infinities stand for no bound.
type Bound struct{ Lower, Upper float64 }

// HasLower tells whether there is a lower bound.
func (b Bound) HasLower() bool { return !math.IsInf(b.Lower, -1) }

// HasUpper tells whether there is an upper bound.
func (b Bound) HasUpper() bool { return !math.IsInf(b.Upper, 1) }

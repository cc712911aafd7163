package servermetrics

import (
	"math"

	"aiperf/internal/measure/metrics"
)

// Bound is between which bounds a percentile lies; infinities stand for no bound.
type Bound struct{ Lower, Upper float64 }

// PercentileBounds are those of metrics.PercentileRanks.
type PercentileBounds [len(metrics.PercentileRanks)]Bound

// hasLower reports whether there is a lower bound.
func (b Bound) hasLower() bool { return !math.IsInf(b.Lower, -1) }

// hasUpper reports whether there is an upper bound.
func (b Bound) hasUpper() bool { return !math.IsInf(b.Upper, 1) }

// bounds returns what the buckets say for certain about the percentiles: each is interpolated between two
// neighbouring observations, and each of those lies in its bucket. Observations are taken as not negative
// unless the first bound is.
func (d *Distribution) bounds() PercentileBounds {
	var out PercentileBounds
	total := d.Buckets[len(d.Buckets)-1]
	for i, rank := range metrics.PercentileRanks {
		lo, hi, fraction := position(rank, total)
		a, b := d.bucketOf(lo), d.bucketOf(hi)
		if a == b {
			out[i] = a
			continue
		}
		out[i] = Bound{interpolate(a.Lower, b.Lower, fraction), b.Upper}
		if b.hasUpper() {
			out[i].Upper = interpolate(a.Upper, b.Upper, fraction)
		}
	}
	return out
}

// bucketOf returns the bucket of the observation at a place in ascending order, from 0.
func (d *Distribution) bucketOf(place int64) Bound {
	k := 0
	for k < len(d.Buckets)-1 && d.Buckets[k] <= place {
		k++
	}
	b := Bound{Upper: d.Upper[k]}
	switch {
	case k > 0:
		b.Lower = d.Upper[k-1]
	case d.Upper[0] < 0:
		b.Lower = math.Inf(-1)
	}
	return b
}

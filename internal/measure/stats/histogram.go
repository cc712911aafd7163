package stats

import (
	"math"
	"slices"
)

const (
	mantissaBits = 10
	pageBins     = 1 << mantissaBits
	// Magnitudes from 2^minExp2 up to 2^maxExp2 keep the stated error; smaller ones count as zero,
	// larger ones as the largest bin.
	minExp2 = -64
	maxExp2 = 64
	pages   = maxExp2 - minExp2
)

// RelativeError is the bound of the relative error of a Histogram's percentiles: half the width of a
// bin, which is the range of floats that agree in sign, exponent and their first ten mantissa bits.
const RelativeError = 1.0 / (2 << mantissaBits)

// Histogram is a distribution in memory of fixed size: percentiles with a relative error of at most
// RelativeError (of each of the two neighbours between which a percentile is interpolated), all other
// figures exact. The zero value is empty.
type Histogram struct {
	moments Moments
	zeros   int64
	// Pages hold the bins of one power of two each, made when the first value falls there.
	negative, positive [pages]*[pageBins]int64
}

// Add adds v, which must be finite.
func (h *Histogram) Add(v float64) {
	h.moments.Add(v)
	side := &h.positive
	if v < 0 {
		side, v = &h.negative, -v
	}
	if v < 0x1p-64 {
		h.zeros++
		return
	}
	bits := math.Float64bits(v)
	page := int(bits>>52) - 1023 - minExp2
	bin := int(bits>>(52-mantissaBits)) & (pageBins - 1)
	if page >= pages {
		page, bin = pages-1, pageBins-1
	}
	if side[page] == nil {
		side[page] = new([pageBins]int64)
	}
	side[page][bin]++
}

// Merge adds the population of o.
func (h *Histogram) Merge(o *Histogram) {
	h.moments.Merge(&o.moments)
	h.zeros += o.zeros
	mergePages(&h.negative, &o.negative)
	mergePages(&h.positive, &o.positive)
}

func mergePages(into, from *[pages]*[pageBins]int64) {
	for i, page := range from {
		if page == nil {
			continue
		}
		if into[i] == nil {
			into[i] = new([pageBins]int64)
		}
		for bin, n := range page {
			into[i][bin] += n
		}
	}
}

// Count is the number of values.
func (h *Histogram) Count() int64 { return h.moments.count }

// Summary returns the figures of the population, with the percentiles of the given ranks.
func (h *Histogram) Summary(ranks []float64) Summary {
	s := h.moments.Summary()
	if s.Count == 0 {
		return s
	}
	places := Places(ranks, s.Count)
	found := h.at(places)
	s.Percentiles = Interpolate(ranks, s.Count, func(place int64) float64 {
		i, _ := slices.BinarySearch(places, place)
		return found[i]
	})
	return s
}

// at returns the values at the given ascending places of the sorted population.
func (h *Histogram) at(places []int64) []float64 {
	out := make([]float64, 0, len(places))
	var seen int64
	take := func(n int64, value float64) {
		seen += n
		for len(out) < len(places) && places[len(out)] < seen {
			out = append(out, min(max(value, h.moments.min), h.moments.max))
		}
	}
	for page := pages - 1; page >= 0; page-- {
		if counts := h.negative[page]; counts != nil {
			for bin := pageBins - 1; bin >= 0; bin-- {
				take(counts[bin], -middle(page, bin))
			}
		}
	}
	take(h.zeros, 0)
	for page, counts := range h.positive {
		if counts != nil {
			for bin, n := range counts {
				take(n, middle(page, bin))
			}
		}
	}
	return out
}

// middle is the centre of a bin.
func middle(page, bin int) float64 {
	return math.Ldexp(1+(float64(bin)+0.5)/pageBins, page+minExp2)
}

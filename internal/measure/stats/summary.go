package stats

import "slices"

// Summary are the figures of one population.
type Summary struct {
	Count                   int64
	Avg, Min, Max, Sum, Std float64 // Std is the population's (ddof 0)
	// Percentiles are in the order of the ranks asked for; nil for an empty population.
	Percentiles []float64
	// Bounds are the confidence bounds of the percentiles; nil unless they were asked for.
	Bounds []Range
}

// Describe returns the exact figures of values, with the percentiles of the given ranks (0–100). It
// reorders values.
func Describe(values []float64, ranks []float64) Summary {
	var m Moments
	for _, v := range values {
		m.Add(v)
	}
	s := m.Summary()
	s.Percentiles = Percentiles(values, ranks)
	return s
}

// Percentiles returns the percentiles of values by linear interpolation between neighbours: the
// position of rank q among n values is (q/100)(n−1). It reorders values; nil if there are none.
func Percentiles(values []float64, ranks []float64) []float64 {
	if len(values) == 0 {
		return nil
	}
	n := int64(len(values))
	selectAll(values, 0, Places(ranks, n))
	return Interpolate(ranks, n, func(place int64) float64 { return values[place] })
}

// Places returns, ascending and once each, the places of n sorted values that the percentiles of
// ranks are interpolated from.
func Places(ranks []float64, n int64) []int64 {
	places := make([]int64, 0, 2*len(ranks))
	for _, q := range ranks {
		at := position(q, n)
		places = append(places, at.lo, at.hi)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// Interpolate computes the percentiles of n values, of which at returns those at Places.
func Interpolate(ranks []float64, n int64, at func(place int64) float64) []float64 {
	out := make([]float64, len(ranks))
	for i, q := range ranks {
		p := position(q, n)
		lo := at(p.lo)
		out[i] = lo + p.fraction*(at(p.hi)-lo)
	}
	return out
}

// PercentilesAt computes the percentiles of n values, of which at returns those at ascending places; nil if there are
// none.
func PercentilesAt(ranks []float64, n int64, at func(places []int64) []float64) []float64 {
	if n == 0 {
		return nil
	}
	places := Places(ranks, n)
	return Interpolate(ranks, n, Lookup(places, at(places)))
}

// Lookup returns the values of ascending places by their place.
func Lookup(places []int64, values []float64) func(place int64) float64 {
	return func(place int64) float64 {
		i, _ := slices.BinarySearch(places, place)
		return values[i]
	}
}

// interpolation is where a percentile lies among sorted values: between two neighbours.
type interpolation struct {
	lo, hi   int64
	fraction float64
}

func position(q float64, n int64) interpolation {
	h := q / 100 * float64(n-1)
	lo := min(int64(h), n-1)
	return interpolation{lo: lo, hi: min(lo+1, n-1), fraction: h - float64(lo)}
}

package stats

// histogramBits are the mantissa bits by which a Histogram distinguishes numbers, sketchBits those of a Sketch.
const (
	histogramBits = 10
	sketchBits    = 5
)

// RelativeError is the bound of the relative error of a Histogram's percentiles, SketchRelativeError that of a
// Sketch's: half the width of a bin.
const (
	RelativeError       = 1.0 / (2 << histogramBits)
	SketchRelativeError = 1.0 / (2 << sketchBits)
)

// Histogram is a distribution in bounded memory, four kilobytes for each doubling that its values span: percentiles
// with a relative error of at most RelativeError (of each of the two neighbours between which a percentile is
// interpolated), all other figures exact. The zero value is empty.
type Histogram struct {
	moments Moments
	values  spread
}

// Add adds v, which must be finite.
func (h *Histogram) Add(v float64) {
	h.moments.Add(v)
	h.values.add(v, histogramBits)
}

// Merge adds the population of o.
func (h *Histogram) Merge(o *Histogram) {
	h.moments.Merge(&o.moments)
	h.values.merge(&o.values)
}

// Count returns the number of values.
func (h *Histogram) Count() int64 { return h.moments.count }

// Summary returns the figures of the population, with the percentiles of the given ranks.
func (h *Histogram) Summary(ranks []float64) Summary {
	s := h.moments.Summary()
	s.Percentiles = PercentilesAt(ranks, s.Count, h.At)
	return s
}

// At returns the values at the given ascending places of the sorted population.
func (h *Histogram) At(places []int64) []float64 {
	return h.values.at(places, histogramBits, h.moments.min, h.moments.max)
}

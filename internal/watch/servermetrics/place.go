package servermetrics

import "math"

// placed is a finite bucket while its observations are placed.
type placed struct {
	lower, upper float64
	count        float64 // scaled
	// mean and variance are what was learned; meanKnown and varianceKnown tell whether that can be used.
	mean, variance           float64
	meanKnown, varianceKnown bool
	from, to                 int     // its observations among all
	sum                      float64 // of them
}

// variances are defined from this many intervals on.
const varianceFrom = 3

func newPlaced(d *Distribution, k int) placed {
	b := placed{lower: d.lower(k), upper: d.Upper[k], count: d.own(k)}
	if k >= len(d.Learned) {
		return b
	}
	l := d.Learned[k]
	if l.Intervals > 0 && b.lower < l.Mean && l.Mean < b.upper {
		b.mean, b.meanKnown = l.Mean, true
		b.variance, b.varianceKnown = l.Variance, l.Intervals >= varianceFrom && l.Variance > 0
	}
	return b
}

func (b *placed) width() float64    { return b.upper - b.lower }
func (b *placed) midpoint() float64 { return (b.lower + b.upper) / 2 }

// centre returns where the bucket's observations are on average, as far as it is known by itself.
func (b *placed) centre() float64 {
	if b.meanKnown {
		return b.mean
	}
	return b.midpoint()
}

func (b *placed) clip(v float64) float64 { return min(max(v, b.lower), b.upper) }

// place appends the bucket's observations. finiteMean is the mean of all observations in finite buckets: in a
// dominant bucket it says more than what was learned.
func (b *placed) place(dst []float64, dominant bool, finiteMean float64) []float64 {
	n := int(b.count)
	if n < 1 {
		return dst
	}
	if b.meanKnown && b.varianceKnown {
		return b.placeLearned(dst, n)
	}
	centre := b.centre()
	if dominant && b.lower < finiteMean && finiteMean < b.upper {
		centre = finiteMean
	}
	for i := range n {
		dst = append(dst, b.uniform(fraction(i, n), centre))
	}
	return dst
}

// fraction returns where observation i of n lies in an even spread over 0 to 1.
func fraction(i, n int) float64 { return (float64(i) + 0.5) / float64(n) }

// uniform returns an even spread over the bucket, shifted to a centre.
func (b *placed) uniform(f, centre float64) float64 {
	return b.clip(b.lower + b.width()*f + (centre - b.midpoint()))
}

// placeLearned appends n observations by what is known about mean and variance.
func (b *placed) placeLearned(dst []float64, n int) []float64 {
	deviation := math.Sqrt(b.variance)
	spread := 4 * deviation / b.width()
	offset := math.Abs(b.mean-b.midpoint()) / b.width()
	if spread < 0.01 {
		return b.placeTwoPoints(dst, n)
	}
	blend := spread < 0.2 && offset < 0.3
	for i := range n {
		f := fraction(i, n)
		v := b.aroundMean(f, deviation)
		if blend {
			v = b.clip(0.5*b.uniform(f, b.mean) + 0.5*v)
		}
		dst = append(dst, v)
	}
	return dst
}

// placeTwoPoints puts some observations at the lower bound and all others at one point, such that mean and
// variance come out.
func (b *placed) placeTwoPoints(dst []float64, n int) []float64 {
	above := b.mean - b.lower
	point := b.clip(b.mean + b.variance/above)
	share := min(max(b.variance/(b.variance+above*above), 0), 1)
	low := int(float64(n) * share)
	for i := range n {
		if i < low {
			dst = append(dst, b.lower)
		} else {
			dst = append(dst, point)
		}
	}
	return dst
}

// aroundMean spreads observations evenly to both sides of the mean, up to three deviations or the bucket's
// bound.
func (b *placed) aroundMean(f, deviation float64) float64 {
	const furthest = 3
	if f < 0.5 {
		below := min((b.mean-b.lower)/deviation, furthest)
		return b.clip(b.mean - below*deviation*(1-2*f))
	}
	above := min((b.upper-b.mean)/deviation, furthest)
	return b.clip(b.mean + above*deviation*(2*f-1))
}

// learn gathers what the intervals between consecutive samples tell about the first finite buckets.
func learn(s *Samples, finite int) []Learned {
	learned := make([]Learned, finite)
	weights := make([]struct{ sum, n, squares, mean float64 }, finite)
	for i := 1; i < s.Len(); i++ {
		if s.at[i] == s.at[i-1] {
			continue
		}
		n := math.Trunc(s.Count(i) - s.Count(i-1))
		if n <= 0 {
			continue
		}
		k := onlyBucket(s.Buckets(i-1), s.Buckets(i))
		if k < 0 || k >= finite {
			continue
		}
		mean := (s.Sum(i) - s.Sum(i-1)) / n
		w, l := &weights[k], &learned[k]
		w.sum += mean * n
		w.n += n
		l.Intervals++
		off := mean - w.mean
		w.mean += off / float64(l.Intervals)
		w.squares += off * (mean - w.mean)
	}
	for k := range learned {
		l, w := &learned[k], &weights[k]
		if l.Intervals > 0 {
			l.Mean = w.sum / w.n
		}
		if l.Intervals >= varianceFrom {
			l.Variance = w.squares / float64(l.Intervals-1)
		}
	}
	return learned
}

// onlyBucket returns the one bucket that got observations between two samples, or -1.
func onlyBucket(before, after []float64) int {
	only, lower := -1, 0.0
	for k, v := range after {
		grown := max(v-before[k], 0)
		if grown-lower > 0 {
			if only >= 0 {
				return -1
			}
			only = k
		}
		lower = grown
	}
	return only
}

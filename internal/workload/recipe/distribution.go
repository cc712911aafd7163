package recipe

import (
	"math"

	"aiperf/internal/base/random"
)

// Sizes is a distribution that sizes are drawn from: a [Normal] of flags, or a [Distribution] of a configuration file.
type Sizes interface {
	// Draw returns a whole number of at least 1.
	Draw(r *random.Rand) int
	// Bounded returns a number from lo to hi.
	Bounded(r *random.Rand, lo, hi float64) float64
	// Expected returns the mean, as far as the parameters say it: clamps and rounding are left out.
	Expected() float64
}

// Kind is a shape of distribution.
type Kind string

// The kinds. Multimodal is also written mixture.
const (
	Fixed       Kind = "fixed"
	Gaussian    Kind = "normal"
	LogNormal   Kind = "lognormal"
	Uniform     Kind = "uniform"
	Exponential Kind = "exponential"
	Zipf        Kind = "zipf"
	Multimodal  Kind = "multimodal"
	Empirical   Kind = "empirical"
)

// Distribution is a distribution as a configuration file describes it. Which fields count depends on Kind.
type Distribution struct {
	Kind Kind
	// Value is that of Fixed.
	Value float64
	// Mean belongs to Gaussian, LogNormal and Exponential, Stddev to Gaussian, Median, at most the mean, to LogNormal.
	Mean, Stddev, Median float64
	// Low and High are the ends of Uniform.
	Low, High float64
	// Alpha, above 1, Scale and Offset belong to Zipf: rank k, whose probability is proportional to k^−Alpha, is the
	// size Offset + k·Scale.
	Alpha, Scale, Offset float64
	// Peaks are the parts of Multimodal, Points the values of Empirical.
	Peaks  []Peak
	Points []Point
	// Min and Max limit what any kind draws; nil: they do not.
	Min, Max *float64
}

// Peak is one of several distributions; weights are relative.
type Peak struct {
	Distribution
	Weight float64
}

// Point is a value and its relative weight.
type Point struct{ Value, Weight float64 }

// Draw implements [Sizes]: what was sampled is rounded up. Uniform draws each whole number of its range alike.
func (d Distribution) Draw(r *random.Rand) int {
	return int(min(max(1, math.Ceil(d.sample(r, true))), math.MaxInt32))
}

// Bounded implements [Sizes]: what is outside becomes the end that is nearer.
func (d Distribution) Bounded(r *random.Rand, lo, hi float64) float64 {
	return min(hi, max(lo, d.sample(r, false)))
}

// sample draws a number; whole says that a whole number is wanted, for which the others are rounded later.
func (d *Distribution) sample(r *random.Rand, whole bool) float64 {
	x := d.shape(r, whole)
	if d.Min != nil {
		x = max(x, *d.Min)
	}
	if d.Max != nil {
		x = min(x, *d.Max)
	}
	return x
}

// shape draws a number without the limits. Conversions of products keep the compiler from fusing them with a sum, so
// that every machine draws the same.
func (d *Distribution) shape(r *random.Rand, whole bool) float64 {
	switch d.Kind {
	case Gaussian:
		return Normal{d.Mean, d.Stddev}.positive(r)
	case LogNormal:
		if d.Median >= d.Mean {
			return d.Mean
		}
		return d.Median * math.Exp(d.sigma()*r.Normal())
	case Uniform:
		if lo, hi := math.Ceil(d.Low), math.Floor(d.High); whole && lo <= hi && hi-lo < math.MaxInt32 {
			return lo + float64(r.IntN(int(hi-lo)+1))
		}
		return d.Low + float64(r.Float64()*(d.High-d.Low))
	case Exponential:
		return d.Mean * r.Exponential()
	case Zipf:
		return d.Offset + float64(zipfRank(r, d.Alpha)*d.Scale)
	case Multimodal:
		i := Pick(len(d.Peaks), func(i int) float64 { return d.Peaks[i].Weight }, r.Float64())
		return d.Peaks[i].sample(r, whole)
	case Empirical:
		i := Pick(len(d.Points), func(i int) float64 { return d.Points[i].Weight }, r.Float64())
		return d.Points[i].Value
	}
	return d.Value
}

// sigma is the standard deviation of the logarithm of LogNormal: the mean is median·exp(σ²/2).
func (d *Distribution) sigma() float64 { return math.Sqrt(2 * math.Log(d.Mean/d.Median)) }

// Expected implements [Sizes].
func (d Distribution) Expected() float64 {
	switch d.Kind {
	case Gaussian, LogNormal, Exponential:
		return d.Mean
	case Uniform:
		return d.Low + float64((d.High-d.Low)/2)
	case Zipf:
		return d.Offset + float64(d.Scale*zipfSum(d.Alpha-1)/zipfSum(d.Alpha))
	case Multimodal:
		return average(len(d.Peaks), func(i int) (float64, float64) {
			return d.Peaks[i].Expected(), d.Peaks[i].Weight
		})
	case Empirical:
		return average(len(d.Points), func(i int) (float64, float64) { return d.Points[i].Value, d.Points[i].Weight })
	}
	return d.Value
}

// average is the weighted mean of n values.
func average(n int, of func(i int) (value, weight float64)) float64 {
	sum, weights := 0.0, 0.0
	for i := range n {
		value, weight := of(i)
		sum += float64(value * weight)
		weights += weight
	}
	return sum / weights
}

// Pick returns the first of n choices whose cumulative share of the weights exceeds u.
func Pick(n int, weight func(i int) float64, u float64) int {
	total, last := 0.0, 0
	for i := range n {
		total += weight(i)
	}
	sum := 0.0
	for i := range n {
		if weight(i) == 0 {
			continue
		}
		last = i
		if sum += weight(i); sum/total > u {
			return i
		}
	}
	return last
}

// maxRank ends the ranks of Zipf, so that a size stays finite whatever alpha is.
const maxRank = 1 << 20

// zipfRank draws a rank from 1 to maxRank whose probability is proportional to k^−alpha, by rejection (Devroye 1986,
// X.6.1).
func zipfRank(r *random.Rand, alpha float64) float64 {
	s := alpha - 1
	least := math.Pow(maxRank+1, -s) // of the uniform draw, for the highest rank
	b1 := math.Expm1(s * math.Ln2)   // 2^s − 1
	for {
		u := 1 - float64(r.Float64()*(1-least))
		k := math.Floor(math.Pow(u, -1/s))
		if !(k >= 1 && k <= maxRank) {
			continue
		}
		t1 := math.Expm1(s * math.Log1p(1/k)) // (1 + 1/k)^s − 1
		if r.Float64()*k*t1/b1 <= (t1+1)/(b1+1) {
			return k
		}
	}
}

// zipfSum is the sum of k^−s over all ranks k: the first terms one by one, the others by their integral and its ends.
func zipfSum(s float64) float64 {
	const first = 1000
	sum := 0.0
	for k := range first {
		sum += math.Pow(float64(k+1), -s)
	}
	integral := math.Log(float64(maxRank) / first)
	if s != 1 {
		integral = (math.Pow(maxRank, 1-s) - math.Pow(first, 1-s)) / (1 - s)
	}
	return sum + integral + (math.Pow(maxRank, -s)-math.Pow(first, -s))/2
}

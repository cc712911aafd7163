package capacity

import "math"

// blockCount is the number of blocks at which neighbours are joined: 16 to 32 blocks keep the estimate's own error at a
// quarter to a third, while the blocks are as long as the stream allows, so that dependence within them is whole.
const blockCount = 32

// Blocks measures the mean of a stream, and how much more it scatters than that of as many independent values. It keeps
// sums of 16 to 32 blocks of neighbouring values, whose length grows with the stream. The zero value is empty.
type Blocks struct {
	n, mean, squares float64
	length           int
	sums             []float64
	open             float64 // the sum of the block that is not complete
	inOpen           int
}

// Add adds the next value.
func (b *Blocks) Add(v float64) {
	b.n++
	d := v - b.mean
	b.mean += d / b.n
	b.squares += d * (v - b.mean)
	b.length = max(1, b.length)
	b.open += v
	if b.inOpen++; b.inOpen < b.length {
		return
	}
	b.sums = append(b.sums, b.open)
	b.open, b.inOpen = 0, 0
	if len(b.sums) == blockCount {
		for i := range blockCount / 2 {
			b.sums[i] = b.sums[2*i] + b.sums[2*i+1]
		}
		b.sums = b.sums[:blockCount/2]
		b.length *= 2
	}
}

// N returns the number of values, Mean their mean, Deviation the standard deviation of a value.
func (b *Blocks) N() float64    { return b.n }
func (b *Blocks) Mean() float64 { return b.mean }
func (b *Blocks) Deviation() float64 {
	if b.n < 2 {
		return math.NaN()
	}
	return math.Sqrt(b.squares / (b.n - 1))
}

// Inflation returns by which factor the variance of the mean is above that of independent values, at least 1: the
// variance of the means of blocks against that of the values (batch means). The larger of two lengths of blocks is
// taken: where dependence is longer than a block, the shorter ones underestimate it. Below two values in each of eight
// blocks it is 1.
func (b *Blocks) Inflation() float64 {
	if b.length < 2 || len(b.sums) < 8 || b.squares == 0 {
		return 1
	}
	return max(1, inflation(b.sums, b.length, b.squares/(b.n-1)), inflation(joined(b.sums), 2*b.length, b.squares/(b.n-1)))
}

// inflation returns the variance of the means of blocks of a length relative to variance/length, that of independent
// values of the given variance.
func inflation(sums []float64, length int, variance float64) float64 {
	mean, squares := 0.0, 0.0
	for _, s := range sums {
		mean += s / float64(len(sums))
	}
	for _, s := range sums {
		squares += (s - mean) * (s - mean)
	}
	return squares / float64(len(sums)-1) / float64(length) / variance
}

// joined returns the sums of pairs of neighbouring blocks; an odd last one is left out.
func joined(sums []float64) []float64 {
	out := make([]float64, len(sums)/2)
	for i := range out {
		out[i] = sums[2*i] + sums[2*i+1]
	}
	return out
}

// minRareCount is the number of values on the rarer side of a condition from which their own scatter is known: the rule
// of five of tests on counts.
const minRareCount = 5

// Dependence returns the inflation of the counts of a condition: that of the values themselves, and that of the
// condition (1 = passed, 0 = not) once it was seen to fail and to pass often enough.
func Dependence(values, passes *Blocks) float64 {
	d := values.Inflation()
	if rare := passes.N() * min(passes.Mean(), 1-passes.Mean()); rare >= minRareCount {
		d = max(d, passes.Inflation())
	}
	return d
}

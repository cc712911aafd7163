package boundary

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"aiperf/internal/experiment/search"
)

// datum is a margin z at the logarithm u of a load, with its variance.
type datum struct{ u, z, variance float64 }

// kernel is a hypothesis on the course of a margin around a straight line, and on the noise between probes: smooth is a
// Matérn 5/2 covariance, else it is exponential (Matérn 1/2), which jumps are less unlikely under (Rasmussen and
// Williams, "Gaussian Processes for Machine Learning", 2006, chapter 4). scale is the standard deviation of the course
// about the line, noise that of a probe about the course, both on the scale of margins, the logarithm of the value.
type kernel struct {
	smooth       bool
	scale, noise float64
	// prior is the logarithm of its weight before any data, up to a constant.
	prior float64
}

// correlationLength is the length scale of both covariances, as a difference of the logarithms of loads: where loads
// differ by a ratio of e^0.6 = 1.8, their deviations from the line are correlated by 0.52 and 0.37.
const correlationLength = 0.6

// deviationCovariance returns the covariance of the deviation at a distance.
func (k *kernel) deviationCovariance(distance float64) float64 {
	d := math.Abs(distance) / correlationLength
	if k.smooth {
		d *= math.Sqrt(5)
		return k.scale * k.scale * (1 + d + d*d/3) * math.Exp(-d)
	}
	return k.scale * k.scale * math.Exp(-d)
}

// The prior of the straight line, normal: of its level, with mean 0, and of its slope, around the middle of the
// bracket. A slope of 1 is a latency that grows as the load; two standard deviations span from one that falls to a
// steep queue. The level's deviation is that of marginBound: at the middle nothing is known of the margin yet.
const (
	priorLevelDeviation = 1.5
	priorSlopeMean      = 1.0
	priorSlopeDeviation = 2.0
)

// priorCovariance returns the covariance of the margins at two loads before any data, of line and deviation together.
func (k *kernel) priorCovariance(u, v float64) float64 {
	line := priorLevelDeviation*priorLevelDeviation + priorSlopeDeviation*priorSlopeDeviation*u*v
	return line + k.deviationCovariance(u-v)
}

// kernels are the hypotheses: a grid over the scale and the noise, which the posterior of newFit averages, so that no
// hyperparameter is tuned to a handful of probes. Where errors of probes are known there is less noise that they do not
// contain. The noise is in parts of the value: 0.3 to 18 %, and 40 % as of a machine that does other work at times, whose
// weight is so small that a few probes on both sides of a jump are not taken for noise. Rough courses have e⁻¹ of the
// weight of smooth ones.
func kernels(known bool) []kernel {
	noises, weights := []float64{0.02, 0.06, 0.18, 0.4}, []float64{0.5, 0.3, 0.18, 0.02}
	if known {
		noises, weights = []float64{0.003, 0.03, 0.1, 0.4}, []float64{0.6, 0.3, 0.08, 0.02}
	}
	var all []kernel
	for i, noise := range noises {
		prior := math.Log(weights[i])
		for _, s := range []float64{0.1, 0.4, 1.6} {
			all = append(all, kernel{smooth: true, scale: s, noise: noise, prior: prior})
		}
		for _, s := range []float64{1.6, 5} {
			all = append(all, kernel{scale: s, noise: noise, prior: prior - 1})
		}
	}
	return all
}

// fit is the posterior course of a margin: a mixture of Gaussian processes, one for each hypothesis.
type fit struct {
	kernels []kernel
	weights []float64
	// data, with the Cholesky factor and the weights of the data for each hypothesis.
	data   []datum
	factor []search.Lower
	alpha  [][]float64
	middle float64
}

// minHypothesisWeight is the posterior weight below which a hypothesis is left out: it moves a probability by less than
// that, and costs as much time as any other.
const minHypothesisWeight = 0.01

// newFit returns the posterior of a margin, with the line around middle. A hypothesis is weighted by its prior times
// the marginal likelihood of the data, -½yᵀK⁻¹y - ½ln|K| as a logarithm (Rasmussen and Williams, algorithm 2.1).
func newFit(data []datum, middle float64, known bool) fit {
	f := fit{data: data, middle: middle}
	n := len(data)
	var logs []float64
	best := math.Inf(-1)
	y := make([]float64, n)
	for i, d := range data {
		y[i] = d.z - priorSlopeMean*(d.u-middle)
	}
	for _, k := range kernels(known) {
		covariance := search.NewLower(n)
		for i := range n {
			row := covariance.Row(i)
			for j := range row {
				row[j] = k.priorCovariance(data[i].u-middle, data[j].u-middle)
			}
			row[i] += data[i].variance + k.noise*k.noise
		}
		factor, ok := search.Cholesky(covariance)
		if !ok {
			continue
		}
		alpha := slices.Clone(y)
		factor.Solve(alpha)
		log := k.prior - 0.5*(floats.Dot(y, alpha)+factor.LogDet())
		f.kernels, f.factor, f.alpha = append(f.kernels, k), append(f.factor, factor), append(f.alpha, alpha)
		logs, best = append(logs, log), max(best, log)
	}
	sum := 0.0
	for _, l := range logs {
		f.weights = append(f.weights, math.Exp(l-best))
		sum += math.Exp(l - best)
	}
	kept, total := 0, 0.0
	for i, w := range f.weights {
		if w/sum >= minHypothesisWeight {
			f.kernels[kept], f.factor[kept], f.alpha[kept], f.weights[kept] = f.kernels[i], f.factor[i], f.alpha[i], w
			kept, total = kept+1, total+w
		}
	}
	f.kernels, f.factor, f.alpha, f.weights = f.kernels[:kept], f.factor[:kept], f.alpha[:kept], f.weights[:kept]
	for i := range f.weights {
		f.weights[i] /= total
	}
	return f
}

// noise returns the posterior mean of the noise between probes.
func (f *fit) noise() float64 {
	sum := 0.0
	for i, w := range f.weights {
		sum += w * f.kernels[i].noise
	}
	return sum
}

// conditional returns the mean and the variance of the course at us given the data, for hypothesis i, and the
// covariances with the data whitened by the Cholesky factor, L⁻¹K, one column a load: the inner product of two columns
// is the covariance that the data explain.
func (f *fit) conditional(i int, us []float64) (mean, variance []float64, white [][]float64) {
	k, n := &f.kernels[i], len(f.data)
	mean, variance = make([]float64, len(us)), make([]float64, len(us))
	for j, u := range us {
		mean[j], variance[j] = priorSlopeMean*(u-f.middle), k.priorCovariance(u-f.middle, u-f.middle)
	}
	if n == 0 {
		return mean, variance, nil
	}
	white = make([][]float64, n)
	for r, d := range f.data {
		row := make([]float64, len(us))
		for j, u := range us {
			row[j] = k.priorCovariance(d.u-f.middle, u-f.middle)
			mean[j] += row[j] * f.alpha[i][r]
		}
		factors := f.factor[i].Row(r) // solves L·W = K row by row
		for q, w := range white[:r] {
			floats.AddScaled(row, -factors[q], w)
		}
		for j := range row {
			row[j] /= factors[r]
			variance[j] -= row[j] * row[j]
		}
		white[r] = row
	}
	for j := range variance {
		variance[j] = max(variance[j], 1e-10)
	}
	return mean, variance, white
}

// exceeds returns the probability at each of us that the margin is above 0.
func (f *fit) exceeds(us []float64) []float64 {
	p := make([]float64, len(us))
	for i, w := range f.weights {
		mean, variance, _ := f.conditional(i, us)
		for j := range us {
			p[j] += w * normal(mean[j]/math.Sqrt(variance[j]))
		}
	}
	return p
}

// varianceReduction returns how much a probe with the given standard error at each of us is expected to reduce the
// variance of the course, averaged with the weights of us: Cohn's criterion of active learning for Gaussian processes,
// cov(r, c)² / (var(c) + noise) (Seo et al., "Gaussian process regression: active data selection", 2000).
func (f *fit) varianceReduction(us, weights []float64, se float64) []float64 {
	total := make([]float64, len(us))
	for i, w := range f.weights {
		k := &f.kernels[i]
		_, variance, white := f.conditional(i, us)
		for c := range us {
			noise := se*se + k.noise*k.noise
			for r := range us {
				if weights[r] == 0 {
					continue
				}
				cov := k.priorCovariance(us[r]-f.middle, us[c]-f.middle)
				for _, row := range white {
					cov -= row[r] * row[c]
				}
				total[c] += w * weights[r] * cov * cov / (variance[c] + noise)
			}
		}
	}
	return total
}

// mean returns the mean of the course at us.
func (f *fit) mean(us []float64) []float64 {
	sum := make([]float64, len(us))
	for i, w := range f.weights {
		mean, _, _ := f.conditional(i, us)
		for j := range sum {
			sum[j] += w * mean[j]
		}
	}
	return sum
}

// normal returns the standard normal distribution function.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// quantile returns where a piecewise linear distribution function over us reaches p: -Inf before the first place, +Inf
// after the last.
func quantile(us, cdf []float64, p float64) float64 {
	if p <= cdf[0] {
		return math.Inf(-1)
	}
	i, _ := slices.BinarySearch(cdf, p)
	if i == len(cdf) {
		return math.Inf(1)
	}
	if cdf[i] == cdf[i-1] {
		return us[i]
	}
	return us[i-1] + (us[i]-us[i-1])*(p-cdf[i-1])/(cdf[i]-cdf[i-1])
}

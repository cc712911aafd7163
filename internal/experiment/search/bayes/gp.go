package bayes

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"aiperf/internal/experiment/search"
)

// The priors of the hyperparameters, for inputs in the unit cube and standardised outputs. The logarithms of the length
// scales and of the noise's variance are normal; the variance of the signal has a gamma density. The prior of the
// length scales, whose median grows as the root of the number of dimensions, is that of Hvarfner et al., "Vanilla
// Bayesian optimization performs great in high dimensions", 2024; that of the signal, Gamma(2, 0.15), is the usual one
// of BoTorch. The noise's median e⁻⁶ is 5 % of the outputs' standard deviation, within a factor of e² = 7 at two
// deviations.
const (
	logLengthDeviation = 1.7320508075688772 // √3; the mean is √2 + ½ ln d
	signalShape        = 2
	signalRate         = 0.15
	logNoiseMean       = -6
	logNoiseDeviation  = 2
	// minNoiseVariance keeps the covariance of equal points positive definite.
	minNoiseVariance = 1e-6
)

// Theta are the hyperparameters of a [Process] as the fit moves them: the logarithms of the length scales, of the
// variance of the signal and of that of the noise above its floor.
type Theta []float64

func (t Theta) signal() float64 { return math.Exp(t[len(t)-2]) }
func (t Theta) noise() float64  { return minNoiseVariance + math.Exp(t[len(t)-1]) }

// defaults returns the hyperparameters from which a first fit starts: length scales of half the diagonal of the unit
// cube, the variance of the standardised outputs as the signal, and the prior's median as the noise.
func defaults(dimensions int) Theta {
	t := make(Theta, dimensions+2)
	for i := range dimensions {
		t[i] = math.Log(0.5) + 0.5*math.Log(float64(dimensions))
	}
	t[dimensions+1] = logNoiseMean
	return t
}

// Process is a Gaussian process with a Matérn 5/2 kernel, a length scale for each input, a constant mean and equal
// noise at all points, given observations. Outputs are standardised within: middle and spread lead back.
type Process struct {
	x                           [][]float64
	y                           []float64
	outputMean, outputDeviation float64

	theta Theta
	// inverse are the inverse squares of the length scales.
	inverse      []float64
	signal, mean float64
	factor       search.Lower
	alpha        []float64
}

// Observe returns a process that has seen outputs at points. Its hyperparameters are yet to be chosen: by
// [Process.Use], or by a fit.
func Observe(x [][]float64, outputs []float64) *Process {
	g := &Process{x: x, y: make([]float64, len(outputs))}
	g.outputMean = floats.Sum(outputs) / float64(len(outputs))
	residual := floats.Distance(outputs, constant(len(outputs), g.outputMean), 2)
	g.outputDeviation = residual / math.Sqrt(float64(len(outputs)))
	if !(g.outputDeviation > 1e-12*math.Abs(g.outputMean)) {
		g.outputDeviation = max(math.Abs(g.outputMean), 1)
	}
	for i, y := range outputs {
		g.y[i] = (y - g.outputMean) / g.outputDeviation
	}
	return g
}

// constant returns n times a value.
func constant(n int, value float64) []float64 {
	out := make([]float64, n)
	floats.AddConst(value, out)
	return out
}

// matern returns the correlation of two points and its derivative's common factor by the squared scaled distance:
// multiplied by (aᵢ−bᵢ)²/ℓᵢ² it is the derivative by ln ℓᵢ.
func matern(square float64) (correlation, slope float64) {
	r := math.Sqrt(5 * square)
	e := math.Exp(-r)
	return (1 + r + r*r/3) * e, 5. / 3 * (1 + r) * e
}

func (g *Process) kernel(a, b []float64) float64 {
	var square float64
	for i, w := range g.inverse {
		d := a[i] - b[i]
		square += d * d * w
	}
	k, _ := matern(square)
	return g.signal * k
}

// condition computes the posterior under hyperparameters; false if their covariance is not positive definite. slopes,
// if it is not nil, receives the slope of [matern] for each pair of points.
func (g *Process) condition(t Theta, slopes []float64) bool {
	n := len(g.x)
	g.theta, g.signal = t, t.signal()
	g.inverse = make([]float64, len(t)-2)
	for i := range g.inverse {
		g.inverse[i] = math.Exp(-2 * t[i])
	}
	k := search.NewLower(n)
	for i := range n {
		row := k.Row(i)
		for j := range i {
			var square float64
			for p, w := range g.inverse {
				d := g.x[i][p] - g.x[j][p]
				square += d * d * w
			}
			c, s := matern(square)
			row[j] = g.signal * c
			if slopes != nil {
				slopes[i*n+j] = s
			}
		}
		row[i] = g.signal + t.noise()
	}
	var ok bool
	if g.factor, ok = search.Cholesky(k); !ok {
		return false
	}
	// The constant mean is the most probable one under a standard normal prior.
	weights := constant(n, 1)
	g.factor.Solve(weights)
	g.mean = floats.Dot(weights, g.y) / (floats.Sum(weights) + 1)
	g.alpha = append([]float64(nil), g.y...)
	floats.AddConst(-g.mean, g.alpha)
	g.factor.Solve(g.alpha)
	return true
}

// Loss returns the negative logarithm of the posterior density of hyperparameters, up to a constant, and fills its
// gradient: ½ tr((K⁻¹ - ααᵀ) ∂K) for the marginal likelihood (Rasmussen and Williams, "Gaussian Processes for Machine
// Learning", 2006, equation 5.9), and that of the priors. It is +Inf where a parameter leaves [-50, 50] or the
// covariance is not positive definite, so that a line search turns back. As the covariance is symmetric, each pair
// counts once with the weight 2·½.
func (g *Process) Loss(t Theta, gradient []float64) float64 {
	n, d := len(g.x), len(t)-2
	slopes := make([]float64, n*n)
	for _, v := range t {
		if math.Abs(v) > 50 {
			return math.Inf(1)
		}
	}
	if !g.condition(t, slopes) {
		return math.Inf(1)
	}
	inverse := g.factor.Inverse()
	loss := 0.5*g.factor.LogDet() + 0.5*g.mean*g.mean
	clear(gradient)
	noise := math.Exp(t[d+1])
	for i := range n {
		loss += 0.5 * g.alpha[i] * (g.y[i] - g.mean)
		diagonal := inverse.Row(i)[i] - g.alpha[i]*g.alpha[i]
		gradient[d] += 0.5 * diagonal * g.signal
		gradient[d+1] += 0.5 * diagonal * noise
		for j := range i {
			w := inverse.Row(i)[j] - g.alpha[i]*g.alpha[j]
			var square float64
			for p, v := range g.inverse {
				part := (g.x[i][p] - g.x[j][p]) * (g.x[i][p] - g.x[j][p]) * v
				square += part
				gradient[p] += w * g.signal * slopes[i*n+j] * part
			}
			// The correlation again, from the slope that matern returned with it.
			r := math.Sqrt(5 * square)
			gradient[d] += w * g.signal * slopes[i*n+j] * (3. / 5) * (1 + r + r*r/3) / (1 + r)
		}
	}
	normal := func(i int, middle, spread float64) {
		z := (t[i] - middle) / spread
		loss += 0.5 * z * z
		gradient[i] += z / spread
	}
	for p := range d {
		normal(p, math.Sqrt2+0.5*math.Log(float64(d)), logLengthDeviation)
	}
	loss += signalRate*g.signal - (signalShape-1)*t[d]
	gradient[d] += signalRate*g.signal - (signalShape - 1)
	normal(d+1, logNoiseMean, logNoiseDeviation)
	return loss
}

// fit chooses the most probable hyperparameters by descent from each of the starts, and conditions the process on them.
func (g *Process) fit(evaluations int, starts ...Theta) {
	best, chosen := math.Inf(1), Theta(nil)
	for _, start := range starts {
		at, value, ok := search.Minimize(func(x, gradient []float64) float64 { return g.Loss(Theta(x), gradient) },
			start, evaluations)
		if ok && value < best {
			best, chosen = value, at
		}
	}
	if chosen == nil {
		chosen = starts[0]
	}
	g.Use(chosen)
}

// Use conditions the process on hyperparameters. It raises their noise until the covariance is positive definite: equal
// or almost equal points are otherwise singular.
func (g *Process) Use(t Theta) {
	for !g.condition(t, nil) {
		t = append(Theta(nil), t...)
		t[len(t)-1] += 1
	}
}

// whiten returns the covariances of a point with the observations, solved with the factor of their covariance: the
// inner product of two is the covariance that the observations explain. It appends to buffer.
func (g *Process) whiten(x []float64, buffer []float64) (white []float64, mean float64) {
	mean = g.mean
	for i, o := range g.x {
		k := g.kernel(x, o)
		buffer = append(buffer, k)
		mean += k * g.alpha[i]
	}
	g.factor.Whiten(buffer)
	return buffer, mean
}

// Predict returns the mean and the variance of the process at a point, without noise, in standardised units.
func (g *Process) Predict(x []float64) (mean, variance float64) {
	w, mean := g.whiten(x, nil)
	return mean, max(g.signal-floats.Dot(w, w), 1e-12*g.signal)
}

// Standardise returns a value in the unit of the process.
func (g *Process) Standardise(v float64) float64 { return (v - g.outputMean) / g.outputDeviation }

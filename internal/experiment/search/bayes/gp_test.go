package bayes

import (
	"math"
	"testing"
)

// The gradient of the loss is that of finite differences.
func TestGradientOfTheMarginalLikelihood(t *testing.T) {
	g := observe([][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.7, 0.3}, {0.9, 0.8}, {0.7, 0.3}}, []float64{3, 5, -2, 8, -1.5})
	at := theta{-0.4, 0.7, 0.3, -2}
	gradient := make([]float64, len(at))
	g.loss(at, gradient)
	for i := range at {
		const h = 1e-5
		up, down := append(theta(nil), at...), append(theta(nil), at...)
		up[i] += h
		down[i] -= h
		scratch := make([]float64, len(at))
		want := (g.loss(up, scratch) - g.loss(down, scratch)) / (2 * h)
		if math.Abs(gradient[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("derivative %d: %v, by differences %v", i, gradient[i], want)
		}
	}
}

// A process without noise passes through its observations, and is unsure elsewhere.
func TestThePosteriorPassesThroughTheData(t *testing.T) {
	x := [][]float64{{0}, {0.3}, {0.6}, {1}}
	g := observe(x, []float64{1, 4, 2, 0})
	g.use(theta{math.Log(0.3), 0, -20})
	for i, at := range x {
		mean, variance := g.predict(at)
		if math.Abs(mean-g.y[i]) > 1e-4 || variance > 1e-5 {
			t.Errorf("at %v: %v ± %v, want %v", at, mean, math.Sqrt(variance), g.y[i])
		}
	}
	if _, variance := g.predict([]float64{0.45}); variance < 1e-3 {
		t.Errorf("between the points the variance is %v", variance)
	}
}

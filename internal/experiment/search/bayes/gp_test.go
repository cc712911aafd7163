package bayes_test

import (
	"math"
	"testing"

	"aiperf/internal/experiment/search/bayes"
)

// The gradient of the loss is that of finite differences.
func TestGradientOfTheMarginalLikelihood(t *testing.T) {
	g := bayes.Observe([][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.7, 0.3}, {0.9, 0.8}, {0.7, 0.3}},
		[]float64{3, 5, -2, 8, -1.5})
	at := bayes.Theta{-0.4, 0.7, 0.3, -2}
	gradient := make([]float64, len(at))
	g.Loss(at, gradient)
	for i := range at {
		const h = 1e-5
		up, down := append(bayes.Theta(nil), at...), append(bayes.Theta(nil), at...)
		up[i] += h
		down[i] -= h
		scratch := make([]float64, len(at))
		want := (g.Loss(up, scratch) - g.Loss(down, scratch)) / (2 * h)
		if math.Abs(gradient[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("derivative %d: %v, by differences %v", i, gradient[i], want)
		}
	}
}

// A process without noise passes through its observations, and is unsure elsewhere.
func TestThePosteriorPassesThroughTheData(t *testing.T) {
	x := [][]float64{{0}, {0.3}, {0.6}, {1}}
	y := []float64{1, 4, 2, 0}
	g := bayes.Observe(x, y)
	g.Use(bayes.Theta{math.Log(0.3), 0, -20})
	for i, at := range x {
		mean, variance := g.Predict(at)
		if want := g.Standardise(y[i]); math.Abs(mean-want) > 1e-4 || variance > 1e-5 {
			t.Errorf("at %v: %v ± %v, want %v", at, mean, math.Sqrt(variance), want)
		}
	}
	if _, variance := g.Predict([]float64{0.45}); variance < 1e-3 {
		t.Errorf("between the points the variance is %v", variance)
	}
}

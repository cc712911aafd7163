package search_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"aiperf/internal/experiment/search"
)

// symmetric returns a positive definite matrix, for this package and for gonum.
func symmetric(r *rand.Rand, n int) (search.Lower, *mat.SymDense) {
	points := make([]float64, n)
	for i := range points {
		points[i] = r.Float64()
	}
	l, s := search.NewLower(n), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			d := (points[i] - points[j]) / 0.3
			v := math.Exp(-d * d / 2)
			if i == j {
				v += 1e-3
			}
			l.Row(i)[j] = v
			s.SetSym(i, j, v)
		}
	}
	return l, s
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestFactorsAreThoseOfGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 5, 8, 17, 60} {
		a, s := symmetric(r, n)
		l, ok := search.Cholesky(a)
		var want mat.Cholesky
		if !ok || !want.Factorize(s) {
			t.Fatalf("%d rows: %v", n, ok)
		}
		near(t, "determinant", l.LogDet(), want.LogDet())
		var lower mat.TriDense
		var inverse mat.SymDense
		want.LTo(&lower)
		if err := want.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		own := l.Inverse()
		b, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		x := make([]float64, n)
		for i := range n {
			x[i] = r.NormFloat64()
			b.SetVec(i, x[i])
			for j := range i + 1 {
				near(t, "factor", l.Row(i)[j], lower.At(i, j))
				near(t, "inverse", own.Row(i)[j], inverse.At(i, j))
			}
		}
		if err := want.SolveVecTo(solved, b); err != nil {
			t.Fatal(err)
		}
		white := append([]float64(nil), x...)
		l.Whiten(white)
		l.Solve(x)
		near(t, "length of the whitened", floats.Dot(white, white), mat.Dot(b, solved))
		for i := range n {
			near(t, "solution", x[i], solved.AtVec(i))
		}
	}
}

func TestSingularMatricesHaveNoFactor(t *testing.T) {
	for name, rows := range map[string][][]float64{
		"equal rows": {{1}, {1, 1}}, "negative": {{1}, {0, -1}}, "no number": {{math.NaN()}}, "zero": {{0}},
		"infinite": {{math.Inf(1)}}, "scales": {{1e20}, {0, 1}},
	} {
		m := search.NewLower(len(rows))
		for i, row := range rows {
			copy(m.Row(i), row)
		}
		if _, ok := search.Cholesky(m); ok {
			t.Errorf("%s: a factor", name)
		}
	}
}

// rosenbrock is a curved valley with its lowest point at (1, 1, …).
func rosenbrock(x, gradient []float64) float64 {
	clear(gradient)
	sum := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
		gradient[i] += -400*a*x[i] - 2*b
		gradient[i+1] += 200 * a
	}
	return sum
}

func TestMinimizeReachesTheLowestPointAsSoonAsGonum(t *testing.T) {
	const flat = 1e-3 // the largest part of a gradient at which both may end
	for _, start := range [][]float64{{-1.2, 1}, {3, -4}, {0, 0, 0, 0}, {2, 2, 2, 2, 2, 2}} {
		calls := 0
		counted := func(x, gradient []float64) float64 { calls++; return rosenbrock(x, gradient) }
		x, value, ok := search.Minimize(counted, start, 1000)
		if !ok || value > 1e-5 {
			t.Errorf("from %v: %v at %v, %v", start, value, x, ok)
		}
		scratch := make([]float64, len(start))
		result, err := optimize.Minimize(optimize.Problem{
			Func: func(x []float64) float64 { return rosenbrock(x, scratch) },
			Grad: func(grad, x []float64) { rosenbrock(x, grad) },
		}, start, &optimize.Settings{GradientThreshold: flat}, &optimize.LBFGS{})
		if err != nil {
			t.Fatal(err)
		}
		if calls > 2*result.FuncEvaluations {
			t.Errorf("from %v: %d evaluations, gonum's take %d", start, calls, result.FuncEvaluations)
		}
	}
}

func TestMinimizeKeepsToItsEvaluations(t *testing.T) {
	for _, limit := range []int{1, 2, 5, 9} {
		calls := 0
		start := []float64{-1.2, 1}
		first := rosenbrock(start, make([]float64, 2))
		counted := func(x, gradient []float64) float64 { calls++; return rosenbrock(x, gradient) }
		_, value, ok := search.Minimize(counted, start, limit)
		if !ok || calls > limit || value > first {
			t.Errorf("%d of %d evaluations, %v from %v", calls, limit, value, first)
		}
	}
}

// A wall without values is not crossed, and nothing is found where the start has none.
func TestMinimizeWhereThereIsNoValue(t *testing.T) {
	wall := func(x, gradient []float64) float64 {
		if x[0] >= 1 {
			return math.Inf(1)
		}
		gradient[0] = -1
		return -x[0]
	}
	x, _, ok := search.Minimize(wall, []float64{0}, 200)
	if !ok || x[0] >= 1 || x[0] < 0.5 {
		t.Errorf("%v, %v", x, ok)
	}
	if _, _, ok := search.Minimize(wall, []float64{2}, 200); ok {
		t.Error("a value where there is none")
	}
}

func TestMonotoneIsThatOfGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		n := 2 + round%9
		xs, ys := make([]float64, n), make([]float64, n)
		for i := range xs {
			xs[i], ys[i] = float64(i)+0.8*r.Float64(), r.NormFloat64()
			if i > 0 && r.IntN(3) > 0 {
				ys[i] = ys[i-1] + r.Float64()
			}
		}
		m, ok := search.NewMonotone(xs, ys)
		var want interp.FritschButland
		if err := want.Fit(xs, ys); err != nil || !ok {
			t.Fatal(err, ok)
		}
		for i := range 101 {
			x := xs[0] - 0.5 + (xs[n-1]-xs[0]+1)*float64(i)/100
			near(t, "curve", m.At(x), want.Predict(x))
		}
	}
	if _, ok := search.NewMonotone([]float64{1, 1}, []float64{0, 1}); ok {
		t.Error("a curve through two values at one place")
	}
}

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/stats"
)

// TestStudentT compares the quantiles with published values: rows by number of values, columns by level.
func TestStudentT(t *testing.T) {
	levels := []float64{0.90, 0.95, 0.99}
	for freedom, row := range map[int][]float64{
		1: {6.313751514800932, 12.706204736432095, 63.65674116287399},
		2: {2.919985580355516, 4.302652729911275, 9.92484320091807},
		3: {2.3533634348018264, 3.182446305284263, 5.840909309733},
		4: {2.13184678632665, 2.7764451051977987, 4.604094871415897},
		5: {2.015048372669157, 2.5705818366147395, 4.032142983557536},
		6: {1.9431802803927816, 2.4469118487916806, 3.707428021324907},
		7: {1.894578605061305, 2.3646242510102993, 3.4994832973505026},
		8: {1.8595480375228424, 2.3060041350333704, 3.3553873313333957},
		9: {1.8331129326536335, 2.2621571627409915, 3.2498355440153697},
	} {
		for i, level := range levels {
			if got := stats.StudentT(level, float64(freedom)); !near(got, row[i]) {
				t.Errorf("t(%v, %d) = %.16g, want %.16g", level, freedom, got, row[i])
			}
		}
	}
	for _, c := range []struct{ level, want float64 }{
		{0.999, 8.610301581379899}, // 4 degrees of freedom
		{0.5, 0.7406970841126829},
		{1e-6, 1.3333333333333e-06}, // level / (2·density at 0), density 3/8
	} {
		if got := stats.StudentT(c.level, 4); !near(got, c.want) {
			t.Errorf("t(%v, 4) = %.16g, want %.16g", c.level, got, c.want)
		}
	}
	// One degree of freedom is the Cauchy distribution, whose quantile is tan.
	for _, level := range []float64{1e-3, 0.3, 0.999999} {
		if got, want := stats.StudentT(level, 1), 1/math.Tan(math.Pi*(1-level)/2); !near(got, want) {
			t.Errorf("t(%v, 1) = %.16g, want %.16g", level, got, want)
		}
	}
	if got := stats.StudentT(0.95, 0); !math.IsNaN(got) {
		t.Errorf("without a degree of freedom t is %v", got)
	}
}

func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		level  float64
		want   stats.Estimate
	}{
		{"five values", []float64{201, 199, 204, 197, 203}, 0.95, stats.Estimate{
			Mean: 200.8, Std: 2.8635642126552705, Min: 197, Max: 204, CV: 0.01426077795147047, SE: 1.2806248474865696,
			T: 2.7764451051977987, Low: 197.24441541060125, High: 204.35558458939877}},
		{"a higher level", []float64{201, 199, 204, 197, 203}, 0.99, stats.Estimate{
			Mean: 200.8, Std: 2.8635642126552705, Min: 197, Max: 204, CV: 0.01426077795147047, SE: 1.2806248474865696,
			T: 4.604094871415897, Low: 194.90388169, High: 206.69611831}},
		{"three values at 0.90", []float64{100, 110, 120}, 0.90, stats.Estimate{
			Mean: 110, Std: 10, Min: 100, Max: 120, CV: 0.09090909091, SE: 5.7735026919, T: 2.919985580355516,
			Low: 93.141455, High: 126.858545}},
		{"equal values", []float64{7, 7, 7}, 0.95, stats.Estimate{
			Mean: 7, Min: 7, Max: 7, T: 4.302652729911275, Low: 7, High: 7}},
		{"mean 0", []float64{-1, 1}, 0.95, stats.Estimate{
			Std: math.Sqrt2, Min: -1, Max: 1, CV: math.Inf(1), SE: 1, T: 12.706204736432095, Low: -12.706204736432095,
			High: 12.706204736432095}},
		{"all 0", []float64{0, 0}, 0.95, stats.Estimate{CV: math.Inf(1), T: 12.706204736432095}},
		{"one value", []float64{7}, 0.95, stats.Estimate{
			Mean: 7, Min: 7, Max: 7, Std: math.NaN(), CV: math.NaN(), SE: math.NaN(), T: math.NaN(), Low: math.NaN(),
			High: math.NaN()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stats.Confidence(c.values, c.level)
			checkEstimate(t, got, c.want, 1e-7)
			if got.N != len(c.values) {
				t.Errorf("n is %d", got.N)
			}
		})
	}
}

func checkEstimate(t *testing.T, got, want stats.Estimate, tolerance float64) {
	t.Helper()
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"mean", got.Mean, want.Mean}, {"std", got.Std, want.Std}, {"min", got.Min, want.Min},
		{"max", got.Max, want.Max},
		{"cv", got.CV, want.CV}, {"se", got.SE, want.SE}, {"t", got.T, want.T}, {"low", got.Low, want.Low},
		{"high", got.High, want.High},
	} {
		same := f.got == f.want || math.IsNaN(f.got) && math.IsNaN(f.want)
		if !same && !(math.Abs(f.got-f.want) <= tolerance*math.Abs(f.want)) {
			t.Errorf("%s is %.17g, want %.17g", f.name, f.got, f.want)
		}
	}
}

// TestTrapIntervalOfTwoRuns: it is not clamped at 0, and t is that of one degree of freedom, not 1.96.
func TestTrapIntervalOfTwoRuns(t *testing.T) {
	checkEstimate(t, stats.Confidence([]float64{10, 12}, 0.95), stats.Estimate{
		Mean: 11, Std: math.Sqrt2, Min: 10, Max: 12, CV: math.Sqrt2 / 11, SE: 1,
		T: 12.706204736432095, Low: -1.7062047364320954, High: 23.706204736432095}, 1e-9)
}

// TestTrapVariationOfNegativeValues: the coefficient is relative to the size of the mean.
func TestTrapVariationOfNegativeValues(t *testing.T) {
	checkEstimate(t, stats.Confidence([]float64{-10, -12, -8}, 0.95), stats.Estimate{
		Mean: -10, Std: 2, Min: -12, Max: -8, CV: 0.2, SE: 1.1547005383792515,
		T: 4.302652729911275, Low: -14.968275, High: -5.031725}, 1e-6)
}

func TestWidth(t *testing.T) {
	values := []float64{100, 105, 95, 100, 100, 101}
	for n, want := range map[int]float64{3: 0.24841377118437521, 4: 0.12992282636253377, 5: 0.08779890330850833} {
		if e := stats.Confidence(values[:n], 0.95); !near(e.Width(), want) {
			t.Errorf("the width of %d values is %.17g, want %.17g", n, e.Width(), want)
		}
	}
	if e := stats.Confidence([]float64{-1, 1}, 0.95); !math.IsInf(e.Width(), 1) {
		t.Errorf("the width around 0 is %v", e.Width())
	}
}

func rangeOf(from, to int) (list []float64) {
	for i := from; i <= to; i++ {
		list = append(list, float64(i))
	}
	return list
}

func TestSameDistribution(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		d, p float64
	}{
		{"one inside the other", rangeOf(1, 8), []float64{2, 3, 4, 5}, 0.375, 0.8363636363636363},
		{"apart", rangeOf(1, 6), rangeOf(10, 12), 1, 0.0238095238095238},
		{"many values", rangeOf(1, 100), rangeOf(20, 69), 0.31, 0.0028951625},
		{"ties", []float64{1, 2, 2, 3, 4, 4, 5, 6}, []float64{9, 3, 2, 2}, 0.25, 0.9979797980},
		{"equal", rangeOf(1, 50), rangeOf(1, 50), 0, 1},
		{"one value each", []float64{1}, []float64{2}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, p := stats.SameDistribution(c.a, c.b)
			if math.Abs(d-c.d) > 1e-12 || math.Abs(p-c.p) > 5e-10 {
				t.Errorf("D %v, p %.16g, want %v, %.16g", d, p, c.d, c.p)
			}
		})
	}
}

// TestSameDistributionOfLargeSamples: two grids of 20,000, one shifted so that D is 0.005.
func TestSameDistributionOfLargeSamples(t *testing.T) {
	a, b := rangeOf(1, 20_000), rangeOf(101, 20_100)
	d, p := stats.SameDistribution(a, b)
	if math.Abs(d-0.005) > 1e-12 || math.Abs(p-0.9639) > 2e-3 {
		t.Errorf("D %v, p %v, want 0.005, 0.9639", d, p)
	}
	if _, p := stats.SameDistribution(rangeOf(1, 20_000), rangeOf(10_001, 30_000)); p > 1e-100 {
		t.Errorf("p of samples half apart is %v", p)
	}
}

// TestSameDistributionProperties: the order of samples does not matter, and p is a probability.
func TestSameDistributionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) }), 1, 12)
		a, b := sample.Draw(t, "a"), sample.Draw(t, "b")
		d1, p1 := stats.SameDistribution(a, b)
		d2, p2 := stats.SameDistribution(b, a)
		if d1 != d2 || math.Abs(p1-p2) > 1e-12 || p1 < 0 || p1 > 1 || d1 < 0 || d1 > 1 {
			t.Fatalf("(%v, %v) and (%v, %v)", d1, p1, d2, p2)
		}
	})
}

// The quick way to mean and deviation gives what the exact sums give, to the last digits.
func TestConfidenceIsThatOfExactSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		scale, offset := math.Pow(10, float64(r.IntN(40)-20)), math.Pow(10, float64(r.IntN(12)))*float64(r.IntN(2))
		values := make([]float64, 1+r.IntN(9))
		var m stats.Moments
		for i := range values {
			values[i] = scale * (offset + r.NormFloat64())
			m.Add(values[i])
		}
		e, exact := stats.Confidence(values, 0.95), m.Summary()
		if e.Mean != exact.Avg || e.Min != exact.Min || e.Max != exact.Max {
			t.Fatalf("%v: %+v, want %+v", values, e, exact)
		}
		if want := m.SampleStd(); len(values) > 1 && math.Abs(e.Std-want) > 4e-16*want {
			t.Fatalf("%v: std %v, want %v", values, e.Std, want)
		}
	}
	for _, values := range [][]float64{{1e200, 2e200}, {1e-200, 3e-200}, {0, 0, 0}, {5e-324, 0}, {-1e300, 1e300}} {
		var m stats.Moments
		for _, v := range values {
			m.Add(v)
		}
		if e := stats.Confidence(values, 0.9); e.Mean != m.Summary().Avg || e.Std != m.SampleStd() {
			t.Errorf("%v: %+v, want %v and %v", values, e, m.Summary().Avg, m.SampleStd())
		}
	}
}

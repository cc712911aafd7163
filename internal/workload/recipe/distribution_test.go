package recipe_test

import (
	"math"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/recipe"
)

// The average of what each kind draws is its expected value, the spread that of the formula.
func TestDrawsHaveTheirMoments(t *testing.T) {
	const n = 40_000
	mixed := recipe.Distribution{Kind: recipe.Multimodal, Peaks: []recipe.Peak{{recipe.Distribution{Kind: recipe.Gaussian, Mean: 100, Stddev: 10}, 3},
		{recipe.Distribution{Kind: recipe.Fixed, Value: 500}, 1}}}
	for name, c := range map[string]struct {
		d            recipe.Distribution
		mean, stddev float64
	}{
		"fixed":       {recipe.Distribution{Kind: recipe.Fixed, Value: 42}, 42, 0},
		"normal":      {recipe.Distribution{Kind: recipe.Gaussian, Mean: 512, Stddev: 64}, 512, 64},
		"lognormal":   {recipe.Distribution{Kind: recipe.LogNormal, Mean: 512, Median: 371.8}, 512, 483.4},
		"uniform":     {recipe.Distribution{Kind: recipe.Uniform, Low: 10, High: 30}, 20, 20 / math.Sqrt(12)},
		"exponential": {recipe.Distribution{Kind: recipe.Exponential, Mean: 80}, 80, 80},
		"zipf": {recipe.Distribution{Kind: recipe.Zipf, Alpha: 5, Scale: 2, Offset: 3}, 3 + 2*zeta(4)/zeta(5),
			2 * math.Sqrt(zeta(3)/zeta(5)-math.Pow(zeta(4)/zeta(5), 2))},
		"multimodal": {mixed, 200, math.Sqrt(0.75*(100+100*100) + 0.25*300*300)},
		"empirical":  {recipe.Distribution{Kind: recipe.Empirical, Points: []recipe.Point{{10, 1}, {20, 3}}}, 17.5, 4.3301},
	} {
		if got := c.d.Expected(); math.Abs(got-c.mean) > 1e-6*c.mean {
			t.Errorf("%s: expected value %v, want %v", name, got, c.mean)
		}
		var sum, squares float64
		stream := random.Root(11).Stream(name)
		for k := range uint64(n) {
			r := stream.At(k)
			x := c.d.Bounded(&r, math.Inf(-1), math.Inf(1))
			sum, squares = sum+x, squares+x*x
		}
		mean := sum / n
		stddev := math.Sqrt(max(0, squares/n-mean*mean))
		if math.Abs(mean-c.mean) > 5*c.stddev/math.Sqrt(n)+1e-9 {
			t.Errorf("%s: mean %v, want %v", name, mean, c.mean)
		}
		if math.Abs(stddev-c.stddev) > 0.05*c.stddev+1e-4 {
			t.Errorf("%s: standard deviation %v, want %v", name, stddev, c.stddev)
		}
	}
}

func zeta(s float64) (sum float64) {
	for k := 200_000.0; k >= 1; k-- {
		sum += math.Pow(k, -s)
	}
	return sum
}

// A uniform distribution of whole numbers has both of its ends, each as often as the others.
func TestUniformWholeNumbersIncludeTheEnds(t *testing.T) {
	counts := map[int]int{}
	r := generator(3)
	for range 8000 {
		counts[recipe.Distribution{Kind: recipe.Uniform, Low: 1, High: 4}.Draw(r)]++
	}
	for v := 1; v <= 4; v++ {
		if counts[v] < 1800 || counts[v] > 2200 { // 2000 ± 5 standard errors
			t.Errorf("%d was drawn %d of 8000 times", v, counts[v])
		}
	}
	if len(counts) != 4 {
		t.Errorf("drew %v", counts)
	}
}

// Whatever a distribution is, draws end and are sizes.
func TestDrawsAreFinite(t *testing.T) {
	for _, d := range []recipe.Distribution{
		{Kind: recipe.Zipf, Alpha: 1 + 1e-12, Scale: 1}, {Kind: recipe.Zipf, Alpha: 300, Scale: 1},
		{Kind: recipe.LogNormal, Mean: 1e300, Median: 1e-300}, {Kind: recipe.Fixed, Value: 1e300}, {Kind: recipe.Fixed, Value: -1e300},
		{Kind: recipe.Gaussian, Mean: 0, Stddev: 1e300}, {Kind: recipe.Uniform, Low: -1e300, High: 1e300},
		{Kind: recipe.Empirical, Points: []recipe.Point{{1, 1e-300}}},
	} {
		r := generator(5)
		for range 200 {
			if x := d.Draw(r); x < 1 || x > math.MaxInt32 {
				t.Fatalf("%+v drew %d", d, x)
			}
		}
	}
}

// The draws are frozen: a change here changes data sets of given seeds.
func TestDistributionDrawsAreFrozen(t *testing.T) {
	for name, c := range map[string]struct {
		d    recipe.Distribution
		want [4]int
	}{
		"normal":    {recipe.Distribution{Kind: recipe.Gaussian, Mean: 512, Stddev: 64}, [4]int{546, 468, 572, 431}},
		"lognormal": {recipe.Distribution{Kind: recipe.LogNormal, Mean: 512, Median: 371.8}, [4]int{567, 213, 787, 134}},
		"zipf":      {recipe.Distribution{Kind: recipe.Zipf, Alpha: 2, Scale: 128}, [4]int{256, 128, 1280, 128}},
		"uniform":   {recipe.Distribution{Kind: recipe.Uniform, Low: 1, High: 1000}, [4]int{586, 319, 902, 439}},
	} {
		var got [4]int
		for k := range got {
			r := random.Root(42).Stream("dataset.prompt.length").At(uint64(k))
			got[k] = c.d.Draw(&r)
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// What flags say is drawn as a normal distribution of a file is.
	for k := range uint64(100) {
		r := random.Root(42).Stream("x").At(k)
		again := r
		if f, d := (recipe.Normal{512, 64}).Draw(&r), (recipe.Distribution{Kind: recipe.Gaussian, Mean: 512, Stddev: 64}).Draw(&again); f != d {
			t.Errorf("draw %d: %d by flags, %d by a file", k, f, d)
		}
	}
}

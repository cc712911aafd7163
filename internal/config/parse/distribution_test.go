package parse_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/config/document"
	"aiperf/internal/config/parse"
	"aiperf/internal/workload/recipe"
)

// readDistribution reads a distribution written in YAML, and what was reported about it.
func readDistribution(t *testing.T, text string) (recipe.Distribution, []string) {
	t.Helper()
	f, err := document.Read("f.yaml", []byte("isl: "+text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	d, ok := parse.Distribution(f.Root.Get("isl"), "isl", func(n *document.Node, path, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%d:%d: %s: ", n.Pos.Line, n.Pos.Column, path)+fmt.Sprintf(format, args...))
	})
	if ok != (faults == nil) {
		t.Errorf("%s: ok %v, faults %q", text, ok, faults)
	}
	return d, faults
}

// goodDistribution is one without faults.
func goodDistribution(t *testing.T, text string) recipe.Distribution {
	t.Helper()
	d, faults := readDistribution(t, text)
	if faults != nil {
		t.Fatalf("%s: %q", text, faults)
	}
	return d
}

// drawn are n numbers of a distribution, without rounding.
func drawn(d recipe.Distribution, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		r := random.Root(7).Stream("test").At(uint64(i))
		list[i] = d.Bounded(&r, math.Inf(-1), math.Inf(1))
	}
	return list
}

func share(list []float64, of func(float64) bool) float64 {
	n := 0
	for _, v := range list {
		if of(v) {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// near fails unless a share of n draws is within five standard errors of the expected one.
func near(t *testing.T, what string, got, want float64, n int) {
	t.Helper()
	if slack := 5 * math.Sqrt(want*(1-want)/float64(n)); math.Abs(got-want) > slack {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, slack)
	}
}

const draws = 40_000

// The mean of a lognormal distribution is the one that is asked for, its median follows from sigma.
func TestTrap15LogNormalBySigma(t *testing.T) {
	d := goodDistribution(t, "{type: lognormal, mean: 512, sigma: 0.8}")
	if mu := math.Log(d.Median); math.Abs(mu-5.9183) > 1e-4 || math.Abs(d.Median-371.8) > 0.05 {
		t.Errorf("mu %v, median %v", mu, d.Median)
	}
	list := drawn(d, draws)
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	// The standard deviation is mean·√(e^σ² − 1) = 484.
	if mean := sum / draws; math.Abs(mean-512) > 5*484/math.Sqrt(draws) {
		t.Errorf("mean of the draws %v", mean)
	}
	near(t, "share below the median", share(list, func(v float64) bool { return v < d.Median }), 0.5, draws)
}

func TestTrap16ZipfRanks(t *testing.T) {
	d := goodDistribution(t, "{type: zipf, alpha: 2, scale: 128}")
	list := drawn(d, draws)
	near(t, "P(128)", share(list, func(v float64) bool { return v == 128 }), 6/(math.Pi*math.Pi), draws)
	near(t, "P(256)", share(list, func(v float64) bool { return v == 256 }), 6/(math.Pi*math.Pi)/4, draws)
}

// Limits move draws to their ends; they do not draw again.
func TestTrap17LimitsDoNotDrawAgain(t *testing.T) {
	list := drawn(goodDistribution(t,
		"{type: clamped, min: 25, max: 50, distribution: {type: uniform, min: 0, max: 100}}"),
		draws)
	near(t, "share of 25", share(list, func(v float64) bool { return v == 25 }), 0.25, draws)
	near(t, "share of 50", share(list, func(v float64) bool { return v == 50 }), 0.5, draws)

	byMedian := goodDistribution(t, "{mean: 512, median: 371.8}")
	bySigma := goodDistribution(t, "{type: lognormal, mean: 512, sigma: 0.8}")
	if byMedian.Kind != recipe.LogNormal || math.Abs(byMedian.Median-bySigma.Median) > 0.05 {
		t.Errorf("%+v is not %+v", byMedian, bySigma)
	}
}

func TestTrap5LimitsOfFixedValues(t *testing.T) {
	for text, want := range map[string]float64{"{mean: 512, min: 100, max: 900}": 512, "{value: 5, min: 10}": 10,
		"{value: 5, max: 3.5}": 3.5, "7": 7, `"7"`: 7} {
		for _, v := range drawn(goodDistribution(t, text), 20) {
			if v != want {
				t.Errorf("%s drew %v, want %v", text, v, want)
			}
		}
	}
	if _, faults := readDistribution(t, "{peaks: [{mean: 5}]}"); len(faults) != 1 ||
		!strings.Contains(faults[0], "isl.peaks: must be a list of at least two") {
		t.Errorf("%q", faults)
	}
}

func TestTrap6WholeNumbersAreRoundedUp(t *testing.T) {
	for text, want := range map[string]int{"{mean: 0.2, stddev: 0}": 1, "12.01": 13, "12": 12, "0": 1, "-3": 1} {
		r := random.Root(1).Stream("test").At(0)
		if got := goodDistribution(t, text).Draw(&r); got != want {
			t.Errorf("%s drew %d, want %d", text, got, want)
		}
	}
}

// Zipf is a kind of ours; a kind that nobody has is refused with the list of those that there are.
func TestTrap7KindsBeyondTheOriginal(t *testing.T) {
	if d := goodDistribution(t, "{type: zipf, alpha: 2}"); d.Kind != recipe.Zipf || d.Scale != 1 || d.Offset != 0 {
		t.Errorf("%+v", d)
	}
	_, faults := readDistribution(t, "{type: zipff, alpha: 2}")
	if len(faults) != 1 || !strings.Contains(faults[0],
		"1:13: isl.type: zipff is no kind of distribution (did you mean "+
			"zipf?); the kinds are fixed, normal, lognormal, multimodal, empirical, uniform,") {
		t.Errorf("%q", faults)
	}
}

func TestKindsFollowFromTheKeys(t *testing.T) {
	for text, want := range map[string]recipe.Kind{
		"{peaks: [{value: 1}, 2], min: 0}": recipe.Multimodal, "{points: [{value: 3}]}": recipe.Empirical,
		"{mean: 9, median: 4}": recipe.LogNormal, "{mean: 9, stddev: 1}": recipe.Gaussian,
		"{value: 4}": recipe.Fixed, "{mean: 4}": recipe.Gaussian,
		"{type: mixture, components: [{distribution: 5, weight: 2}, {distribution: {mean: 9}}]}": recipe.Multimodal,
	} {
		if got := goodDistribution(t, text).Kind; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestMistakesInDistributions(t *testing.T) {
	for text, want := range map[string]string{
		"{}":            "1:6: isl: does not say which distribution it is",
		"[1, 2]":        "isl: is a list; it must be a number, or a mapping",
		"5000000000":    "isl: must be at most 1000000000, not 5000000000",
		"{mean: 5e9}":   "isl.mean: must be at most 1000000000, not 5e9",
		"true":          "isl: is a boolean; it must be a number",
		"{mean: abc}":   "1:13: isl.mean: must be a number of at least 0, not abc",
		"{mean: -1}":    "isl.mean: must be a number of at least 0, not -1",
		"{value: .inf}": "isl.value: must be a finite number",
		"{mean: 5, stdev: 1}": "1:16: isl.stdev: is no key of a distribution of type normal (did you " +
			"mean stddev?)",
		"{mean: 5, median: 6}":              "isl.median: must be at most the mean, 5",
		"{type: lognormal, mean: 5}":        "isl: needs either median or sigma",
		"{type: lognormal, median: 5}":      "isl.mean: is missing",
		"{type: uniform, min: 5, max: 4}":   "isl.max: must be at least min, 5",
		"{type: uniform, min: 5}":           "isl.max: is missing",
		"{mean: 5, min: 9, max: 8}":         "isl.max: must be at least min, 9",
		"{type: zipf, alpha: 1}":            "isl.alpha: must be a number above 1",
		"{type: exponential, mean: 0}":      "isl.mean: must be a number above 0",
		"{type: clamped, distribution: 5}":  "isl: needs min or max",
		"{points: []}":                      "isl.points: must be a list of at least one value",
		"{points: [{value: 1, weight: 0}]}": "isl.points[0].weight: must be a number above 0",
		"{points: [{value: 1, weigth: 1}]}": "isl.points[0].weigth: is not known here (did you " +
			"mean weight?)",
		"{peaks: [{mean: 1, weight: 0}, {mean: 2, weight: 0}]}": "isl.peaks: must have a weight above 0",
		"{peaks: [{mean: 1}, {weight: 1}]}":                     "isl.peaks[1]: does not say which distribution",
		"{peaks: [{distribution: {mean: -1}}, 2]}":              "isl.peaks[0].distribution.mean: must be",
	} {
		_, faults := readDistribution(t, text)
		if len(faults) != 1 || !strings.Contains(faults[0], want) {
			t.Errorf("%s: %q, want one with %q", text, faults, want)
		}
	}
}

// Limits of parts come first, those around them last.
func TestNestedLimits(t *testing.T) {
	d := goodDistribution(t, "{max: 20, peaks: [{value: 5, min: 10}, {value: 30, max: 25}]}")
	list := drawn(d, 200)
	near(t, "share of 10", share(list, func(v float64) bool { return v == 10 }), 0.5, 200)
	near(t, "share of 20", share(list, func(v float64) bool { return v == 20 }), 0.5, 200)
	d = goodDistribution(t, "{type: clamped, max: 4, distribution: {value: 9, min: 6}}")
	if got := drawn(d, 1)[0]; got != 4 {
		t.Errorf("drew %v, want 4", got)
	}
}

// Whatever is written, reading ends, and what is read without a fault can be drawn.
func FuzzDistribution(f *testing.F) {
	for _, seed := range []string{"5", "{mean: 5, stddev: 2}", "{mean: 9, median: 4, min: 1}", "{points: [{value: 3}]}",
		"{peaks: [{value: 1}, {distribution: {type: zipf, alpha: 1.5}, weight: 2}]}",
		"{type: clamped, max: 4, distribution: {type: uniform, min: 1, max: 9}}",
		"{type: lognormal, mean: 1e300, sigma: 9}",
		"{type: exponential, mean: 1e-300}", "[1]", "{}", "{type: mixture, components: [1, {}]}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := document.Read("f.yaml", []byte("isl: "+text+"\n"))
		if err != nil {
			return
		}
		faults := 0
		d, ok := parse.Distribution(file.Root.Get("isl"), "isl",
			func(*document.Node, string, string, ...any) { faults++ })
		if ok != (faults == 0) {
			t.Fatalf("ok %v with %d faults", ok, faults)
		}
		if !ok {
			return
		}
		for k := range uint64(5) {
			r := random.Root(1).Stream("fuzz").At(k)
			if x := d.Draw(&r); x < 1 || x > math.MaxInt32 {
				t.Fatalf("drew %d", x)
			}
		}
		if e := d.Expected(); math.IsNaN(e) {
			t.Fatalf("expects %v of %+v", e, d)
		}
	})
}

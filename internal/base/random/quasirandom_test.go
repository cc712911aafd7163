package random_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/base/random"
)

// The vectors were made by SciPy 1.17.1: scipy.stats.qmc.Sobol and LatinHypercube with seed=….
func TestPointsAreThoseOfSciPy(t *testing.T) {
	data, err := os.ReadFile("testdata/scipy.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Kind       string
		Seed       uint64
		Dimensions int
		Points     [][]float64
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) != 11 {
		t.Fatal(len(vectors), err)
	}
	for _, v := range vectors {
		var got [][]float64
		switch n := len(v.Points); v.Kind {
		case "sobol":
			got = random.Sobol(v.Dimensions, n, true, v.Seed)
		case "sobol-plain":
			got = random.Sobol(v.Dimensions, n, false, v.Seed)
		default:
			got = random.LatinHypercube(v.Dimensions, n, v.Kind == "latin-improved", v.Seed)
		}
		if !reflect.DeepEqual(got, v.Points) {
			t.Errorf("%s of seed %d in %d dimensions:\n%v, want\n%v", v.Kind, v.Seed, v.Dimensions, got, v.Points)
		}
	}
}

func TestCenteredDiscrepancy(t *testing.T) {
	const want = 0.03761666666666641 // scipy.stats.qmc.discrepancy
	if got := random.CenteredDiscrepancy([][]float64{{.1, .2}, {.5, .9}, {.8, .4}}); math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of the first 2^k points each of the 2^k equal parts of every coordinate holds one.
func TestEveryPartOfACoordinateHoldsOnePoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, d := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, random.MaxDimensions).Draw(t, "dimensions")
		n := 1 << rapid.IntRange(0, 6).Draw(t, "k")
		odd := rapid.IntRange(1, 50).Draw(t, "n")
		for name, points := range map[string][][]float64{"sobol": random.Sobol(d, n, true, seed),
			"plain": random.Sobol(d, n, false, 0),
			"latin": random.LatinHypercube(d, odd, false, seed)} {
			for k := range d {
				held := map[int]bool{}
				for _, p := range points {
					if p[k] < 0 || p[k] >= 1 {
						t.Fatalf("%s: coordinate %v", name, p[k])
					}
					held[int(p[k]*float64(len(points)))] = true
				}
				if len(held) != len(points) {
					t.Fatalf("%s: %d of %d parts of coordinate %d hold a point", name, len(held), len(points), k)
				}
			}
		}
	})
}

func TestPointsAreMoreEvenThanRandomOnes(t *testing.T) {
	for seed := range uint64(5) {
		g := random.Root(seed).Stream("points").At(0)
		drawn := make([][]float64, 128)
		for i := range drawn {
			drawn[i] = []float64{g.Float64(), g.Float64(), g.Float64()}
		}
		r, s := random.CenteredDiscrepancy(drawn), random.CenteredDiscrepancy(random.Sobol(3, 128, true, seed))
		l, better := random.CenteredDiscrepancy(random.LatinHypercube(3, 128, false, seed)),
			random.CenteredDiscrepancy(random.LatinHypercube(3, 128, true, seed))
		if s > r/10 || l > r/2 || better > l/2 {
			t.Errorf("seed %d: random %.2g, sobol %.2g, latin %.2g, improved %.2g", seed, r, s, l, better)
		}
	}
}

func BenchmarkSobol(b *testing.B) {
	for b.Loop() {
		random.Sobol(8, 1024, true, 1)
	}
}

package bayes_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/bayes"
)

// The values were computed with 60 digits.
func TestLogarithmsOfTheNormalDistribution(t *testing.T) {
	for _, c := range []struct{ z, probability, improvement float64 }{
		{3, -0.0013508099647481938, 1.0987396653277078},
		{0, -0.69314718055994531, -0.91893853320467274},
		{-1, -1.8410216450092635, -2.4851210257126413},
		{-4.999, -15.059812373671576, -16.73893981641274},
		{-5.001, -15.07018538160944, -16.749663448901438},
		{-8.99, -43.537113306143794, -45.756843901468518},
		{-9.01, -43.719283769040764, -45.941136455221314},
		{-10, -53.231285150512471, -55.553122036122356},
		{-25, -316.63940800802026, -319.86146358149595},
		{-40, -804.60844201375379, -808.29856835661996},
		{-1000, -500007.82669481218, -500014.73445209116},
		{-1e6, -500000000014.73445, -500000000028.54996},
	} {
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-13+1e-12*math.Abs(want)) {
				t.Errorf("%s of %v: %.17g, want %.17g", what, c.z, got, want)
			}
		}
		near("probability", bayes.LogProbability(c.z), c.probability)
		near("improvement", bayes.LogImprovement(c.z), c.improvement)
	}
}

// Where the improvement is far out of reach, more is still better.
func TestLogImprovementGrowsEverywhere(t *testing.T) {
	before := math.Inf(-1)
	for z := -60.; z < 10; z += 1. / 64 {
		v := bayes.LogImprovement(z)
		if !(v > before) {
			t.Fatalf("at %v: %v after %v", z, v, before)
		}
		before = v
	}
}

// What is not dominated, up to a corner, is the rest of the box beside the hypervolume.
func TestBoxesFillWhatIsNotDominated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dimensions := range []int{1, 2, 3, 4} {
		objectives, reference := make([]search.Objective, dimensions), make([]float64, dimensions)
		for i := range objectives {
			objectives[i].Maximize, reference[i] = true, r.Float64()
		}
		for range 20 {
			values := make([][]float64, r.IntN(9))
			for i := range values {
				for range dimensions {
					values[i] = append(values[i], 5*r.Float64())
				}
			}
			want, got := 1.0, 0.0
			for _, v := range reference {
				want *= 6 - v
			}
			want -= search.Hypervolume(values, reference, objectives)
			for _, b := range bayes.Undominated(values, reference, dimensions) {
				part := 1.0
				for d := range dimensions {
					part *= min(b.Hi[d], 6) - b.Lo[d]
				}
				got += part
			}
			if math.Abs(got-want) > 1e-9*want {
				t.Fatalf("%v over %v: %v, want %v", values, reference, got, want)
			}
		}
	}
}

// The expected gain over a front, in closed form, is the mean of draws.
func TestExpectedHypervolumeIsTheMeanOfDraws(t *testing.T) {
	front := [][]float64{{1, 4, 2}, {3, 2, 1}, {2, 3, 3}, {1, 1, 1}}
	mean, deviation := []float64{2, 2.5, 1.5}, []float64{1, 0.7, 1.2}
	for dimensions := 1; dimensions <= 3; dimensions++ {
		values := make([][]float64, len(front))
		for i, v := range front {
			values[i] = v[:dimensions]
		}
		boxes := bayes.Undominated(values, make([]float64, dimensions), dimensions)
		// A fine grid of quantiles stands for draws.
		const side = 60
		sum, n := 0.0, int(math.Pow(side, float64(dimensions)))
		for cell := range n {
			at := make([]float64, dimensions)
			for d, rest := 0, cell; d < dimensions; d, rest = d+1, rest/side {
				at[d] = mean[d] + deviation[d]*bayes.Quantile((float64(rest%side)+0.5)/side)
			}
			for _, b := range boxes {
				product := 1.0
				for d := range at {
					product *= max(0, min(at[d], b.Hi[d])-b.Lo[d])
				}
				sum += product
			}
		}
		got := math.Exp(bayes.LogExpectedHypervolume(boxes, mean[:dimensions], deviation[:dimensions]))
		if want := sum / float64(n); math.Abs(got-want) > 0.03*want {
			t.Errorf("%d objectives: %v, by draws %v", dimensions, got, want)
		}
	}
}

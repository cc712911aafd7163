package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/measure/stats"
)

// The places follow the tables of distribution-free intervals, counted from 0 here.
func TestRankBounds(t *testing.T) {
	for _, c := range []struct {
		rank      float64
		n         int64
		low, high int64
	}{
		{50, 5, -1, -1}, // (1/2)^5 > 2.5 %
		{50, 6, 0, 5},   // 2·(1/2)^6 = 3.1 %
		{50, 10, 1, 8},  // textbook: 2nd and 9th
		{50, 20, 5, 14}, // 6th and 15th
		{50, 100, 39, 60},
		{99, 100, 96, -1},
		{99, 367, 358, -1}, // 0.99^367 > 2.5 %
		{99, 368, 359, 367},
		{1, 368, 0, 8},
		{99.9, 3687, 3678, -1},
		{99.9, 3688, 3679, 3687},
		{0, 100, -1, -1},
		{100, 100, -1, -1},
		{50, 0, -1, -1},
		{50, 1, -1, -1},
	} {
		if low, high := stats.RankBounds(c.rank, c.n, 0.95); low != c.low || high != c.high {
			t.Errorf("p%v of %d: places %d and %d, want %d and %d", c.rank, c.n, low, high, c.low, c.high)
		}
	}
}

func TestSamplesForBounds(t *testing.T) {
	for _, rank := range []float64{0.1, 1, 50, 90, 95, 99, 99.9, 99.99} {
		n := stats.SamplesForBounds(rank, 0.95)
		if low, high := stats.RankBounds(rank, n, 0.95); low < 0 || high < 0 {
			t.Errorf("p%v of %d has places %d and %d, want two bounds", rank, n, low, high)
		}
		if low, high := stats.RankBounds(rank, n-1, 0.95); low >= 0 && high >= 0 {
			t.Errorf("p%v of %d has places %d and %d: %d are not the fewest", rank, n-1, low, high, n)
		}
	}
}

// Over many samples of a known distribution the bounds hold the true value as often as they say.
func TestBoundsHoldTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ranks := []float64{10, 50, 95}
	held := make([]int, len(ranks))
	const rounds, n = 2000, 200
	for range rounds {
		values := make([]float64, n)
		for i := range values {
			values[i] = random.Float64()
		}
		sides := stats.SidesOf(ranks, n, 0.95)
		places := sides.Places()
		found := stats.Select(values, places)
		for i, b := range sides.Bounds(func(place int64) float64 { return found[slices.Index(places, place)] }) {
			if b.Low <= ranks[i]/100 && ranks[i]/100 <= b.High {
				held[i]++
			}
		}
	}
	for i, n := range held {
		if share := float64(n) / rounds; share < 0.94 {
			t.Errorf("the bounds of p%v held the truth in %.3f of the samples, want at least 0.95", ranks[i], share)
		}
	}
}

func TestBoundsOfLargePopulations(t *testing.T) {
	low, high := stats.RankBounds(50, 10_000_000, 0.95)
	// Normal approximation: 1.96·√(n/4) = 3099.
	if math.Abs(float64(low)-(5_000_000-3099)) > 3 || math.Abs(float64(high)-(5_000_000+3099)) > 3 {
		t.Errorf("places %d and %d", low, high)
	}
}

package recipe_test

import (
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/recipe"
)

func generator(seed uint64) *random.Rand {
	r := random.Root(seed).Stream("test").At(0)
	return &r
}

func TestTrapPositiveInt(t *testing.T) {
	for mean, want := range map[float64]int{2.5: 2, 10.5: 10, 11.5: 12, 0.4: 1, 0: 1} {
		if got := (recipe.Normal{Mean: mean}).Draw(generator(1)); got != want {
			t.Errorf("positive_int(%v, 0) = %d, want %d", mean, got, want)
		}
	}
}

func TestNormalDrawsRoundUp(t *testing.T) {
	r := generator(1)
	sum, low := 0, 0
	const n = 20_000
	for range n {
		x := recipe.Normal{Mean: 100, Stddev: 10}.Draw(r)
		sum += x
		if x < 90 {
			low++
		}
	}
	// Rounding up adds a half on average: 100.5, with a standard error of 0.07.
	if mean := float64(sum) / n; mean < 100.2 || mean > 100.8 {
		t.Errorf("mean %v", mean)
	}
	if share := float64(low) / n; share < 0.12 || share > 0.17 { // Φ(−1.1)…Φ(−1)
		t.Errorf("share below 90: %v", share)
	}
	for range 1000 {
		if x := (recipe.Normal{Mean: 0.1, Stddev: 5}).Draw(r); x < 1 {
			t.Fatalf("drew %d", x)
		}
	}
}

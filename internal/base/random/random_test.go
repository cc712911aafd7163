package random_test

import (
	"math"
	"testing"

	"aiperf/internal/base/random"
)

func TestTrapChildSeeds(t *testing.T) {
	for _, c := range []struct {
		root uint64
		name string
		want uint64
	}{
		{42, "dataset.prompt.corpus", 10558974911300946294},
		{42, "dataset.prompt.length", 7521479737366565015},
		{42, "dataset.sampler.shuffle", 7029856620319297634},
		{42, "composer.turn.max_tokens", 10763720520323187358},
		{0, "dataset.prompt.corpus", 5252555442704823983},
		{42, "timing.request.poisson_interval", 8134544948104704004},
		{42, "timing.request.gamma_interval", 12706910612985774219},
		{42, "timing.request.cancellation", 11686587610284287402},
	} {
		if got := random.Root(c.root).ChildSeed(c.name); got != c.want {
			t.Errorf("child seed of %d:%s = %d, want %d", c.root, c.name, got, c.want)
		}
	}
}

func TestDrawsDependOnIndexAlone(t *testing.T) {
	s := random.Root(7).Stream("x")
	r := s.At(5)
	first := r.Uint64()
	for k := range uint64(10) {
		other := s.At(k)
		other.Uint64()
	}
	again := s.At(5)
	if got := again.Uint64(); got != first {
		t.Errorf("item 5 drew %d, then %d", first, got)
	}
	neighbour := s.At(6)
	if neighbour.Uint64() == first {
		t.Error("items 5 and 6 draw the same")
	}
}

// The sequence is frozen: a change here changes every seeded data set.
func TestSequenceIsFrozen(t *testing.T) {
	r := random.Root(42).Stream("dataset.prompt.length").At(3)
	want := []uint64{8092043072413224169, 11038322067564217071, 8406305768066099674}
	for i, w := range want {
		if got := r.Uint64(); got != w {
			t.Errorf("draw %d = %d, want %d", i, got, w)
		}
	}
}

func TestUnseededStreamsDiffer(t *testing.T) {
	var none random.Seed
	if none.IsSet() {
		t.Fatal("the zero seed claims a root")
	}
	if first, second := none.ChildSeed("a"), none.ChildSeed("a"); first == second {
		t.Error("two unseeded streams agree")
	}
}

func TestMoments(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		name           string
		draw           func(*random.Rand) float64
		mean, variance float64
	}{
		{"uniform", (*random.Rand).Float64, 0.5, 1.0 / 12},
		{"normal", (*random.Rand).Normal, 0, 1},
		{"exponential", (*random.Rand).Exponential, 1, 1},
		{"gamma 4", func(r *random.Rand) float64 { return r.Gamma(4) }, 4, 4},
		{"gamma 0.25", func(r *random.Rand) float64 { return r.Gamma(0.25) }, 0.25, 0.25},
		{"int below 7", func(r *random.Rand) float64 { return float64(r.IntN(7)) }, 3, 4},
	} {
		var sum, squares float64
		s := random.Root(1).Stream(c.name)
		for k := range uint64(n) {
			r := s.At(k)
			x := c.draw(&r)
			sum += x
			squares += x * x
		}
		mean := sum / n
		variance := squares/n - mean*mean
		if math.Abs(mean-c.mean) > 5*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean %v, want %v", c.name, mean, c.mean)
		}
		if math.Abs(variance-c.variance) > 0.04*c.variance+0.002 {
			t.Errorf("%s: variance %v, want %v", c.name, variance, c.variance)
		}
	}
}

func TestPermutation(t *testing.T) {
	r := random.Root(3).Stream("perm").At(0)
	seen := make([]bool, 50)
	for _, v := range r.Perm(50) {
		if seen[v] {
			t.Fatalf("%d twice", v)
		}
		seen[v] = true
	}
}

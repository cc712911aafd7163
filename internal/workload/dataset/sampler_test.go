package dataset_test

import (
	"slices"
	"sync"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
)

func sampler(t *testing.T, s dataset.Sampling, n int, seed random.Seed) *dataset.Sampler {
	t.Helper()
	sampler, err := dataset.NewSampler(s, n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

func take(s *dataset.Sampler, from, n uint64) []int {
	var all []int
	for k := from; k < from+n; k++ {
		all = append(all, s.At(k))
	}
	return all
}

func TestTrapSequentialWraps(t *testing.T) {
	if got, want := take(sampler(t, dataset.Sequential, 3, random.Root(1)), 0, 5),
		[]int{0, 1, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTrapShuffleTakesEachOncePerPass(t *testing.T) {
	for seed := range uint64(20) {
		got := take(sampler(t, dataset.Shuffle, 3, random.Root(seed)), 0, 6)
		for _, pass := range [][]int{got[:3], got[3:]} {
			if sorted := slices.Sorted(slices.Values(pass)); !slices.Equal(sorted, []int{0, 1, 2}) {
				t.Errorf("seed %d: pass %v", seed, pass)
			}
		}
	}
}

func TestTrapFiveHundredSessionsOverAHundredConversations(t *testing.T) {
	count := map[int]int{}
	passes := map[string]bool{}
	s := sampler(t, dataset.Shuffle, 100, random.Root(7))
	for pass := range uint64(5) {
		order := take(s, 100*pass, 100)
		key := ""
		for _, i := range order {
			count[i]++
			key += string(rune(i))
		}
		passes[key] = true
	}
	if len(count) != 100 || len(passes) != 5 {
		t.Errorf("%d conversations, %d different passes", len(count), len(passes))
	}
	for i, n := range count {
		if n != 5 {
			t.Errorf("conversation %d was sampled %d times", i, n)
		}
	}
}

func TestSamplerIsAFunctionOfTheIndex(t *testing.T) {
	for _, sampling := range []dataset.Sampling{dataset.Sequential, dataset.Random, dataset.Shuffle} {
		want := take(sampler(t, sampling, 7, random.Root(3)), 0, 50)
		backwards := sampler(t, sampling, 7, random.Root(3))
		for k := len(want) - 1; k >= 0; k-- {
			if got := backwards.At(uint64(k)); got != want[k] {
				t.Errorf("%s: session %d plays %d, asked backwards %d", sampling, k, want[k], got)
			}
		}
		if sampling != dataset.Sequential && slices.Equal(want, take(sampler(t, sampling, 7, random.Root(4)), 0, 50)) {
			t.Errorf("%s: the seed does not matter", sampling)
		}
	}
}

func TestRandomIsUniform(t *testing.T) {
	var count [4]int
	for _, i := range take(sampler(t, dataset.Random, 4, random.Root(1)), 0, 4000) {
		count[i]++
	}
	for i, n := range count {
		if n < 850 || n > 1150 {
			t.Errorf("conversation %d was drawn %d of 4000 times", i, n)
		}
	}
}

func TestSamplerIsSafeForConcurrentUse(t *testing.T) {
	s := sampler(t, dataset.Shuffle, 10, random.Root(5))
	want := take(s, 0, 200)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := take(s, 0, 200); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	wg.Wait()
}

func TestSamplerErrors(t *testing.T) {
	if _, err := dataset.NewSampler(dataset.Sequential, 0, random.Root(1)); err == nil {
		t.Error("an empty dataset was accepted")
	}
	if _, err := dataset.NewSampler("alphabetic", 3, random.Root(1)); err == nil {
		t.Error("an unknown strategy was accepted")
	}
}

func TestContextModeOfAConversation(t *testing.T) {
	d := dataset.Dataset{}
	if got := d.Mode(&dataset.Conversation{}); got != dataset.DeltasWithoutResponses {
		t.Errorf("global default %q", got)
	}
	d.DefaultContextMode = dataset.MessageArrayWithResponses
	if got := d.Mode(&dataset.Conversation{}); got != dataset.MessageArrayWithResponses {
		t.Errorf("default of the dataset: %q", got)
	}
	if got := d.Mode(&dataset.Conversation{ContextMode: dataset.DeltasWithResponses}); got != dataset.DeltasWithResponses {
		t.Errorf("own mode: %q", got)
	}
}

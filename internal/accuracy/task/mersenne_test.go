package task_test

import (
	"slices"
	"testing"

	"aiperf/internal/accuracy/task"
)

// The values are those that CPython 3.11 prints.
func TestDrawsAreThoseOfPython(t *testing.T) {
	r := task.NewMersenneTwister(0)
	a := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	r.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
	if want := []int{7, 8, 1, 5, 3, 4, 2, 0, 9, 6}; !slices.Equal(a, want) {
		t.Errorf("shuffled: %v, want %v", a, want)
	}
	for i, n := range []int{3, 7, 100, 1000, 1} {
		if got, want := r.IntN(n), []int{1, 4, 27, 516, 0}[i]; got != want {
			t.Errorf("draw below %d: %d, want %d", n, got, want)
		}
	}
	for seed, want := range map[uint64][]int{
		1<<32 - 5: {910, 667, 238, 61, 419}, 12345678901234: {68, 590, 555, 188, 237},
	} {
		r, skip := task.NewMersenneTwister(seed), 0
		if seed > 1<<32 {
			skip = 695 // beyond the first block of the state
		}
		for range skip {
			r.IntN(1000)
		}
		for _, w := range want {
			if got := r.IntN(1000); got != w {
				t.Errorf("seed %d: %d, want %d", seed, got, w)
			}
		}
	}
}

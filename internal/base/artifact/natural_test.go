package artifact_test

import (
	"slices"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestNamesAreListedWithTheirNumbersInOrder(t *testing.T) {
	for _, want := range [][]string{
		{"concurrency_2", "concurrency_8", "concurrency_16", "concurrency_32"},
		{"a", "a1", "a1b", "a2", "a10", "b"},
		{"rate_0.5", "rate_2", "rate_10.25", "rate_10.75"},
		{"", "0", "00", "1", "x"},
		{"run_0002/a", "run_0002/b", "run_0010"},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, artifact.CompareNatural)
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

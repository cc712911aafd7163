package stats

import (
	"math/bits"
	"slices"
)

// sortBelow is the length from which partitioning beats sorting.
const sortBelow = 512

// selectAll reorders values so that each index of need (ascending, counted from base) holds the
// value it would hold if values were sorted.
func selectAll(values []float64, base int64, need []int64) {
	for len(need) > 0 {
		if len(values) < sortBelow {
			slices.Sort(values)
			return
		}
		middle := len(need) / 2
		k := need[middle] - base
		selectOne(values, int(k))
		selectAll(values[:k], base, need[:middle])
		values, base, need = values[k+1:], base+k+1, need[middle+1:]
	}
}

// selectOne puts the k-th smallest value at index k, nothing larger before it and nothing smaller
// after it. Partitions that keep failing to shrink the range end in a sort.
func selectOne(values []float64, k int) {
	for budget := 2 * bits.Len(uint(len(values))); ; budget-- {
		if len(values) < sortBelow || budget == 0 {
			slices.Sort(values)
			return
		}
		left, right := partition(values, pivot(values))
		switch {
		case k <= right:
			values = values[:right+1]
		case k >= left:
			values = values[left:]
			k -= left
		default:
			return
		}
	}
}

// partition splits values at p: everything up to right is ≤ p, everything from left on is ≥ p, and
// what lies between is p.
func partition(values []float64, p float64) (left, right int) {
	left, right = 0, len(values)-1
	for left <= right {
		for values[left] < p {
			left++
		}
		for values[right] > p {
			right--
		}
		if left <= right {
			values[left], values[right] = values[right], values[left]
			left++
			right--
		}
	}
	return left, right
}

// pivot returns the median of three medians of three, spread over the range.
func pivot(values []float64) float64 {
	step := len(values) / 9
	at := func(i int) float64 {
		return median(values[i*step], values[(i+1)*step], values[(i+2)*step])
	}
	return median(at(0), at(3), at(6))
}

func median(a, b, c float64) float64 {
	if a > b {
		a, b = b, a
	}
	if b > c {
		b = c
	}
	return max(a, b)
}

package bayes

import (
	"cmp"
	"math"
	"slices"
)

// Box is a part of the space of objectives, from Lo to Hi; Hi may be infinite.
type Box struct{ Lo, Hi []float64 }

// Undominated divides what is better than the reference in all of the first dimensions and dominated by none of the
// values into boxes that do not overlap. More is better. With one dimension it is what is above the best value.
func Undominated(values [][]float64, reference []float64, dimensions int) []Box {
	last := dimensions - 1
	if last == 0 {
		lo := reference[0]
		for _, v := range values {
			lo = max(lo, v[0])
		}
		return []Box{{[]float64{lo}, []float64{math.Inf(1)}}}
	}
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b []float64) int { return cmp.Compare(a[last], b[last]) })
	var boxes []Box
	lo := reference[last]
	for i := 0; i <= len(values); i++ {
		hi := math.Inf(1)
		if i < len(values) {
			hi = values[i][last]
		}
		if !(hi > lo) {
			continue
		}
		// Values from the i-th dominate the slab from lo to hi where they do in the other dimensions.
		for _, b := range Undominated(values[i:], reference, last) {
			boxes = append(boxes, Box{append(b.Lo, lo), append(b.Hi, hi)})
		}
		lo = hi
	}
	return boxes
}

// expectedHypervolume is the expected hypervolume of independent normal objectives within boxes: for each box the
// product over the objectives of the difference of two expected improvements (Yang et al., "Efficient computation of
// expected hypervolume improvement using box decomposition algorithms", 2019). It is 0 where that is too small for a
// float64; [LogExpectedHypervolume] is not.
func expectedHypervolume(boxes []Box, mean, deviation []float64) float64 {
	sum := 0.0
	for _, b := range boxes {
		product := 1.0
		for o, m := range mean {
			part := improvement((m - b.Lo[o]) / deviation[o])
			if b.Hi[o] < math.MaxFloat64 {
				part -= improvement((m - b.Hi[o]) / deviation[o])
			}
			product *= max(0, part) * deviation[o]
		}
		sum += product
	}
	return sum
}

// LogExpectedHypervolume is the logarithm of the expected hypervolume of independent normal objectives within boxes.
func LogExpectedHypervolume(boxes []Box, mean, deviation []float64) float64 {
	sum := emptySum()
	for _, b := range boxes {
		product := 0.0
		for o, m := range mean {
			part := LogImprovement((m - b.Lo[o]) / deviation[o])
			if b.Hi[o] < math.MaxFloat64 {
				part = logDifference(part, LogImprovement((m-b.Hi[o])/deviation[o]))
			}
			product += part + math.Log(deviation[o])
		}
		sum.add(product)
	}
	return sum.value()
}

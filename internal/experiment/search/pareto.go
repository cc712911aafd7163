package search

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
)

// Improves reports whether a is a strictly better value of the objective than b.
func (o Objective) Improves(a, b float64) bool {
	if o.Maximize {
		return a > b
	}
	return a < b
}

// gain returns a value such that more is better.
func (o Objective) gain(v float64) float64 {
	if o.Maximize {
		return v
	}
	return -v
}

// Dominates reports whether a is at least as good as b in all objectives and better in one.
func Dominates(a, b []float64, objectives []Objective) bool {
	better := false
	for i, o := range objectives {
		switch {
		case o.Improves(b[i], a[i]):
			return false
		case o.Improves(a[i], b[i]):
			better = true
		}
	}
	return better
}

// Front returns the indices, in their order, of the values that no other dominates; equal ones all belong to it. Values
// that are nil or not finite do not.
func Front(values [][]float64, objectives []Objective) []int {
	var front []int
	for i, v := range values {
		if finite(v) && !slices.ContainsFunc(values, func(o []float64) bool {
			return finite(o) && Dominates(o, v, objectives)
		}) {
			front = append(front, i)
		}
	}
	return front
}

func finite(values []float64) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v float64) bool { return !artifact.Finite(v) })
}

// Reference returns the point from which the hypervolume of several objectives is measured: for each objective its
// threshold, else the worst of the values, moved by 5 % of its magnitude for the worse. An objective without values
// refers to 0.
func Reference(values [][]float64, objectives []Objective) []float64 {
	reference := make([]float64, len(objectives))
	for i, o := range objectives {
		if o.Threshold != nil {
			reference[i] = *o.Threshold
			continue
		}
		worst := math.Inf(1)
		for _, v := range values {
			if finite(v) {
				worst = min(worst, o.gain(v[i]))
			}
		}
		if !math.IsInf(worst, 1) {
			reference[i] = o.gain(worst - 0.05*math.Abs(worst))
		}
	}
	return reference
}

// Hypervolume returns the volume of what the values dominate, down to the reference. Values that are not better than the
// reference in all objectives, nil or not finite, add nothing.
func Hypervolume(values [][]float64, reference []float64, objectives []Objective) float64 {
	var gains [][]float64
	for _, v := range values {
		if !finite(v) {
			continue
		}
		gain := make([]float64, len(objectives))
		for i, o := range objectives {
			gain[i] = o.gain(v[i]) - o.gain(reference[i])
		}
		if slices.Min(gain) > 0 {
			gains = append(gains, gain)
		}
	}
	return volume(gains, len(objectives))
}

// volume returns the volume of the union of the boxes from the origin to points, in the first dimensions of these. It
// cuts along the last one; along each cut the volume is one of a dimension less.
func volume(points [][]float64, dimensions int) float64 {
	if len(points) == 0 {
		return 0
	}
	last := dimensions - 1
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b []float64) int { return cmp.Compare(b[last], a[last]) })
	if last == 0 {
		return points[0][0]
	}
	var sum, widest float64
	for i := range points {
		below := 0.0
		if i+1 < len(points) {
			below = points[i+1][last]
		}
		if dimensions == 2 {
			widest = max(widest, points[i][0])
		} else if points[i][last] > below {
			widest = volume(points[:i+1], last)
		}
		sum += widest * (points[i][last] - below)
	}
	return sum
}

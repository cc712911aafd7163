package search

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The descent of [Minimize].
const (
	// memory is the number of steps from which the curvature is estimated.
	memory = 15
	// A step is long enough and not too long if it makes good this share of the decrease that the slope promises, and if
	// the slope at its end is below this share of that at its start.
	decreaseShare = 1e-4
	slopeShare    = 0.9
	// flat is the largest part of a gradient at which a descent ends, and steady the decrease below which it ends after
	// that many steps.
	flat        = 1e-3
	steady      = 1e-4
	steadySteps = 3
)

// Minimize descends from start by the limited-memory BFGS method (Nocedal and Wright, "Numerical Optimization", 2006,
// algorithm 7.4), with steps that meet the weak Wolfe conditions, found by bisection. The objective returns its value,
// +Inf where it has none, and fills its gradient. It is evaluated so many times at most. Minimize returns the lowest
// point that it saw; false if the objective has no value at the start.
func Minimize(objective func(x, gradient []float64) float64, start []float64, evaluations int) (
	lowest []float64, value float64, ok bool) {
	n := len(start)
	x, gradient := append([]float64(nil), start...), make([]float64, n)
	value = objective(x, gradient)
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil, 0, false
	}
	left := evaluations - 1
	var past []step
	next, slopes, direction := make([]float64, n), make([]float64, n), make([]float64, n)
	reference, unchanged := value, 0
	for left > 0 && floats.Norm(gradient, math.Inf(1)) > flat && unchanged < steadySteps {
		descend(direction, gradient, past)
		promised := floats.Dot(direction, gradient)
		if !(promised < 0) { // the estimate is of no use
			past = nil
			descend(direction, gradient, past)
			promised = floats.Dot(direction, gradient)
		}
		length, low, high := 1.0, 0.0, math.Inf(1)
		if len(past) == 0 {
			length = 1 / floats.Norm(gradient, 2)
		}
		reached, found := 0.0, false
		for left > 0 && !found {
			left--
			floats.AddScaledTo(next, x, length, direction)
			reached = objective(next, slopes)
			switch {
			case !(reached <= value+decreaseShare*length*promised):
				high = length
			case floats.Dot(slopes, direction) < slopeShare*promised:
				low = length
			default:
				found = true
				continue
			}
			if length = 2 * low; !math.IsInf(high, 1) {
				length = low + (high-low)/2
			}
			if high-low < 1e-12*high {
				break
			}
		}
		if !(reached < value) {
			break
		}
		past = remember(past, x, next, gradient, slopes)
		copy(x, next)
		copy(gradient, slopes)
		value = reached
		if unchanged++; value < reference-steady {
			reference, unchanged = value, 0
		}
		if !found {
			break
		}
	}
	return x, value, true
}

// step is a step of a descent: the way, the change of the gradient, and the inverse of their product.
type step struct {
	way, change []float64
	inverse     float64
}

// remember adds a step to those that count, unless the curvature along it is not positive.
func remember(past []step, from, to, before, after []float64) []step {
	way, change := make([]float64, len(from)), make([]float64, len(from))
	floats.SubTo(way, to, from)
	floats.SubTo(change, after, before)
	product := floats.Dot(way, change)
	if !(product > 0) {
		return past
	}
	if len(past) == memory {
		past = append(past[:0], past[1:]...)
	}
	return append(past, step{way, change, 1 / product})
}

// descend fills in the direction of the next step: against the gradient, multiplied by the estimated inverse of the
// second derivatives.
func descend(direction, gradient []float64, past []step) {
	copy(direction, gradient)
	shares := make([]float64, len(past))
	for i := len(past) - 1; i >= 0; i-- {
		s := past[i]
		shares[i] = s.inverse * floats.Dot(s.way, direction)
		floats.AddScaled(direction, -shares[i], s.change)
	}
	if len(past) > 0 {
		s := past[len(past)-1]
		floats.Scale(1/(s.inverse*floats.Dot(s.change, s.change)), direction)
	}
	for i, s := range past {
		floats.AddScaled(direction, shares[i]-s.inverse*floats.Dot(s.change, direction), s.way)
	}
	floats.Scale(-1, direction)
}

package stats

import "math"

// kneeDrop is by how much the power must fall beyond the knee, relative to its value there, before the curve is said
// to have bent: less is noise.
const kneeDrop = 0.05

// Knee returns the index of the knee of a curve of a cost, such as a latency, and a yield, such as a throughput, both
// positive and in ascending order of the load. It is the point with the largest power, yield / cost (Kleinrock, "On
// Flow Control in Computer Networks", 1978): up to it, one per cent more yield costs less than one per cent more cost,
// beyond it more. It is the point at which a tangent of slope 1 touches the curve drawn on two logarithmic axes, as
// the normalised difference of Kneedle (Satopää et al. 2011) finds it on linear axes; unlike that one it does not
// depend on how far beyond the knee the curve was measured.
//
// False means that there is no knee among the points: fewer than three, or the power never fell by 5 % beyond its
// largest value, or it is largest at the first point, so that the knee is at or below the smallest load.
func Knee(cost, yield []float64) (int, bool) {
	best, highest := -1, math.Inf(-1)
	for i := range cost {
		if power := yield[i] / cost[i]; power > highest {
			best, highest = i, power
		}
	}
	if best < 1 || len(cost) < 3 {
		return 0, false
	}
	for i := best + 1; i < len(cost); i++ {
		if yield[i]/cost[i] <= (1-kneeDrop)*highest {
			return best, true
		}
	}
	return 0, false
}

package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// timeDistribution is a curve without its order in time: the values that it had and for how long, segment by segment. A
// segment in which the curve rose is its mean and half of its rise; it had all values in between equally long.
type timeDistribution struct {
	mean []float64
	half []float64 // empty as long as all segments are flat
	ns   []int64
	// total is the sum of ns.
	total int64
	// within is memory for a search.
	within []slope
}

// reset empties c and makes room for n segments.
func (c *timeDistribution) reset(n int) {
	c.mean, c.ns, c.half, c.total = slices.Grow(c.mean[:0], n), slices.Grow(c.ns[:0], n), c.half[:0], 0
}

// rises reports that not all segments are flat.
func (c *timeDistribution) rises() bool { return len(c.half) > 0 }

func (c *timeDistribution) add(from, to float64, ns int64) {
	c.total += ns
	last := len(c.mean) - 1
	if from == to && !c.rises() && last >= 0 && c.mean[last] == from {
		c.ns[last] += ns
		return
	}
	rises := c.rises()
	if from != to && !rises {
		rises = true
		c.half = slices.Grow(c.half, cap(c.mean))[:last+1]
		clear(c.half)
	}
	c.mean, c.ns = append(c.mean, from+(to-from)/2), append(c.ns, ns)
	if rises {
		c.half = append(c.half, (to-from)/2)
	}
}

func (c *timeDistribution) spread(i int) float64 {
	if !c.rises() {
		return 0
	}
	return c.half[i]
}

// dropNegligible makes 0 of what is too small against the peak to be anything else.
func (c *timeDistribution) dropNegligible() {
	var peak float64
	for i, v := range c.mean {
		peak = max(peak, math.Abs(v)+c.spread(i))
	}
	for i, v := range c.mean {
		if v != 0 && math.Abs(v)+c.spread(i) < negligible*peak {
			c.mean[i] = 0
			if c.rises() {
				c.half[i] = 0
			}
		}
	}
}

func (c *timeDistribution) min() float64 {
	low := math.Inf(1)
	for i, v := range c.mean {
		low = min(low, v-c.spread(i))
	}
	return low
}

func (c *timeDistribution) max() float64 {
	high := math.Inf(-1)
	for i, v := range c.mean {
		high = max(high, v+c.spread(i))
	}
	return high
}

// moments returns the mean and the standard deviation over time.
func (c *timeDistribution) moments() (avg, std float64) {
	var sum, squares stats.Pair
	for i, v := range c.mean {
		sum.Add(v * float64(c.ns[i]))
	}
	avg = sum.Value() / float64(c.total)
	for i, v := range c.mean {
		half := c.spread(i)
		squares.Add(((v-avg)*(v-avg) + half*half/3) * float64(c.ns[i]))
	}
	return avg, math.Sqrt(squares.Value() / float64(c.total))
}

// share returns q percent of the total, rounded up to a whole ns.
func (c *timeDistribution) share(q int64) int64 {
	return c.total/100*q + (c.total%100*q+99)/100
}

// quantiles returns, for each of ascending times, the smallest value that the curve did not exceed for
// that long. It reorders the segments.
func (c *timeDistribution) quantiles(targets []int64) []float64 {
	out := make([]float64, len(targets))
	if !c.rises() {
		weighted{c.mean, c.ns}.find(0, targets, out)
		return out
	}
	low, high := c.min(), c.max()
	for i, target := range targets {
		out[i] = c.rising(float64(target), low, high)
	}
	return out
}

// weighted are values and their weights.
type weighted struct {
	values  []float64
	weights []int64
}

// find selects the values at which the weights in ascending order of values, on top of below, reach
// the targets, by partitioning around pivots.
func (w weighted) find(below int64, targets []int64, out []float64) {
	for len(targets) > 0 {
		lo, hi := w.partition(w.pivot())
		left, equal := below+w.weight(0, lo), w.weight(lo, hi)
		toLeft, _ := slices.BinarySearch(targets, left+1)
		if lo > 0 {
			weighted{w.values[:lo], w.weights[:lo]}.find(below, targets[:toLeft], out[:toLeft])
		}
		targets, out = targets[toLeft:], out[toLeft:]
		inside, _ := slices.BinarySearch(targets, left+equal+1)
		if hi == len(w.values) {
			inside = len(targets)
		}
		for i := range inside {
			out[i] = w.values[lo]
		}
		targets, out = targets[inside:], out[inside:]
		w, below = weighted{w.values[hi:], w.weights[hi:]}, left+equal
	}
}

func (w weighted) weight(from, to int) (sum int64) {
	for _, n := range w.weights[from:to] {
		sum += n
	}
	return sum
}

// pivot returns the median of up to nine values spread over all.
func (w weighted) pivot() float64 {
	var sample [9]float64
	n := min(len(sample), len(w.values))
	for i := range n {
		sample[i] = w.values[i*(len(w.values)-1)/max(n-1, 1)]
	}
	slices.Sort(sample[:n])
	return sample[n/2]
}

// partition orders the values into those below, at and above p.
func (w weighted) partition(p float64) (lo, hi int) {
	hi = len(w.values)
	for i := 0; i < hi; {
		switch v := w.values[i]; {
		case v < p:
			w.swap(i, lo)
			lo++
			i++
		case v > p:
			hi--
			w.swap(i, hi)
		default:
			i++
		}
	}
	return lo, hi
}

func (w weighted) swap(i, j int) {
	w.values[i], w.values[j] = w.values[j], w.values[i]
	w.weights[i], w.weights[j] = w.weights[j], w.weights[i]
}

const (
	// A quantile of rising segments is searched in ranges of values that are narrowed to one of
	// valueRanges, until few segments are left or maxNarrowings have been made.
	valueRanges   = 4096
	maxNarrowings = 4
)

// slope is a segment as a density over values: ns from low to high, at one value where they are equal.
type slope struct{ low, high, ns float64 }

// slopes yields the segments.
func (c *timeDistribution) slopes(yield func(slope) bool) {
	for i, v := range c.mean {
		if half := math.Abs(c.spread(i)); !yield(slope{v - half, v + half, float64(c.ns[i])}) {
			return
		}
	}
}

// rising returns the quantile of segments of which some rise, with values from low to high.
func (c *timeDistribution) rising(target, low, high float64) float64 {
	if len(c.mean) <= valueRanges {
		return crossing(slices.Collect(c.slopes), target, high)
	}
	list := c.within[:0]
	list, target, low, high = narrow(c.slopes, list, target, low, high)
	for i := 1; i < maxNarrowings && len(list) > valueRanges; i++ {
		list, target, low, high = narrow(slices.Values(list), list[:0], target, low, high)
	}
	c.within = list
	return crossing(list, target, high)
}

// narrow determines the range of values in which the time reaches the target and returns the parts of the
// segments within, appended to into, and what is left of the target there. A segment has one part at most, so that into
// may be the memory of what list yields.
func narrow(list iter.Seq[slope], into []slope, target, low, high float64) (within []slope, rest, from, to float64) {
	width := (high - low) / valueRanges
	if width <= 0 || low+width == low {
		for s := range list {
			into = append(into, s)
		}
		return into, target, low, high
	}
	place := func(v float64) int { return min(max(int((v-low)/width), 0), valueRanges-1) }
	edge := func(i int) float64 { return low + float64(i)*width }
	var own, density [valueRanges + 1]float64 // time in a range itself, and per value in all from it on
	for s := range list {
		i, j := place(s.low), place(s.high)
		if i == j {
			own[i] += s.ns
			continue
		}
		perValue := s.ns / (s.high - s.low)
		own[i] += perValue * (edge(i+1) - s.low)
		own[j] += perValue * (s.high - edge(j))
		density[i+1] += perValue
		density[j] -= perValue
	}
	var sum, slopes float64
	at := 0
	for ; at < valueRanges-1; at++ {
		slopes += density[at]
		here := own[at] + slopes*width
		if sum+here >= target {
			break
		}
		sum += here
	}
	within, rest, from, to = into, target, edge(at), edge(at+1)
	for s := range list {
		i, j := place(s.low), place(s.high)
		switch {
		case j < at:
			rest -= s.ns
		case i > at:
		case i == j:
			within = append(within, s)
		default:
			perValue := s.ns / (s.high - s.low)
			part := slope{max(s.low, from), min(s.high, to), 0}
			part.ns = perValue * max(0, part.high-part.low)
			rest -= perValue * max(0, part.low-s.low)
			within = append(within, part)
		}
	}
	return within, rest, from, to
}

// crossing returns the value at which the time of the segments reaches the target; last where rounding has
// left too little of it.
func crossing(list []slope, target, last float64) float64 {
	type change struct{ at, perValue, ns float64 }
	changes := make([]change, 0, 2*len(list))
	for _, s := range list {
		if s.low == s.high {
			changes = append(changes, change{s.low, 0, s.ns})
			continue
		}
		perValue := s.ns / (s.high - s.low)
		changes = append(changes, change{s.low, perValue, 0}, change{s.high, -perValue, 0})
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.perValue, b.perValue), cmp.Compare(a.ns, b.ns))
	})
	var sum, perValue, at float64
	for _, c := range changes {
		if perValue > 0 {
			next := sum + perValue*(c.at-at)
			if next >= target {
				return min(at+(target-sum)/perValue, c.at)
			}
			sum = next
		}
		if sum += c.ns; sum >= target {
			return c.at
		}
		at, perValue = c.at, perValue+c.perValue
	}
	if len(changes) > 0 {
		return at
	}
	return last
}

package boundary

import (
	"math"
	"slices"
)

const (
	// gridSize is the number of evenly spaced loads, on the logarithmic scale, at which the distribution of the
	// boundary is computed. The grid is at most twice as wide as the bracket, so that a step is about 2 % of the
	// bracket.
	gridSize = 97
	// minVagueWeight is the least weight of the uniform component of the mixture, which keeps the interval honest where
	// the fitted model is wrong: 5 %, the error of the default level. smoothSlope and cliffSlope are the slopes of the
	// margin, d ln(value/limit) over d ln(load), up to which it keeps this weight and from which it has all of it: a
	// latency behind an M/M/1 queue, 1/(1-ρ), has slope 4 at a utilisation of 80 % and 12 at 92 %, where a queue cannot
	// be told from a jump any more.
	minVagueWeight = 0.05
	smoothSlope    = 4.0
	cliffSlope     = 12.0
	// uniformOverhang is by how much of the bracket the uniform component of a real load reaches beyond either end: its
	// tail there, 0.03/1.06 = 2.8 %, is more than the 2.5 % outside of a 95 % interval, which then holds the bracket.
	uniformOverhang = 0.03
)

// distribute computes the distribution of the boundary from the bracket and the fits: the boundary is below a load
// where any filter is exceeded at it or the server is saturated, which are taken as independent.
func (c *Capacity) distribute(post *posterior) {
	post.grid = c.gridAround(post.from, post.to)
	exceeds := make([][]float64, 0, len(c.filters)+1)
	for f := range post.fits {
		exceeds = append(exceeds, post.monotone(post.fits[f].exceeds(post.grid)))
	}
	exceeds = append(exceeds, c.saturationCDF(post.grid))
	survival := make([]float64, len(post.grid))
	for i := range survival {
		survival[i] = 1
	}
	for _, e := range exceeds {
		for i := range survival {
			survival[i] *= 1 - e[i]
		}
	}
	post.cdf = make([]float64, len(post.grid))
	for i := range post.cdf {
		post.cdf[i] = 1 - survival[i]
	}
	post.attribute(exceeds)
	post.mixtureCDF = slices.Clone(post.cdf)
	if !math.IsNaN(post.pass) && !math.IsNaN(post.fail) {
		w := c.vagueWeight(post)
		for i, u := range post.grid {
			post.mixtureCDF[i] = (1-w)*post.cdf[i] + w*c.uniformCDF(u, post.pass, post.fail)
		}
	}
}

// gridAround returns the loads, as logarithms in ascending order, at which the distribution is computed: half a bracket
// beyond either end, within the range, and all probes in between.
func (c *Capacity) gridAround(from, to float64) []float64 {
	edge := max(0.5*(to-from), 0.05) // 0.05: where the ends are the same load
	first, last := max(math.Log(c.dim.Lo), from-edge), min(math.Log(c.dim.Hi), to+edge)
	grid := make([]float64, gridSize)
	for i := range grid {
		grid[i] = first + (last-first)*float64(i)/(gridSize-1)
	}
	grid[gridSize-1] = last // exactly, without what rounding adds
	// At a probe the course is known best: its place must not be missed.
	for _, p := range c.probes {
		if p.u > first && p.u < last {
			grid = append(grid, p.u)
		}
	}
	slices.Sort(grid)
	return slices.Compact(grid)
}

// vagueWeight returns the weight of the uniform component, and notes the slope that it follows from: the steeper the
// margin rises in the bracket, the less its course between the ends follows from the probes around.
func (c *Capacity) vagueWeight(post *posterior) float64 {
	below, above := math.Inf(-1), math.Inf(-1)
	for _, p := range c.probes {
		if p.verdict == ClientLimited {
			continue
		}
		if p.u == post.pass {
			below = max(below, p.worst())
		} else if p.u == post.fail {
			above = max(above, p.worst())
		}
	}
	post.slope = (above - below) / (post.fail - post.pass)
	return min(max((post.slope-smoothSlope)/(cliffSlope-smoothSlope), minVagueWeight), 1)
}

// uniformCDF is the distribution function of a boundary anywhere between two loads: for real ones a little beyond them
// (uniformOverhang), so that a bracket is its own interval, as it is by rounding for integers.
func (c *Capacity) uniformCDF(u, from, to float64) float64 {
	margin := 0.0
	if !c.dim.Int {
		margin = uniformOverhang * (to - from)
	}
	return min(max((u-from+margin)/(to-from+2*margin), 0), 1)
}

// monotone makes the probability that a margin is above 0 rise with the load, as the answer assumes: decisive probes
// bound it on their side, and what is left is the nearest isotonic curve. It changes e.
func (post *posterior) monotone(e []float64) []float64 {
	for i := len(e) - 2; i >= 0; i-- {
		if post.grid[i+1] <= post.pass {
			e[i] = min(e[i], e[i+1])
		}
	}
	for i := 1; i < len(e); i++ {
		if post.grid[i-1] >= post.fail {
			e[i] = max(e[i], e[i-1])
		}
	}
	return isotonic(e)
}

// saturationCDF returns the probability at each of us that the server cannot keep up, or answers nothing: uniform
// between the loads that it was seen to carry and not to carry, as there is no margin to fit.
func (c *Capacity) saturationCDF(us []float64) []float64 {
	carried, dead := math.Inf(-1), math.Inf(1)
	loads, at := c.reached()
	for i, u := range loads {
		if ceiling := maxFeasibility(at[i]); ceiling == 0 {
			dead = u
			break
		} else if ceiling == 1 {
			carried = u
		}
	}
	if math.IsInf(carried, -1) {
		carried = math.Log(c.dim.Lo)
	}
	e := make([]float64, len(us))
	for i, u := range us {
		if !math.IsInf(dead, 1) && dead > carried {
			e[i] = c.uniformCDF(u, carried, dead)
		} else if u >= dead {
			e[i] = 1
		}
	}
	return e
}

// attribute shares the probability of the boundary among what limits the load first: each cause gets the rise of its
// own exceedance from one load of the grid to the next, times the probability that no other cause came before it (as
// the cumulative incidence of competing risks). Where nothing rises within the grid, the shares are those at its end.
func (post *posterior) attribute(exceeds [][]float64) {
	// What is exceeded at the first place already limits every load.
	total, within, sum := 0.0, 1.0, 0.0
	for _, e := range exceeds {
		within, sum = within*(1-e[0]), sum+e[0]
	}
	if sum > 0 {
		for f, e := range exceeds {
			post.binding[f] = (1 - within) * e[0] / sum
		}
		total = 1 - within
	}
	for i := 1; i < len(post.grid); i++ {
		for f, e := range exceeds {
			d := max(e[i]-e[i-1], 0)
			for g, o := range exceeds {
				if g != f {
					d *= 1 - (o[i]+o[i-1])/2
				}
			}
			post.binding[f], total = post.binding[f]+d, total+d
		}
	}
	if total > 0 {
		for f := range post.binding {
			post.binding[f] /= total
		}
		return
	}
	for f, e := range exceeds {
		post.binding[f] = e[len(e)-1]
		total += e[len(e)-1]
	}
	for f := range post.binding {
		if total > 0 {
			post.binding[f] /= total
		}
	}
}

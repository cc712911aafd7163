package timeline

import (
	"math"
	"slices"
	"sort"
)

// Curve is what something else than requests was like at instants, ascending.
type Curve struct {
	// Source is where it was seen: an endpoint, a device. Name and Labels tell what, Unit in which unit.
	Source, Name, Labels, Unit string
	// What says what a value is: "", "rate" (per second) or "mean" (of what was observed since the instant before).
	What   string
	TimeNS []int64
	Values []float64
}

// The kinds of Curve.What.
const (
	Rate = "rate"
	Mean = "mean"
)

// On maps a curve to a grid: the mean of the values in each bin, NaN where there is none.
func (c *Curve) On(g Grid) []float64 {
	out := make([]float64, g.Count)
	at := sort.Search(len(c.TimeNS), func(i int) bool { return c.TimeNS[i]-g.OriginNS >= int64(g.First)*g.WidthNS })
	for i := range out {
		end := int64(g.First+i+1) * g.WidthNS
		sum, n := 0.0, 0
		for at < len(c.TimeNS) && c.TimeNS[at]-g.OriginNS < end {
			if v := c.Values[at]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum += v
				n++
			}
			at++
		}
		out[i] = math.NaN()
		if n > 0 {
			out[i] = sum / float64(n)
		}
	}
	return out
}

// EndingOn returns the curve with its last value brought forward to the end of a grid that ends before it; what lies
// between is left out.
func (c *Curve) EndingOn(g Grid) Curve {
	out := *c
	end := g.OriginNS + int64(g.First+g.Count)*g.WidthNS
	within := sort.Search(len(c.TimeNS), func(i int) bool { return c.TimeNS[i] >= end })
	if last := len(c.TimeNS) - 1; within <= last {
		out.TimeNS = append(slices.Clone(c.TimeNS[:within]), end-1)
		out.Values = append(slices.Clone(c.Values[:within]), c.Values[last])
	}
	return out
}

// Rates makes growth per second of what counts up; a step down, of a server that was restarted, has none.
func Rates(timeNS []int64, values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range out {
		out[i] = math.NaN()
		if i > 0 && values[i] >= values[i-1] && timeNS[i] > timeNS[i-1] {
			out[i] = (values[i] - values[i-1]) / (float64(timeNS[i]-timeNS[i-1]) / 1e9)
		}
	}
	return out
}

// Means makes the mean of what was observed between instants of sums and counts that grow.
func Means(sums, counts []float64) []float64 {
	out := make([]float64, len(sums))
	for i := range out {
		out[i] = math.NaN()
		if i > 0 && counts[i] > counts[i-1] {
			out[i] = (sums[i] - sums[i-1]) / (counts[i] - counts[i-1])
		}
	}
	return out
}

package answer

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// Curve shows what a load costs and yields.
type Curve struct {
	Load Parameter
	// Points are in ascending order of their load, one for each.
	Points []Point
	// Latency is the figure that rises with the load, Throughput what is yielded; PerUser is the throughput of one
	// user. One that has no tag is not shown.
	Latency, Throughput, PerUser Metric
	// Limit is that of Latency, NaN for none.
	Limit float64
	// Boundary is the answer on the axis of the load with its interval, NaN where it is not known.
	Boundary, Low, High float64
	// Knee and Recommended are indices of points, -1 for none.
	Knee, Recommended int
}

// Point is one load with its figures, keyed as [Metric.Key].
type Point struct {
	Load    float64
	Figures map[string]Figure
	Verdict Verdict
}

// At returns a figure of a point, NaN if it has none.
func (p *Point) At(m Metric) float64 {
	if f, ok := p.Figures[m.Key()]; ok && artifact.Finite(f.Mean) {
		return f.Mean
	}
	return math.NaN()
}

// NewCurve makes the curve of the cells over a parameter, without boundary and limit. Cells of the same load become
// one point: figures are averaged, weighted by runs, and the last verdict that is known counts. Cells without a number
// and cells that failed are left out.
func NewCurve(s *Sweep, parameter int, latency, throughput, perUser Metric) Curve {
	c := Curve{Load: s.Parameters[parameter], Latency: latency, Throughput: throughput, PerUser: perUser,
		Limit: math.NaN(), Boundary: math.NaN(), Low: math.NaN(), High: math.NaN(), Knee: -1, Recommended: -1}
	byLoad := map[float64][]*Cell{}
	for i := range s.Cells {
		cell := &s.Cells[i]
		if load, ok := cell.Number(parameter); ok && len(cell.Figures) > 0 {
			byLoad[load] = append(byLoad[load], cell)
		}
	}
	for load, cells := range byLoad {
		p := Point{Load: load, Figures: map[string]Figure{}}
		for _, m := range []Metric{latency, throughput, perUser} {
			if f, ok := pooled(cells, m.Key()); ok {
				p.Figures[m.Key()] = f
			}
		}
		for _, cell := range cells {
			if cell.Verdict != "" {
				p.Verdict = cell.Verdict
			}
		}
		c.Points = append(c.Points, p)
	}
	slices.SortFunc(c.Points, func(a, b Point) int {
		if a.Load < b.Load {
			return -1
		}
		return 1
	})
	c.Knee = c.knee()
	return c
}

// pooled joins a figure of several cells. The interval of several is not known.
func pooled(cells []*Cell, key string) (Figure, bool) {
	var out Figure
	n, sum := 0.0, 0.0
	for _, cell := range cells {
		f, ok := cell.Figure(key)
		if !ok {
			continue
		}
		weight := float64(max(f.Runs, 1))
		if n == 0 {
			out = f
		} else {
			out.Low, out.High = math.NaN(), math.NaN()
			out.Runs += f.Runs
		}
		n, sum = n+weight, sum+weight*f.Mean
	}
	if n == 0 {
		return Figure{}, false
	}
	if artifact.Finite(sum) {
		out.Mean = sum / n
	}
	return out, true
}

// knee returns the index of the point at the knee, -1 for none. Points where the client was the bottleneck say
// nothing about the server.
func (c *Curve) knee() int {
	var at []int
	var latency, throughput []float64
	for i := range c.Points {
		p := &c.Points[i]
		l, t := p.At(c.Latency), p.At(c.Throughput)
		if p.Verdict == ClientLimited || p.Verdict == Failed || !(l > 0) || !(t > 0) {
			continue
		}
		at, latency, throughput = append(at, i), append(latency, l), append(throughput, t)
	}
	if i, ok := stats.Knee(latency, throughput); ok {
		return at[i]
	}
	return -1
}

// SetBoundary sets the boundary with its interval and the limit of the latency, each NaN where it is not known, and
// chooses the recommended operating point: the largest measured load that met the limits and is not beyond the lower
// end of the interval (without an interval: the boundary); without limits the knee.
func (c *Curve) SetBoundary(value, low, high, limit float64) {
	c.Boundary, c.Low, c.High, c.Limit = value, low, high, limit
	certain := value
	if artifact.Finite(low) {
		certain = low
	}
	c.Recommended = -1
	judged := false
	for i := range c.Points {
		p := &c.Points[i]
		judged = judged || p.Verdict == Feasible || p.Verdict == Infeasible
		if p.Verdict == Feasible && !(p.Load > certain) {
			c.Recommended = i
		}
	}
	if !judged {
		c.Recommended = c.Knee
	}
}

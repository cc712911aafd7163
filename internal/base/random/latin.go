package random

import "math"

// LatinHypercube returns n points of which each n-th of the range of every coordinate holds exactly one. With improve,
// coordinates of points are exchanged at random as long as that lowers the centred discrepancy (Jin, Chen, Sudjianto
// 2005): it stops after 100 exchanges in a row that do not, or 10,000 in all.
func LatinHypercube(dimensions, n int, improve bool, seed uint64) [][]float64 {
	g := newGenerator(seed)
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, dimensions)
		for d := range points[i] {
			points[i][d] = g.float()
		}
	}
	order := make([]int, n)
	for d := range dimensions {
		for i := range order {
			order[i] = i + 1
		}
		for i := n - 1; i > 0; i-- {
			j := g.upTo(i)
			order[i], order[j] = order[j], order[i]
		}
		for i := range points {
			points[i][d] = (float64(order[i]) - points[i][d]) / float64(n)
		}
	}
	if improve && dimensions > 1 && n > 1 {
		exchange(points, g)
	}
	return points
}

// exchange lowers the centred discrepancy of points.
func exchange(points [][]float64, g *generator) {
	const most, unchanged = 10_000, 100
	best := CenteredDiscrepancy(points)
	for rounds, idle := 0, 0; rounds < most && idle < unchanged; rounds++ {
		d := g.below(len(points[0]))
		a := g.below(len(points))
		b := g.below(len(points))
		after := exchanged(points, a, b, d, best)
		if after >= best {
			idle++
			continue
		}
		points[a][d], points[b][d] = points[b][d], points[a][d]
		best, idle = after, 0
	}
}

// CenteredDiscrepancy returns the squared centred L2 discrepancy of points (Hickernell 1998): the smaller, the more
// even. There is at least one point, and all have equally many coordinates, each in [0, 1).
func CenteredDiscrepancy(points [][]float64) float64 {
	n := float64(len(points))
	var single, pairs float64
	for _, p := range points {
		product := 1.0
		for _, x := range p {
			z := math.Abs(x - 0.5)
			product *= float64(1+float64(0.5*z)) - float64(0.5*z*z)
		}
		single += product
		for _, q := range points {
			product := 1.0
			for d, x := range p {
				product *= 1 + 0.5*math.Abs(x-0.5) + 0.5*math.Abs(q[d]-0.5) - 0.5*math.Abs(x-q[d])
			}
			pairs += product
		}
	}
	return math.Pow(13.0/12, float64(len(points[0]))) - 2/n*single + pairs/(n*n)
}

// exchanged is the discrepancy with coordinate d of points a and b exchanged, of that before: equations 19 to 26 of
// Jin, Chen and Sudjianto.
func exchanged(points [][]float64, a, b, d int, before float64) float64 {
	n := float64(len(points))
	za, zb := math.Abs(points[a][d]-0.5), math.Abs(points[b][d]-0.5)
	pair := func(x, y float64) float64 { return 2 + math.Abs(x-0.5) + math.Abs(y-0.5) - math.Abs(x-y) }
	sum := 0.0
	for i, p := range points {
		if i == a || i == b {
			continue
		}
		ca, cb := 1.0, 1.0
		for k, x := range p {
			ca *= 0.5 * pair(points[a][k], x)
			cb *= 0.5 * pair(points[b][k], x)
		}
		ca, cb = ca/(n*n), cb/(n*n)
		gamma := pair(points[b][d], p[d]) / pair(points[a][d], p[d])
		sum += gamma*ca - ca + cb/gamma - cb
	}
	products := func(p []float64) (g, h float64) {
		g, h = 1, 1
		for _, x := range p {
			z := math.Abs(x - 0.5)
			g *= 1 + z
			h *= float64(1+float64(0.5*z)) - float64(0.5*z*z)
		}
		return g, h
	}
	ga, ha := products(points[a])
	gb, hb := products(points[b])
	alpha, beta := (1+zb)/(1+za), (2-zb)/(2-za)
	self := ga*alpha/(n*n) - 2*alpha*beta*ha/n - (ga/(n*n) - 2/n*ha) +
		gb/(n*n*alpha) - 2*hb/(n*alpha*beta) - (gb/(n*n) - 2/n*hb)
	return before + self + 2*sum
}

package chart

import (
	"math"

	"aiperf/internal/base/artifact"
)

// maxShapes bounds the markers, bars and spans of a layer that are drawn, and the points of a line.
const maxShapes = 6000

// thinner picks the points of a layer that are drawn where there are more than a picture can show.
type thinner struct {
	layer *Layer
	x, y  *scale
}

// keep returns the indices of the points to draw, in order; nil for all of them. Extremes are kept: for each column of
// points the first, the last, the largest and the smallest value of a line; of markers those at the edges of the cloud,
// and one in each small cell.
func (t *thinner) keep() []int {
	n := t.layer.size()
	if n <= maxShapes {
		return nil
	}
	for cell := 1.0; ; cell *= 1.5 {
		var out []int
		switch t.layer.Kind {
		case Points:
			out = t.cells(cell)
		case Spans:
			out = t.rows(cell)
		default:
			out = t.columns(cell)
		}
		if len(out) <= maxShapes {
			return out
		}
		if cell > 1e4 { // a line that goes back and forth
			return t.every()
		}
	}
}

// every keeps points at equal distances, and the extremes.
func (t *thinner) every() []int {
	n := t.layer.size()
	mark := make([]bool, n)
	for i := 0; i < n; i += n/(maxShapes-10) + 1 {
		mark[i] = true
	}
	t.extremes(mark)
	return marked(mark)
}

func marked(mark []bool) (out []int) {
	for i, m := range mark {
		if m {
			out = append(out, i)
		}
	}
	return out
}

// extremes marks the points at the edges.
func (t *thinner) extremes(mark []bool) {
	for _, values := range [...][]float64{t.layer.X, t.layer.Y, t.layer.Low, t.layer.High, t.layer.XEnd} {
		low, high := -1, -1
		for i, v := range values {
			if !artifact.Finite(v) || i >= len(mark) {
				continue
			}
			if low < 0 || v < values[low] {
				low = i
			}
			if high < 0 || v > values[high] {
				high = i
			}
		}
		if low >= 0 {
			mark[low], mark[high] = true, true
		}
	}
}

// cells keeps a share of the points in each square, and one at least: outliers stay, and crowds stay crowds.
func (t *thinner) cells(side float64) []int {
	n := t.layer.size()
	mark := make([]bool, n)
	t.extremes(mark)
	side *= 8
	cell := func(i int) ([2]int, bool) {
		x, y := t.x.at(value(t.layer.X, i)), t.y.at(value(t.layer.Y, i))
		return [2]int{int(x / side), int(y / side)}, !math.IsNaN(x) && !math.IsNaN(y)
	}
	inside := map[[2]int]int{}
	for i := range n {
		if c, ok := cell(i); ok {
			inside[c]++
		}
	}
	share := float64(maxShapes-10-len(inside)) / float64(n)
	if share <= 0 {
		return make([]int, maxShapes+1) // too many: larger cells
	}
	clear(inside)
	for i := range n {
		c, ok := cell(i)
		if !ok {
			continue
		}
		// The k-th of a cell is kept where k times the share passes a whole number.
		k := inside[c]
		inside[c]++
		if k == 0 || math.Floor(float64(k+1)*share) > math.Floor(float64(k)*share) {
			mark[i] = true
		}
	}
	return marked(mark)
}

// columns keeps the first, last, lowest and highest point of each run of points within a column, and the first of
// those that are gaps.
func (t *thinner) columns(width float64) []int {
	l := t.layer
	mark := make([]bool, l.size())
	top, bottom := l.Y, l.Y
	if l.Kind == Band || l.Kind == Errors {
		top, bottom = l.High, l.Low
	}
	column, first, last, low, high := math.NaN(), -1, -1, -1, -1
	flush := func() {
		for _, i := range [...]int{first, last, low, high} {
			if i >= 0 {
				mark[i] = true
			}
		}
		first, last, low, high = -1, -1, -1, -1
	}
	gap := false
	for i := range mark {
		x := t.x.at(value(l.X, i))
		if math.IsNaN(x) || !artifact.Finite(value(top, i)) || !artifact.Finite(value(bottom, i)) {
			flush()
			column, mark[i], gap = math.NaN(), !gap, true
			continue
		}
		gap = false
		if c := math.Floor(x / width); c != column {
			flush()
			column, first, low, high = c, i, i, i
		}
		last = i
		if bottom[i] < bottom[low] {
			low = i
		}
		if top[i] > top[high] {
			high = i
		}
	}
	flush()
	return marked(mark)
}

// rows keeps the spans that cover something of their row that none before them does.
func (t *thinner) rows(side float64) []int {
	l := t.layer
	mark := make([]bool, l.size())
	t.extremes(mark)
	covered := map[[2]int]bool{}
	for i := range mark {
		from, to, y := t.x.at(value(l.X, i)), t.x.at(value(l.XEnd, i)), t.y.at(value(l.Y, i))
		if math.IsNaN(from) || math.IsNaN(to) || math.IsNaN(y) {
			continue
		}
		from, to = max(from, t.x.from), min(to, t.x.to)
		for c := int(from / side); c <= int(to/side); c++ {
			if cell := [2]int{c, int(y / side)}; !covered[cell] {
				covered[cell], mark[i] = true, true
			}
		}
	}
	return marked(mark)
}

// value returns the i-th of values, NaN where there is none.
func value(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

// size is the number of points of a layer.
func (l *Layer) size() int {
	n := max(len(l.X), len(l.Y), len(l.Low))
	if l.Kind != Level && l.Kind != Band {
		n = len(l.X)
	}
	return n
}

// pick returns the layer with some of its points.
func (l *Layer) pick(keep []int) *Layer {
	if keep == nil {
		return l
	}
	out := *l
	for _, v := range [...]*[]float64{&out.X, &out.Y, &out.Low, &out.High, &out.XEnd} {
		if len(*v) == 0 {
			continue
		}
		some := make([]float64, len(keep))
		for k, i := range keep {
			some[k] = value(*v, i)
		}
		*v = some
	}
	if len(out.Labels) > 0 {
		some := make([]string, len(keep))
		for k, i := range keep {
			if i < len(l.Labels) {
				some[k] = l.Labels[i]
			}
		}
		out.Labels = some
	}
	return &out
}

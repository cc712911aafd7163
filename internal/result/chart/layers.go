package chart

import (
	"math"
	"slices"
)

// layers draws the values.
func (p *painter) layers() {
	if p.empty {
		font := p.softFont(titleSize)
		font.Align = AlignMiddle
		p.Text((p.left+p.right)/2, (p.top+p.bottom)/2+8*p.unit, "No data", font)
	}
	p.Clip(p.left, p.top-1, p.right-p.left+1, p.bottom-p.top+2)
	for i := range p.figure.Layers {
		l := &p.figure.Layers[i]
		y := p.vertical(l)
		l = l.pick((&thinner{l, p.x, y}).keep())
		p.drawn = append(p.drawn, l)
		p.Open(l.Name, "layer", l.Kind.String(), "name", l.Name)
		p.layer(i, l, y)
		p.Close()
	}
	p.Unclip()
	p.labels()
}

func (p *painter) layer(i int, l *Layer, y *scale) {
	k := p.looks[i]
	switch l.Kind {
	case Line, Stair:
		for _, chain := range p.chains(l.X, l.Y, y, l.Kind == Stair) {
			p.Path(pathOf(chain), p.pen(k))
		}
	case Area, StairArea:
		base := y.base()
		for _, chain := range p.chains(l.X, l.Y, y, l.Kind == StairArea) {
			area := append(slices.Clone(chain), Point{X: chain[len(chain)-1].X, Y: base},
				Point{X: chain[0].X, Y: base})
			p.Path(pathOf(area).Close(), p.surface(l.Kind, k))
			p.Path(pathOf(chain), p.pen(k))
		}
	case Points:
		p.markers(l, k, y)
	case Bars:
		p.bars(i, l, k, y)
	case Band:
		p.band(l, k, y)
	case Errors:
		p.errors(l, k, y)
	case Polygon:
		for _, chain := range p.chains(l.X, l.Y, y, false) {
			if len(chain) > 2 {
				p.Path(pathOf(chain).Close(), p.surface(Polygon, k))
			}
		}
	case Spans:
		p.spans(l, k, y)
	case Level:
		if at := y.at(value(l.Y, 0)); !math.IsNaN(at) {
			p.Line(p.left, at, p.right, at, p.pen(k))
			if len(l.Labels) > 0 && l.Labels[0] != "" {
				font := p.font(labelSize - 3)
				font.Colour, font.Align = k.colour, AlignEnd
				text := font.Fit(l.Labels[0], (p.right-p.left)*0.6)
				w := font.Measure(text)
				p.Rect(p.right-w-8*p.unit, at-22*p.unit, w+8*p.unit, 21*p.unit, 0,
					Paint{Fill: Opacity(p.colours.plot, 0.75)})
				p.Text(p.right-4*p.unit, at-6*p.unit, text, font)
			}
		}
	}
	if l.Kind != Level {
		for n, text := range l.Labels {
			if at, ok := p.place(l, n, y); ok && text != "" {
				p.names = append(p.names, pointLabel{at, text, k.size / 2 * p.unit})
			}
		}
	}
}

// place returns where a point of a layer is.
func (p *painter) place(l *Layer, n int, y *scale) (Point, bool) {
	at := Point{X: p.x.at(value(l.X, n)), Y: y.at(value(l.Y, n))}
	return at, !math.IsNaN(at.X) && !math.IsNaN(at.Y)
}

// chains returns the points of a line between its gaps, with the corners of its steps. A point alone between gaps is a
// short dash, or it would not show.
func (p *painter) chains(xs, ys []float64, y *scale, stair bool) (out [][]Point) {
	var chain []Point
	end := func() {
		if len(chain) == 1 {
			at := chain[0]
			chain = []Point{{X: at.X - 2*p.unit, Y: at.Y}, {X: at.X + 2*p.unit, Y: at.Y}}
		}
		if len(chain) > 0 {
			out = append(out, chain)
		}
		chain = nil
	}
	for n := range xs {
		at := Point{X: p.x.at(xs[n]), Y: y.at(value(ys, n))}
		if math.IsNaN(at.X) || math.IsNaN(at.Y) {
			end()
			continue
		}
		if stair && len(chain) > 0 {
			if before := chain[len(chain)-1]; before.Y != at.Y {
				chain = append(chain, Point{X: at.X, Y: before.Y})
			}
		}
		chain = append(chain, at)
	}
	end()
	return out
}

func pathOf(chain []Point) *Path {
	path := new(Path)
	for i, at := range chain {
		if i == 0 {
			path.Move(at.X, at.Y)
		} else {
			path.Line(at.X, at.Y)
		}
	}
	return path
}

// pen is how the lines of a look are drawn.
func (p *painter) pen(k look) Paint {
	paint := Paint{Stroke: Opacity(k.colour, k.opacity), Width: k.width * p.unit}
	if k.dashed {
		paint.Dash = []float64{8 * p.unit, 6 * p.unit}
	}
	return paint
}

// surface is how the filled shapes of a look are drawn.
func (p *painter) surface(kind Kind, k look) Paint {
	switch kind {
	case Bars, Spans:
		return Paint{Fill: Opacity(k.colour, or(k.fill, 1)*k.opacity)}
	case Polygon:
		paint := p.pen(k)
		paint.Width *= 0.7
		paint.Fill = Opacity(k.colour, or(k.fill, 0.15)*k.opacity)
		return paint
	case Band:
		return Paint{Fill: Opacity(k.colour, or(k.fill, 0.18)*k.opacity)}
	}
	return Paint{Fill: Opacity(k.colour, or(k.fill, 0.25)*k.opacity)}
}

// crowd is the number of markers from which on they are smaller and translucent and have no outline.
const crowd = 400

func (p *painter) markers(l *Layer, k look, y *scale) {
	var at []Point
	for n := range l.X {
		if q, ok := p.place(l, n, y); ok {
			at = append(at, q)
		}
	}
	size, paint := k.size*p.unit, Paint{Fill: Opacity(k.colour, k.opacity)}
	if len(at) > crowd {
		if k.opacity == 1 {
			paint.Fill = Opacity(k.colour, 0.6)
		}
		size = min(size, 7*p.unit)
	} else if k.opacity == 1 {
		paint.Stroke, paint.Width = p.colours.plot, 1
		size++
	}
	p.Markers(at, k.shape, size, paint)
	if len(at) <= crowd {
		for _, q := range at {
			p.marks = append(p.marks, around(q, size/2))
		}
	}
}

// bars draws bars; those of several layers around the same places stand side by side.
func (p *painter) bars(i int, l *Layer, k look, y *scale) {
	beside, before := 0, 0
	for n := range p.figure.Layers {
		if other := &p.figure.Layers[n]; other.Kind == Bars && len(other.XEnd) == 0 {
			beside++
			if n < i {
				before++
			}
		}
	}
	base, paint, width := y.base(), p.surface(Bars, k), spacing(l.X)*0.8
	for n := range l.X {
		from, to := value(l.X, n), value(l.XEnd, n)
		if len(l.XEnd) == 0 {
			each := width / float64(beside)
			from += -width/2 + each*float64(before)
			to = from + each*0.96
		}
		x0, x1, top := p.x.at(from), p.x.at(to), y.at(value(l.Y, n))
		if math.IsNaN(x0) || math.IsNaN(x1) || math.IsNaN(top) {
			continue
		}
		x0, x1 = min(x0, x1), max(x0, x1)
		if len(l.XEnd) > 0 && x1-x0 > 4 {
			x1-- // a gap to the next one
		}
		p.Rect(x0, min(top, base), max(x1-x0, 0.5), max(math.Abs(base-top), 0.01), 0, paint)
	}
}

// band fills between two lines; without places it goes over the whole width.
func (p *painter) band(l *Layer, k look, y *scale) {
	paint := p.surface(Band, k)
	if len(l.X) == 0 {
		low, high := y.at(value(l.Low, 0)), y.at(value(l.High, 0))
		if !math.IsNaN(low) && !math.IsNaN(high) {
			p.Rect(p.left, min(low, high), p.right-p.left, math.Abs(high-low), 0, paint)
		}
		return
	}
	var upper, lower []Point
	end := func() {
		if len(upper) == 1 {
			at := upper[0]
			p.Rect(at.X-2*p.unit, at.Y, 4*p.unit, lower[0].Y-at.Y, 0, paint)
		} else if len(upper) > 1 {
			slices.Reverse(lower)
			p.Path(pathOf(append(upper, lower...)).Close(), paint)
		}
		upper, lower = nil, nil
	}
	for n := range l.X {
		x, low, high := p.x.at(l.X[n]), y.at(value(l.Low, n)), y.at(value(l.High, n))
		if math.IsNaN(x) || math.IsNaN(low) || math.IsNaN(high) {
			end()
			continue
		}
		upper, lower = append(upper, Point{X: x, Y: high}), append(lower, Point{X: x, Y: low})
	}
	end()
}

func (p *painter) errors(l *Layer, k look, y *scale) {
	pen := Paint{Stroke: Opacity(k.colour, k.opacity), Width: or(0.7*k.width, 1.5) * p.unit}
	cap := min(5*p.unit, max(1, (p.right-p.left)/float64(len(l.X)+1)/3))
	path := new(Path)
	for n := range l.X {
		x, low, high := p.x.at(l.X[n]), y.at(value(l.Low, n)), y.at(value(l.High, n))
		if math.IsNaN(x) || math.IsNaN(low) || math.IsNaN(high) {
			continue
		}
		path.Move(x, low).Line(x, high).Move(x-cap, low).Line(x+cap, low).Move(x-cap, high).Line(x+cap, high)
	}
	p.Path(path, pen)
}

// spans draws horizontal bars, as thick as the distance of their rows allows.
func (p *painter) spans(l *Layer, k look, y *scale) {
	rows := slices.Clone(l.Y)
	slices.Sort(rows)
	thick := math.Abs(y.at(y.lo+spacing(rows)) - y.at(y.lo))
	if math.IsNaN(thick) {
		thick = 0
	}
	thick = min(max(thick*0.8, 1), 16*p.unit)
	if size := l.Look.Size; size > 0 {
		thick = size * p.unit
	}
	paint := p.surface(Spans, k)
	for n := range l.X {
		from, to, at := p.x.at(l.X[n]), p.x.at(value(l.XEnd, n)), y.at(value(l.Y, n))
		if !math.IsNaN(from) && !math.IsNaN(to) && !math.IsNaN(at) {
			p.Rect(min(from, to), at-thick/2, max(math.Abs(to-from), 0.5), thick, 0, paint)
		}
	}
}

var kinds = [...]string{"line", "stair", "points", "area", "stair-area", "bars", "band", "errors", "polygon", "spans", "level"}

// String returns the name of the kind in files.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return "unknown"
}

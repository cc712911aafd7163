package chart

import (
	"math"
)

// axes draws the plot's background, its grid, and the ticks with their labels.
func (p *painter) axes() {
	u, c := p.unit, p.colours
	if c.plot != c.paper {
		p.Rect(p.left, p.top, p.right-p.left, p.bottom-p.top, 0, Paint{Fill: c.plot})
	}
	grid := Paint{Stroke: c.grid, Width: 1}
	faint := Paint{Stroke: Opacity(c.grid, 0.5), Width: 1}
	p.Open("", "part", "axes")
	font := p.softFont(tickSize)
	font.Align = AlignEnd
	last := math.Inf(1)
	for _, t := range p.y.ticks {
		y := sharp(p.y.at(t.value))
		if math.IsNaN(y) || y < p.top-1 || y > p.bottom+1 {
			continue
		}
		if t.label == "" {
			p.Line(p.left, y, p.right, y, faint)
			continue
		}
		p.Line(p.left, y, p.right, y, grid)
		if math.Abs(last-y) >= 20*u { // else it would touch the one below
			p.Text(p.left-8*u, y+6.5*u, font.Fit(t.label, (p.right-p.left)/3), font)
			last = y
		}
	}
	p.horizontal(grid, faint)
	if p.y2 != nil {
		font.Align = AlignStart
		last = math.Inf(1)
		for _, t := range p.y2.ticks {
			y := sharp(p.y2.at(t.value))
			if t.label == "" || math.IsNaN(y) || math.Abs(last-y) < 20*u || y < p.top-1 || y > p.bottom+1 {
				continue
			}
			p.Line(p.right, y, p.right+5*u, y, Paint{Stroke: c.axis, Width: 1})
			p.Text(p.right+9*u, y+6.5*u, t.label, font)
			last = y
		}
		p.Line(sharp(p.right), p.top, sharp(p.right), p.bottom, Paint{Stroke: c.axis, Width: 1})
	}
	if !p.y.log && p.y.lo < 0 && p.y.hi > 0 {
		zero := sharp(p.y.at(0))
		p.Line(p.left, zero, p.right, zero, Paint{Stroke: c.axis, Width: 1})
	}
	p.Line(p.left, sharp(p.bottom), p.right, sharp(p.bottom), Paint{Stroke: c.axis, Width: 1.4})
	p.Close()
}

// horizontal draws the ticks of the x axis; labels that would touch are left out.
func (p *painter) horizontal(grid, faint Paint) {
	u := p.unit
	font := p.softFont(tickSize)
	font.Align = AlignMiddle
	named := len(p.figure.X.Categories) > 0
	every, step := 1, 0.0
	if named {
		step = (p.right - p.left) / float64(len(p.figure.X.Categories))
		every = max(1, int(math.Ceil(64*u/step)))
	}
	ends := math.Inf(-1)
	for i, t := range p.x.ticks {
		x := sharp(p.x.at(t.value))
		if math.IsNaN(x) || x < p.left-1 || x > p.right+1 {
			continue
		}
		if t.label == "" {
			p.Line(x, p.top, x, p.bottom, faint)
			continue
		}
		if !named {
			p.Line(x, p.top, x, p.bottom, grid)
		}
		p.Line(x, p.bottom, x, p.bottom+5*u, Paint{Stroke: p.colours.axis, Width: 1})
		if named {
			if i%every == 0 {
				for k, line := range font.Wrap(t.label, step*float64(every)*0.92, 2) {
					p.Text(x, p.bottom+(24+21*float64(k))*u, line, font)
				}
			}
			continue
		}
		half := font.Measure(t.label) / 2
		if x-half > ends+8*u {
			p.Text(x, p.bottom+24*u, t.label, font)
			ends = x + half
		}
	}
}

// sharp moves a thin line to the middle of a pixel.
func sharp(v float64) float64 { return math.Floor(v) + 0.5 }

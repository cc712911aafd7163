package chart

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
)

// The sizes of texts in a figure of the default size: legible at half of it, as pages show it.
const (
	titleSize    = 29
	subtitleSize = 20
	labelSize    = 20
	tickSize     = 18.5
	legendSize   = 19
	noteSize     = 17
)

// layout places title, legend, labels and notes, and what is left is the plot.
func (p *painter) layout() {
	f, u := p.figure, p.unit
	edge := min(28*u, p.Width/20, p.Height/12)
	width := p.Width - 2*edge
	y := edge
	title := p.font(titleSize)
	title.Bold = true
	for _, line := range title.Wrap(f.Title, width, 2) {
		y += titleSize * u
		p.Text(edge, y, line, title)
		y += 7 * u
	}
	subtitle := p.softFont(subtitleSize)
	for _, line := range subtitle.Wrap(f.Subtitle, width, 2) {
		y += subtitleSize * u
		p.Text(edge, y, line, subtitle)
		y += 5 * u
	}
	p.scales()
	bottom := p.Height - edge
	note := p.softFont(noteSize)
	for i := len(p.notes) - 1; i >= 0; i-- {
		lines := note.Wrap(p.notes[i], width, 2)
		for k := len(lines) - 1; k >= 0; k-- {
			p.Text(edge, bottom-4*u, lines[k], note)
			bottom -= (noteSize + 5) * u
		}
	}
	if len(p.notes) > 0 {
		bottom -= 4 * u
	}
	p.left, p.right = edge, p.Width-edge
	y += 4 * u
	y = p.legend(y, bottom)
	label := p.softFont(labelSize)
	half := p.right - p.left
	if f.Y2 != nil {
		half = (half - 20*u) / 2
	}
	if f.Y.Label != "" || f.Y2 != nil && f.Y2.Label != "" {
		y += (labelSize + 2) * u
		p.Text(p.left, y, label.Fit(f.Y.Label, half), p.axisFont(false))
		if f.Y2 != nil {
			font := p.axisFont(true)
			font.Align = AlignEnd
			p.Text(p.right, y, label.Fit(f.Y2.Label, half), font)
		}
		y += 4 * u
	}
	p.top = y + 10*u
	if f.X.Label != "" {
		font, at := label, bottom-5*u
		font.Align = AlignMiddle
		defer func() { // when the plot's edges are known
			p.Text((p.left+p.right)/2, at, label.Fit(f.X.Label, p.right-p.left), font)
		}()
		bottom -= 26 * u
	}
	ticks := 30 * u
	if len(f.X.Categories) > 0 && p.twoLines() {
		ticks += 21 * u
	}
	p.bottom = bottom - ticks
	if p.bottom < p.top+20 { // a picture too small for its texts
		p.top = min(p.top, p.Height*0.45)
		p.bottom = max(p.bottom, p.top+20)
	}
	p.sides()
}

// axisFont is the font of the label of a vertical axis: where two axes have one colour of layers each, it has that.
func (p *painter) axisFont(right bool) Font {
	font := p.softFont(labelSize)
	if p.figure.Y2 == nil {
		return font
	}
	first := true
	for i := range p.figure.Layers {
		if p.figure.Layers[i].Right != right {
			continue
		}
		if c := Opacity(p.looks[i].colour, 1); first {
			font.Colour, first = c, false
		} else if c != font.Colour {
			return p.softFont(labelSize)
		}
	}
	return font
}

// scales makes the scales of the three axes; their points are not known yet.
func (p *painter) scales() {
	f := p.figure
	p.notes = append(p.notes, f.Notes...)
	x, y, y2 := newExtent(), newExtent(), newExtent()
	horizontal := room{pad: 0}
	for i := range f.Layers {
		l := &f.Layers[i]
		e := &y
		if l.Right && f.Y2 != nil {
			e = &y2
		}
		if l.Kind == Level {
			e.add(value(l.Y, 0))
			continue
		}
		x.add(l.X...)
		x.add(l.XEnd...)
		if l.Kind != Band && l.Kind != Errors {
			e.add(l.Y...)
		}
		e.add(l.Low...)
		e.add(l.High...)
		switch l.Kind {
		case Points, Errors, Polygon:
			horizontal.pad = 0.03
		case Bars:
			if len(l.XEnd) == 0 {
				half := spacing(l.X) / 2
				x.add(x.lo-half, x.hi+half)
			}
			fallthrough
		case Area, StairArea:
			if a := f.vertical(l); !a.Log && a.Min == nil {
				e.add(0)
			}
		}
	}
	var denied [3]bool
	p.x, denied[0] = newScale(&f.X, x, horizontal, 10)
	p.y, denied[1] = newScale(&f.Y, y, room{pad: 0.02, round: true}, 6)
	if f.Y2 != nil {
		p.y2, denied[2] = newScale(f.Y2, y2, room{pad: 0.02, round: true}, 6)
	}
	for i, no := range denied {
		if no {
			p.notes = append(p.notes, [...]string{"The horizontal", "The vertical", "The right"}[i]+
				" axis is linear: a logarithmic one needs values above 0.")
		}
	}
	p.empty = !y.any && !y2.any || !x.any && !p.everywhere()
	for i := range f.Layers {
		l := &f.Layers[i]
		if n := l.size(); n > maxShapes && (l.Kind == Points || l.Kind == Spans || l.Kind == Errors) {
			p.notes = append(p.notes, fmt.Sprintf("A sample of the %s %s is drawn; extremes are kept.",
				artifact.GroupThousands(fmt.Sprint(n)), or2(l.Name, "points")))
		}
	}
}

// everywhere reports whether a layer needs no place on the x axis.
func (p *painter) everywhere() bool {
	return slices.ContainsFunc(p.figure.Layers, func(l Layer) bool {
		return l.Kind == Level || l.Kind == Band && len(l.X) == 0
	})
}

func or2(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// vertical returns the axis of the values of a layer.
func (f *Figure) vertical(l *Layer) *Axis {
	if l.Right && f.Y2 != nil {
		return f.Y2
	}
	return &f.Y
}

// sides makes room for the labels of the vertical axes, and sets the points of all scales.
func (p *painter) sides() {
	u := p.unit
	font := p.softFont(tickSize)
	widest := func(s *scale) (out float64) {
		for _, t := range s.ticks {
			out = max(out, font.Measure(t.label))
		}
		return min(out, (p.right-p.left)/4)
	}
	p.categories(p.y, &p.figure.Y)
	p.left += widest(p.y) + 10*u
	if p.y2 != nil {
		p.categories(p.y2, p.figure.Y2)
		p.right -= widest(p.y2) + 10*u
	} else {
		p.right -= 6 * u
	}
	if p.right < p.left+20 {
		p.right = p.left + 20
	}
	p.categories(p.x, &p.figure.X)
	// The label of the last tick may stand out on the right.
	if n := len(p.x.ticks); n > 0 && p.y2 == nil {
		p.right -= max(0, min(font.Measure(p.x.ticks[n-1].label)/2-6*u, 60*u))
	}
	p.x.from, p.x.to = p.left, p.right
	p.y.from, p.y.to = p.bottom, p.top
	if p.y2 != nil {
		p.y2.from, p.y2.to = p.bottom, p.top
		p.alignRight()
	}
}

// categories sets the ticks of an axis with names.
func (p *painter) categories(s *scale, a *Axis) {
	if len(a.Categories) == 0 {
		return
	}
	s.ticks = nil
	for i, c := range a.Categories {
		s.ticks = append(s.ticks, tick{float64(i), c})
	}
}

// twoLines reports whether names of categories need two lines.
func (p *painter) twoLines() bool {
	n := len(p.figure.X.Categories)
	font := p.softFont(tickSize)
	for _, c := range p.figure.X.Categories {
		if font.Measure(c) > (p.right-p.left)*0.9/float64(n) {
			return true
		}
	}
	return false
}

// alignRight lets the ticks of the right axis stand on the lines of the left one, where that costs little room.
func (p *painter) alignRight() {
	y, r, a := p.y, p.y2, p.figure.Y2
	n := len(y.ticks) - 1
	fixed := a.Min != nil || a.Max != nil
	if y.log || r.log || n < 1 || len(r.ticks) < 2 || len(a.Categories) > 0 ||
		y.ticks[0].value > y.lo+1e-9*(y.hi-y.lo) || y.ticks[n].value < y.hi-1e-9*(y.hi-y.lo) {
		return
	}
	lo, hi := r.ticks[0].value, r.ticks[len(r.ticks)-1].value
	step := NiceStep((hi - lo) / float64(n))
	if fixed {
		if even := (r.hi - r.lo) / float64(n); decimals(even) <= 2 { // else the axis keeps its own ticks
			r.ticks = nil
			r.linear(even)
		}
		return
	}
	for range 3 {
		from := math.Floor(lo/step+1e-9) * step
		if from+float64(n)*step >= hi-1e-9*step {
			r.lo, r.hi, r.ticks = from, from+float64(n)*step, nil
			r.linear(step)
			return
		}
		step = NiceStep(step * 1.01)
	}
}

// spacing is the smallest distance between values, 1 where there is none.
func spacing(values []float64) float64 {
	least := math.Inf(1)
	for i := 1; i < len(values); i++ {
		if d := math.Abs(values[i] - values[i-1]); d > 0 {
			least = min(least, d)
		}
	}
	if !artifact.Finite(least) {
		return 1
	}
	return least
}

package chart

import (
	"fmt"
)

// entry is a name in the legend with the layers that have it.
type entry struct {
	name   string
	layers []int
}

func (f *Figure) entries() (out []entry) {
	place := map[string]int{}
	for i := range f.Layers {
		n := f.Layers[i].Name
		if n == "" {
			continue
		}
		k, known := place[n]
		if !known {
			k = len(out)
			place[n] = k
			out = append(out, entry{name: n})
		}
		out[k].layers = append(out[k].layers, i)
	}
	return out
}

// maxRows is how many rows above the plot a legend may have; a longer one stands beside it.
const maxRows = 2

// legend draws the legend between the heights y and bottom, and returns where it ends. No legend covers the plot.
func (p *painter) legend(y, bottom float64) float64 {
	entries, u := p.figure.entries(), p.unit
	if len(entries) == 0 {
		return y
	}
	font := p.font(legendSize)
	const key, gap, between = 32.0, 9.0, 26.0
	width := p.right - p.left
	name := func(e entry) string { return font.Fit(e.name, width*0.6) }
	x, rows := 0.0, 1
	for _, e := range entries {
		w := (key+gap)*u + font.Measure(name(e))
		if x > 0 && x+w > width {
			x, rows = 0, rows+1
		}
		x += w + between*u
	}
	if rows <= maxRows {
		x, y = p.left, y+22*u
		for _, e := range entries {
			w := (key+gap)*u + font.Measure(name(e))
			if x > p.left && x+w > p.right {
				x, y = p.left, y+28*u
			}
			p.key(e, x, y-6.5*u, key*u)
			p.Text(x+(key+gap)*u, y, name(e), font)
			x += w + between*u
		}
		return y + 9*u
	}
	return p.column(entries, y, bottom, (key+gap)*u, key*u)
}

// column draws the legend on the right of the plot.
func (p *painter) column(entries []entry, y, bottom, indent, key float64) float64 {
	u, font := p.unit, p.font(legendSize)
	top := y
	fits := max(int((bottom-y)/(27*u)), 1)
	more := ""
	if len(entries) > fits {
		more = fmt.Sprintf("and %d more", len(entries)-fits+1)
		entries = entries[:fits-1]
	}
	widest := font.Measure(more)
	for _, e := range entries {
		widest = max(widest, font.Measure(e.name))
	}
	widest = min(widest, (p.right-p.left)*0.28-indent)
	p.right -= widest + indent + 24*u
	x := p.right + 24*u
	for _, e := range entries {
		y += 27 * u
		p.key(e, x, y-6.5*u, key)
		p.Text(x+indent, y, font.Fit(e.name, widest), font)
	}
	if more != "" {
		soft := p.softFont(legendSize)
		p.Text(x+indent, y+27*u, soft.Fit(more, widest), soft)
	}
	return top
}

// key draws what the layers of an entry look like, around a height.
func (p *painter) key(e entry, x, y, width float64) {
	u := p.unit
	for _, i := range e.layers {
		k := p.looks[i]
		middle := x + width/2
		switch kind := p.figure.Layers[i].Kind; kind {
		case Line, Stair, Level:
			p.Line(x, y, x+width, y, p.pen(k))
		case Points:
			p.Markers([]Point{{X: middle, Y: y}}, k.shape, min(k.size, 12)*u, Paint{Fill: k.colour})
		case Errors:
			p.Line(middle, y-8*u, middle, y+8*u, Paint{Stroke: k.colour, Width: 1.6 * u})
			p.Line(middle-5*u, y-8*u, middle+5*u, y-8*u, Paint{Stroke: k.colour, Width: 1.6 * u})
			p.Line(middle-5*u, y+8*u, middle+5*u, y+8*u, Paint{Stroke: k.colour, Width: 1.6 * u})
		default:
			paint := p.surface(kind, k)
			p.Rect(x+2*u, y-7*u, width-4*u, 14*u, 0, paint)
			if kind == Area || kind == StairArea {
				p.Line(x+2*u, y-7*u, x+width-2*u, y-7*u, p.pen(k))
			}
		}
	}
}

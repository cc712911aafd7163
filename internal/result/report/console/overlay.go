package console

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"aiperf/internal/result/answer"
)

// Overlay is a figure of several series of runs over the same parameter, on common axes.
type Overlay struct {
	Load   answer.Parameter
	Metric answer.Metric
	Series []OverlaySeries
}

// OverlaySeries has the points of one series in the order of their loads.
type OverlaySeries struct {
	Name   string
	Points []answer.Point
}

// overlayLogarithmic is how many times the smallest load the largest one is where the axis of an overlay becomes
// logarithmic: loads are mostly doubled from one run to the next.
const overlayLogarithmic = 8

// overlayLook is how a series is drawn: colours alone are lost in a file, and to the colour-blind.
type overlayLook struct {
	style       style
	mark, ascii rune
}

var overlayLooks = [...]overlayLook{{dim, '○', 'o'}, {cyan, '●', '*'}, {yellow, '◆', '+'}, {green, '■', '#'}}

// RenderOverlays writes figures one below the other, or two side by side where there is room, with one legend.
func RenderOverlays(w io.Writer, list []Overlay, o Options) error {
	p := newPage(&o)
	width := min(p.width, 2*widestPlot)
	half := (width - plotMargin) / 2
	var blocks [][][]span
	for i := range list {
		if f := list[i].lines(half, shortPlot+2, o.ASCII); half >= leastHalf {
			blocks = append(blocks, f)
		} else {
			blocks = append(blocks, list[i].lines(width, shortPlot+2, o.ASCII))
		}
	}
	for i := 0; i < len(blocks); i++ {
		if i > 0 {
			p.blank(1)
		}
		if half < leastHalf || i+1 == len(blocks) {
			p.beside(blocks[i], nil, 0)
			continue
		}
		p.beside(blocks[i], blocks[i+1], half+plotMargin)
		i++
	}
	if len(list) > 0 {
		var line []span
		for k, s := range list[0].Series {
			look := overlayLooks[k%len(overlayLooks)]
			line = append(line, span{string(either(o.ASCII, look.ascii, look.mark)) + " ", look.style},
				span{safe(s.Name) + "   ", plain})
		}
		p.line(append(line, span{"horizontal: " + safe(list[0].Load.Name), dim})...)
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// lines returns the lines of the figure in a width. Each series is drawn on a canvas of its own, and these are laid on
// one another: a later one covers an earlier one.
func (o *Overlay) lines(width, rows int, ascii bool) [][]span {
	union := o.union(ascii)
	union.measure()
	union.x.log = union.x.low > 0 && union.x.high >= overlayLogarithmic*union.x.low
	labels := map[int]string{0: onAxis(union.y.high), (rows - 1) / 2: onAxis(union.y.middle()),
		rows - 1: onAxis(union.y.low)}
	room := 0
	for _, text := range labels {
		room = max(room, columns(text))
	}
	across := max(width-room-2, 8)
	drawn := make([]*canvas, len(o.Series))
	for k := range o.Series {
		drawn[k] = o.draw(k, union, newCanvas(across, rows, ascii))
	}
	heading := o.Metric.Short
	if o.Metric.Stat != "avg" {
		heading += " " + o.Metric.Stat
	}
	if o.Metric.Unit != "" && !strings.Contains(heading, "/") {
		heading += " (" + o.Metric.Unit + ")"
	}
	out := [][]span{{{safe(heading), bold}}}
	for n := range rows {
		line := []span{{pad(room-columns(labels[n])) + labels[n] + " ", dim}, {string(either(ascii, '|', '│')), dim}}
		out = append(out, append(line, laid(drawn, n)...))
	}
	out = append(out, append([]span{{pad(room+1) + string(either(ascii, '+', '└')), dim}}, union.axis(across)...))
	return append(out, []span{{pad(room+2) + union.ticks(across), dim}})
}

// union is the plot of all points, whose scales are those of the series.
func (o *Overlay) union(ascii bool) *plot {
	c := &answer.Curve{Load: o.Load, Limit: math.NaN(), Boundary: math.NaN(), Low: math.NaN(), High: math.NaN(),
		Knee: -1, Recommended: -1}
	for _, s := range o.Series {
		c.Points = append(c.Points, s.Points...)
	}
	slices.SortStableFunc(c.Points, func(a, b answer.Point) int { return cmp.Compare(a.Load, b.Load) })
	f := &plot{curve: c, metric: o.Metric, ascii: ascii, limit: math.NaN()}
	for i := range c.Points {
		f.at = append(f.at, i)
	}
	return f
}

// draw draws a series with the scales of all.
func (o *Overlay) draw(k int, union *plot, c *canvas) *canvas {
	look := overlayLooks[k%len(overlayLooks)]
	f := &plot{curve: &answer.Curve{Points: o.Series[k].Points, Knee: -1, Recommended: -1}, metric: o.Metric,
		ascii: union.ascii, style: look.style, limit: math.NaN(), x: union.x, y: union.y}
	for i := range f.curve.Points {
		f.at = append(f.at, i)
	}
	f.draw(c)
	for i := range f.curve.Points {
		at := &f.curve.Points[i]
		if at.Verdict == answer.Infeasible || at.Verdict == answer.ClientLimited {
			continue // these have marks of their own
		}
		c.put(f.x.share(at.Load), f.y.share(at.At(o.Metric)), mark{either(f.ascii, look.ascii, look.mark), look.style})
	}
	return c
}

// laid returns a row of canvases of the same size, the last on top; marks cover lines.
func laid(list []*canvas, n int) []span {
	top := newCanvas(list[0].columns, 1, list[0].ascii)
	styles := make([]style, top.columns)
	for k, c := range list {
		for i := range c.columns {
			at := n*c.columns + i
			if c.marks[at].text != 0 {
				top.marks[i] = c.marks[at]
			}
			if c.dots[at] != 0 {
				top.dots[i], styles[i] = c.dots[at], overlayLooks[k%len(overlayLooks)].style
			}
		}
	}
	var out []span
	for i := range top.columns {
		one := &canvas{columns: 1, rows: 1, ascii: top.ascii, dots: top.dots[i : i+1], marks: top.marks[i : i+1]}
		out = append(out, one.row(0, styles[i])...)
	}
	return out
}

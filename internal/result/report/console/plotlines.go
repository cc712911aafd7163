package console

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// plot is one figure over the load.
type plot struct {
	curve  *answer.Curve
	metric answer.Metric
	ascii  bool
	style  style
	limit  float64 // NaN for none
	x, y   scale
	// at are the indices of the points that have the figure.
	at []int
}

// scale maps values to [0, 1].
type scale struct {
	low, high float64
	log       bool
}

func (s scale) share(v float64) float64 {
	if s.high == s.low {
		return 0.5
	}
	if s.log {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// middle returns the value at the middle.
func (s scale) middle() float64 {
	if s.log {
		return math.Sqrt(s.low * s.high)
	}
	return (s.low + s.high) / 2
}

// newPlot returns the plot of a figure; nil if fewer than two points have it.
func newPlot(c *answer.Curve, m answer.Metric, ascii bool, of style) *plot {
	f := &plot{curve: c, metric: m, ascii: ascii, style: of, limit: math.NaN()}
	if m.Tag == "" {
		return nil
	}
	for i := range c.Points {
		if artifact.Finite(c.Points[i].At(m)) {
			f.at = append(f.at, i)
		}
	}
	if len(f.at) < 2 {
		return nil
	}
	return f
}

// measure sets the scales.
func (f *plot) measure() {
	points := f.curve.Points
	f.x = scale{low: points[0].Load, high: points[len(points)-1].Load}
	// A search ends soon beyond the boundary, which a logarithmic axis would press against the end.
	f.x.log = f.x.low > 0 && f.x.high >= logarithmic*f.x.low && !artifact.Finite(f.curve.Boundary)
	f.y = scale{low: math.Inf(1), high: math.Inf(-1)}
	for _, i := range f.at {
		v := points[i].At(f.metric)
		f.y.low, f.y.high = min(f.y.low, v), max(f.y.high, v)
	}
	if !math.IsNaN(f.limit) {
		f.y.low, f.y.high = min(f.y.low, f.limit), max(f.y.high, f.limit)
	}
	f.y.log = f.metric == f.curve.Latency && f.y.low > 0 && f.y.high >= logarithmic*f.y.low
	if !f.y.log {
		f.y.low = min(f.y.low, 0)
	}
}

// print appends the lines of the plot to the page.
func (f *plot) print(p *page, width, rows int) {
	for _, line := range f.lines(width, rows) {
		p.line(line...)
	}
}

// lines returns the lines of the plot in a width: its title, the rows, the axis of the load and its labels.
func (f *plot) lines(width, rows int) [][]span {
	f.measure()
	labels := map[int]string{0: onAxis(f.y.high), rows - 1: onAxis(f.y.low)}
	if rows > 4 {
		labels[(rows-1)/2] = onAxis(f.y.middle())
	}
	if row := f.limitRow(rows); row >= 0 {
		// The row of the limit has its label; another one beside it would say a second figure of the same height.
		if near := (rows - 1) / 2; near-1 <= row && row <= near+1 {
			delete(labels, near)
		}
		if row > 0 && row < rows-1 {
			labels[row] = onAxis(f.limit)
		}
	}
	room := 0
	for _, text := range labels {
		room = max(room, columns(text))
	}
	c := newCanvas(max(width-room-2, 8), rows, f.ascii)
	f.draw(c)
	side, corner := "│", "└"
	if f.ascii {
		side, corner = "|", "+"
	}
	heading := f.metric.Title()
	if rows < tallPlot {
		heading = f.metric.Short
	}
	if f.metric.Unit != "" {
		heading += " (" + f.metric.Unit + ")"
	}
	out := [][]span{}
	for _, line := range wrap(safe(heading), width) {
		out = append(out, []span{{line, bold}})
	}
	for n := range rows {
		line := []span{{pad(room-columns(labels[n])) + labels[n] + " ", dim}, {side, dim}}
		out = append(out, append(line, c.row(n, f.style)...))
	}
	out = append(out, append([]span{{pad(room+1) + corner, dim}}, f.axis(c.columns)...))
	return append(out, []span{{pad(room+2) + f.ticks(c.columns), dim}})
}

// limitRow returns the row from the top in which the limit is drawn, -1 without one.
func (f *plot) limitRow(rows int) int {
	if math.IsNaN(f.limit) {
		return -1
	}
	return rows - 1 - place(f.y.share(f.limit), rows)
}

// onAxis writes a number beside an axis; a large one is rounded.
func onAxis(v float64) string {
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return artifact.Short(v)
}

// draw draws the curve, its points and its limit.
func (f *plot) draw(c *canvas) {
	points := f.curve.Points
	place := func(i int) (x, y float64) { return f.x.share(points[i].Load), f.y.share(points[i].At(f.metric)) }
	for k := 1; k < len(f.at); k++ {
		x0, y0 := place(f.at[k-1])
		x1, y1 := place(f.at[k])
		c.line(x0, y0, x1, y1)
	}
	for _, i := range f.at {
		x, y := place(i)
		c.put(x, y, pointMark(points[i].Verdict, f.ascii, f.style))
	}
	for _, special := range []struct {
		at   int
		mark mark
	}{{f.curve.Knee, mark{'K', bold}}, {f.curve.Recommended, mark{'R', label}}} {
		if slices.Contains(f.at, special.at) {
			x, y := place(special.at)
			c.put(x, y, special.mark)
		}
	}
	if !math.IsNaN(f.limit) {
		c.across(f.y.share(f.limit), mark{either(f.ascii, '-', '╌'), red})
	}
}

// pointMark returns the mark of a point that was measured.
func pointMark(v answer.Verdict, ascii bool, of style) mark {
	switch v {
	case answer.Infeasible:
		return mark{either(ascii, 'x', '×'), red}
	case answer.ClientLimited:
		return mark{'?', yellow}
	}
	return mark{either(ascii, 'o', '●'), of}
}

func either(ascii bool, a, b rune) rune {
	if ascii {
		return a
	}
	return b
}

// axis returns the axis of the load with the boundary and its interval.
func (f *plot) axis(width int) []span {
	text := []rune(strings.Repeat(string(either(f.ascii, '-', '─')), width))
	c := f.curve
	at := func(v float64) int { return place(min(max(f.x.share(v), 0), 1), width) }
	if artifact.Finite(c.Low) && artifact.Finite(c.High) {
		for i := at(c.Low); i <= at(c.High); i++ {
			text[i] = either(f.ascii, '=', '━')
		}
	}
	if artifact.Finite(c.Boundary) {
		text[at(c.Boundary)] = either(f.ascii, '^', '▲')
	}
	return []span{{string(text), dim}}
}

// ticks returns the labels below the axis: the ends of the measured loads, and of those between what fits.
func (f *plot) ticks(width int) string {
	line := []rune(pad(width))
	write := func(load float64) {
		text := []rune(onAxis(load))
		from := min(max(place(f.x.share(load), width)-len(text)/2, 0), width-len(text))
		if from < 0 {
			return
		}
		for i := max(from-2, 0); i < min(from+len(text)+2, width); i++ {
			if line[i] != ' ' {
				return
			}
		}
		copy(line[from:], text)
	}
	points := f.curve.Points
	write(points[0].Load)
	write(points[len(points)-1].Load)
	for i := range points {
		write(points[i].Load)
	}
	return strings.TrimRight(string(line), " ")
}

// beside appends two blocks of lines side by side, the second from a column on.
func (p *page) beside(left, right [][]span, from int) {
	for i := range max(len(left), len(right)) {
		var line []span
		used := 0
		if i < len(left) {
			line = append(line, left[i]...)
			for _, s := range left[i] {
				used += columns(s.text)
			}
		}
		if i < len(right) {
			line = append(append(line, span{pad(from - used), plain}), right[i]...)
		}
		p.line(line...)
	}
}

// plotLegend explains the marks that the plots have.
func plotLegend(c *answer.Curve, ascii bool) string {
	name := c.Load.Name
	if c.Load.Unit != "" && c.Load.Unit != name {
		name += " (" + c.Load.Unit + ")"
	}
	parts := []string{"Horizontal: " + safe(name)}
	add := func(shown bool, text string) {
		if shown {
			parts = append(parts, text)
		}
	}
	has := func(v answer.Verdict) bool {
		return slices.ContainsFunc(c.Points, func(p answer.Point) bool { return p.Verdict == v })
	}
	add(!math.IsNaN(c.Limit), string([]rune{either(ascii, '-', '╌'), either(ascii, '-', '╌')})+" limit "+
		strings.TrimSpace(artifact.Short(c.Limit)+" "+c.Latency.Unit))
	add(has(answer.Infeasible), string(either(ascii, 'x', '×'))+" misses a limit")
	add(has(answer.ClientLimited), "? limited by the client")
	if c.Knee >= 0 && c.Knee == c.Recommended {
		parts = append(parts, "R knee and recommended, "+artifact.Short(c.Points[c.Knee].Load))
	} else {
		add(c.Knee >= 0, "K knee")
		if c.Knee >= 0 {
			parts[len(parts)-1] += ", " + artifact.Short(c.Points[c.Knee].Load)
		}
		add(c.Recommended >= 0, "R recommended")
		if c.Recommended >= 0 {
			parts[len(parts)-1] += ", " + artifact.Short(c.Points[c.Recommended].Load)
		}
	}
	if artifact.Finite(c.Boundary) {
		text := string(either(ascii, '^', '▲')) + " boundary, " + artifact.Short(c.Boundary)
		if interval := answer.Between(c.Low, c.High); interval != "" {
			text += " (" + interval + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "."
}

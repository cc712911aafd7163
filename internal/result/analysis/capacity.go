package analysis

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/judge"
)

// capacity fills the card of the answer to how much load a server takes: the answer, what binds, and a row for each load,
// in ascending order, that of the answer among them.
func (c *Card) capacity(a *answer.Capacity) {
	within := ""
	for i, l := range a.Limits {
		if i > 0 {
			within += ", "
		}
		within += answer.LimitText(l)
	}
	largest := a.Load.Largest()
	f := CardFigure{Name: strings.ToUpper(largest[:1]) + largest[1:] + " within the limits", Unit: a.Load.Unit,
		Detail: within}
	finding := CardFinding{judge.Good, "Limits: " + within, a.Bound()}
	switch {
	case a.Outcome == answer.NotEvenSmallest:
		f.Value, finding.Level = "none", judge.Bad
		finding.Title = "Not even " + a.Load.Value(a.Lo) + " meets the limits: " + within
	case !artifact.Finite(a.Value):
		f.Value, finding.Level = "not decided", judge.Warn
	default:
		if f.Value = artifact.Short(a.Value); a.Outcome == answer.WholeRange {
			f.Value = "≥ " + artifact.Short(a.Hi)
		} else if a.Outcome == answer.Undecided {
			finding.Level = judge.Warn
		}
		if b := answer.Between(a.Low, a.High); b != "" {
			f.Detail = answer.Percent(a.Level) + ": " + b
		}
	}
	c.Figures = append([]CardFigure{f}, c.Figures...)
	c.Findings = append(c.Findings, finding)
	if a.Why != nil {
		c.Findings = append(c.Findings, CardFinding{a.Why.Level, a.Why.Title, a.Why.Text})
	}
	c.Notes = append(c.Notes, a.Notes...)
	if len(a.Curve.Points) > 0 {
		c.Curve, c.Limits = &a.Curve, a.Limits
		c.loads(&a.Curve)
	}
}

// loads makes the table of the points of a curve.
func (c *Card) loads(of *answer.Curve) {
	columns := []answer.Metric{of.Latency, of.Throughput, of.PerUser}
	columns = slices.DeleteFunc(columns, func(m answer.Metric) bool {
		return m.Tag == "" || !slices.ContainsFunc(of.Points, func(p answer.Point) bool { return !math.IsNaN(p.At(m)) })
	})
	c.Head = []string{of.Load.Name}
	for _, m := range columns {
		c.Head = append(c.Head, titled(m))
	}
	c.Head, c.Rows, c.Marked = append(c.Head, "limits"), nil, -1
	add := func(load float64, at func(answer.Metric) float64, word string) {
		cells := []string{artifact.Short(load)}
		if load == of.Boundary {
			cells[0] += " (answer)"
			c.Marked = len(c.Rows)
		}
		for _, m := range columns {
			cells = append(cells, artifact.Significant(at(m)))
		}
		c.Rows = append(c.Rows, append(cells, word))
	}
	for i := range of.Points {
		p := &of.Points[i]
		if c.Marked < 0 && p.Load > of.Boundary {
			add(of.Boundary, func(m answer.Metric) float64 { return of.Between(m, of.Boundary) }, "estimate")
		}
		add(p.Load, p.At, limitWords[p.Verdict])
	}
}

// beside is what a card with a curve has on its left side: the figure, the findings and the table; the curve is on the
// right.
const beside = inner * 0.52

// drawWithCurve draws the answer and the table beside the curve.
func (c *Card) drawWithCurve(d *drawing, y, bottom float64) {
	own := *c
	own.Figures = slices.Clone(c.Figures[:1])
	if text := shortLimits(c.Limits); text != "" { // which the finding says at length
		own.Figures[0].Detail, own.Findings = strings.Trim(own.Figures[0].Detail+"; "+text, "; "), nil
		for _, f := range c.Findings {
			if f.Level != judge.Good {
				own.Findings = append(own.Findings, f)
			}
		}
	}
	if len(own.Head) > 4 { // load, latency, throughput and limits have room
		own.Head, own.Rows = append(slices.Clone(own.Head[:3]), own.Head[len(own.Head)-1]), nil
		for _, r := range c.Rows {
			own.Rows = append(own.Rows, append(slices.Clone(r[:3]), r[len(r)-1]))
		}
	}
	d.room = beside
	top := y + 14
	left := own.drawFigures(d, top)
	const finding = 40 // the room of one
	if len(own.Findings) > 0 {
		own.drawTable(d, left-8, bottom-finding-4)
		own.drawFindings(d, bottom-finding-8, bottom)
	} else {
		own.drawTable(d, left-8, bottom-10)
	}
	d.room = inner
	d.curve(c.Curve, margin+beside+28, top, inner-beside-28, bottom-16-top)
}

// drawWithLoads draws the answer, the findings and the table of a sweep beside the curves of throughput and latency.
func (c *Card) drawWithLoads(d *drawing, y, bottom float64) {
	own := *c
	own.Figures = c.Figures[:min(1, len(c.Figures))]
	own.Head, own.Rows, own.Findings = c.brief.head, c.brief.rows, nil
	// The first finding is the answer, which is the figure. The curves show what the others say at length: their titles are
	// one, as grave as the gravest.
	joined := CardFinding{}
	for i, f := range c.Findings {
		if i == 0 && artifact.Finite(c.Curve.Boundary) {
			continue
		}
		joined.Title = strings.TrimPrefix(joined.Title+" · "+f.Title, " · ")
		if f.Level == judge.Bad || joined.Level == "" || f.Level == judge.Warn && joined.Level != judge.Bad {
			joined.Level = f.Level
		}
	}
	if joined.Title != "" {
		own.Findings = []CardFinding{joined}
	}
	d.room = beside
	top := y + 14
	left := own.drawFigures(d, top) - 8
	left = own.drawFindings(d, left, bottom)
	own.drawTable(d, left-4, bottom-10)
	d.room = inner
	const gap = 14.0
	x, w, h := margin+beside+28.0, inner-beside-28.0, (bottom-16-top-gap)/2
	d.figureOver(c.Curve, c.Curve.Throughput, math.NaN(), x, top, w, h)
	d.figureOver(c.Curve, c.Curve.Latency, c.Curve.Limit, x, top+h+gap, w, h)
}

// shortLimits are limits in short words, without that of failed requests where there are others.
func shortLimits(limits []answer.Limit) string {
	var list []string
	for _, l := range limits {
		if l.Metric == "request_error_rate" && len(limits) > 1 {
			continue
		}
		m := answer.NewMetric(l.Metric, l.Stat, "")
		list = append(list, strings.Replace(answer.LimitText(answer.Limit{Metric: m.Tag, Stat: m.Stat, Op: l.Op,
			Threshold: l.Threshold, Unit: l.Unit}), m.Header, m.Short, 1))
	}
	return strings.Join(list, ", ")
}

// overflow is how many times its limit a latency may be before it is drawn at the upper edge: what is far beyond would
// press everything else to the ground.
const overflow = 3

// curve draws the latency over the load with its limit and the answer.
func (d *drawing) curve(c *answer.Curve, x, y, w, h float64) {
	d.figureOver(c, c.Latency, c.Limit, x, y, w, h)
}

// figureOver draws a figure over the load with its limit, NaN for none, and the answer.
func (d *drawing) figureOver(c *answer.Curve, m answer.Metric, limit, x, y, w, h float64) {
	small := d.font(17, false, d.soft)
	d.Text(x, y+16, small.Fit(titled(m)+" over "+c.Load.Name, w), small)
	left, top, right, floor := x+52, y+34, x+w-8, y+h-28
	lo, hi, most := c.Points[0].Load, c.Points[len(c.Points)-1].Load, 0.0
	for i := range c.Points {
		if v := c.Points[i].At(m); v > most {
			most = v
		}
	}
	if artifact.Finite(c.Boundary) {
		lo, hi = min(lo, c.Boundary), max(hi, c.Boundary)
	}
	if limit > 0 {
		most = max(min(most, overflow*limit), 1.2*limit)
	}
	if !(most > 0) {
		return
	}
	scale := func(v float64) float64 { return v }
	if lo > 0 && hi >= 8*lo {
		scale = math.Log
	}
	X := func(v float64) float64 {
		if hi == lo {
			return (left + right) / 2
		}
		return left + 8 + (right-left-16)*(scale(v)-scale(lo))/(scale(hi)-scale(lo))
	}
	Y := func(v float64) float64 { return floor - (floor-top)*min(v/(1.08*most), 1) }
	d.band(c, X, lo, hi, top, floor)
	d.Line(left, floor, right, floor, chart.Paint{Stroke: d.line, Width: 1.5})
	number := d.font(15, false, d.soft)
	number.Align = chart.AlignEnd
	d.Text(left-8, floor+5, "0", number)
	if limit > 0 {
		d.Line(left, Y(limit), right, Y(limit), chart.Paint{Stroke: d.levels[judge.Bad], Width: 1.5,
			Dash: []float64{6, 4}})
		d.Text(left-8, Y(limit)+5, artifact.Short(limit), number)
	} else {
		d.Text(left-8, Y(most)+5, artifact.Short(most), number)
	}
	d.points(c, m, X, Y, 1.08*most)
	d.loads(c, X, floor)
}

// band draws the interval of the answer, and the answer.
func (d *drawing) band(c *answer.Curve, X func(float64) float64, lo, hi, top, floor float64) {
	if artifact.Finite(c.Low) && artifact.Finite(c.High) {
		from, to := X(min(max(c.Low, lo), hi)), X(min(max(c.High, lo), hi))
		d.Rect(from, top, max(to-from, 2), floor-top, 0, chart.Paint{Fill: d.panel})
	}
	if artifact.Finite(c.Boundary) {
		d.Line(X(c.Boundary), top, X(c.Boundary), floor, chart.Paint{Stroke: d.soft, Width: 1.5})
	}
}

// points draws the measured loads, joined: discs hold, crosses do not, triangles are beyond the upper edge, rings were
// limited by the client.
func (d *drawing) points(c *answer.Curve, m answer.Metric, X, Y func(float64) float64, most float64) {
	path, begun := new(chart.Path), false
	for i := range c.Points {
		p := &c.Points[i]
		if v := p.At(m); !math.IsNaN(v) && p.Verdict != answer.ClientLimited {
			if begun {
				path.Line(X(p.Load), Y(v))
			} else {
				path.Move(X(p.Load), Y(v))
			}
			begun = true
		}
	}
	d.Path(path, chart.Paint{Stroke: d.accent, Width: 2})
	letter := d.font(15, true, d.text)
	letter.Align = chart.AlignMiddle
	for i := range c.Points {
		p := &c.Points[i]
		v := p.At(m)
		if math.IsNaN(v) {
			continue
		}
		at := []chart.Point{{X: X(p.Load), Y: Y(v)}}
		switch {
		case v > most:
			d.Markers(at, chart.Triangle, 11, chart.Paint{Fill: d.levels[judge.Bad]})
		case p.Verdict == answer.Infeasible:
			d.Markers(at, chart.Cross, 11, chart.Paint{Stroke: d.levels[judge.Bad], Fill: d.levels[judge.Bad], Width: 2.5})
		case p.Verdict == answer.ClientLimited:
			d.Markers(at, chart.Circle, 11, chart.Paint{Fill: d.paper, Stroke: d.levels[judge.Warn], Width: 2})
		default:
			d.Markers(at, chart.Circle, 11, chart.Paint{Fill: d.accent})
		}
		switch i {
		case c.Recommended:
			d.Text(X(p.Load)-12, Y(v)-10, "R", letter)
		case c.Knee:
			d.Text(X(p.Load)-12, Y(v)-10, "K", letter)
		}
	}
}

// loads writes the loads below the axis: the answer, and of the measured ones those that have room.
func (d *drawing) loads(c *answer.Curve, X func(float64) float64, floor float64) {
	const gap = 12.0
	f, bold := d.font(15, false, d.soft), d.font(15, true, d.text)
	f.Align, bold.Align = chart.AlignMiddle, chart.AlignMiddle
	var taken [][2]float64
	write := func(load float64, font chart.Font) {
		text := artifact.Short(load)
		half := font.Measure(text) / 2
		from, to := X(load)-half, X(load)+half
		for _, t := range taken {
			if from < t[1]+gap && to > t[0]-gap {
				return
			}
		}
		taken = append(taken, [2]float64{from, to})
		d.Text(X(load), floor+20, text, font)
	}
	if artifact.Finite(c.Boundary) {
		write(c.Boundary, bold)
	}
	for i := range c.Points {
		write(c.Points[i].Load, f)
	}
}

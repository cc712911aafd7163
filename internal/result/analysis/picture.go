package analysis

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"aiperf/internal/result/chart"
	"aiperf/internal/result/judge"
)

// The size of a card in points: that of the previews of links.
const (
	width, height = 1200, 630
	margin        = 56
	inner         = width - 2*margin
)

// sharePalette are the colours of a theme.
type sharePalette struct {
	paper, panel, line, text, soft, accent color.NRGBA
	levels                                 map[judge.Level]color.NRGBA
}

var light, dark = sharePalette{
	paper: chart.Hex("#ffffff"), panel: chart.Hex("#f4f6f8"), line: chart.Hex("#dfe3e8"),
	text: chart.Hex("#11161d"), soft: chart.Hex("#5a6472"), accent: chart.Hex("#2062ce"),
	levels: map[judge.Level]color.NRGBA{judge.Good: chart.Hex("#1d7f4e"), judge.Warn: chart.Hex("#b26a00"),
		judge.Bad: chart.Hex("#c2321d"), judge.Plain: chart.Hex("#5a6472")},
}, sharePalette{
	paper: chart.Hex("#16191e"), panel: chart.Hex("#20252c"), line: chart.Hex("#333a44"),
	text: chart.Hex("#eceff3"), soft: chart.Hex("#a3adb9"), accent: chart.Hex("#73b6fa"),
	levels: map[judge.Level]color.NRGBA{judge.Good: chart.Hex("#55c98d"), judge.Warn: chart.Hex("#e6a23c"),
		judge.Bad: chart.Hex("#ff7a66"), judge.Plain: chart.Hex("#a3adb9")},
}

// drawing is a card that is being drawn.
type drawing struct {
	*chart.Scene
	sharePalette
	// room is the width that figures, findings and the table have.
	room float64
}

func (d *drawing) font(size float64, bold bool, c color.NRGBA) chart.Font {
	return chart.Font{Size: size, Bold: bold, Colour: c}
}

// Scene returns the card as a drawing of 1200 by 630 points.
func (c *Card) Scene(darkTheme bool) *chart.Scene {
	d := &drawing{chart.NewScene(width, height), light, inner}
	if darkTheme {
		d.sharePalette = dark
	}
	d.Title, d.Background = c.Kind+": "+c.Title, d.paper
	d.Description = strings.Join(c.Facts, ", ")
	d.Rect(0, 0, width, 10, 0, chart.Paint{Fill: d.accent})

	title := d.font(40, true, d.text)
	kind := d.font(21, false, d.soft)
	kind.Align = chart.AlignEnd
	d.Text(margin, 78, title.Fit(c.Title, inner-kind.Measure(c.Kind)-30), title)
	d.Text(width-margin, 76, c.Kind, kind)
	facts := d.font(22, false, d.soft)
	d.Text(margin, 116, facts.Fit(strings.Join(c.Facts, " · "), inner), facts)

	foot := height - 34.0
	bottom := c.drawCommand(d, foot-30)
	y := 134.0
	small := d.font(18, false, d.soft)
	d.Text(margin, foot, small.Fit(c.foot(), inner), small)
	if c.Curve != nil && c.brief.rows != nil {
		c.drawWithLoads(d, y, bottom)
		return d.Scene
	}
	if c.Curve != nil {
		c.drawWithCurve(d, y, bottom)
		return d.Scene
	}
	if len(c.Figures) > 1 || len(c.Rows) == 0 { // a single one is in the table
		y = c.drawFigures(d, y+14)
	}
	y = c.drawFindings(d, y, bottom)
	c.drawTable(d, y, bottom-16)
	return d.Scene
}

// drawFigures draws the key figures side by side and returns where they end.
func (c *Card) drawFigures(d *drawing, y float64) float64 {
	n := len(c.Figures)
	if n == 0 {
		return y
	}
	const gap, high = 20.0, 142.0
	w := (d.room - gap*float64(n-1)) / float64(n)
	for i, f := range c.Figures {
		x := margin + float64(i)*(w+gap)
		d.Rect(x, y, w, high, 10, chart.Paint{Fill: d.panel})
		name := d.font(19, false, d.soft)
		for name.Measure(f.Name) > w-40 && name.Size > 16 {
			name.Size--
		}
		d.Text(x+20, y+34, name.Fit(f.Name, w-40), name)
		value, unit := d.font(46, true, d.text), d.font(19, false, d.soft)
		for value.Measure(f.Value)+unit.Measure(f.Unit)+10 > w-40 && value.Size > 24 {
			value.Size -= 2
		}
		text := value.Fit(f.Value, w-40)
		d.Text(x+20, y+88, text, value)
		if left := x + 28 + value.Measure(text); left < x+w-40 {
			d.Text(left, y+88, unit.Fit(f.Unit, x+w-16-left), unit)
		}
		detail := d.font(19, false, d.soft)
		d.Text(x+20, y+122, detail.Fit(f.Detail, w-40), detail)
	}
	return y + high + 18
}

// drawFindings draws the findings as lines with a dot, as far as there is room, and returns where they end.
func (c *Card) drawFindings(d *drawing, y, bottom float64) float64 {
	for _, f := range c.Findings {
		bold, plain := d.font(20, true, d.text), d.font(20, false, d.soft)
		lines := plain.Wrap(f.Text, d.room-30, 2)
		if f.Text == "" {
			lines = nil
		}
		if y+28+27*float64(len(lines)) > bottom-8 {
			break
		}
		y += 28
		d.Markers([]chart.Point{{X: margin + 8, Y: y - 7}}, chart.Circle, 14, chart.Paint{Fill: d.levels[f.Level]})
		for i, line := range bold.Wrap(f.Title, d.room-30, 2) {
			if i > 0 {
				y += 27
			}
			d.Text(margin+30, y, line, bold)
		}
		for _, line := range lines {
			y += 27
			d.Text(margin+30, y, line, plain)
		}
		y += 8
	}
	return y
}

// drawTable draws the rows that fit.
func (c *Card) drawTable(d *drawing, y, bottom float64) {
	if len(c.Rows) == 0 || c.Kind == kindNames["run"] || c.Kind == kindNames["repeats"] {
		return // their key figures say it
	}
	const step = 29.0
	fits := int((bottom - y - 34) / step)
	if fits < 2 {
		return
	}
	first := d.room * 0.3
	if len(c.Head) <= 3 {
		first = d.room * 0.4
	}
	column := (d.room - first) / float64(len(c.Head)-1)
	line := func(cells []string, f chart.Font) {
		for i, cell := range cells {
			if f.Align = chart.AlignEnd; i > 0 && f.Measure(cell) > column-14 {
				cell, _, _ = strings.Cut(cell, " (") // the unit of a head
			}
			if i == 0 {
				if f.Align = chart.AlignStart; f.Measure(cell) > first-12 {
					cell, _, _ = strings.Cut(cell, " (")
				}
				d.Text(margin, y, f.Fit(cell, first-12), f)
				continue
			}
			f.Align = chart.AlignEnd
			d.Text(margin+first+float64(i)*column, y, f.Fit(cell, column-14), f)
		}
	}
	y += 30
	shown := min(fits, len(c.Rows))
	head := slices.Clone(c.Head)
	if shown < len(c.Rows) && c.several() {
		head[0] += fmt.Sprintf(", %d of %d", shown, len(c.Rows))
	}
	line(head, d.font(18, false, d.soft))
	d.Line(margin, y+9, margin+d.room, y+9, chart.Paint{Stroke: d.line, Width: 1.5})
	for i := range shown {
		r := c.Rows[i]
		font := d.font(20, false, d.text)
		if c.Curve != nil { // those around the answer
			at := min(max(c.Marked-shown/2, 0), len(c.Rows)-shown) + i
			r, font.Bold = c.Rows[at], at == c.Marked
		} else if c.several() && shown > 1 { // of more cells than fit the first, the last and some between them
			r = c.Rows[i*(len(c.Rows)-1)/(shown-1)]
		}
		y += step
		line(r, font)
	}
}

// drawCommand draws the command from below and returns where its box begins.
func (c *Card) drawCommand(d *drawing, bottom float64) float64 {
	if c.Command == "" {
		return bottom
	}
	mono := chart.Font{Size: 17, Mono: true, Colour: d.text}
	most := 3
	if c.several() {
		most = 1 // the room is for the table
	}
	lines := mono.Wrap("$ "+c.Command, inner-40, most)
	high := 20 + 24*float64(len(lines))
	top := bottom - high
	d.Rect(margin, top, inner, high, 8, chart.Paint{Fill: d.panel})
	for i, line := range lines {
		d.Text(margin+20, top+28+24*float64(i), line, mono)
	}
	return top
}

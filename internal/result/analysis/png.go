package analysis

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
)

// The measures of the picture in pixels.
const (
	pictureWidth = 1600
	marginLeft   = 90
	marginRight  = 30
	headHeight   = 70
	curveHeight  = 200
	footHeight   = 90
	between      = 50
	lanesHeight  = 560
	maxLane      = 34
	minLane      = 5
	// tallest is how high all lanes may be: thousands of them are thinner than minLane, and then than a pixel.
	tallest = 20_000
)

var (
	ink       = color.NRGBA{0x22, 0x26, 0x2e, 0xff}
	faint     = color.NRGBA{0x6b, 0x72, 0x80, 0xff}
	grid      = color.NRGBA{0xe5, 0xe7, 0xeb, 0xff}
	stripe    = color.NRGBA{0xf6, 0xf7, 0xf9, 0xff}
	failure   = color.NRGBA{0xc6, 0x28, 0x28, 0xff}
	cancelled = color.NRGBA{0x75, 0x75, 0x75, 0xff}
	areaFill  = color.NRGBA{0x1e, 0x6f, 0xb8, 0x38}
	areaLine  = color.NRGBA{0x1e, 0x6f, 0xb8, 0xff}
	idleFill  = color.NRGBA{0x9a, 0xa3, 0xae, 0x30}
	target    = color.NRGBA{0x2e, 0x7d, 0x32, 0xff}
	rampMark  = color.NRGBA{0xb4, 0x53, 0x09, 0xff}
)

// palette has the colours of sessions; neighbours also differ for colour-blind readers.
var palette = []color.NRGBA{
	{0x1b, 0x5f, 0xa8, 0xff}, {0xd9, 0x7b, 0x0a, 0xff}, {0x1d, 0x8f, 0x7a, 0xff}, {0x8a, 0x4f, 0xb5, 0xff},
	{0x5b, 0x7f, 0x1f, 0xff}, {0xb8, 0x4d, 0x83, 0xff}, {0x3f, 0x8f, 0xc9, 0xff}, {0x8c, 0x61, 0x3c, 0xff},
}

// shadeOf is the colour of a bar.
func (c *Swimlane) shadeOf(b *Bar) color.NRGBA {
	switch b.State {
	case Failed:
		return failure
	case Cancelled:
		return cancelled
	}
	return palette[b.Session%len(palette)]
}

func faded(c color.NRGBA, alpha uint8) color.NRGBA { c.A = alpha; return c }

// layout has the coordinates of the parts of the picture.
type layout struct {
	laneHeight, lanesTop, lanesBottom float64
	curveTop, curveBottom             float64
	left, right                       float64
	perNS, perValue                   float64
}

func (l *layout) x(ns int64) float64 { return l.left + float64(ns)*l.perNS }

func (c *Swimlane) layout() *layout {
	lanes := float64(c.Lanes)
	lane := math.Min(math.Max(minLane, math.Min(maxLane, lanesHeight/lanes)), tallest/lanes)
	l := &layout{laneHeight: lane, lanesTop: headHeight, left: marginLeft, right: pictureWidth - marginRight}
	l.lanesBottom = l.lanesTop + lane*float64(c.Lanes)
	l.curveTop = l.lanesBottom + between
	l.curveBottom = l.curveTop + curveHeight
	l.perNS = (l.right - l.left) / float64(max(c.EndNS, 1))
	l.perValue = curveHeight / (1.08 * math.Max(1, math.Max(c.Concurrency, float64(max(c.PeakActive, c.PeakRequests)))))
	return l
}

// WritePNG draws the chart.
func (c *Swimlane) WritePNG(w io.Writer) error {
	l := c.layout()
	p, err := newCanvas(pictureWidth, int(l.curveBottom)+footHeight)
	if err != nil {
		return err
	}
	c.drawHead(p)
	c.drawLanes(p, l)
	c.drawCurves(p, l)
	c.drawTime(p, l)
	return png.Encode(w, p)
}

// heading draws the title and the legend.
func (c *Swimlane) heading() string {
	text := fmt.Sprintf("%s: %d sessions, %d requests", c.Title, len(c.Sessions), len(c.Bars))
	if c.Lanes < len(c.Sessions) {
		text += fmt.Sprintf(" in %d lanes", c.Lanes)
	}
	return text
}

// key is an entry of a legend.
type key struct {
	shade color.NRGBA
	text  string
}

func legend(p *canvas, x, y float64, keys ...key) {
	for _, k := range keys {
		p.fill(x, y-10, x+18, y+1, k.shade)
		p.text(x+24, y, k.text, 0, ink)
		x += 24 + p.width(k.text) + 26
	}
}

func (c *Swimlane) drawHead(p *canvas) {
	p.text(marginLeft, 28, p.fit(c.heading(), pictureWidth-marginLeft-marginRight), 0, ink)
	legend(p, marginLeft, 54, key{faded(palette[0], 0x70), "until the first token"},
		key{palette[0], "request (a colour for each session)"},
		key{faded(palette[0], 0x28), "between turns"}, key{failure, "failed"}, key{cancelled, "cancelled"})
}

func (c *Swimlane) drawLanes(p *canvas, l *layout) {
	for i := range c.Lanes {
		y := l.lanesTop + float64(i)*l.laneHeight
		if i%2 == 0 {
			p.fill(l.left, y, l.right, y+l.laneHeight, stripe)
		}
	}
	step := laneStep(c.Lanes, l.laneHeight)
	for i := 0; i < c.Lanes; i += step {
		p.text(l.left-10, l.lanesTop+(float64(i)+0.5)*l.laneHeight+5, strconv.Itoa(i), 1, faint)
	}
	name := "session"
	if c.Lanes < len(c.Sessions) {
		name = "lane"
	}
	p.text(12, l.lanesTop-6, name, 0, faint)
	inset := math.Max(0.5, l.laneHeight*0.12)
	row := func(s *Session) (top, bottom float64) {
		top = l.lanesTop + float64(s.Lane)*l.laneHeight
		return top + inset, top + l.laneHeight - inset
	}
	for i := range c.Sessions {
		s := &c.Sessions[i]
		top, bottom := row(s)
		p.fill(l.x(s.StartNS), top, l.x(s.EndNS), bottom, faded(palette[i%len(palette)], 0x28))
	}
	for i := range c.Bars {
		b := &c.Bars[i]
		top, bottom := row(&c.Sessions[b.Session])
		shade := c.shadeOf(b)
		from := b.StartNS
		if b.FirstNS > b.StartNS && b.State == Succeeded {
			p.fill(l.x(b.StartNS), top, l.x(b.FirstNS), bottom, faded(shade, 0x70))
			from = b.FirstNS
		}
		p.fill(l.x(from), top, l.x(b.EndNS), bottom, shade)
	}
	if c.Lanes < len(c.Sessions) {
		for i := range c.Sessions {
			top, bottom := row(&c.Sessions[i])
			p.fill(l.x(c.Sessions[i].StartNS), top-inset, l.x(c.Sessions[i].StartNS)+1, bottom+inset, ink)
		}
	}
}

// laneStep returns the distance between numbered lanes.
func laneStep(lanes int, height float64) int {
	for step := 1; ; step *= 2 {
		for _, s := range [...]int{step, step * 5} {
			if float64(s)*height >= fontSize+3 || s >= lanes {
				return s
			}
		}
	}
}

func (c *Swimlane) drawCurves(p *canvas, l *layout) {
	for _, v := range ticks(float64(curveHeight)/l.perValue, 5) {
		y := l.curveBottom - v*l.perValue
		p.fill(l.left, y, l.right, y+1, grid)
		p.text(l.left-10, y+5, tickLabel(v), 1, faint)
	}
	c.drawSteps(p, l, c.Active, idleFill, color.NRGBA{})
	c.drawSteps(p, l, c.Requests, areaFill, areaLine)
	p.text(12, l.curveTop-8, "under way", 0, faint)
	keys := []key{{areaLine, fmt.Sprintf("requests (peak %d)", c.PeakRequests)},
		{faded(idleFill, 0xa0), fmt.Sprintf("sessions (peak %d)", c.PeakActive)}}
	if c.Concurrency > 0 {
		y := l.curveBottom - c.Concurrency*l.perValue
		p.dashed(l.left, y, l.right, y+2, 7, target)
		keys = append(keys, key{target, "concurrency " + tickLabel(c.Concurrency)})
	}
	if c.RampNS > 0 && c.RampNS <= c.EndNS {
		x := l.x(c.RampNS)
		p.dashed(x, l.lanesTop, x+2, l.curveBottom, 7, rampMark)
		keys = append(keys, key{rampMark, fmt.Sprintf("ramp done (%s s)", tickLabel(float64(c.RampNS)/1e9))})
	}
	legend(p, l.left, l.curveBottom+footHeight-18, keys...)
}

func (c *Swimlane) drawSteps(p *canvas, l *layout, list []Step, fill, line color.NRGBA) {
	before := l.curveBottom
	for i, s := range list {
		end := c.EndNS
		if i+1 < len(list) {
			end = list[i+1].AtNS
		}
		y := l.curveBottom - float64(s.Value)*l.perValue
		if s.Value > 0 {
			// Neighbours must not overlap, or many of them would add up to a solid colour.
			left, right := math.Round(l.x(s.AtNS)), math.Round(l.x(end))
			if right > left {
				p.fill(left, y, right, l.curveBottom, fill)
			}
		}
		if line.A > 0 {
			p.fill(l.x(s.AtNS), min(before, y), l.x(s.AtNS)+1, max(before, y), line)
			p.fill(l.x(s.AtNS), y, l.x(end), y+1.5, line)
		}
		before = y
	}
}

func (c *Swimlane) drawTime(p *canvas, l *layout) {
	for _, s := range ticks(float64(c.EndNS)/1e9, 10) {
		x := l.x(int64(s * 1e9))
		for _, part := range [...][2]float64{{l.lanesTop, l.lanesBottom}, {l.curveTop, l.curveBottom}} {
			p.fill(x, part[0], x+1, part[1], faded(faint, 0x30))
		}
		p.text(x, l.curveBottom+18, tickLabel(s), 0.5, faint)
	}
	p.fill(l.left, l.curveBottom, l.right, l.curveBottom+1, faint)
	p.text((l.left+l.right)/2, l.curveBottom+40, "seconds since the first request", 0.5, faint)
}

// ticks returns about so many round values from 0 to at most limit.
func ticks(limit float64, about int) []float64 {
	if !(limit > 0) {
		return []float64{0}
	}
	raw := limit / float64(about)
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * unit
	for _, m := range [...]float64{1, 2, 5} {
		if m*unit >= raw {
			step = m * unit
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*step <= limit*(1+1e-9); i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

func tickLabel(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

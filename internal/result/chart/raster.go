package chart

import (
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/vector"
)

// raster draws a scene in pixels.
type raster struct {
	*image.RGBA
	scale  float64
	clip   image.Rectangle
	vector vector.Rasterizer
}

// maxPixels bounds a picture: 160 MB of memory.
const maxPixels = 40_000_000

// WritePNG writes the scene as a PNG of scale pixels for each point. Scales are reduced where a picture would have more
// than 40 million pixels.
func (s *Scene) WritePNG(w io.Writer, scale float64) error { return encode(w, s.render(scale)) }

// render draws the scene.
func (s *Scene) render(scale float64) *image.RGBA {
	if !(scale > 0) {
		scale = 1
	}
	if pixels := s.Width * s.Height * scale * scale; pixels > maxPixels {
		scale *= math.Sqrt(maxPixels / pixels)
	}
	width, height := int(math.Round(s.Width*scale)), int(math.Round(s.Height*scale))
	r := &raster{RGBA: image.NewRGBA(image.Rect(0, 0, max(width, 1), max(height, 1))), scale: scale}
	r.clip = r.Bounds()
	background := s.Background
	if background.A == 0 {
		background = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	}
	background.A = 0xff
	draw.Draw(r.RGBA, r.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	for _, i := range s.items {
		i.draw(r)
	}
	return r.RGBA
}

// bounds is the rectangle of pixels that chains of points touch.
func bounds(parts [][]Point) image.Rectangle {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, part := range parts {
		for _, p := range part {
			low, high = Point{min(low.X, p.X), min(low.Y, p.Y)}, Point{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	if !(low.X <= high.X) || !(low.Y <= high.Y) {
		return image.Rectangle{}
	}
	whole := func(v float64) int { return int(min(max(v, -1e6), 1e6)) }
	return image.Rect(whole(math.Floor(low.X)), whole(math.Floor(low.Y)), whole(math.Ceil(high.X))+1, whole(math.Ceil(high.Y))+1)
}

// fill blends the inside of closed chains of pixels.
func (r *raster) fill(parts [][]Point, c color.NRGBA) {
	box := bounds(parts).Intersect(r.clip)
	if box.Empty() || c.A == 0 {
		return
	}
	r.vector.Reset(box.Dx(), box.Dy())
	x, y := float64(box.Min.X), float64(box.Min.Y)
	// Far outside, numbers of the rasteriser lose the fractions that are needed inside.
	at := func(p Point) (float32, float32) {
		return float32(min(max(p.X-x, -1e5), 1e5)), float32(min(max(p.Y-y, -1e5), 1e5))
	}
	for _, part := range parts {
		for i, p := range part {
			if px, py := at(p); i == 0 {
				r.vector.MoveTo(px, py)
			} else {
				r.vector.LineTo(px, py)
			}
		}
		r.vector.ClosePath()
	}
	r.vector.Draw(r.RGBA, box, image.NewUniform(c), image.Point{})
}

// chunkPixels is the area of the pieces in which opaque lines are drawn: the rasteriser visits every pixel of the
// rectangle around a shape.
const chunkPixels = 1 << 15

// stroke draws a line along chains of pixels.
func (r *raster) stroke(parts [][]Point, closed []bool, width float64, dash []float64, c color.NRGBA) {
	if c.A == 0 || width <= 0 {
		return
	}
	if len(dash) > 0 {
		parts = dashed(parts, closed, dash)
		closed = make([]bool, len(parts))
	}
	var pen [][]Point
	box := image.Rectangle{}
	add := func(shape []Point) {
		b := bounds([][]Point{shape})
		grown := box.Union(b)
		if c.A == 0xff && len(pen) > 0 && grown.Dx()*grown.Dy() > chunkPixels {
			r.fill(pen, c)
			pen, grown = pen[:0], b
		}
		pen, box = append(pen, shape), grown
	}
	half := width / 2
	for k, part := range parts {
		if closed[k] {
			part = append(part[:len(part):len(part)], part[0])
		}
		for i := 1; i < len(part); i++ {
			a, b := part[i-1], part[i]
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			if length == 0 {
				continue
			}
			nx, ny := (b.Y-a.Y)/length*half, -(b.X-a.X)/length*half
			add([]Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny}, {a.X - nx, a.Y - ny}})
			joint := i+1 < len(part) || closed[k]
			if joint && half > 0.7 {
				next := part[1]
				if i+1 < len(part) {
					next = part[i+1]
				}
				if bent(a, b, next) {
					add(disc(b, half))
				}
			}
		}
	}
	r.fill(pen, c)
}

// bent reports whether the way from a over b to c has a corner that shows.
func bent(a, b, c Point) bool {
	ux, uy, vx, vy := b.X-a.X, b.Y-a.Y, c.X-b.X, c.Y-b.Y
	return ux*vx+uy*vy < 0.98*math.Hypot(ux, uy)*math.Hypot(vx, vy)
}

// disc is a polygon that turns the same way as the pieces of a stroke: areas that turn oppositely cancel out.
func disc(at Point, radius float64) []Point {
	n := min(max(int(radius*4), 8), 32)
	out := make([]Point, n)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		out[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return out
}

// dashed cuts chains into dashes.
func dashed(parts [][]Point, closed []bool, dash []float64) (out [][]Point) {
	total := 0.0
	for _, d := range dash {
		total += d
	}
	if !(total > 0.1) {
		return parts
	}
	for k, part := range parts {
		if closed[k] {
			part = append(part[:len(part):len(part)], part[0])
		}
		on, which, left := true, 0, dash[0]
		piece := []Point{part[0]}
		for i := 1; i < len(part); i++ {
			a, b := part[i-1], part[i]
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			at := 0.0
			for length-at > left {
				at += left
				p := mix(a, b, at/length)
				if on {
					out = append(out, append(piece, p))
				}
				which = (which + 1) % len(dash)
				on, left, piece = !on, dash[which], []Point{p}
			}
			left -= length - at
			if on {
				piece = append(piece, b)
			}
		}
		if on && len(piece) > 1 {
			out = append(out, piece)
		}
	}
	return out
}

func (r *raster) paint(path *Path, p Paint) {
	parts, closed := path.lines(r.scale)
	r.fill(parts, p.Fill)
	dash := make([]float64, len(p.Dash))
	for i, d := range p.Dash {
		dash[i] = d * r.scale
	}
	r.stroke(parts, closed, p.Width*r.scale, dash, p.Stroke)
}

func (i shapeItem) draw(r *raster) {
	if b := i.rect; b != nil && b[4] == 0 && i.paint.Stroke.A == 0 {
		x0, y0, x1, y1 := b[0]*r.scale, b[1]*r.scale, (b[0]+b[2])*r.scale, (b[1]+b[3])*r.scale
		if x0 == math.Round(x0) && y0 == math.Round(y0) && x1 == math.Round(x1) && y1 == math.Round(y1) {
			box := image.Rect(int(x0), int(y0), int(x1), int(y1)).Intersect(r.clip)
			draw.Draw(r.RGBA, box, image.NewUniform(i.paint.Fill), image.Point{}, draw.Over)
			return
		}
	}
	r.paint(i.path, i.paint)
}

func (i textItem) draw(r *raster) {
	o := i.font.outlines()
	size := i.font.Size
	pen := 0.0
	switch i.font.Align {
	case AlignMiddle:
		pen = -i.font.measure(i.text) / 2
	case AlignEnd:
		pen = -i.font.measure(i.text)
	}
	place := func(p Point) Point {
		if i.font.Turned {
			return Point{i.x + p.Y, i.y - p.X}
		}
		return Point{i.x + p.X, i.y + p.Y}
	}
	for _, c := range i.text {
		g := o.glyph(c)
		if g.known {
			r.glyph(g.path, size, pen, 0, place, i.font.Colour)
		} else {
			r.box(c, size, pen, place, i.font.Colour)
		}
		pen += g.advance * size
	}
}

// glyph draws the outline of a character at an offset from the place of the text.
func (r *raster) glyph(path *Path, size, x, y float64, place func(Point) Point, c color.NRGBA) {
	parts, _ := path.lines(size)
	for _, part := range parts {
		for k, p := range part {
			q := place(Point{p.X + x, p.Y + y})
			part[k] = Point{q.X * r.scale, q.Y * r.scale}
		}
	}
	r.fill(parts, c)
}

// box draws a character that has no glyph: a frame with its code point in two rows.
func (r *raster) box(c rune, size, x float64, place func(Point) Point, shade color.NRGBA) {
	code := strconv.FormatInt(int64(c), 16)
	for len(code) < 4 || len(code)%2 == 1 {
		code = "0" + code
	}
	frame := func(in float64) *Path {
		return rounded(0.06+in, -0.80+in, 0.88-2*in, 0.96-2*in, 0.08)
	}
	outer, _ := frame(0).lines(1)
	inner, _ := frame(0.05).lines(1)
	both := [][]Point{outer[0], nil}
	for k := len(inner[0]) - 1; k >= 0; k-- { // the other way round: a hole
		both[1] = append(both[1], inner[0][k])
	}
	for _, part := range both {
		for k, p := range part {
			q := place(Point{p.X*size + x, p.Y * size})
			part[k] = Point{q.X * r.scale, q.Y * r.scale}
		}
	}
	r.fill(both, shade)
	digits := mono()
	row := len(code) / 2
	small := size * min(0.44, 0.74/(0.6*float64(row)))
	for k, d := range code {
		g := digits.glyph(d)
		width := g.advance * small
		left := x + size*0.5 - width*float64(row)/2 + float64(k%row)*width
		r.glyph(g.path, small, left, size*[...]float64{-0.38, 0.06}[k/row], place, shade)
	}
}

func (openItem) draw(*raster)  {}
func (closeItem) draw(*raster) {}

func (i clipItem) draw(r *raster) {
	r.clip = image.Rect(int(math.Floor(i.x*r.scale)), int(math.Floor(i.y*r.scale)),
		int(math.Ceil((i.x+i.w)*r.scale)), int(math.Ceil((i.y+i.h)*r.scale))).Intersect(r.Bounds())
}

func (unclip) draw(r *raster) { r.clip = r.Bounds() }

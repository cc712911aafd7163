package chart

import (
	"bufio"
	"encoding/xml"
	"image/color"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// The families of fonts of an SVG: those of the pages of this program.
const (
	sansFamily = `system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif`
	monoFamily = `ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace`
)

// svgWriter writes elements.
type svgWriter struct {
	*bufio.Writer
	number []byte
}

// WriteSVG writes the scene as an SVG.
func (s *Scene) WriteSVG(to io.Writer) error {
	w := &svgWriter{Writer: bufio.NewWriter(to)}
	w.texts(`<svg xmlns="http://www.w3.org/2000/svg"`)
	w.attribute("width", s.Width)
	w.attribute("height", s.Height)
	w.texts(` viewBox="0 0 `)
	w.put(s.Width)
	w.texts(" ")
	w.put(s.Height)
	w.texts(`" role="img" font-family="`, sansFamily, `"`)
	title := clean(s.Title)
	if title != "" {
		w.texts(` aria-label="`)
		w.escaped(title)
		w.texts(`"`)
	}
	w.texts(">\n")
	w.element("title", title)
	w.element("desc", clean(s.Description))
	w.element("metadata", s.Metadata)
	if s.Background.A > 0 {
		w.texts(`<rect width="100%" height="100%"`)
		w.colour("fill", s.Background)
		w.texts("/>\n")
	}
	for _, i := range s.items {
		i.svg(w)
	}
	w.texts("</svg>\n")
	return w.Flush()
}

func (w *svgWriter) texts(texts ...string) {
	for _, t := range texts {
		_, _ = w.WriteString(t) // Flush reports it
	}
}

func (w *svgWriter) escaped(text string) { _ = xml.EscapeText(w, []byte(text)) }

func (w *svgWriter) element(name, text string) {
	if text != "" {
		w.texts("<", name, ">")
		w.escaped(text)
		w.texts("</", name, ">\n")
	}
}

// put writes a coordinate with at most two decimals.
func (w *svgWriter) put(v float64) {
	v = math.Round(min(max(v, -1e6), 1e6)*100) / 100
	if v == 0 { // not -0
		v = 0
	}
	w.number = strconv.AppendFloat(w.number[:0], v, 'f', -1, 64)
	_, _ = w.Write(w.number)
}

func (w *svgWriter) attribute(name string, v float64) {
	w.texts(" ", name, `="`)
	w.put(v)
	w.texts(`"`)
}

// colour writes a colour and, if it is translucent, its opacity.
func (w *svgWriter) colour(name string, c color.NRGBA) {
	const digits = "0123456789abcdef"
	w.texts(" ", name, `="#`)
	for _, v := range [...]uint8{c.R, c.G, c.B} {
		_ = w.WriteByte(digits[v>>4])
		_ = w.WriteByte(digits[v&15])
	}
	w.texts(`"`)
	if c.A < 0xff {
		w.attribute(name+"-opacity", float64(c.A)/255)
	}
}

func (w *svgWriter) paint(p Paint) {
	if p.Fill.A > 0 {
		w.colour("fill", p.Fill)
	} else {
		w.texts(` fill="none"`)
	}
	if p.Stroke.A == 0 || p.Width <= 0 {
		return
	}
	w.colour("stroke", p.Stroke)
	w.attribute("stroke-width", p.Width)
	w.texts(` stroke-linejoin="round"`)
	if len(p.Dash) > 0 {
		w.texts(` stroke-dasharray="`)
		for i, d := range p.Dash {
			if i > 0 {
				w.texts(" ")
			}
			w.put(d)
		}
		w.texts(`"`)
	}
}

func (w *svgWriter) point(p Point) {
	w.put(p.X)
	w.texts(" ")
	w.put(p.Y)
}

func (w *svgWriter) path(p *Path) {
	before := byte(0)
	for _, s := range p.segments {
		switch {
		case s.op == 'L' && (before == 'L' || before == 'M'):
			w.texts(" ") // lines follow one another without their letter
		default:
			_ = w.WriteByte(s.op)
		}
		before = s.op
		switch s.op {
		case 'Z':
			continue
		case 'C':
			w.point(s.a)
			w.texts(" ")
			w.point(s.b)
			w.texts(" ")
		case 'Q':
			w.point(s.a)
			w.texts(" ")
		}
		w.point(s.to)
	}
}

func (i shapeItem) svg(w *svgWriter) {
	if r := i.rect; r != nil {
		w.texts("<rect")
		for k, name := range [...]string{"x", "y", "width", "height"} {
			w.attribute(name, r[k])
		}
		if r[4] > 0 {
			w.attribute("rx", r[4])
		}
	} else {
		w.texts(`<path d="`)
		w.path(i.path)
		w.texts(`"`)
	}
	w.paint(i.paint)
	w.texts("/>\n")
}

func (i markerItem) svg(w *svgWriter) {
	w.texts("<g")
	w.paint(i.paint)
	w.texts(">\n")
	for _, at := range i.at {
		if i.shape == Circle {
			w.texts("<circle")
			w.attribute("cx", at.X)
			w.attribute("cy", at.Y)
			w.attribute("r", i.size/2)
			w.texts("/>\n")
			continue
		}
		w.texts(`<path d="`)
		w.path(shapePath(i.shape, at.X, at.Y, i.size/2))
		w.texts("\"/>\n")
	}
	w.texts("</g>\n")
}

// largeText is the size from which on the width of a short text matters, too.
const largeText = 30

func (i textItem) svg(w *svgWriter) {
	w.texts("<text")
	if i.font.Turned {
		w.texts(` transform="translate(`)
		w.point(Point{i.x, i.y})
		w.texts(`)rotate(-90)"`)
	} else {
		w.attribute("x", i.x)
		w.attribute("y", i.y)
	}
	w.attribute("font-size", i.font.Size)
	w.colour("fill", i.font.Colour)
	switch i.font.Align {
	case AlignMiddle:
		w.texts(` text-anchor="middle"`)
	case AlignEnd:
		w.texts(` text-anchor="end"`)
	}
	if i.font.Bold {
		w.texts(` font-weight="600"`)
	}
	if i.font.Mono {
		w.texts(` font-family="`, monoFamily, `" xml:space="preserve"`)
	}
	// The viewer's font may be 15 % wider than the one that the layout was made with.
	if long := utf8.RuneCountInString(i.text) > 5 || i.font.Size >= largeText; i.font.Mono ||
		long && i.font.outlines().has(i.text) {
		w.attribute("textLength", i.font.measure(i.text))
		w.texts(` lengthAdjust="spacingAndGlyphs"`)
	}
	w.texts(">")
	w.escaped(i.text)
	w.texts("</text>\n")
}

func (i openItem) svg(w *svgWriter) {
	w.texts("<g")
	for k := 0; k+1 < len(i.data); k += 2 {
		w.texts(" data-", i.data[k], `="`)
		w.escaped(clean(i.data[k+1]))
		w.texts(`"`)
	}
	w.texts(">")
	w.element("title", clean(i.title))
}

func (closeItem) svg(w *svgWriter) { w.texts("</g>\n") }

// svg writes an element that shows its part of the drawing: a clip path would need an id.
func (i clipItem) svg(w *svgWriter) {
	w.texts("<svg")
	for k, v := range [...]float64{i.x, i.y, i.w, i.h} {
		w.attribute([...]string{"x", "y", "width", "height"}[k], v)
	}
	w.texts(` viewBox="`)
	w.point(Point{i.x, i.y})
	w.texts(" ")
	w.point(Point{i.w, i.h})
	w.texts("\">\n")
}

func (unclip) svg(w *svgWriter) { w.texts("</svg>\n") }

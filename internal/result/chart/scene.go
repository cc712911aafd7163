package chart

import (
	"image/color"
	"strconv"
)

// Scene is a drawing. What is added later lies above.
type Scene struct {
	Width, Height float64
	// Title and Description are for readers of screens. Metadata is a text, such as JSON, that the SVG carries along.
	Title, Description, Metadata string
	Background                   color.NRGBA
	items                        []item
}

// NewScene returns an empty scene of so many points.
func NewScene(width, height float64) *Scene { return &Scene{Width: width, Height: height} }

// Paint is how a shape is filled and outlined. Colours without opacity are not drawn.
type Paint struct {
	Fill, Stroke color.NRGBA
	// Width is that of the stroke; Dash has the lengths of its dashes and of the gaps between them.
	Width float64
	Dash  []float64
}

// Shape is the form of a marker.
type Shape uint8

// The shapes of markers, in the order in which series take them.
const (
	Circle Shape = iota
	Square
	Triangle
	Diamond
	Plus
	Cross
	Down
	Star
	shapes
)

// ShapeOf returns the shape of the i-th series from 0 on.
func ShapeOf(i int) Shape { return Shape(i % int(shapes)) }

// Align is which part of a text stands at its place.
type Align uint8

// The alignments.
const (
	AlignStart Align = iota
	AlignMiddle
	AlignEnd
)

// Point is a place.
type Point struct{ X, Y float64 }

// item is an element of a scene.
type item interface {
	svg(*svgWriter)
	draw(*raster)
}

type (
	shapeItem struct {
		path  *Path
		paint Paint
		// rect is set of a path that is a rectangle.
		rect *[5]float64
	}
	markerItem struct {
		at    []Point
		shape Shape
		size  float64
		paint Paint
	}
	textItem struct {
		x, y float64
		text string
		font Font
	}
	openItem struct {
		title string
		data  []string
	}
	closeItem struct{}
	clipItem  struct{ x, y, w, h float64 }
	unclip    struct{}
)

// Rect adds a rectangle with corners of a radius.
func (s *Scene) Rect(x, y, w, h, radius float64, p Paint) {
	if w <= 0 || h <= 0 {
		return
	}
	s.items = append(s.items, shapeItem{path: rounded(x, y, w, h, radius), paint: p, rect: &[5]float64{x, y, w, h, radius}})
}

// Line adds a straight line.
func (s *Scene) Line(x0, y0, x1, y1 float64, p Paint) { s.Path(new(Path).Move(x0, y0).Line(x1, y1), p) }

// Path adds a path, which must not change afterwards.
func (s *Scene) Path(path *Path, p Paint) {
	if len(path.segments) > 0 {
		s.items = append(s.items, shapeItem{path: path, paint: p})
	}
}

// Markers adds a marker of a diameter at each place.
func (s *Scene) Markers(at []Point, shape Shape, size float64, p Paint) {
	if len(at) > 0 {
		s.items = append(s.items, markerItem{at, shape, size, p})
	}
}

// Text adds a line of text.
func (s *Scene) Text(x, y float64, text string, f Font) {
	if text = clean(text); text != "" {
		s.items = append(s.items, textItem{x, y, text, f})
	}
}

// Open begins a group. Viewers of the SVG show its title where the pointer is; data are pairs of names and values that
// become attributes data-NAME. The PNG has no groups.
func (s *Scene) Open(title string, data ...string) { s.items = append(s.items, openItem{title, data}) }

// Close ends the group.
func (s *Scene) Close() { s.items = append(s.items, closeItem{}) }

// Clip draws what follows within a rectangle only, until Unclip. Clips do not nest.
func (s *Scene) Clip(x, y, w, h float64) { s.items = append(s.items, clipItem{x, y, w, h}) }

// Unclip ends the clip.
func (s *Scene) Unclip() { s.items = append(s.items, unclip{}) }

// Hex returns the colour that is written as #rrggbb; what is not written so is black.
func Hex(text string) color.NRGBA {
	c, _ := ParseHex(text)
	return c
}

// ParseHex returns the colour that is written as #rrggbb, and whether it is.
func ParseHex(text string) (color.NRGBA, bool) {
	black := color.NRGBA{A: 0xff}
	if len(text) != 7 || text[0] != '#' {
		return black, false
	}
	v, err := strconv.ParseUint(text[1:], 16, 32)
	if err != nil {
		return black, false
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}, true
}

// Opacity returns a colour with an opacity from 0 to 1.
func Opacity(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(min(max(opacity, 0), 1)*255 + 0.5)
	return c
}

package chart

import (
	"fmt"
	"io"

	"aiperf/internal/base/artifact"
)

// SVG writes the figure as an SVG of Width by Height points; Scale has no effect. The file has no script, no style
// sheet and no reference: it may stand in a page. Its element metadata has the points as JSON, of layers
// that are thinned those that are drawn. The same figure gives the same bytes.
//
// The JSON is {"x": AXIS, "y": AXIS, "y2": AXIS, "layers": [LAYER]} with an axis {"label", "log", "categories"} and a
// layer {"kind", "name", "right", "points", "x", "y", "low", "high", "x_end", "labels"}: points is their number before
// thinning, and values that are not finite are null.
func (f *Figure) SVG(w io.Writer, t Theme, s Size) error {
	return f.Scene(t, s, true).WriteSVG(w)
}

// PNG writes the figure as a PNG of Width by Height times Scale pixels. The same figure gives the same bytes.
func (f *Figure) PNG(w io.Writer, t Theme, s Size) error {
	return f.Scene(t, s, false).WritePNG(w, s.Scale)
}

// The smallest and the largest sides of a figure in points.
const (
	minSide = 80
	maxSide = 10_000
)

// Scene returns the drawing that both files are written from, with the points as metadata if that is asked for.
func (f *Figure) Scene(t Theme, s Size, metadata bool) *Scene {
	side := func(v int) float64 { return float64(min(max(v, minSide), maxSide)) }
	p := &painter{
		Scene: NewScene(side(s.Width), side(s.Height)), figure: f, colours: coloursOf(t),
	}
	p.looks = f.looks(p.colours)
	p.unit = min(max(0.35+0.65*min(p.Width/1600, p.Height/800), 0.6), 2.5)
	p.Title, p.Background = f.Title, p.colours.paper
	p.layout()
	p.axes()
	p.layers()
	p.Description = f.description()
	if metadata {
		p.Metadata = p.points()
	}
	return p.Scene
}

// painter draws a figure on a scene.
type painter struct {
	*Scene
	figure  *Figure
	colours *colours
	looks   []look
	// unit is the size of things: 1 in a figure of the default size.
	unit float64
	// left, top, right and bottom are the edges of the plot.
	left, top, right, bottom float64
	x, y, y2                 *scale
	notes                    []string
	// empty reports that no layer has a value.
	empty bool
	// drawn are the layers with the points that are drawn.
	drawn []*Layer
	// marks are the places of markers, which labels keep away from, and labels those of the labels so far.
	marks []box
	names []pointLabel
}

// vertical returns the scale of the values of a layer.
func (p *painter) vertical(l *Layer) *scale {
	if l.Right && p.y2 != nil {
		return p.y2
	}
	return p.y
}

func (p *painter) font(size float64) Font {
	return Font{Size: size * p.unit, Colour: p.colours.text}
}

func (p *painter) softFont(size float64) Font {
	return Font{Size: size * p.unit, Colour: p.colours.soft}
}

// description is the figure in words, for readers of screens.
func (f *Figure) description() string {
	text := "Chart"
	if f.Subtitle != "" {
		text = f.Subtitle
	}
	text += fmt.Sprintf(". Horizontal: %s. Vertical: %s.", name(&f.X), name(&f.Y))
	if f.Y2 != nil {
		text += fmt.Sprintf(" Right: %s.", name(f.Y2))
	}
	for i := range f.Layers {
		l := &f.Layers[i]
		if l.Name == "" {
			continue
		}
		text += fmt.Sprintf(" %s: %d points", l.Name, l.size())
		e := newExtent()
		e.add(l.Y...)
		e.add(l.Low...)
		e.add(l.High...)
		if e.any {
			text += fmt.Sprintf(" from %s to %s", artifact.Short(e.lo), artifact.Short(e.hi))
		}
		text += "."
		if i > 20 {
			break
		}
	}
	for _, note := range f.Notes {
		text += " " + note
	}
	return text
}

func name(a *Axis) string {
	if a.Label == "" {
		return "no label"
	}
	return a.Label
}

// Package chart draws figures of measured values: axes, lines, points, areas, bars and bands as SVG and as PNG, without
// a browser. What a figure shows is data; how it looks is decided here, once for every file.
//
// Figures are drawn on a [Scene]: a drawing of rectangles, lines, paths, markers and texts, which other pictures use,
// too. Its two files show the same: it is built once and written by [Scene.WriteSVG] and [Scene.WritePNG].
//
//	s := chart.NewScene(1200, 630)
//	s.Title, s.Background = "Throughput", chart.Hex("#ffffff")
//	s.Rect(40, 40, 1120, 80, 12, chart.Paint{Fill: chart.Hex("#eef0f4")})
//	title := chart.Font{Size: 32, Bold: true, Colour: chart.Hex("#1a2230")}
//	s.Text(60, 92, title.Fit(name, 1080), title)
//	s.Path(new(chart.Path).Move(60, 300).Line(600, 200).Line(1140, 280), chart.Paint{Stroke: blue, Width: 3})
//	err := s.WriteSVG(file)      // or s.WritePNG(file, 2): 2400 by 1260 pixels
//
// Coordinates are points from the top left corner; a text stands with its baseline at y. Texts may come from anywhere:
// control characters are shown as escapes, everything is escaped in the SVG. The PNG has glyphs of the embedded Go
// fonts (Latin, Greek, Cyrillic); another character is a box with its code point, while the SVG keeps the text and
// leaves the choice of fonts to its viewer.
//
// Invariants: an SVG has no script, no style sheet, no style attribute, no id and no reference, so that it may stand in
// any page under any policy; equal scenes give equal bytes.
package chart

// Figure is one chart.
type Figure struct {
	Title, Subtitle string
	// Notes are lines below the chart, such as a warning about its data.
	Notes []string
	X, Y  Axis
	// Y2 is the axis on the right; nil without one.
	Y2 *Axis
	// Layers are drawn in their order.
	Layers []Layer
}

// Axis is one axis of a figure.
type Axis struct {
	Label string
	// Log asks for a logarithmic scale, which is possible only where all values are above 0.
	Log bool
	// Zero makes the axis begin at 0; Min and Max, where given, are its ends.
	Zero     bool
	Min, Max *float64
	// Categories name the positions 0, 1, 2 …; empty for numbers.
	Categories []string
}

// Kind is how a layer is drawn.
type Kind uint8

// The kinds of layers.
const (
	// Line joins its points; Stair joins them by steps: a value holds until the next X.
	Line Kind = iota
	Stair
	// Points are markers.
	Points
	// Area is filled between 0 and Y, StairArea likewise by steps.
	Area
	StairArea
	// Bars stand on 0, from X to XEnd where that is given, else around X.
	Bars
	// Band is filled between Low and High.
	Band
	// Errors are vertical bars from Low to High.
	Errors
	// Polygon is filled; its last point is joined to the first.
	Polygon
	// Spans are horizontal bars from X to XEnd at the height Y, such as requests over time.
	Spans
	// Level is a horizontal line over the whole width at Y[0].
	Level
)

// Layer is one set of values of a figure.
type Layer struct {
	Kind Kind
	// Name stands in the legend; "" keeps the layer out of it.
	Name string
	// X and Y have the same length; Low, High and XEnd, where the kind uses them, too. Values that are not finite are
	// gaps.
	X, Y, Low, High, XEnd []float64
	// Labels stand beside the points.
	Labels []string
	// Right measures Y on the axis Y2.
	Right bool
	Look  Look
}

// Look is how a layer looks. The zero value is the usual look of its kind in the next colour of the palette.
type Look struct {
	// Colour is #rrggbb; "" for that of Series. Series is the place in the palette, from 1 on; 0 is the next free one,
	// and Grey and Outlier are colours with a meaning.
	Colour string
	Series int
	Dashed bool
	// Width of lines and Size of markers are in pixels, Opacity and Fill are 0 to 1; 0 is the usual value.
	Width, Size, Opacity, Fill float64
}

// Values of Look.Series for colours that are not in the palette, and that each theme has its own shade of.
const (
	// Grey is for what others are compared with.
	Grey = -1
	// Outlier is red.
	Outlier = -2
)

// Theme is the set of colours of a figure.
type Theme uint8

// The themes.
const (
	Light Theme = iota
	Dark
)

// Size is that of a picture: logical pixels, and device pixels for each of them in a PNG.
type Size struct {
	Width, Height int
	Scale         float64
}

// DefaultSize is that of the files of aiperf plot: 1600 by 800 points, 3200 by 1600 pixels.
func DefaultSize() Size { return Size{Width: 1600, Height: 800, Scale: 2} }

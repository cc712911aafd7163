package chart

import (
	"image/color"
)

// colours are those of a theme.
type colours struct {
	// paper is around the plot, plot behind it.
	paper, plot color.NRGBA
	// text is for titles, soft for ticks, labels and notes.
	text, soft, grid, axis color.NRGBA
	grey, outlier          color.NRGBA
	series                 []color.NRGBA
}

func hexes(texts ...string) (out []color.NRGBA) {
	for _, t := range texts {
		out = append(out, Hex(t))
	}
	return out
}

// The themes. The colours of series were chosen by search: any two of a theme differ for readers with any of the three
// kinds of colour blindness, and each has a contrast of 3 to 1 with its background, as WCAG asks of graphics. Neighbours
// differ in brightness too, for print. Tests check it.
var themes = map[Theme]*colours{
	Light: {
		paper: Hex("#ffffff"), plot: Hex("#ffffff"),
		text: Hex("#0a0a0a"), soft: Hex("#555b66"),
		grid: Hex("#e1e4e8"), axis: Hex("#999999"),
		grey: Hex("#8a8a8a"), outlier: Hex("#d9341f"),
		series: hexes("#2062ce", "#d17a1c", "#245240", "#9c2d8b", "#089ac3", "#481705", "#20204c", "#746711"),
	},
	Dark: {
		paper: Hex("#252525"), plot: Hex("#1a1a1a"),
		text: Hex("#e0e0e0"), soft: Hex("#b4b4b4"),
		grid: Hex("#333333"), axis: Hex("#777777"),
		grey: Hex("#999999"), outlier: Hex("#ff6b5a"),
		series: hexes("#73b6fa", "#fac131", "#27786b", "#fa7ba7", "#a3f5fe", "#c03710", "#9260da", "#e9f4a6"),
	},
}

func coloursOf(t Theme) *colours {
	if c, ok := themes[t]; ok {
		return c
	}
	return themes[Light]
}

// look is how a layer is drawn: its Look with the usual values of its kind.
type look struct {
	colour color.NRGBA
	shape  Shape
	dashed bool
	// width and size are in points, opacity and fill are 0 to 1; fill 0 is the usual one.
	width, size, opacity, fill float64
}

// looks gives every layer its colour and the form of its markers.
func (f *Figure) looks(c *colours) []look {
	taken := map[int]bool{}
	for i := range f.Layers {
		if s := f.Layers[i].Look.Series; s > 0 {
			taken[s] = true
		}
	}
	next := 1
	shapes := map[color.NRGBA]Shape{}
	out := make([]look, len(f.Layers))
	for i := range f.Layers {
		l := &f.Layers[i]
		k := look{
			dashed: l.Look.Dashed, width: or(l.Look.Width, 2.6), size: or(l.Look.Size, 10),
			opacity: min(or(l.Look.Opacity, 1), 1), fill: min(l.Look.Fill, 1),
		}
		explicit, ok := ParseHex(l.Look.Colour)
		switch series := l.Look.Series; {
		case ok:
			k.colour = explicit
		case series == Grey:
			k.colour = c.grey
		case series == Outlier:
			k.colour = c.outlier
		default:
			if series <= 0 {
				for taken[next] {
					next++
				}
				series = next
				next++
			}
			k.colour = c.series[(series-1)%len(c.series)]
			// A palette of eight serves twice: then lines are dashed.
			k.dashed = k.dashed || (series-1)/len(c.series)%2 == 1
		}
		if l.Kind == Points {
			shape, known := shapes[k.colour]
			if !known {
				shape = ShapeOf(len(shapes))
				shapes[k.colour] = shape
			}
			k.shape = shape
		}
		out[i] = k
	}
	return out
}

// or returns v if it is above 0, else the usual value.
func or(v, usual float64) float64 {
	if v > 0 {
		return v
	}
	return usual
}

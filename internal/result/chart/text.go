package chart

import (
	"image/color"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"

	"aiperf/internal/base/terminal"
)

// Font is how a text looks.
type Font struct {
	// Size is that of the letter M's body in points.
	Size float64
	// Bold and Mono, with letters of one width, exclude each other.
	Bold, Mono bool
	Colour     color.NRGBA
	Align      Align
	// Turned writes from the bottom to the top.
	Turned bool
}

// outlines is a font that was read. Sizes are in parts of the size of the font.
type outlines struct {
	font   *sfnt.Font
	units  float64
	lock   sync.Mutex
	buffer sfnt.Buffer
	glyphs map[rune]*glyph
}

// glyph is the form of a character; known is false if the font has none.
type glyph struct {
	known   bool
	advance float64
	path    *Path
}

func open(data []byte) func() *outlines {
	return sync.OnceValue(func() *outlines {
		parsed, err := sfnt.Parse(data)
		if err != nil {
			panic(err) // it is embedded
		}
		return &outlines{font: parsed, units: float64(parsed.UnitsPerEm()), glyphs: map[rune]*glyph{}}
	})
}

var regular, bold, mono = open(goregular.TTF), open(gobold.TTF), open(gomono.TTF)

func (f Font) outlines() *outlines {
	switch {
	case f.Mono:
		return mono()
	case f.Bold:
		return bold()
	}
	return regular()
}

// boxWidth is the advance of a character without a glyph.
const boxWidth = 1.0

// glyph returns the form of a character.
func (o *outlines) glyph(r rune) *glyph {
	o.lock.Lock()
	defer o.lock.Unlock()
	g, ok := o.glyphs[r]
	if ok {
		return g
	}
	g = &glyph{advance: boxWidth}
	if joins(r) {
		g.known, g.advance, g.path = true, 0, new(Path)
	} else if index, err := o.font.GlyphIndex(&o.buffer, r); err == nil && index != 0 {
		o.load(g, index)
	}
	if len(o.glyphs) < 2000 { // foreign texts may have any number of them
		o.glyphs[r] = g
	}
	return g
}

func (o *outlines) load(g *glyph, index sfnt.GlyphIndex) {
	ppem := fixed.Int26_6(o.font.UnitsPerEm()) << 6
	advance, err := o.font.GlyphAdvance(&o.buffer, index, ppem, font.HintingNone)
	if err != nil {
		return
	}
	segments, err := o.font.LoadGlyph(&o.buffer, index, ppem, nil)
	if err != nil {
		return
	}
	size := func(v fixed.Int26_6) float64 { return float64(v) / 64 / o.units }
	g.known, g.advance, g.path = true, size(advance), new(Path)
	for _, s := range segments {
		a := s.Args
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g.path.Move(size(a[0].X), size(a[0].Y))
		case sfnt.SegmentOpLineTo:
			g.path.Line(size(a[0].X), size(a[0].Y))
		case sfnt.SegmentOpQuadTo:
			g.path.Quad(size(a[0].X), size(a[0].Y), size(a[1].X), size(a[1].Y))
		case sfnt.SegmentOpCubeTo:
			g.path.Cubic(size(a[0].X), size(a[0].Y), size(a[1].X), size(a[1].Y), size(a[2].X), size(a[2].Y))
		}
	}
}

// has reports whether the font has all characters of a text.
func (o *outlines) has(text string) bool {
	for _, r := range text {
		if !o.glyph(r).known {
			return false
		}
	}
	return true
}

// joins reports whether a character only changes its neighbours: joiners and selectors of variants.
func joins(r rune) bool {
	return r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || unicode.Is(unicode.Variation_Selector, r)
}

// clean is a text as it is drawn: one line without control characters, accents joined with their letters.
func clean(text string) string {
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(terminal.Text(text))
	return norm.NFC.String(text)
}

// Measure returns the width of a text in the embedded fonts. Viewers of an SVG are
// asked to fit their fonts to it.
func (f Font) Measure(text string) float64 { return f.measure(clean(text)) }

func (f Font) measure(text string) float64 {
	o, sum := f.outlines(), 0.0
	for _, r := range text {
		sum += o.glyph(r).advance
	}
	return sum * f.Size
}

// Fit returns the text, cut with … if it is wider than room.
func (f Font) Fit(text string, room float64) string {
	text = clean(text)
	if f.measure(text) <= room {
		return text
	}
	o := f.outlines()
	left, end := room-f.measure("…"), 0
	if left < 0 {
		return ""
	}
	for i, r := range text {
		if left -= o.glyph(r).advance * f.Size; left < 0 {
			break
		}
		end = i + len(string(r))
	}
	return strings.TrimRight(text[:end], " ") + "…"
}

// Wrap breaks a text at spaces, and within words that are too long, into at most so many lines no wider than room; the
// last one is cut with … where there are more.
func (f Font) Wrap(text string, room float64, lines int) []string {
	words := strings.Fields(clean(text))
	var out []string
	for len(words) > 0 && len(out) < lines-1 {
		n := 1
		for n < len(words) && f.measure(strings.Join(words[:n+1], " ")) <= room {
			n++
		}
		line := strings.Join(words[:n], " ")
		words = words[n:]
		if n == 1 && f.measure(line) > room {
			head := f.cut(line, room)
			words = append([]string{line[len(head):]}, words...)
			line = head
		}
		out = append(out, line)
	}
	if len(words) > 0 && lines > 0 {
		out = append(out, f.Fit(strings.Join(words, " "), room))
	}
	return out
}

// cut is the beginning of a word that is no wider than room: a character at least.
func (f Font) cut(word string, room float64) string {
	o, end := f.outlines(), 0
	for i, r := range word {
		if room -= o.glyph(r).advance * f.Size; room < 0 && i > 0 {
			break
		}
		end = i + len(string(r))
	}
	return word[:end]
}

package analysis

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// canvas is a picture that is drawn on in pixels.
type canvas struct {
	*image.RGBA
	face font.Face
}

const fontSize = 13

func newCanvas(width, height int) (*canvas, error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, err
	}
	c := &canvas{image.NewRGBA(image.Rect(0, 0, width, height)), face}
	draw.Draw(c, c.Bounds(), image.White, image.Point{}, draw.Src)
	return c, nil
}

// fill blends a rectangle over what is there; it is at least one pixel wide and high.
func (c *canvas) fill(x0, y0, x1, y1 float64, shade color.NRGBA) {
	left, top := int(math.Round(x0)), int(math.Round(y0))
	r := image.Rect(left, top, max(int(math.Round(x1)), left+1), max(int(math.Round(y1)), top+1))
	draw.Draw(c, r, image.NewUniform(shade), image.Point{}, draw.Over)
}

// dashed draws a line along one axis; dash 0 is a whole one.
func (c *canvas) dashed(x0, y0, x1, y1, dash float64, shade color.NRGBA) {
	if dash == 0 {
		c.fill(x0, y0, x1, y1, shade)
		return
	}
	for at := 0.0; at < max(x1-x0, y1-y0); at += 2 * dash {
		if x1-x0 > y1-y0 {
			c.fill(x0+at, y0, min(x0+at+dash, x1), y1, shade)
		} else {
			c.fill(x0, y0+at, x1, min(y0+at+dash, y1), shade)
		}
	}
}

// width is that of a text.
func (c *canvas) width(text string) float64 {
	return float64(font.MeasureString(c.face, text)) / 64
}

// text writes with its baseline at y; align is 0 to begin at x, 0.5 to be centred on it, 1 to end there.
func (c *canvas) text(x, y float64, text string, align float64, shade color.NRGBA) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(shade), Face: c.face}
	d.Dot = fixed.P(int(math.Round(x-align*c.width(text))), int(math.Round(y)))
	d.DrawString(text)
}

// fit is a text that takes no more than so many pixels.
func (c *canvas) fit(text string, room float64) string {
	if c.width(text) <= room {
		return text
	}
	runes := []rune(text)
	for len(runes) > 0 && c.width(string(runes)+"…") > room {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

package chart

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
)

// SVG writes the figure as an SVG of Width by Height points; Scale has no effect. The file has no script, no style
// sheet and no reference: it may stand in a page. The same figure gives the same bytes.
func (f *Figure) SVG(w io.Writer, t Theme, s Size) error {
	if _, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><title>`,
		s.Width, s.Height); err != nil {
		return err
	}
	if err := xml.EscapeText(w, []byte(f.Title)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</title></svg>\n")
	return err
}

// PNG writes the figure as a PNG of Width by Height times Scale pixels. The same figure gives the same bytes.
func (f *Figure) PNG(w io.Writer, t Theme, s Size) error {
	p := image.NewRGBA(image.Rect(0, 0, int(float64(s.Width)*s.Scale), int(float64(s.Height)*s.Scale)))
	paper := color.NRGBA{0xff, 0xff, 0xff, 0xff}
	if t == Dark {
		paper = color.NRGBA{0x25, 0x25, 0x25, 0xff}
	}
	draw.Draw(p, p.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return png.Encode(w, p)
}

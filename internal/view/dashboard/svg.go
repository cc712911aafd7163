package dashboard

import (
	"fmt"
	"html"
	"strings"
)

// The looks of a screenshot: the size of a cell, and the colours of a terminal with a dark background.
const (
	cellWidth   = 8.4
	cellHeight  = 18
	svgMargin   = 12
	svgFontSize = 14
	background  = "#16181d"
	foreground  = "#d7dae0"
)

var svgColours = map[style]string{
	red: "#f2777a", green: "#8fca7e", yellow: "#e5c46b", blue: "#6fa8ee", magenta: "#c594d8", cyan: "#63c5cf",
	white: "#ffffff",
}

// svg returns the canvas as a picture.
func (c *canvas) svg(title string) []byte {
	var b strings.Builder
	w, h := float64(c.width)*cellWidth+2*svgMargin, c.height*cellHeight+2*svgMargin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" width="%.1f" height="%d" `+
		`font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">`+"\n",
		w, h, w, h, svgFontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n",
		html.EscapeString(title), background)
	for y := range c.height {
		c.svgRow(&b, y)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// svgRow appends a row: the cells of a style that follow each other are one text.
func (c *canvas) svgRow(b *strings.Builder, y int) {
	row := c.cells[y*c.width : (y+1)*c.width]
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].style == row[from].style {
			to++
		}
		c.svgText(b, from, y, row[from:to])
		from = to
	}
}

func (c *canvas) svgText(b *strings.Builder, x, y int, cells []cell) {
	text, blank := "", true
	for _, one := range cells {
		switch one.text {
		case "":
			text += " "
		case secondHalf:
		default:
			text += one.text
			blank = blank && one.text == " "
		}
	}
	s := cells[0].style
	left, top := float64(svgMargin)+float64(x)*cellWidth, svgMargin+y*cellHeight
	length := float64(len(cells)) * cellWidth
	fill := foreground
	if own := svgColours[s&colourBits]; own != "" {
		fill = own
	}
	if s&reverse != 0 {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top, length, cellHeight, fill)
		fill = background
	}
	if blank {
		return
	}
	attributes := ""
	if s&bold != 0 {
		attributes += ` font-weight="bold"`
	}
	if s&dim != 0 {
		attributes += ` opacity="0.6"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs" `+
		`xml:space="preserve">%s</text>`+"\n",
		left, top+13, fill, attributes, length, html.EscapeString(text))
}

package chart_test

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"aiperf/internal/result/chart"
)

// example uses everything that a scene can hold.
func example() *chart.Scene {
	s := chart.NewScene(400, 200)
	s.Title, s.Description, s.Metadata = "An <example>", "Shapes & texts", `{"a":[1,2]}`
	s.Background = chart.Hex("#ffffff")
	s.Rect(10, 10, 100, 50, 0, chart.Paint{Fill: chart.Hex("#ff0000")})
	s.Rect(120, 10, 100, 50, 12, chart.Paint{Fill: chart.Hex("#00ff00"), Stroke: chart.Hex("#000000"), Width: 2})
	s.Open("a group", "name", `"quoted"`)
	s.Clip(0, 100, 200, 100)
	s.Line(0, 150, 400, 150, chart.Paint{Stroke: chart.Hex("#0000ff"), Width: 10})
	s.Unclip()
	s.Close()
	path := new(chart.Path).Move(230, 10).Line(280, 10).Quad(300, 35, 280, 60).Cubic(260, 70, 250, 70, 230, 60)
	s.Path(path.Close(), chart.Paint{Fill: chart.Opacity(chart.Hex("#0000ff"), 0.5)})
	s.Line(220, 120, 390, 120, chart.Paint{Stroke: chart.Hex("#000000"), Width: 4, Dash: []float64{10, 10}})
	for i := 0; i == 0 || chart.ShapeOf(i) != chart.ShapeOf(0); i++ { // every shape
		s.Markers([]chart.Point{{240 + 20*float64(i), 150}}, chart.ShapeOf(i), 12,
			chart.Paint{Fill: chart.Hex("#8b3fb8")})
	}
	font := chart.Font{Size: 16, Colour: chart.Hex("#1a2230")}
	s.Text(10, 90, "Zeit <ms> αβγ 中文 👍", font)
	font.Align, font.Bold = chart.AlignEnd, true
	s.Text(390, 90, "right", font)
	s.Text(395, 195, "turned", chart.Font{Size: 12, Colour: chart.Hex("#000000"), Turned: true})
	s.Text(230, 190, "│ mono │", chart.Font{Size: 14, Mono: true, Colour: chart.Hex("#000000")})
	return s
}

func TestBothFilesShowTheScene(t *testing.T) {
	var text, pic bytes.Buffer
	if err := example().WriteSVG(&text); err != nil {
		t.Fatal(err)
	}
	if err := example().WritePNG(&pic, 2); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&text); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	p, err := png.Decode(&pic)
	if err != nil {
		t.Fatal(err)
	}
	if size := p.Bounds().Size(); size.X != 800 || size.Y != 400 {
		t.Errorf("%v pixels", size)
	}
	for _, c := range []struct {
		x, y int
		want string
	}{
		{60, 30, "#ff0000"}, {170, 30, "#00ff00"}, {121, 11, "#ffffff"}, {100, 150, "#0000ff"}, {210, 150, "#ffffff"},
		{250, 30, "#7f7fff"}, {225, 120, "#000000"}, {235, 120, "#ffffff"}, {240, 150, "#8b3fb8"},
	} {
		got := color.NRGBAModel.Convert(p.At(2*c.x, 2*c.y)).(color.NRGBA)
		want := chart.Hex(c.want)
		if near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 1 }; !near(got.R, want.R) || !near(got.G, want.G) ||
			!near(got.B, want.B) {
			t.Errorf("at %d, %d: %v, not %s", c.x, c.y, got, c.want)
		}
	}
}

func TestHostileTextsStayTexts(t *testing.T) {
	s := chart.NewScene(100, 100)
	s.Title = `</title><script>alert(1)</script>` + "\x1b[2J\x00\u202e"
	s.Metadata = "]]></metadata><script/>"
	s.Open(`"><script/>`, "name", `" onload="x`)
	s.Text(0, 10, "<script>&\x07\xff\ufffe</text>", chart.Font{Size: 10})
	s.Close()
	var out bytes.Buffer
	if err := s.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(&out)
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "script" {
			t.Error("an element script")
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" ||
				a.Name.Local == "id" {
				t.Errorf("attribute %s", a.Name.Local)
			}
		}
	}
	if err := s.WritePNG(io.Discard, 1); err != nil {
		t.Error(err)
	}
}

// hasGlyph reports whether the regular font has a character: an SVG states the length of a text whose characters all
// have glyphs.
func hasGlyph(t *testing.T, c rune) bool {
	t.Helper()
	s := chart.NewScene(400, 60)
	s.Text(10, 45, strings.Repeat(string(c), 8), chart.Font{Size: 40, Colour: chart.Hex("#000000")})
	var file strings.Builder
	if err := s.WriteSVG(&file); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(file.String(), " textLength=")
}

func TestCharactersWithoutGlyphAreBoxes(t *testing.T) {
	font := chart.Font{Size: 40, Colour: chart.Hex("#000000")}
	if !hasGlyph(t, 'A') {
		t.Fatal("no A")
	}
	for _, c := range []rune{'中', '👍', 'ש'} {
		s := chart.NewScene(60, 60)
		s.Text(10, 45, string(c), font)
		var file bytes.Buffer
		if err := s.WritePNG(&file, 1); err != nil {
			t.Fatal(err)
		}
		p, err := png.Decode(&file)
		if err != nil {
			t.Fatal(err)
		}
		dark := 0
		for y := range 60 {
			for x := range 60 {
				if red, _, _, _ := p.At(x, y).RGBA(); red < 0x8000 {
					dark++
				}
			}
		}
		if hasGlyph(t, c) {
			t.Errorf("%c has a glyph", c)
		}
		if dark < 100 {
			t.Errorf("%c leaves %d pixels", c, dark)
		}
	}
	for _, c := range "…×µ²≤→−·|█" {
		if !hasGlyph(t, c) {
			t.Errorf("no glyph for %c", c)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	f := chart.Font{Size: 20}
	text := "a rather long title of a figure with averyveryverylongwordwithoutanyspaceinit at its end"
	if got := f.Fit(text, 200); f.Measure(got) > 200 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q is %g wide", got, f.Measure(got))
	}
	if got := f.Fit("short", 200); got != "short" {
		t.Errorf("%q", got)
	}
	lines := f.Wrap(text, 200, 10)
	for _, line := range lines {
		if f.Measure(line) > 200 {
			t.Errorf("%q is %g wide", line, f.Measure(line))
		}
	}
	if joined := strings.Join(lines, ""); strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(text, " ", "") {
		t.Errorf("%q", lines)
	}
	if lines := f.Wrap(text, 200, 2); len(lines) != 2 || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("%q", lines)
	}
	if lines := f.Wrap(text, 1, 500); len(lines) == 0 || len(lines) > 500 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestEqualScenesGiveEqualBytes(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := example().WriteSVG(w); err != nil {
			t.Fatal(err)
		}
		if err := example().WritePNG(w, 1.5); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("they differ")
	}
}

func TestHugePicturesAreReduced(t *testing.T) {
	s := chart.NewScene(20_000, 10_000)
	file, out := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		out.CloseWithError(s.WritePNG(out, 2))
	}()
	size, err := png.DecodeConfig(file)
	file.Close() // the pixels are of no interest
	<-written
	const maxPixels = 40_000_000
	if err != nil || size.Width*size.Height > maxPixels*101/100 || size.Width < size.Height*19/10 {
		t.Errorf("%d by %d pixels, %v", size.Width, size.Height, err)
	}
}

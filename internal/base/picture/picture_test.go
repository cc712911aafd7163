package picture

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"
)

// example uses everything that a scene can hold.
func example() *Scene {
	s := New(400, 200)
	s.Title, s.Description, s.Metadata = "An <example>", "Shapes & texts", `{"a":[1,2]}`
	s.Background = Hex("#ffffff")
	s.Rect(10, 10, 100, 50, 0, Paint{Fill: Hex("#ff0000")})
	s.Rect(120, 10, 100, 50, 12, Paint{Fill: Hex("#00ff00"), Stroke: Hex("#000000"), Width: 2})
	s.Open("a group", "name", `"quoted"`)
	s.Clip(0, 100, 200, 100)
	s.Line(0, 150, 400, 150, Paint{Stroke: Hex("#0000ff"), Width: 10})
	s.Unclip()
	s.Close()
	s.Path(new(Path).Move(230, 10).Line(280, 10).Quad(300, 35, 280, 60).Cubic(260, 70, 250, 70, 230, 60).Close(),
		Paint{Fill: Opacity(Hex("#0000ff"), 0.5)})
	s.Line(220, 120, 390, 120, Paint{Stroke: Hex("#000000"), Width: 4, Dash: []float64{10, 10}})
	for i := range int(shapes) {
		s.Markers([]Point{{240 + 20*float64(i), 150}}, ShapeOf(i), 12, Paint{Fill: Hex("#8b3fb8")})
	}
	font := Font{Size: 16, Colour: Hex("#1a2230")}
	s.Text(10, 90, "Zeit <ms> αβγ 中文 👍", font)
	font.Align, font.Bold = End, true
	s.Text(390, 90, "right", font)
	s.Text(395, 195, "turned", Font{Size: 12, Colour: Hex("#000000"), Turned: true})
	s.Text(230, 190, "│ mono │", Font{Size: 14, Mono: true, Colour: Hex("#000000")})
	return s
}

func TestBothFilesShowTheScene(t *testing.T) {
	var text, picture bytes.Buffer
	if err := example().WriteSVG(&text); err != nil {
		t.Fatal(err)
	}
	if err := example().WritePNG(&picture, 2); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&text); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	p, err := png.Decode(&picture)
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
		want := Hex(c.want)
		if near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 1 }; !near(got.R, want.R) || !near(got.G, want.G) ||
			!near(got.B, want.B) {
			t.Errorf("at %d, %d: %v, not %s", c.x, c.y, got, c.want)
		}
	}
}

func TestHostileTextsStayTexts(t *testing.T) {
	s := New(100, 100)
	s.Title = `</title><script>alert(1)</script>` + "\x1b[2J\x00\u202e"
	s.Metadata = "]]></metadata><script/>"
	s.Open(`"><script/>`, "name", `" onload="x`)
	s.Text(0, 10, "<script>&\x07\xff\ufffe</text>", Font{Size: 10})
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

func TestCharactersWithoutGlyphAreBoxes(t *testing.T) {
	font := Font{Size: 40, Colour: Hex("#000000")}
	if known := regular().glyph('A'); !known.known {
		t.Fatal("no A")
	}
	for _, c := range []rune{'中', '👍', 'ש'} {
		s := New(60, 60)
		s.Text(10, 45, string(c), font)
		p := s.render(1)
		dark := 0
		for i := 0; i < len(p.Pix); i += 4 {
			if p.Pix[i] < 0x80 {
				dark++
			}
		}
		if dark < 100 {
			t.Errorf("%c leaves %d pixels", c, dark)
		}
	}
	for _, c := range "…×µ²≤→−·|█" {
		if !regular().glyph(c).known {
			t.Errorf("no glyph for %c", c)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	f := Font{Size: 20}
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
	s := New(20_000, 10_000)
	if size := s.render(2).Bounds().Size(); size.X*size.Y > maxPixels*101/100 || size.X < size.Y*19/10 {
		t.Errorf("%v", size)
	}
}

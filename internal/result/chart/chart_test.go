package chart

import (
	"bytes"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

func svgOf(t testing.TB, f *Figure) string {
	t.Helper()
	var b strings.Builder
	if err := f.SVG(&b, Light, DefaultSize()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPointsAreInTheMetadata(t *testing.T) {
	f := &Figure{Title: "T", X: Axis{Label: "x (s)"}, Y: Axis{Label: "y", Log: true}, Layers: []Layer{
		{Kind: Points, Name: "a & b", X: []float64{0, 1.5, math.NaN()}, Y: []float64{1, 10, 100}, Labels: []string{"p", "q", ""}},
		{Kind: Errors, X: []float64{1}, Low: []float64{2}, High: []float64{3}, Y: []float64{2.5}},
	}}
	text := svgOf(t, f)
	for _, want := range []string{
		`&#34;x&#34;:{&#34;label&#34;:&#34;x (s)&#34;}`, `&#34;log&#34;:true`,
		`&#34;name&#34;:&#34;a &amp; b&#34;,&#34;points&#34;:3,&#34;x&#34;:[0,1.5,null],&#34;y&#34;:[1,10,100],` +
			`&#34;labels&#34;:[&#34;p&#34;,&#34;q&#34;,&#34;&#34;]`,
		`&#34;low&#34;:[2],&#34;high&#34;:[3]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if svgOf(t, f) != text {
		t.Error("the same figure gave other bytes")
	}
}

func TestPicturesHaveTwiceThePixels(t *testing.T) {
	var b bytes.Buffer
	f := &Figure{Layers: []Layer{{Kind: Line, X: []float64{0, 1}, Y: []float64{0, 1}}}}
	if err := f.PNG(&b, Dark, DefaultSize()); err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(&b)
	if err != nil || p.Bounds().Dx() != 3200 || p.Bounds().Dy() != 1600 {
		t.Fatalf("%v, %v", p.Bounds(), err)
	}
	if got := color.NRGBAModel.Convert(p.At(1, 1)); got != Hex("#252525") {
		t.Errorf("the paper is %v", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		lo, hi float64
		want   string
	}{
		{Axis{Zero: true}, 3, 1622, "0 500 1,000 1,500 2,000"},
		{Axis{Zero: true}, 0.01, 0.034, "0.00 0.01 0.02 0.03 0.04"},
		{Axis{Zero: true}, 1, 2.2e6, "0 0.5M 1.0M 1.5M 2.0M 2.5M"},
		{Axis{Log: true}, 1, 1000, "1 3 10 30 100 300 1,000"},
		{Axis{Zero: true, Min: f64(0), Max: f64(100)}, 5, 99, "0 20 40 60 80 100"},
		{Axis{}, 5, 5, "4.4 4.6 4.8 5.0 5.2 5.4 5.6"},
	} {
		e := newExtent()
		e.add(c.lo, c.hi)
		s, _ := newScale(&c.axis, e, room{round: true}, 5)
		var labels []string
		for _, tick := range s.ticks {
			if tick.label != "" {
				labels = append(labels, tick.label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%g to %g: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

func TestTheRightAxisSharesTheLinesOfTheLeftOne(t *testing.T) {
	f := &Figure{Y: Axis{Zero: true}, Y2: &Axis{Zero: true, Min: f64(0), Max: f64(100)}, Layers: []Layer{
		{Kind: Line, X: []float64{0, 1}, Y: []float64{0, 1650}},
		{Kind: Line, X: []float64{0, 1}, Y: []float64{3, 97}, Right: true},
	}}
	text := svgOf(t, f)
	for _, label := range []string{">2,000<", ">25<", ">75<", ">100<"} {
		if !strings.Contains(text, label) {
			t.Errorf("no tick %s", label)
		}
	}
}

func TestThinningKeepsExtremes(t *testing.T) {
	n := 200_000
	l := Layer{Kind: Points, X: seq(n, count), Y: seq(n, func(i int) float64 { return math.Sin(float64(i)) })}
	l.Y[77_777], l.Y[123_456] = 50, -50
	s := &scale{lo: 0, hi: float64(n), from: 0, to: 1600}
	v := &scale{lo: -50, hi: 50, from: 800, to: 0}
	for _, kind := range []Kind{Points, Line} {
		l.Kind = kind
		kept := (&thinner{&l, s, v}).keep()
		seen := map[int]bool{}
		for _, i := range kept {
			seen[i] = true
		}
		if len(kept) > maxShapes || !seen[77_777] || !seen[123_456] || !seen[0] || !seen[n-1] {
			t.Errorf("%s: %d kept, extremes %v %v", kind, len(kept), seen[77_777], seen[123_456])
		}
	}
}

// linear is a channel of sRGB as light.
func linear(c uint8) float64 {
	v := float64(c) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// sights are how linear colours appear to readers: to most, and without one kind of cone (Machado, Oliveira and
// Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1).
var sights = map[string][3][3]float64{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns a linear colour in CIELAB.
func lab(rgb [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 216./24389 {
			return math.Cbrt(v)
		}
		return (24389./27*v + 16) / 116
	}
	x := f((0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]) / 0.95047)
	y := f(0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2])
	z := f((0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func seen(c color.NRGBA, by [3][3]float64) [3]float64 {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var out [3]float64
	for i := range out {
		for k := range in {
			out[i] += by[i][k] * in[k]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return lab(out)
}

// leastDifference is the distance in CIELAB from which on two colours of a legend are told apart at a glance.
const leastDifference = 12

func TestColoursOfSeriesDifferForEveryReader(t *testing.T) {
	for theme, c := range themes {
		for i, a := range c.series {
			ratio := (luminance(a) + 0.05) / (luminance(c.plot) + 0.05)
			if ratio = max(ratio, 1/ratio); ratio < 3 {
				t.Errorf("theme %v: colour %d has a contrast of %.2f", theme, i, ratio)
			}
			for k := range i {
				for name, by := range sights {
					p, q := seen(a, by), seen(c.series[k], by)
					if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < leastDifference {
						t.Errorf("theme %v, %s: colours %d and %d differ by %.1f", theme, name, i, k, d)
					}
				}
			}
		}
	}
}

func TestFiguresWithoutValues(t *testing.T) {
	for _, f := range []*Figure{{}, {Layers: []Layer{{Kind: Line}}}, {Y: Axis{Log: true}, Layers: []Layer{
		{Kind: Points, X: []float64{math.NaN()}, Y: []float64{math.Inf(1)}}}}} {
		svgOf(t, f)
		if err := f.PNG(io.Discard, Light, Size{1, 1, 0.001}); err != nil {
			t.Error(err)
		}
	}
}

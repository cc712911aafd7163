package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// gallery is where to write the figures of this file, to be looked at:
// go test ./internal/result/chart -run Gallery -gallery DIR.
var galleryDir = flag.String("gallery", "", "write the figures of the tests into this folder")

func f64(v float64) *float64 { return &v }

func seq(n int, of func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = of(i)
	}
	return out
}

func count(i int) float64 { return float64(i) }

// gallery has a figure for each kind of layer and for each difficulty.
func gallery() map[string]*Figure {
	r := rand.New(rand.NewPCG(1, 2))
	latencies := seq(600, func(i int) float64 { return 80 + 25*r.NormFloat64() + 200*math.Exp(-float64(i)/40) })
	for i := range latencies {
		if r.Float64() < 0.01 {
			latencies[i] *= 4
		}
		latencies[i] = max(latencies[i], 20)
	}
	rolling := func(q float64) []float64 {
		return seq(len(latencies), func(i int) float64 { return 80 + 200*math.Exp(-float64(i)/60) + 60*q + 5*math.Sin(float64(i)/20) })
	}
	concurrency := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	names := []string{"1", "2", "4", "8", "16", "32", "64", "128"}
	pareto := func(k float64) *Layer {
		return &Layer{
			Kind: Line, X: seq(8, func(i int) float64 { return 400 + 90*k + 12*concurrency[i]*k }),
			Y: seq(8, func(i int) float64 { return 1800 * concurrency[i] / (concurrency[i] + 20*k) }),
		}
	}
	a, b := pareto(1), pareto(1.7)
	a.Look.Series, b.Look.Series = 1, 2
	aPoints, bPoints := *a, *b
	aPoints.Kind, bPoints.Kind = Points, Points
	aPoints.Labels, bPoints.Labels = names, names
	a.Name, aPoints.Name = "model = meta-llama/Llama-3.1-8B-Instruct", "model = meta-llama/Llama-3.1-8B-Instruct"
	b.Name, bPoints.Name = "model = Qwen/Qwen3-14B", "model = Qwen/Qwen3-14B"
	ellipse := func(x, y, rx, ry float64) Layer {
		l := Layer{Kind: Polygon, Name: "95% Confidence Region", Look: Look{Series: 1, Fill: 0.15}}
		for i := range 64 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 64)
			l.X, l.Y = append(l.X, x+rx*cos), append(l.Y, y+ry*sin)
		}
		return l
	}
	spans := Layer{Kind: Spans, Name: "waiting for the first token", Look: Look{Series: 2}}
	decode := Layer{Kind: Spans, Name: "generating", Look: Look{Series: 1}}
	for i := range 120 {
		start := float64(i)*0.08 + r.Float64()*0.1
		ttft := 0.1 + r.Float64()*0.3
		spans.X, spans.XEnd, spans.Y = append(spans.X, start), append(spans.XEnd, start+ttft), append(spans.Y, float64(i))
		decode.X, decode.XEnd = append(decode.X, start+ttft), append(decode.XEnd, start+ttft+0.5+r.Float64())
		decode.Y = append(decode.Y, float64(i))
	}
	var binFrom, binTo, binCount []float64
	for i := range 30 {
		binFrom, binTo = append(binFrom, float64(i)*10), append(binTo, float64(i+1)*10)
		binCount = append(binCount, math.Floor(900*math.Exp(-math.Pow(float64(i)-9, 2)/30)))
	}
	cloud := func(n int) Layer {
		return Layer{Kind: Points, Name: "requests", X: seq(n, count), Y: seq(n, func(int) float64 { return math.Exp(4 + r.NormFloat64()*0.5) })}
	}
	slices := seq(20, func(i int) float64 { return 5*float64(i) + 2.5 })
	means := seq(20, func(i int) float64 { return 120 + 15*math.Sin(float64(i)/2) })
	means[13] = 210
	figures := map[string]*Figure{
		"scatter": {
			Title: "TTFT per Request Over Time", X: Axis{Label: "Request number"}, Y: Axis{Label: "Time to first token (ms)", Zero: true},
			Layers: []Layer{{Kind: Points, Name: "Time to first token", X: seq(600, count), Y: latencies}},
		},
		"percentiles": {
			Title: "Request latency with rolling percentiles", Subtitle: "mock-model · 600 requests · concurrency 8",
			X: Axis{Label: "Request number"}, Y: Axis{Label: "Request latency (ms)", Zero: true},
			Layers: []Layer{
				{Kind: Points, Name: "requests", X: seq(600, count), Y: latencies, Look: Look{Series: Grey, Opacity: 0.5, Size: 6}},
				{Kind: Line, Name: "p50 of 10", X: seq(600, count), Y: rolling(0.2)},
				{Kind: Line, Name: "p95 of 10", X: seq(600, count), Y: rolling(1)},
				{Kind: Line, Name: "p99 of 10", X: seq(600, count), Y: rolling(1.6), Look: Look{Dashed: true}},
			},
		},
		"pareto": {
			Title: "Pareto Curve: Output Token Throughput per GPU vs Latency", Subtitle: "Points are labelled with their concurrency",
			X: Axis{Label: "Request latency, average (ms)"}, Y: Axis{Label: "Output token throughput per GPU (tokens/s/gpu)"},
			Layers: []Layer{*a, aPoints, *b, bPoints},
		},
		"uncertainty": {
			Title: "Latency and throughput with their uncertainty", X: Axis{Label: "Request latency (ms)"}, Y: Axis{Label: "Tokens/s/gpu"},
			Layers: []Layer{
				ellipse(120, 800, 12, 90), ellipse(180, 1500, 20, 120), ellipse(320, 2100, 45, 160),
				{Kind: Line, Name: "Mean", X: []float64{120, 180, 320}, Y: []float64{800, 1500, 2100}, Look: Look{Series: 1}},
				{Kind: Points, Name: "Mean", X: []float64{120, 180, 320}, Y: []float64{800, 1500, 2100}, Look: Look{Series: 1},
					Labels: []string{"1", "8", "32"}},
			},
		},
		"timeslices": {
			Title: "TTFT by slice of time", X: Axis{Label: "Seconds"}, Y: Axis{Label: "Time to first token (ms)"},
			Notes: []string{"Warning: lengths of prompts differ between requests; slices may not be comparable."},
			Layers: []Layer{
				{Kind: Band, Name: "±1 standard deviation of the run", Low: []float64{98}, High: []float64{150}, Look: Look{Series: Grey}},
				{Kind: Level, Name: "average of the run", Y: []float64{124}, Look: Look{Series: Grey, Dashed: true}, Labels: []string{"124 ms"}},
				{Kind: Errors, Name: "standard deviation", X: slices, Y: means, Look: Look{Series: 1},
					Low: seq(20, func(i int) float64 { return means[i] - 14 }), High: seq(20, func(i int) float64 { return means[i] + 14 })},
				{Kind: Points, Name: "average of the slice", X: slices, Y: means, Look: Look{Series: 1}},
				{Kind: Points, Name: "outlier", X: slices[13:14], Y: means[13:14], Look: Look{Series: Outlier, Size: 12}},
			},
		},
		"dual": {
			Title: "GPU utilisation and throughput over time", X: Axis{Label: "Seconds"},
			Y: Axis{Label: "Output tokens/s", Zero: true}, Y2: &Axis{Label: "GPU utilisation (%)", Zero: true, Max: f64(100)},
			Layers: []Layer{
				{Kind: Area, Name: "GPU utilisation", Right: true, X: seq(60, count), Look: Look{Series: 2},
					Y: seq(60, func(i int) float64 { return min(97, float64(i)*8) - 4*math.Sin(float64(i)) })},
				{Kind: Stair, Name: "throughput", X: seq(60, count), Look: Look{Series: 1},
					Y: seq(60, func(i int) float64 { return 12000*(1-math.Exp(-float64(i)/10)) + 600*math.Sin(float64(i)*1.7) })},
			},
		},
		"timeline": {
			Title: "Requests over time", X: Axis{Label: "Seconds"}, Y: Axis{Label: "Request"},
			Layers: []Layer{spans, decode},
		},
		"histogram": {
			Title: "Distribution of the request latency", X: Axis{Label: "ms"}, Y: Axis{Label: "Requests", Zero: true},
			Layers: []Layer{
				{Kind: Bars, Name: "requests", X: binFrom, XEnd: binTo, Y: binCount},
			},
		},
		"area": {
			Title: "Dispersed throughput over time", X: Axis{Label: "Seconds"}, Y: Axis{Label: "Output tokens/s"},
			Layers: []Layer{{Kind: StairArea, X: seq(300, func(i int) float64 { return float64(i) / 10 }),
				Y: seq(300, func(i int) float64 { return 4000*math.Sin(float64(i)/95) + 300*r.Float64() })}},
		},
		"bands": {
			Title: "Time in the server's queue", X: Axis{Label: "Seconds"}, Y: Axis{Label: "ms", Log: true},
			Layers: []Layer{
				{Kind: Band, Name: "p50 to p99", X: seq(50, count), Look: Look{Series: 1},
					Low:  seq(50, func(i int) float64 { return 3 * math.Exp(float64(i)/12) }),
					High: seq(50, func(i int) float64 { return 25 * math.Exp(float64(i)/10) })},
				{Kind: Line, Name: "p95", X: seq(50, count), Y: seq(50, func(i int) float64 { return 12 * math.Exp(float64(i)/11) }),
					Look: Look{Series: 1}},
			},
		},
		"categories": {
			Title: "Throughput by run", X: Axis{Label: "Run", Categories: []string{"baseline", "treatment with a long name of several words",
				"chunked-prefill-enabled-and-more", "中文模型", "fp8"}},
			Y: Axis{Label: "Requests/s", Zero: true},
			Layers: []Layer{
				{Kind: Bars, Name: "p50", X: seq(5, count), Y: []float64{120, 150, 90, 210, 170}},
				{Kind: Bars, Name: "p99", X: seq(5, count), Y: []float64{80, 100, 75, 160, 120}},
			},
		},
		"legend": {
			Title: "A long title that goes on about what is shown in the figure, which models were compared, on which machines, on which day, and why anybody should care about it at all, so that it must be cut",
			X:     Axis{Label: "Concurrency", Log: true}, Y: Axis{Label: "Output tokens/s", Log: true},
		},
		"cloud":    {Title: "100,000 requests", X: Axis{Label: "Request number"}, Y: Axis{Label: "ms"}, Layers: []Layer{cloud(100_000)}},
		"longline": {Title: "A line of 100,000 points", X: Axis{Label: "Request number"}, Y: Axis{Label: "ms"}, Layers: []Layer{cloud(100_000)}},
		"empty":    {Title: "Nothing was recorded", X: Axis{Label: "Seconds"}, Y: Axis{Label: "ms"}},
		"one":      {Title: "One point", X: Axis{Label: "Seconds"}, Y: Axis{Label: "ms"}, Layers: []Layer{{Kind: Points, Name: "a point", X: []float64{3}, Y: []float64{17}, Labels: []string{"here"}}}},
		"equal":    {Title: "Equal values", X: Axis{Label: "Request number"}, Y: Axis{Label: "ms"}, Layers: []Layer{{Kind: Line, X: seq(50, count), Y: seq(50, func(int) float64 { return 42 })}}},
		"gaps": {Title: "Gaps", X: Axis{Label: "Seconds"}, Y: Axis{Label: "°C, below and above 0"}, Layers: []Layer{{Kind: Line, Name: "line", X: seq(50, count),
			Y: seq(50, func(i int) float64 {
				if i%11 == 7 {
					return math.NaN()
				} else if i == 20 {
					return math.Inf(1)
				}
				return 30 * math.Sin(float64(i)/6)
			})}, {Kind: Area, Name: "area", X: seq(50, count), Y: seq(50, func(i int) float64 { return 20 * math.Cos(float64(i)/6) })}}},
		"tiny": {Title: "Tiny values", X: Axis{Label: "s"}, Y: Axis{Label: "s"}, Layers: []Layer{{Kind: Line, X: seq(9, func(i int) float64 { return float64(i) * 1e-7 }), Y: seq(9, func(i int) float64 { return float64(i*i) * 3e-9 })}}},
		"huge": {Title: "Huge values", X: Axis{Label: "bytes"}, Y: Axis{Label: "FLOPS"}, Layers: []Layer{{Kind: Points, X: seq(9, func(i int) float64 { return float64(i) * 3.3e9 }), Y: seq(9, func(i int) float64 { return float64(i*i) * 3e17 })}}},
		"foreign": {Title: "模型的吞吐量 <script>alert(1)</script> \x1b[31m \u202eabc", Subtitle: "İstanbul · Ελληνικά · Русский · 日本語 · 👍",
			X: Axis{Label: "מודל"}, Y: Axis{Label: "毫秒"},
			Layers: []Layer{{Kind: Line, Name: "\"quoted\" & <b>bold</b>", X: seq(3, count), Y: seq(3, count)}}},
	}
	longLine := &figures["longline"].Layers[0]
	longLine.Kind = Line
	for i := range 14 {
		figures["legend"].Layers = append(figures["legend"].Layers, Layer{
			Kind: Line, Name: "organisation/a-model-with-a-long-name-" + string(rune('a'+i)), X: concurrency,
			Y: seq(8, func(k int) float64 { return (50 + 20*float64(i)) * math.Pow(concurrency[k], 0.5+0.03*float64(i)) }),
		})
	}
	return figures
}

func TestGallery(t *testing.T) {
	for name, f := range gallery() {
		for theme, suffix := range map[Theme]string{Light: "", Dark: "-dark"} {
			for kind, write := range map[string]func(io.Writer) error{
				"svg": func(w io.Writer) error { return f.SVG(w, theme, DefaultSize()) },
				"png": func(w io.Writer) error { return f.PNG(w, theme, Size{400, 200, 1}) },
			} {
				var drawn bytes.Buffer
				if *galleryDir != "" {
					write = map[string]func(io.Writer) error{"svg": write,
						"png": func(w io.Writer) error { return f.PNG(w, theme, DefaultSize()) }}[kind]
				}
				if err := write(&drawn); err != nil {
					t.Fatal(err)
				}
				if kind == "svg" {
					wellFormed(t, name, drawn.Bytes(), f)
				} else if _, err := png.Decode(bytes.NewReader(drawn.Bytes())); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if *galleryDir == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(*galleryDir, name+suffix+"."+kind), drawn.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// wellFormed checks that an SVG has the layers of its figure as metadata, with the number of their points, and no
// element that runs or loads anything.
func wellFormed(t *testing.T, name string, text []byte, f *Figure) {
	t.Helper()
	var metadata []byte
	inside := false
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "metadata"
			if slices.Contains([]string{"script", "style", "image", "use", "foreignObject", "a"}, token.Name.Local) {
				t.Errorf("%s: an element %s", name, token.Name.Local)
			}
		case xml.CharData:
			if inside {
				metadata = append(metadata, token...)
			}
		case xml.EndElement:
			inside = false
		}
	}
	var points struct {
		Layers []struct {
			Kind   string
			Points int
			X      []*float64
		}
	}
	if err := json.Unmarshal(metadata, &points); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(points.Layers) != len(f.Layers) {
		t.Fatalf("%s: %d layers, not %d", name, len(points.Layers), len(f.Layers))
	}
	for i, l := range points.Layers {
		want := &f.Layers[i]
		if l.Kind != want.Kind.String() || l.Points != want.size() || len(l.X) > maxShapes {
			t.Errorf("%s: layer %d is %s with %d points, %d of them drawn; want %s with %d", name, i, l.Kind, l.Points,
				len(l.X), want.Kind, want.size())
		}
	}
}

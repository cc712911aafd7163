package analysis

import (
	"embed"
	"fmt"
	"io"

	"aiperf/internal/base/webpage"
)

//go:embed swimlanepage.html swimlane.js swimlane.css transcriptpage.html transcript.js transcript.css
var pages embed.FS

// frameOf returns the frame of a page with a script and a style of its own, which are named alike.
func frameOf(name, title string, data any) (webpage.Frame, error) {
	return webpage.Plain(title, webpage.Text(pages, name+".css"), webpage.Text(pages, name+".js"), data)
}

// maxFailure bounds the text of an error in the page.
const maxFailure = 300

// WriteHTML writes the chart as a self-contained page: it can be zoomed, and shows the details of each request.
func (c *Swimlane) WriteHTML(w io.Writer) error {
	frame, err := frameOf("swimlane", c.heading(), c.pageData())
	if err != nil {
		return err
	}
	return webpage.ExecuteWhole(w, pages, "swimlanepage.html", nil, struct {
		webpage.Frame
		PeakRequests, PeakActive int
		Concurrency, RampSeconds float64
	}{frame, c.PeakRequests, c.PeakActive, c.Concurrency, float64(c.RampNS) / 1e9})
}

// pageData is the chart in rows of numbers, in microseconds: what the page's script reads.
func (c *Swimlane) pageData() map[string]any {
	sessions, bars := make([][]any, len(c.Sessions)), make([][]any, len(c.Bars))
	for i := range c.Sessions {
		s := &c.Sessions[i]
		sessions[i] = []any{s.ID, s.Conversation, s.Lane, s.Depth, s.StartNS / 1000, s.EndNS / 1000}
	}
	for i := range c.Bars {
		b := &c.Bars[i]
		bars[i] = []any{b.Session, b.StartNS / 1000, b.FirstNS / 1000, b.EndNS / 1000, b.Turn, int(b.State),
			b.InputTokens, b.OutputTokens}
		if b.Failure != "" {
			failure := []rune(b.Failure)
			bars[i] = append(bars[i], string(failure[:min(len(failure), maxFailure)]))
		}
	}
	pairs := func(list []Step) [][2]int64 {
		out := make([][2]int64, len(list))
		for i, s := range list {
			out[i] = [2]int64{s.AtNS / 1000, int64(s.Value)}
		}
		return out
	}
	var shades []string
	for _, s := range palette {
		shades = append(shades, fmt.Sprintf("#%02x%02x%02x", s.R, s.G, s.B))
	}
	return map[string]any{
		"palette": shades,
		"lanes":   c.Lanes, "sessions": sessions, "bars": bars, "end": max(c.EndNS/1000, 1),
		"peak":     max(c.PeakRequests, c.PeakActive),
		"requests": pairs(c.Requests), "active": pairs(c.Active), "concurrency": c.Concurrency, "ramp": c.RampNS / 1000,
	}
}

package console

import (
	"io"
	"strings"

	"aiperf/internal/result/answer"
)

// The sizes of plots in characters.
const (
	// widestPlot is the width beyond which a plot does not grow.
	widestPlot = 78
	// leastHalf is the width that a plot needs to stand beside another one.
	leastHalf  = 34
	tallPlot   = 10
	shortPlot  = 5
	plotMargin = 2
)

// logarithmic is how many times the smallest value the largest one is where an axis becomes logarithmic.
const logarithmic = 20

// Braille reports whether a terminal shows braille patterns, by its environment: the locale is of UTF-8, and it is not
// the console of Linux, whose fonts lack them.
func Braille(getenv func(string) string) bool {
	switch getenv("TERM") {
	case "dumb", "linux":
		return false
	}
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return getenv("WT_SESSION") != "" // the terminal of Windows
}

// RenderCurve writes the curve as plots: the latency over the load with its limit, below it the throughput and that of
// one user. It writes nothing of a curve of fewer than two points.
func RenderCurve(w io.Writer, c *answer.Curve, o Options) error {
	p := newPage(&o)
	p.curve(c, o.ASCII)
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// curve appends the plots.
func (p *page) curve(c *answer.Curve, ascii bool) {
	if len(c.Points) < 2 {
		return
	}
	width := min(p.width, widestPlot)
	latency := newPlot(c, c.Latency, ascii, cyan)
	if latency != nil {
		latency.limit = c.Limit
	}
	var small []*plot
	for i, m := range [...]answer.Metric{c.Throughput, c.PerUser} {
		if f := newPlot(c, m, ascii, [...]style{green, yellow}[i]); f != nil {
			small = append(small, f)
		}
	}
	if latency != nil {
		p.blank(1)
		latency.print(p, width, tallPlot)
	}
	half := (width - plotMargin) / 2
	if len(small) == 2 && half >= leastHalf {
		p.blank(1)
		p.beside(small[0].lines(half, shortPlot), small[1].lines(half, shortPlot), half+plotMargin)
	} else {
		for _, f := range small {
			p.blank(1)
			f.print(p, width, shortPlot)
		}
	}
	if latency != nil || len(small) > 0 {
		for _, line := range wrap(plotLegend(c, ascii), width) {
			p.line(span{line, dim})
		}
	}
}

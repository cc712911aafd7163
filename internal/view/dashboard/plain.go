package dashboard

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/publish/progress"
)

// Lines returns what is observed as lines of text, one for each server and each GPU, each with the time.
func Lines(o *progress.Observed) (list []string) {
	at := o.At.Format("15:04:05")
	for i := range o.Servers {
		s := &o.Servers[i]
		line := at + "  " + clean(s.URL)
		if s.Kind != "" {
			line += "  " + clean(s.Kind)
		}
		switch {
		case s.Error != "":
			line += "  error: " + clean(s.Error)
		case s.Remark != "":
			line += "  " + clean(s.Remark)
		case len(s.Figures) == 0 && s.Kind != "":
			line += "  no figures yet"
		case len(s.Figures) == 0:
			line += "  no metrics that aiperf reads"
		}
		for k := range serverRows {
			if r := &serverRows[k]; !math.IsNaN(figureOf(s.Figures, r.name)) {
				line += "  " + r.plain(s.Figures)
			}
		}
		list = append(list, line)
	}
	for i := range o.GPUs {
		g := &o.GPUs[i]
		line := fmt.Sprintf("%s  GPU %d  %s", at, g.Index, clean(g.Model))
		for _, t := range []int{1, 2, 0, 3} {
			if v, ok := newestOf(g, gpuTotals[t].tags); ok {
				line += "  " + gpuTotals[t].label + " " + short(v) + " " + gpuTotals[t].unit
			}
		}
		list = append(list, line+"  "+clean(g.Source))
	}
	return list
}

// plain is a row's label and value within a line.
func (r *serverRow) plain(figures []progress.Figure) string {
	label := strings.TrimSuffix(r.label, " p50 p99")
	if label[1] >= 'a' { // else it is an abbreviation
		label = strings.ToLower(label[:1]) + label[1:]
	}
	if r.second == "" {
		return label + " " + r.value(figures)
	}
	return label + " p50 " + milliseconds(1e3*figureOf(figures, r.name)) + " p99 " +
		milliseconds(1e3*figureOf(figures, r.second))
}

package html

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/summary"
)

// timesView is where the time of requests went: a bar and a table for each metric.
type timesView struct {
	Splits []splitView
	Note   string
}

type splitView struct {
	Title, Total, Description string
	Parts                     []timePart
}

// timePart is a stage. X, Width and Middle place it on a bar, in hundredths of it; the class has its colour. Label is the
// text in the bar, "" where there is no room, and Roomy reports that there is room on a phone, too.
type timePart struct {
	Class, Name, Time, Share, Source string
	X, Width, Middle, Label          string
	Roomy                            bool
	Details                          []row
}

// The least shares of a bar that have a text in it: on a page of two columns, and on a phone.
const (
	leastLabelled = 0.17
	leastRoomy    = 0.34
)

// newTimesView returns nil where nothing is known.
func newTimesView(r *summary.Result) *timesView {
	t := r.Times()
	if t == nil {
		return nil
	}
	v := &timesView{Note: t.Note}
	for _, of := range []struct {
		title string
		split *timesplit.Split
	}{{"Time to first token", t.TTFT}, {"Request latency", t.Latency}} {
		if of.split != nil {
			v.Splits = append(v.Splits, newSplitView(of.title, of.split))
		}
	}
	return v
}

func newSplitView(title string, s *timesplit.Split) splitView {
	milliseconds := func(ms float64) string { return artifact.Significant(ms) + " ms" }
	v := splitView{Title: title, Total: milliseconds(s.Milliseconds), Description: title + ", mean:"}
	x := 0.0
	for i := range s.Parts {
		p := &s.Parts[i]
		of := timePart{Class: "t-" + string(p.Stage), Name: p.Stage.Name() + ": " + p.Stage.Meaning(), Source: p.Source,
			Time: milliseconds(p.Milliseconds), Share: fmt.Sprintf("%.1f %%", 100*p.Share),
			X: fmt.Sprintf("%.2f", 100*x), Width: fmt.Sprintf("%.2f", 100*p.Share),
			Middle: fmt.Sprintf("%.2f", 100*(x+p.Share/2)), Roomy: p.Share >= leastRoomy}
		if p.Share >= leastLabelled {
			of.Label = fmt.Sprintf("%s %.0f %%", p.Stage.Name(), 100*p.Share)
		}
		if p.Limit != nil {
			of.Details = append(of.Details, row{Name: "at most, p99", Value: milliseconds(*p.Limit)})
		}
		for _, d := range p.Details {
			of.Details = append(of.Details, row{Name: d.Name, Value: milliseconds(d.Milliseconds)})
		}
		v.Description += fmt.Sprintf(" %s %s,", p.Stage.Name(), of.Share)
		v.Parts = append(v.Parts, of)
		x += p.Share
	}
	v.Description = v.Description[:len(v.Description)-1]
	return v
}

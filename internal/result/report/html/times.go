package html

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/answer"
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
	// Short and Number are the name and the time for a narrow place.
	Short, Number           string
	X, Width, Middle, Label string
	Roomy                   bool
	Details                 []row
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
	for _, of := range splits {
		if split := of.split(t); split != nil {
			v.Splits = append(v.Splits, newSplitView(of.title, split, 1))
		}
	}
	return v
}

// newSplitView returns the bar of a split that takes a part of the width, up to 1.
func newSplitView(title string, s *timesplit.Split, width float64) splitView {
	milliseconds := func(ms float64) string { return artifact.Significant(ms) + " ms" }
	v := splitView{Title: title, Total: milliseconds(s.Milliseconds), Description: title + ", mean:"}
	x := 0.0
	for i := range s.Parts {
		p := &s.Parts[i]
		of := timePart{Class: "t-" + string(p.Stage), Name: p.Stage.Name() + ": " + p.Stage.Meaning(), Source: p.Source,
			Short: p.Stage.Name(), Number: artifact.Significant(p.Milliseconds),
			Time: milliseconds(p.Milliseconds), Share: fmt.Sprintf("%.1f %%", 100*p.Share),
			X: fmt.Sprintf("%.2f", 100*x*width), Width: fmt.Sprintf("%.2f", 100*p.Share*width),
			Middle: fmt.Sprintf("%.2f", 100*(x+p.Share/2)*width), Roomy: p.Share*width >= leastRoomy}
		if p.Share*width >= leastLabelled {
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

// cellTimesView is where the time of the cells of a sweep went: for each metric a bar for each cell.
type cellTimesView struct{ Groups []cellTimesGroup }

type cellTimesGroup struct {
	Title string
	Rows  []cellTimesRow
}

// cellTimesRow is the bar of a cell, as long as its part of the longest.
type cellTimesRow struct {
	Label string
	splitView
}

// newCellTimesView returns nil where nothing is known of any cell.
func newCellTimesView(s *answer.Sweep) *cellTimesView {
	v := &cellTimesView{}
	for _, of := range splits {
		g := cellTimesGroup{Title: of.title}
		longest := 0.0
		for i := range s.Cells {
			if split := of.split(s.Cells[i].Times); split != nil {
				longest = max(longest, split.Milliseconds)
			}
		}
		for i := range s.Cells {
			if split := of.split(s.Cells[i].Times); split != nil {
				g.Rows = append(g.Rows, cellTimesRow{s.Cells[i].Label,
					newSplitView(of.title, split, split.Milliseconds/longest)})
			}
		}
		if len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	if len(v.Groups) == 0 {
		return nil
	}
	return v
}

// splits are those of a run, with their titles.
var splits = [...]struct {
	title string
	split func(*timesplit.Times) *timesplit.Split
}{
	{"Time to first token", (*timesplit.Times).OfTTFT}, {"Request latency", (*timesplit.Times).OfLatency},
}

package report

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// twinDocument compares a recording with its replay.
func twinDocument(t *summary.Twin, j *judge.Judgement) *summary.TwinDocument {
	d := &summary.TwinDocument{Verdict: judge.TwinOf(t.Rows), Rows: []summary.TwinRowDocument{}}
	if f, ok := j.Find(judge.CodeTwin); ok {
		d.Summary = f.Title + ": " + f.Text
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		d.Rows = append(d.Rows, summary.TwinRowDocument{Measure: r.Measure, Title: r.Title(), Unit: r.Unit(),
			Recorded: artifact.Known(r.Recorded), Replayed: artifact.Known(r.Replayed),
			Distance: artifact.Known(r.Distance), KS: artifact.Known(r.KS), Mean: artifact.Known(r.Mean),
			Verdict: judge.TwinVerdictOf(r.Distance)})
	}
	return d
}

// twinRows are single values: the distances of a recording and its replay, and the verdicts.
func twinRows(r *summary.Result) (rows [][]string) {
	if r.Twin == nil {
		return nil
	}
	for i := range r.Twin.Rows {
		of := &r.Twin.Rows[i]
		if verdict := judge.TwinVerdictOf(of.Distance); verdict != "" {
			rows = append(rows, []string{"Twin Distance: " + of.Title(), artifact.Short(of.Distance)})
		}
	}
	return append(rows, []string{"Twin Verdict", string(judge.TwinOf(r.Twin.Rows))})
}

package html

import (
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// twinView compares a recording with its replay.
type twinView struct {
	Lines       []summary.TwinLine
	Title, Text string
}

// newTwinView returns nil for a run that played no recording.
func newTwinView(r *summary.Result) *twinView {
	if r.Twin == nil {
		return nil
	}
	v := &twinView{Lines: r.Twin.Lines()}
	judged := r.Judge()
	if f, ok := judged.Find(judge.CodeTwin); ok {
		v.Title, v.Text = f.Title, f.Text
	}
	return v
}

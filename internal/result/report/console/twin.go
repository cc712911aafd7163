package console

import (
	"cmp"

	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// twinLooks are the styles of verdicts on a replay.
var twinLooks = map[judge.TwinVerdict]style{judge.TwinSame: green, judge.TwinNear: yellow, judge.TwinDiffers: red}

// twinTable appends what a recording and its replay have in common.
func (p *page) twinTable(r *summary.Result) {
	if r.Twin == nil {
		return
	}
	t := &table{title: product + " | Recorded and Replayed", titleStyle: title,
		columns: []column{{header: "Measure", style: cyan, left: true}, {header: "Recorded", style: green},
			{header: "Replayed", style: green}, {header: "Distance", style: green}, {header: "Verdict", left: true}}}
	for _, l := range r.Twin.Lines() {
		t.rows = append(t.rows, []cell{{text: l.Measure}, {text: l.Recorded}, {text: l.Replayed}, {text: l.Distance},
			{text: cmp.Or(string(l.Verdict), "–"), style: twinLooks[l.Verdict]}})
	}
	t.print(p)
	judged := r.Judge()
	if f, ok := judged.Find(judge.CodeTwin); ok {
		p.remark(f.Title+". "+f.Text, looks[f.Level])
	}
}

// twinLine appends how good a replay is as a twin of its recording.
func (p *page) twinLine(j *judge.Judgement) {
	f, ok := j.Find(judge.CodeTwin)
	if !ok {
		return
	}
	p.row("twin", []span{{f.Title, looks[f.Level]}, {f.Text, plain}})
	if f.Level == judge.Warn {
		p.row("", only(f.Advice))
	}
}

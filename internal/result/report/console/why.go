package console

import (
	"fmt"
	"io"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/judge"
)

// looks are the colours of levels.
var looks = map[judge.Level]style{judge.Good: green, judge.Plain: plain, judge.Warn: yellow, judge.Bad: alert}

// heading is how a title of a level looks: it stands out in any case.
func heading(of judge.Level) style {
	if of == judge.Plain {
		return bold
	}
	return looks[of]
}

// RenderWhy writes a judgement at length: the state, each finding with its evidence and what to do, and what could not
// be seen. name is what was judged.
func RenderWhy(w io.Writer, name string, j *judge.Judgement, o Options) error {
	p := newPage(&o)
	p.width = min(p.width, shortWidest)
	p.flow(nil, 0, " · ", []span{{safe(name), bold}, {j.State.Title, heading(j.State.Level)}})
	for i := range j.Findings {
		p.blank(1)
		p.finding(&j.Findings[i])
	}
	if len(j.NotSeen) > 0 {
		p.blank(1)
		p.line(span{"Not seen", bold})
		for _, u := range j.NotSeen {
			p.row("", only(u.What))
			p.row("", []span{{"→ " + u.How, dim}})
		}
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// finding appends a finding with all that is known of it.
func (p *page) finding(f *judge.Finding) {
	title := []span{{f.Title, heading(f.Level)}}
	if f.Kind == judge.Cause && f.Confidence != "" {
		title = append(title, span{string(f.Confidence), dim})
	}
	p.flow(nil, shortIndent, " · ", title)
	p.row("", only(f.Text))
	var evidence []span
	for _, e := range f.Evidence {
		evidence = append(evidence, span{safe(evidenceText(&e)), plain})
	}
	p.row("evidence", evidence)
	p.row("do", only(f.Advice))
	p.row("confirm", only(f.Confirm))
}

// evidenceText writes a figure with its unit and when or where it was.
func evidenceText(e *judge.Evidence) string {
	text := fmt.Sprintf("%s %s", e.Metric, artifact.Short(e.Value))
	if e.Unit != "" && !strings.HasSuffix(e.Metric, e.Unit) {
		text += " " + e.Unit
	}
	if e.Window != "" {
		text += " (" + e.Window + ")"
	}
	return strings.TrimSpace(text)
}

// RenderFacts writes named lines below one another.
func RenderFacts(w io.Writer, facts []Fact, o Options) error {
	p := newPage(&o)
	widest := 0
	for _, f := range facts {
		widest = max(widest, columns(f.Name))
	}
	for _, f := range facts {
		line := []span{{safe(f.Name), cyan}, {pad(widest - columns(f.Name) + 2), plain}}
		p.flow(line, widest+2, " ", only(f.Text))
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

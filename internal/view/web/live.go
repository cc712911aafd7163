package web

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// shown is what the clients have been told last, by identity.
type shown struct {
	figures *progress.Figures
	client  *progress.Client
	errors  *progress.ErrorKind
	gpus    *progress.GPU
}

// member makes a member of a JSON object.
func member(key string, value any) artifact.Member { return artifact.Member{Key: key, Value: value} }

// event makes an event of the stream.
func event(name string, of artifact.Object) []byte {
	text, err := artifact.AppendJSON([]byte("event: "+name+"\ndata: "), of)
	if err != nil {
		panic(err) // the values are numbers and texts
	}
	return append(text, "\n\n"...)
}

// hello is the first event of a stream and of a run: everything so far. The view is locked.
func (v *View) hello() []byte {
	o := artifact.Object{
		member("version", v.o.Version), member("number", v.number), member("columns", columns),
	}
	if v.series != nil {
		o = append(o, member("series", v.seriesObject()))
	}
	v.sendLog() // the others get what waits; the newcomer gets all
	if len(v.log) > 0 {
		o = append(o, member("log", logLines(v.log)))
	}
	if v.run != nil {
		o = append(o, member("run", runObject(v.run)))
		o = append(o, member("rows", json.RawMessage(v.history.text())))
	}
	if v.snapshot != nil {
		o = append(o, v.stateObject()...)
		o = append(o, v.slowMembers(shown{})...)
	}
	if v.ending != nil {
		o = append(o, member("end", v.endObject()))
	}
	return event("hello", o)
}

// changes is an event with what is new; the view is locked.
func (v *View) changes(rows []*row, all bool) []byte {
	o := v.stateObject()
	switch {
	case all:
		o = append(o, member("rows", json.RawMessage(v.history.text())))
	case len(rows) > 0:
		o = append(o, member("more", json.RawMessage(appendRows(nil, rows))))
	}
	o = append(o, v.slowMembers(v.sent)...)
	v.sent = shown{figures: v.snapshot.Figures, client: v.snapshot.Client, errors: first(v.snapshot.Errors),
		gpus: first(v.snapshot.GPUs)}
	if v.ending != nil {
		o = append(o, member("end", v.endObject()))
	}
	return event("update", o)
}

func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// stateObject is where the run stands.
func (v *View) stateObject() artifact.Object {
	s := v.snapshot
	phases := make([]any, 0, len(s.Phases))
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.State != progress.PhaseCreated {
			phases = append(phases, v.phaseObject(p))
		}
	}
	o := artifact.Object{
		member("stage", string(s.Stage)), member("elapsed", s.Elapsed.Seconds()), member("phases", phases),
		member("records", artifact.Object{member("ok", s.Records.Successes), member("errors", s.Records.Errors),
			member("skipped", s.Records.Skipped)}),
	}
	if a := s.Accuracy; a != nil {
		o = append(o, member("accuracy", artifact.Object{member("benchmark", a.Benchmark), member("correct", a.Correct),
			member("total", a.Total), member("unparsed", a.Unparsed)}))
	}
	return o
}

func (v *View) phaseObject(p *progress.Phase) artifact.Object {
	o := artifact.Object{
		member("name", p.Name), member("kind", p.Kind), member("state", string(p.State)),
		member("elapsed", p.Elapsed.Seconds()), member("sent", p.RequestsSent),
		member("completed", p.RequestsCompleted), member("cancelled", p.RequestsCancelled),
		member("errors", p.RequestErrors), member("inFlight", p.RequestsInFlight()),
		member("sessions", p.SessionsInFlight()), member("rate", p.CompletedRate), member("sentRate", p.DeliveredRate),
	}
	if at := v.starts[p.Index]; at != nil && v.run != nil {
		o = append(o, member("start", (v.snapshot.Elapsed-v.snapshot.At.Sub(time.Unix(0, at.startNS))).Seconds()))
	}
	if p.WasCancelled {
		o = append(o, member("stopped", true))
	}
	if p.Progress >= 0 {
		o = append(o, member("progress", p.Progress))
	}
	if p.Remaining >= 0 {
		o = append(o, member("remaining", p.Remaining.Seconds()))
	}
	if p.Draining > 0 && p.State == progress.PhaseSendingComplete {
		o = append(o, member("draining", p.Draining.Seconds()))
	}
	for _, n := range []struct {
		key   string
		value int64
	}{{"expected", p.ExpectedRequests}, {"expectedSessions", p.ExpectedSessions}, {"skipped", p.SkippedArrivals},
		{"dropped", p.DroppedArrivals}} {
		if n.value > 0 {
			o = append(o, member(n.key, n.value))
		}
	}
	if p.ExpectedDuration > 0 {
		o = append(o, member("seconds", p.ExpectedDuration.Seconds()))
	}
	if p.TargetRate > 0 {
		o = append(o, member("targetRate", p.TargetRate))
	}
	if s := p.Search; s != nil {
		o = append(o, member("search", artifact.Object{member("stage", s.Stage), member("variable", s.Variable),
			member("value", s.Value), member("passing", s.LastPassing), member("failing", s.FirstFailing),
			member("windows", s.Windows)}))
	}
	return o
}

// slowMembers are the figures that differ from those told before.
func (v *View) slowMembers(before shown) (o artifact.Object) {
	s := v.snapshot
	results := []metrics.Metric(nil)
	if s.Figures != nil && s.Figures != before.figures {
		results = s.Figures.Metrics
		servers := artifact.Object{}
		for _, f := range s.Figures.Servers {
			servers = append(servers, member(f.Name, f.Value))
		}
		o = append(o, member("servers", servers))
	}
	if v.ending != nil && v.ending.HasResults {
		results = v.ending.Metrics
	}
	if results != nil {
		o = append(o, member("metrics", metricRows(results)))
	}
	if s.Client != nil && s.Client != before.client {
		o = append(o, member("client", clientObject(s.Client)))
		if s.Judgement != nil { // made with it
			o = append(o, member("judgement", judgementObject(s.Judgement)))
		}
	}
	if s.Errors != nil && first(s.Errors) != before.errors {
		list := make([]any, len(s.Errors))
		for i, e := range s.Errors {
			list[i] = artifact.Object{member("code", e.Code), member("type", e.Type), member("message", e.Message),
				member("count", e.Count)}
		}
		o = append(o, member("errors", list))
	}
	if s.GPUs != nil && first(s.GPUs) != before.gpus {
		list := make([]any, len(s.GPUs))
		for i := range s.GPUs {
			list[i] = gpuObject(&s.GPUs[i])
		}
		o = append(o, member("gpus", list))
	}
	return o
}

// metricRows are the metrics that tables show, in their order.
func metricRows(results []metrics.Metric) []any {
	list := make([]any, 0, len(results))
	for i := range results {
		r := &results[i]
		if r.Order == 0 || r.Flags.Has(metrics.Internal) || r.Flags.Has(metrics.Experimental) {
			continue
		}
		o := artifact.Object{member("tag", r.Tag), member("header", r.Header), member("unit", r.Unit),
			member("order", r.Order), member("group", string(r.Group))}
		for _, f := range r.Figures() {
			if artifact.Finite(f.Value) {
				o = append(o, member(f.Key, f.Value))
			}
		}
		list = append(list, o)
	}
	return list
}

// judgementObject has the state and the first findings: a page has room for a few.
func judgementObject(j *progress.Judgement) artifact.Object {
	const shown = 3
	var findings []any
	for _, f := range j.Findings[:min(len(j.Findings), shown)] {
		findings = append(findings, artifact.Object{member("code", f.Code), member("level", f.Level), member("title", f.Title),
			member("text", f.Text), member("advice", f.Advice)})
	}
	return artifact.Object{member("state", j.State), member("level", j.Level), member("title", j.Title),
		member("findings", findings)}
}

func clientObject(c *progress.Client) artifact.Object {
	findings := make([]any, len(c.Findings))
	for i, f := range c.Findings {
		findings[i] = artifact.Object{member("code", f.Code), member("leads", f.LeadsTo), member("message", f.Message),
			member("advice", f.Advice)}
	}
	figures := artifact.Object{}
	for _, f := range c.Figures {
		key := f.Name
		for _, l := range f.Labels {
			key += "/" + l
		}
		figures = append(figures, member(key, f.Value))
	}
	return artifact.Object{member("verdict", c.Verdict), member("findings", findings), member("figures", figures)}
}

func gpuObject(g *progress.GPU) artifact.Object {
	values := make([]any, len(g.Values))
	for i, v := range g.Values {
		values[i] = artifact.Object{member("tag", v.Tag), member("header", v.Header), member("unit", v.Unit),
			member("now", v.Now), member("avg", v.Avg), member("min", v.Min), member("max", v.Max)}
	}
	return artifact.Object{member("source", g.Source), member("model", g.Model), member("host", g.Host),
		member("index", g.Index), member("values", values)}
}

func runObject(r *progress.Run) artifact.Object {
	plans := make([]any, len(r.Phases))
	for i, p := range r.Phases {
		o := artifact.Object{member("name", p.Name), member("kind", p.Kind), member("type", p.Type),
			member("concurrency", p.Concurrency), member("requests", p.Requests)}
		if p.Duration != nil {
			o = append(o, member("seconds", p.Duration.Seconds()))
		}
		if p.Rate > 0 {
			o = append(o, member("rate", p.Rate))
		}
		plans[i] = o
	}
	dir := r.Dir
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return artifact.Object{
		member("label", r.Label), member("id", r.BenchmarkID), member("command", r.Command), member("models", r.Models),
		member("endpoint", r.EndpointType), member("streaming", r.Streaming), member("urls", r.BaseURLs),
		member("dir", dir), member("plans", plans),
	}
}

// seriesObject is where the runs of a command stand.
func (v *View) seriesObject() artifact.Object {
	s := v.series
	cells := make([]any, len(s.Cells))
	for i := range s.Cells {
		c := &s.Cells[i]
		values, figures := make([]any, len(c.Values)), make([]any, len(c.Metrics))
		for k, x := range c.Values {
			values[k] = artifact.Object{member("name", x.Name), member("text", x.Text), member("number", x.Number)}
		}
		for k, m := range c.Metrics {
			figures[k] = artifact.Object{member("tag", m.Tag), member("header", m.Header), member("unit", m.Unit),
				member("stat", m.Stat), member("value", m.Value)}
		}
		cells[i] = artifact.Object{member("label", c.Label), member("trial", c.Trial), member("trials", c.Trials),
			member("state", string(c.State)), member("values", values), member("metrics", figures),
			member("took", c.Took.Seconds()), member("verdict", c.Verdict)}
		if n := slices.IndexFunc(v.reports, func(f finishedRun) bool { return f.dir == c.Dir }); n >= 0 {
			cells[i] = append(cells[i].(artifact.Object), member("report", v.reports[n].link()))
		}
	}
	return artifact.Object{member("kind", s.Kind), member("planned", s.Planned), member("answer", s.Answer),
		member("cells", cells)}
}

// logLines are lines of the log: time in ms, level, component, text.
func logLines(lines []LogLine) []any {
	list := make([]any, len(lines))
	for i, l := range lines {
		list[i] = []any{l.At.UnixMilli(), l.Level, l.Component, l.Message}
	}
	return list
}

// endObject says how the newest run ended, and what it left.
func (v *View) endObject() artifact.Object {
	o := artifact.Object{member("status", v.status()), member("finished", v.finished)}
	if e := v.ending; e != nil {
		o = append(o, member("failed", e.Failed), member("cancelled", e.Cancelled), member("results", e.HasResults))
	}
	if n := len(v.reports); n > 0 && v.ending != nil && v.reports[n-1].number == v.number {
		o = append(o, member("report", v.reports[n-1].link()))
	}
	return o
}

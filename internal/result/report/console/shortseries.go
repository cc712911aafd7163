package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// Repeats is what the short report says of repeated runs.
type Repeats struct {
	// Input is the resolved configuration of the runs, redacted.
	Input artifact.Object
	// Runs were made, Good of them succeeded.
	Runs, Good int
	Level      float64
	Rows       []SeriesRow
	// Failed are the labels of the runs that failed, each with its error.
	Failed []string
	// Cache warns that runs found prompts of earlier ones in the server's cache; "" where they did not.
	Cache string
}

// repeated are the figures of repeated runs in the short report. Of a figure that is not there the next one is not
// shown in its place.
var repeated = [...]struct{ tag, stat, name, unit string }{
	{"request_throughput", "avg", "throughput", "req/s"}, {"output_token_throughput", "avg", "", "tok/s out"},
	{"time_to_first_token", "avg", "TTFT", ""}, {"time_to_first_token", "p99", "", ""},
	{"inter_token_latency", "avg", "ITL", ""},
	{"request_latency", "avg", "latency", ""}, {"request_latency", "p99", "", ""},
}

// RenderRepeatsShort writes the answer of repeated runs: where the mean of each key figure lies, and how well the runs
// repeat one another.
func RenderRepeatsShort(w io.Writer, r *Repeats, o Options) error {
	p := newPage(&o)
	p.width = min(p.width, shortWidest)
	p.blank(1)
	p.flow(nil, 0, " · ", append(identity(configured(r.Input)), succeeded(r.Good, r.Runs),
		span{Percent(r.Level) + " confidence intervals", plain}))
	for _, f := range repeated {
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Tag != f.tag || row.Stat != f.stat || !artifact.Finite(row.Mean) {
				continue
			}
			unit := f.unit
			if unit == "" {
				unit = row.Unit
			}
			text := artifact.Significant(row.Mean) + " " + unit
			if f.unit == "" {
				text = row.Stat + " " + text
			}
			if between := answer.Between(row.Low, row.High); between != "" {
				text += " (" + between + ")"
			}
			parts := []span{{text, plain}}
			if word, look := repeats(row.CV); word != notAvailable {
				parts = append(parts, span{"cv " + artifact.Trimmed(100*row.CV, 1) + " %, " + word, look})
			}
			p.row(f.name, parts)
		}
	}
	asked := configured(r.Input)
	p.unstreamed(Whole(asked.EndpointType, asked.Streaming),
		slices.ContainsFunc(r.Rows, func(row SeriesRow) bool { return row.Tag == timeToFirst }))
	p.failures(r.Failed)
	p.warned("prompt cache", r.Cache)
	p.fileLines(&o)
	p.more(o.More)
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// succeeded says how many runs are successes.
func succeeded(good, runs int) span {
	look := green
	if good < runs {
		look = alert
	}
	return span{fmt.Sprintf("%d of %s succeeded", good, count(int64(runs), "run")), look}
}

// failures appends the first runs that failed.
func (p *page) failures(list []string) {
	for i, text := range list {
		if i == shortErrors {
			p.row("", only(fmt.Sprintf("and %s", count(int64(len(list)-i), "other run"))))
			break
		}
		p.row("failed", []span{{safe(text), red}})
	}
}

// warned appends a warning; nothing for "".
func (p *page) warned(name, text string) {
	if text != "" {
		p.row(name, []span{{safe(text), yellow}})
	}
}

// more appends the last lines.
func (p *page) more(list []Fact) {
	for _, f := range list {
		p.row(f.Name, only(f.Text))
	}
}

// RenderSweepShort writes the answer of a sweep, a search or a capacity: the best cells, the boundary, the load within
// the limits, what failed and where the files are.
func RenderSweepShort(w io.Writer, s *answer.Sweep, o Options) error {
	p := newPage(&o)
	p.width = min(p.width, shortWidest)
	p.blank(1)
	var names []string
	for _, parameter := range s.Parameters {
		names = append(names, parameter.Name)
	}
	good, failed := 0, len(s.Failures)
	for i := range s.Cells {
		good, failed = good+s.Cells[i].Runs, failed+len(s.Cells[i].Failures)
	}
	kind := strings.ToLower(s.Kind)
	if len(names) > 0 {
		kind += " over " + strings.Join(names, ", ")
	}
	p.flow(nil, 0, " · ", []span{{safe(s.Title), bold}, {safe(kind), plain}, succeeded(good, good+failed)})
	if s.Capacity != nil {
		p.capacityRows(s.Capacity)
	} else {
		p.sweepRows(s)
	}
	p.unstreamed(o.Whole && good > 0,
		slices.ContainsFunc(s.Metrics, func(m answer.Metric) bool { return m.Tag == timeToFirst }))
	var list []string
	for i := range s.Cells {
		for _, f := range s.Cells[i].Failures {
			list = append(list, f.Label+": "+f.Error)
		}
	}
	p.failures(list)
	p.warned("prompt cache", s.Cache)
	p.fileLines(&o)
	p.more(o.More)
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// sweepRows appends the best cells and the boundary.
func (p *page) sweepRows(s *answer.Sweep) {
	p.found(s)
	p.loads(s)
	p.cellTimes(s)
	if len(s.Limits) > 0 {
		within := 0
		for i := range s.Cells {
			if s.Cells[i].Verdict == answer.Feasible {
				within++
			}
		}
		p.row("limits", only(fmt.Sprintf("%d of %s within %s", within, count(int64(len(s.Cells)), "cell"),
			limitTexts(s.Limits))))
	}
	for _, b := range s.Best {
		where := b.Label
		if b.Cell >= 0 && b.Cell < len(s.Cells) {
			where = s.Cells[b.Cell].Label
		}
		p.row("best", only(strings.TrimPrefix(lowered(b.Title), "best ")+" "+artifact.Significant(b.Value)+" "+b.Metric.Unit+" at "+where))
	}
	for i, finding := range s.AccuracyFindings() {
		name := "accuracy"
		if i > 0 {
			name = ""
		}
		p.row(name, only(finding))
	}
	var front []string
	for i := range s.Cells {
		if s.Cells[i].Pareto {
			front = append(front, s.Cells[i].Label)
		}
	}
	if len(front) > mostOfFront {
		front = append(front[:mostOfFront], fmt.Sprintf("and %d others", len(front)-mostOfFront))
	}
	p.row("Pareto front", only(strings.Join(front, "; ")))
}

// lowered writes a title as the words of a sentence; abbreviations such as TTFT stay.
func lowered(title string) string {
	words := strings.Fields(title)
	for i, word := range words {
		if len(word) < 2 || strings.ToUpper(word) != word || strings.ContainsAny(word, "0123456789") {
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}

// mostOfFront is the number of cells of the front that are named.
const mostOfFront = 6

// found appends what a search found: the limits of its tiers, the best points of an objective, or the limit of one
// parameter.
func (p *page) found(s *answer.Sweep) {
	switch {
	case s.Search == nil || len(s.Parameters) == 0:
	case len(s.Search.Tiers) > 0:
		for i := range s.Search.Tiers {
			p.row("answer", only(s.Search.Tiers[i].Text(s.Parameters[0])))
		}
	case s.Search.Planner == "bayesian" || s.Search.Planner == "optuna":
		p.optimum(s)
	case s.Search.Boundary != nil:
		p.boundary(s)
	}
}

// optimum appends the best points of a search, at most [mostOfFront].
func (p *page) optimum(s *answer.Sweep) {
	best := s.Search.Best
	for n, i := range best {
		if i >= len(s.Cells) {
			return
		}
		if n == mostOfFront {
			p.row("answer", only(fmt.Sprintf("and %d others", len(best)-n)))
			return
		}
		c := &s.Cells[i]
		text := c.Label
		for k, v := range c.Objectives {
			if k < len(s.Search.Scored) {
				m := s.Search.Scored[k]
				text += strings.TrimRight(", "+m.Title()+" "+artifact.Significant(v)+" "+m.Unit, " ")
			}
		}
		if c.Verdict == answer.Infeasible {
			text += "; no point meets the limits"
		}
		p.row("answer", only(text))
	}
}

// boundary appends what a search of one parameter found.
func (p *page) boundary(s *answer.Sweep) {
	b, load := s.Search.Boundary, &s.Parameters[0]
	var text string
	switch pass, fail := b.FeasibleMax, b.InfeasibleMin; {
	case pass != nil && fail != nil:
		text = load.Value(*pass) + " meets the limits, " + load.Value(*fail) + " does not"
	case pass != nil:
		text = "at least " + load.Value(*pass) + ": no larger value was tried"
	case fail != nil:
		text = "none of the values tried meets the limits, not even " + load.Value(*fail)
	default:
		return
	}
	if b.Breach != "" {
		text += ": " + b.Breach
	}
	p.row("answer", only(text))
}

func limitTexts(limits []answer.Limit) string {
	var list []string
	for _, l := range limits {
		list = append(list, answer.LimitText(l))
	}
	return strings.Join(list, "; ")
}

// capacityRows appends how much load a server takes, the answer first.
func (p *page) capacityRows(c *answer.Capacity) {
	p.row("answer", []span{{safe(c.Headline()), outcomeStyle(c.Outcome)}})
	p.row("measured", only(c.Measured()))
	p.row("limits", only(limitTexts(c.Limits)))
	p.row("bound first", only(c.Bound()))
	p.row("recommended", only(c.Curve.Point(c.Curve.Recommended)))
	if c.Price != nil {
		p.row("cost", only(c.Price.String()))
	}
	for _, note := range c.Notes {
		p.row("note", []span{{safe(note), yellow}})
	}
	p.row("spent", only(c.Spent.String()))
	p.command("repeat", c.Command)
}

// command appends a command line. On a screen it goes on in further lines behind backslashes, as a shell takes it.
func (p *page) command(name, line string) {
	if line == "" {
		return
	}
	indent := shortIndent + shortName
	if p.width < shortNarrow {
		indent = 2 * shortIndent
	}
	lines := []string{safe(line)}
	if p.screen {
		lines = Continued(lines[0], p.width-indent)
	}
	for _, text := range lines {
		p.row(name, []span{{text, plain}})
		name = ""
	}
}

// Continued breaks a command line between its words so that a shell takes the lines for one.
func Continued(command string, room int) (lines []string) {
	const more = " \\"
	line := ""
	for _, word := range words(command) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word)+len(more) <= room:
			line += " " + word
		default:
			lines = append(lines, line+more)
			line = "  " + word
		}
	}
	return append(lines, line)
}

// words splits a command line at spaces that are not quoted. A flag stays together with its value.
func words(command string) (list []string) {
	quoted, begin := false, 0
	for i := range len(command) {
		switch c := command[i]; {
		case c == '\'':
			quoted = !quoted
		case c == ' ' && !quoted && strings.HasPrefix(command[i+1:], "-"):
			list = append(list, command[begin:i])
			begin = i + 1
		}
	}
	return append(list, command[begin:])
}

package series

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
)

// Planned is a plan that knows its runs beforehand.
type Planned interface {
	Plan
	// Planned returns the runs in their order, as many as there will be at most.
	Planned() []Step
}

// Course tells observers where a series stands. A nil Course tells nobody.
type Course struct {
	observers []progress.SeriesObserver
	state     progress.Series
	trials    int
	// running is the index of the cell that runs, -1 for none; begun is when it began.
	running int
	begun   time.Time
	// answer says what is known so far; nil has the course find it in the figures.
	answer func() string
}

// NewCourse returns a course for those observers that follow series: nil without any. Each cell has a number of trials;
// answer says in a line what is known so far, nil leaves that to the course.
func NewCourse(kind string, trials int, observers []progress.Observer, answer func() string) *Course {
	c := &Course{state: progress.Series{Kind: kind}, trials: trials, running: -1, answer: answer}
	for _, o := range observers {
		if s, ok := o.(progress.SeriesObserver); ok {
			c.observers = append(c.observers, s)
		}
	}
	if len(c.observers) == 0 {
		return nil
	}
	return c
}

// begin tells of a plan.
func (c *Course) begin(plan Plan) {
	if c == nil {
		return
	}
	if p, ok := plan.(Planned); ok {
		for _, step := range p.Planned() {
			c.state.Cells = append(c.state.Cells, c.cell(&step))
		}
		c.state.Planned = len(c.state.Cells)
	}
	c.tell()
}

// run tells that a run begins.
func (c *Course) run(step *Step) {
	if c == nil {
		return
	}
	c.running, c.begun = c.place(step), time.Now()
	c.state.Cells[c.running].State = progress.CellRunning
	c.tell()
}

// done tells that a run has ended, or was taken over from an earlier start.
func (c *Course) done(step *Step, r *Run, restored bool) {
	if c == nil {
		return
	}
	cell := &c.state.Cells[c.place(step)]
	cell.Metrics = keyFigures(r)
	switch {
	case restored:
		cell.State = progress.CellSkipped
	case !r.Succeeded():
		cell.State, cell.Took = progress.CellFailed, time.Since(c.begun)
	default:
		cell.State, cell.Took = progress.CellDone, time.Since(c.begun)
	}
	c.running = -1
	c.tell()
}

// over tells that a plan has ended by itself: what still waits is not run.
func (c *Course) over() {
	if c == nil {
		return
	}
	for i := range c.state.Cells {
		if cell := &c.state.Cells[i]; cell.State == progress.CellWaiting {
			cell.State = progress.CellSkipped
		}
	}
	c.tell()
}

// Judge adds the verdict of a search on runs, which the search knows only after them.
func (c *Course) Judge(runs []Run, verdict string) {
	if c == nil {
		return
	}
	for _, r := range runs {
		if i := c.find(r.Artifacts.Dir); i >= 0 {
			c.state.Cells[i].Verdict = verdict
		}
	}
	c.tell()
}

// tell gives each observer a state of its own.
func (c *Course) tell() {
	if c.answer != nil {
		c.state.Answer = c.answer()
	} else {
		c.state.Answer = best(c.state.Cells)
	}
	for _, o := range c.observers {
		own := c.state
		own.Cells = slices.Clone(own.Cells)
		o.SeriesChanged(&own)
	}
}

func (c *Course) find(dir string) int {
	return slices.IndexFunc(c.state.Cells, func(cell progress.Cell) bool { return cell.Dir == dir })
}

// place returns the index of the cell of a run, which it adds where it was not planned. Those ahead of it that still
// wait are not run any more.
func (c *Course) place(step *Step) int {
	i := c.find(step.Config.Artifacts.Dir)
	if i < 0 {
		i = len(c.state.Cells)
		c.state.Cells = append(c.state.Cells, c.cell(step))
	}
	for k := range c.state.Cells[:i] {
		if cell := &c.state.Cells[k]; cell.State == progress.CellWaiting {
			cell.State = progress.CellSkipped
		}
	}
	return i
}

// cell returns the cell of a run that waits.
func (c *Course) cell(step *Step) progress.Cell {
	cell := progress.Cell{Label: step.Info.VariationLabel, Trial: step.Info.Trial + 1, Trials: c.trials,
		State: progress.CellWaiting, Dir: step.Config.Artifacts.Dir}
	var names []string
	for _, m := range step.Info.VariationValues {
		v := progress.CellValue{Name: m.Key[strings.LastIndexByte(m.Key, '.')+1:], Number: math.NaN()}
		switch n := m.Value.(type) {
		case int64:
			v.Number, v.Text = float64(n), fmt.Sprint(n)
		case float64:
			v.Number, v.Text = n, fmt.Sprint(n)
		case string:
			v.Text = n
		default:
			text, _ := artifact.AppendJSON(nil, n)
			v.Text = string(text)
		}
		cell.Values = append(cell.Values, v)
		names = append(names, v.Name+"="+v.Text)
	}
	if c.state.Kind == progress.SearchKind && len(names) > 0 {
		cell.Label = strings.Join(names, ", ")
	}
	if cell.Label == "" {
		cell.Label = step.Info.RunLabel
	}
	return cell
}

// keyStats are the key figures of a run: a metric and its statistic.
var keyStats = []struct{ tag, stat string }{
	{"request_throughput", "avg"}, {"output_token_throughput", "avg"}, {"time_to_first_token", "p50"},
	{"time_to_first_token", "p99"}, {"inter_token_latency", "p50"}, {"request_latency", "p50"},
	{"request_latency", "p99"},
}

func keyFigures(r *Run) (list []progress.CellMetric) {
	for _, k := range keyStats {
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if v, ok := m.Stat(k.stat); ok && m.Tag == k.tag {
				list = append(list, progress.CellMetric{Tag: m.Tag, Header: m.Short, Unit: m.Unit, Stat: k.stat, Value: v})
			}
		}
	}
	return list
}

// best names the run with the highest throughput, once there are two to choose from.
func best(cells []progress.Cell) string {
	n, at, top := 0, -1, progress.CellMetric{}
	tag := "output_token_throughput"
	if !slices.ContainsFunc(cells, func(c progress.Cell) bool { return metricOf(&c, tag) != nil }) {
		tag = "request_throughput"
	}
	for i := range cells {
		if m := metricOf(&cells[i], tag); m != nil {
			if n++; at < 0 || m.Value > top.Value {
				at, top = i, *m
			}
		}
	}
	if n < 2 || len(cells[at].Values) == 0 {
		return ""
	}
	var values []string
	for _, v := range cells[at].Values {
		values = append(values, v.Name+" "+v.Text)
	}
	return fmt.Sprintf("highest throughput so far: %s %s with %s", artifact.Significant(top.Value), top.Unit,
		strings.Join(values, ", "))
}

func metricOf(c *progress.Cell, tag string) *progress.CellMetric {
	i := slices.IndexFunc(c.Metrics, func(m progress.CellMetric) bool { return m.Tag == tag })
	if i < 0 {
		return nil
	}
	return &c.Metrics[i]
}

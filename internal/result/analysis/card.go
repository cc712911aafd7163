package analysis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/summary"
)

// Card is what is shared of a result.
type Card struct {
	// Kind is such as "Run", "Sweep" or "Comparison"; Title is the name of the models.
	Kind, Title string
	// Facts say what was measured, in words.
	Facts []string
	// Figures are the few that come first, four at most.
	Figures  []CardFigure
	Findings []CardFinding
	// Head and Rows are a table; the first column has names.
	Head []string
	Rows [][]string
	// Curve is drawn beside the table; nil for none. Marked is the row of its answer, -1 for none.
	Curve  *answer.Curve
	Marked int
	// brief is the table beside the curves of a sweep.
	brief struct {
		head []string
		rows [][]string
	}
	// Limits are those of the curve's answer.
	Limits []answer.Limit
	// Notes are sentences below the table.
	Notes []string
	// Command measured it, without secrets; "" if it is not known.
	Command string
	// Program is what measured it; When is the day, "" if it is not known.
	Program, When string
}

// CardFigure is a key figure.
type CardFigure struct {
	Name, Value, Unit string
	// Detail is a second line, such as another percentile.
	Detail string
}

// CardFinding is a sentence with its weight.
type CardFinding struct {
	Level       judge.Level
	Title, Text string
}

// ReadCard reads the result of a folder.
func ReadCard(path string) (*Card, error) {
	found, err := library.Find(path)
	if err != nil {
		return nil, err
	}
	facts := library.ReadAll(found.Folders)
	at, err := topmost(found, path)
	if err != nil {
		return nil, err
	}
	d, f := &found.Folders[at], &facts[at]
	if f.Fault != "" {
		return nil, fmt.Errorf("%s: %s", d.Path, f.Fault)
	}
	c := &Card{Kind: kindNames[d.Kind], Title: cmp.Or(f.Model, filepath.Base(d.Home)), Program: program(f), When: day(f.Started)}
	c.Facts = factsOf(f)
	c.Command = firstCommand(found.Folders, at)
	switch d.Kind {
	case library.Run:
		err = c.run(d, f)
	case library.Repeats:
		err = c.repeats(d, f)
	default:
		err = c.sweep(d, f)
	}
	if err != nil {
		return nil, err
	}
	if d.Kind != library.Run {
		c.states(found.Folders, facts, at)
	}
	return c, nil
}

// states appends the worst state of the runs that are a part of a result.
func (c *Card) states(folders []library.Folder, facts []library.Facts, at int) {
	var states []judge.State
	for i := range folders {
		if folders[i].Kind == library.Run && isPart(folders, i, at) && facts[i].State.Code != "" {
			states = append(states, facts[i].State)
		}
	}
	worst := judge.Worst(states...)
	if worst.Code == "" {
		return
	}
	of := CardFinding{Level: worst.Level, Title: worst.Title}
	if worst.Code == judge.StateComplete {
		of.Title = fmt.Sprintf("%s complete", counted(float64(len(states)), "run"))
	}
	c.Findings = append(c.Findings, of)
}

// isPart reports whether a folder is a part of another one, or that one itself.
func isPart(folders []library.Folder, i, of int) bool {
	for ; i >= 0; i = folders[i].Parent {
		if i == of {
			return true
		}
	}
	return false
}

var kindNames = map[library.Kind]string{library.Run: "Run", library.Repeats: "Repeats", library.Sweep: "Sweep",
	library.Search: "Search"}

// topmost returns the index of the result that a folder is about: the one that no other one holds.
func topmost(found *library.Found, path string) (int, error) {
	var tops []int
	for i, d := range found.Folders {
		if d.Parent < 0 {
			tops = append(tops, i)
		}
	}
	switch {
	case len(tops) == 0:
		return 0, fmt.Errorf("there is no finished run below %s: a run's folder holds profile_export_aiperf.json", path)
	case len(tops) > 1:
		var names []string
		for _, i := range tops {
			names = append(names, found.Folders[i].Home)
		}
		const most = 5
		if len(names) > most {
			names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
		}
		return 0, fmt.Errorf("%s holds %d results; name one of them, or two to compare them: %s", path, len(tops),
			strings.Join(names, ", "))
	}
	return tops[0], nil
}

func program(f *library.Facts) string {
	name := "aiperf"
	if f.Original {
		name = "AIPerf"
	}
	return strings.TrimSpace(name + " " + f.Version)
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2 January 2006")
}

// factsOf says what was measured.
func factsOf(f *library.Facts) []string {
	var out []string
	if f.Endpoint != "" {
		out = append(out, f.Endpoint)
	}
	if f.Streaming {
		out = append(out, "streaming")
	}
	if f.Load != "" {
		out = append(out, f.Load)
	}
	switch {
	case f.GPUs > 0 && f.GPUModel != "":
		out = append(out, fmt.Sprintf("%d × %s", f.GPUs, f.GPUModel))
	case f.GPUs > 0:
		out = append(out, counted(float64(f.GPUs), "GPU"))
	}
	return out
}

func counted(n float64, what string) string {
	text := artifact.GroupThousands(artifact.Trimmed(n, 0)) + " " + what
	if n != 1 {
		text += "s"
	}
	return text
}

// firstCommand returns the command of a run, or of the first run that is a part of a result.
func firstCommand(folders []library.Folder, at int) string {
	for i := range folders {
		if folders[i].Kind != library.Run || folders[i].File == "" || !isPart(folders, i, at) {
			continue
		}
		data, err := bounded.ReadFile(folders[i].File)
		if err != nil {
			continue
		}
		var file struct {
			Info struct {
				Command string `json:"cli_command"`
			} `json:"run_info"`
		}
		if json.Unmarshal(data, &file) == nil && file.Info.Command != "" {
			return artifact.NewRedactor().Text(file.Info.Command)
		}
	}
	return ""
}

// rows are the metrics of the table, in their order.
var rows = []string{"request_throughput", "output_token_throughput", "output_token_throughput_per_user",
	"time_to_first_token", "inter_token_latency", "request_latency", "goodput", "input_sequence_length",
	"output_sequence_length", "error_request_count", metrics.AccuracyOverall}

// shareKey are the figures that come first: those of streamed replies before those that every reply has.
var shareKey = []answer.Metric{
	answer.NewMetric("output_token_throughput", "avg", ""), answer.NewMetric("time_to_first_token", "p50", ""),
	answer.NewMetric("inter_token_latency", "p50", ""), answer.NewMetric("request_latency", "p50", ""),
	answer.NewMetric("request_throughput", "avg", ""), answer.NewMetric("request_latency", "p99", ""),
	answer.NewMetric("goodput", "avg", ""),
}

const mostFigures = 4

// keyFigures makes the figures that come first of what value returns.
func (c *Card) keyFigures(value func(tag, stat string) (answer.Figure, bool), unit func(tag string) string) {
	text := func(v float64) string { return artifact.Significant(v) }
	for _, m := range shareKey {
		f, ok := value(m.Tag, m.Stat)
		if !ok || len(c.Figures) == mostFigures {
			continue
		}
		if slices.ContainsFunc(c.Figures, func(o CardFigure) bool { return o.Name == name(m) }) {
			continue
		}
		out := CardFigure{Name: name(m), Value: text(f.Mean), Unit: unit(m.Tag)}
		switch p99, ok := value(m.Tag, "p99"); {
		case m.Stat == "p50" && ok:
			out.Detail = "p99 " + text(p99.Mean)
		case f.HasInterval():
			out.Detail = answer.Between(f.Low, f.High)
		case m.Tag == "output_token_throughput":
			if rate, ok := value("request_throughput", "avg"); ok {
				out.Detail = text(rate.Mean) + " requests/s"
			}
		}
		c.Figures = append(c.Figures, out)
	}
}

// name is what a key figure is called.
func name(m answer.Metric) string {
	if m.Stat == "avg" {
		return m.Header
	}
	return m.Header + " " + m.Stat
}

// run fills the card of a run.
func (c *Card) run(d *library.Folder, f *library.Facts) error {
	if d.File == "" {
		return fmt.Errorf("%s has no summary: aiperf report %s computes it from the records", d.Path, d.Path)
	}
	data, err := summary.ReadDocument(d.File)
	if err != nil {
		return err
	}
	figures, err := summary.ParseFigures(data)
	if err != nil {
		return fmt.Errorf("%s: %w", d.File, err)
	}
	single := func(tag, stat string) (answer.Figure, bool) {
		b, ok := figures.Find(tag)
		if !ok {
			return answer.Figure{}, false
		}
		v, ok := b.Stats[stat]
		return answer.Single(v), ok
	}
	unit := func(tag string) string {
		b, _ := figures.Find(tag)
		return b.Unit
	}
	if n, ok := single("request_count", "avg"); ok {
		text := counted(n.Mean, "request")
		if took, ok := single("benchmark_duration", "avg"); ok {
			text += " in " + artifact.Significant(took.Mean) + " s"
		}
		failed, _ := single("error_request_count", "avg")
		c.Facts = append(c.Facts, text, artifact.GroupThousands(artifact.Trimmed(failed.Mean, 0))+" failed")
	}
	c.keyFigures(single, unit)
	c.Head = []string{"", "average", "p50", "p90", "p99"}
	for _, tag := range rows {
		c.row(tag, unit(tag), single)
	}
	if err := c.accuracy(data); err != nil {
		return fmt.Errorf("%s: %w", d.File, err)
	}
	for _, l := range figures.Judgement.Findings {
		if !slices.Contains(notOnCards, l.Code) {
			c.Findings = append(c.Findings, CardFinding{l.Level, l.Title, l.Text})
		}
	}
	return nil
}

// notOnCards are the findings that say nothing to somebody who looks at a run for the first time.
var notOnCards = []string{judge.CodeComplete, judge.CodeIntervals, judge.CodeFewSamples, judge.CodeNotKnown,
	judge.CodeNotObserved}

// row appends a metric to the table, if it has a value.
func (c *Card) row(tag, unit string, value func(tag, stat string) (answer.Figure, bool)) {
	cells := []string{header(tag, unit)}
	any := false
	for _, stat := range []string{"avg", "p50", "p90", "p99"} {
		v, ok := value(tag, stat)
		text := ""
		if ok {
			text, any = artifact.Significant(v.Mean), true
			if v.HasInterval() {
				text += " (" + answer.Between(v.Low, v.High) + ")"
			}
		}
		cells = append(cells, text)
	}
	if any {
		c.Rows = append(c.Rows, cells)
	}
}

func header(tag, unit string) string {
	text := tag
	if d, ok := metrics.Lookup(tag); ok {
		text = d.Header
	}
	if unit != "" {
		text += " (" + unit + ")"
	}
	return text
}

// accuracy appends how many answers were right.
func (c *Card) accuracy(data []byte) error {
	var file struct {
		Accuracy *summary.AccuracyDocument `json:"accuracy"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	if a := file.Accuracy; a != nil && a.Overall.Total > 0 {
		o := &a.Overall
		c.Findings = append(c.Findings, CardFinding{Level: judge.Plain,
			Title: fmt.Sprintf("Accuracy of %s %.2f %%", a.Benchmark, 100*o.Accuracy),
			Text: fmt.Sprintf("%s of %s answers right, 95 %%: %.1f–%.1f %%.", artifact.GroupThousands(fmt.Sprint(o.Correct)),
				artifact.GroupThousands(fmt.Sprint(o.Total)), 100*o.Low, 100*o.High)})
	}
	return nil
}

// errNone is the reason where a file has no figure to show.
var errNone = errors.New("it has no figure to show")

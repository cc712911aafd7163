package html

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/library"
)

// Comparison is what the page of a comparison shows: runs, or sweeps, with the same base.
type Comparison struct {
	Version string
	Runs    []*compare.Comparison
	Sweeps  []*compare.SweepComparison
	// Lines are what the requests did over time: of the base and of each run, as far as that is known.
	Lines []TimeLines
	// Pages are the addresses of the pages of systems by name, relative to that of the comparison.
	Pages map[string]string
}

// TimeLines are those of a run.
type TimeLines struct {
	Name string
	*library.Timeline
}

// Compare writes the page of a comparison.
func Compare(w io.Writer, c *Comparison) error {
	v := newComparisonView(c)
	var parts webpage.Parts
	if len(v.Charts)+len(v.Curves) > 0 {
		parts = webpage.Charts
	}
	return execute(w, "comparison.html", &v.Frame, webpage.Content{Parts: parts,
		Script: asset("comparison.js"), Data: v.data(c.Lines), Style: asset("sweep.css") + asset("comparison.css")}, v)
}

// comparisonView is what the template of comparisons shows.
type comparisonView struct {
	webpage.Frame
	Answers []compared
	// Tables are those of runs side by side, or one for each cell of sweeps.
	Tables        []sideTable
	Level         string
	Configuration configurationTable
	Best, Notes   []string
	Charts        []figure
	// Curves are the charts over the load of sweeps, curves their lines.
	Curves []figure
	curves []lineData
	// Sweeps reports that cells are compared.
	Sweeps bool
}

// compared is the finding on one system.
type compared struct{ Level, Name, Page, Finding string }

// sideTable has the figures of systems side by side.
type sideTable struct {
	Title, Level, Finding string
	Base, BasePage        string
	Systems               []systemHead
	// Key are the figures that matter most, Rest the others.
	Key, Rest []sideRow
}

// systemHead is the heading of a system. Low and High are the ends of the scale of its bars.
type systemHead struct{ Name, Page, Low, High string }

// sideRow is a figure of each system.
type sideRow struct {
	Label, Title, Base string
	Cells              []sideCell
}

// sideCell is a figure of a system compared with the base; Bar is nil where there is no interval.
type sideCell struct {
	Value, Change, Interval, Verdict, How, Level, Mark string
	Bar                                                *bar
}

// bar is the interval of a difference on the scale of a table, in hundredths of its width.
type bar struct {
	From, Width, At, Zero string
	// Start and Length are the part from the base to the new value.
	Start, Length string
	// Less and More report that the interval goes on beyond the scale.
	Less, More bool
}

// configurationTable has the keys whose values differ, with the value of each system.
type configurationTable struct {
	Names []string
	Rows  [][]string
}

// verdictMarks are the marks of verdicts, with the level that gives them their colour.
var verdictMarks = map[compare.Verdict][2]string{
	compare.Better: {"✓", good}, compare.Worse: {"✗", bad}, compare.Differs: {"≠", warn}, compare.Same: {"=", plain},
	compare.NotShown: {"·", plain}, compare.Undecided: {"?", plain},
}

func newComparisonView(c *Comparison) *comparisonView {
	v := &comparisonView{Sweeps: len(c.Sweeps) > 0}
	v.Version = c.Version
	answer := func(name, finding string, leaning compare.Verdict) {
		v.Answers = append(v.Answers, compared{Level: verdictMarks[leaning][1], Name: name, Finding: finding,
			Page: c.Pages[name]})
	}
	base := ""
	for i, of := range c.Sweeps {
		if i == 0 {
			base = of.Base.Name
			v.Level = confidence(of.Confidence)
		}
		answer(of.New.Name, of.Finding(), of.Leaning())
		for k := range of.Cells {
			cell := &of.Cells[k]
			t := newSideTable([]*compare.Comparison{cell.Comparison}, c.Pages)
			t.Title, t.Finding = cell.Name, cell.Finding()
			t.Level = verdictMarks[cell.Leaning()][1]
			if len(c.Sweeps) > 1 {
				t.Title = of.NewName() + " · " + t.Title
			}
			v.Tables = append(v.Tables, t)
		}
		v.overLoad(of, len(c.Sweeps) > 1)
		for _, line := range of.Best() {
			name, rest, _ := strings.Cut(line, ":")
			v.Best = append(v.Best, strings.ReplaceAll(name, "_", " ")+":"+rest)
		}
		v.notes(of.Notes)
		v.only(of.OnlyBase, of.Base.Name)
		v.only(of.OnlyNew, of.New.Name)
	}
	for i, of := range c.Runs {
		if i == 0 {
			base = of.Base.Name
			v.Level = confidence(of.Confidence)
		}
		answer(of.New.Name, of.Finding(), of.Leaning())
		if of.Answers != nil {
			answer(of.New.Name, of.Answers.String(), of.AnswersLeaning())
		}
		v.notes(of.Notes)
	}
	if len(c.Runs) > 0 {
		v.Tables = append(v.Tables, newSideTable(c.Runs, c.Pages))
		v.Configuration = newConfigurationTable(c.Runs)
	}
	v.Title = base
	others := len(c.Runs) + len(c.Sweeps)
	if others == 1 {
		v.Title = v.Answers[0].Name + " against " + base
	} else if others > 1 {
		v.Title = fmt.Sprintf("%d against %s", others, base)
	}
	v.Facts = append(v.Facts, row{Name: "Base", Value: base}, row{Name: "Compared with it", Value: integer(int64(others))},
		row{Name: "Confidence", Value: v.Level})
	v.charts(c.Lines)
	return v
}

func confidence(level float64) string { return fmt.Sprintf("%.4g %%", 100*level) }

// notes adds notes that are not there yet; what differs in the configuration has a table.
func (v *comparisonView) notes(list []string) {
	for _, note := range list {
		if !slices.Contains(v.Notes, note) && !strings.Contains(note, " differ in their configuration: ") {
			v.Notes = append(v.Notes, note)
		}
	}
}

// only adds a note on cells that one sweep alone has.
func (v *comparisonView) only(cells []string, name string) {
	if len(cells) > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("only %s has %s", name, strings.Join(cells, ", ")))
	}
}

// place is a figure by its metric and statistic.
type place struct{ tag, stat string }

func newSideTable(list []*compare.Comparison, pages map[string]string) sideTable {
	t := sideTable{Base: list[0].Base.Name, BasePage: pages[list[0].Base.Name]}
	var key, rest []place
	for _, c := range list {
		t.Systems = append(t.Systems, systemHead{Name: c.New.Name, Page: pages[c.New.Name]})
		for _, i := range c.Key() {
			if f := (place{c.Figures[i].Tag, c.Figures[i].Stat}); !slices.Contains(key, f) {
				key = append(key, f)
			}
		}
	}
	for _, c := range list {
		for i := range c.Figures {
			f := place{c.Figures[i].Tag, c.Figures[i].Stat}
			if !slices.Contains(key, f) && !slices.Contains(rest, f) {
				rest = append(rest, f)
			}
		}
	}
	scales := make([]scale, len(list))
	for i, c := range list {
		s := scaleOf(c, key)
		scales[i], t.Systems[i].Low, t.Systems[i].High = s, s.text(-s.reach), s.text(s.reach)
	}
	for _, f := range key {
		t.Key = append(t.Key, newSideRow(list, f, scales))
	}
	for _, f := range rest {
		t.Rest = append(t.Rest, newSideRow(list, f, scales))
	}
	return t
}

func newSideRow(list []*compare.Comparison, at place, scales []scale) sideRow {
	var r sideRow
	for k, c := range list {
		i := slices.IndexFunc(c.Figures, func(f compare.Figure) bool { return f.Tag == at.tag && f.Stat == at.stat })
		if i < 0 {
			r.Cells = append(r.Cells, sideCell{Value: "–", Level: plain})
			continue
		}
		f := &c.Figures[i]
		r.Label, r.Title, r.Base = f.Label(), f.Header+", "+f.Stat, short(f.Base)
		mark := verdictMarks[f.Verdict]
		r.Cells = append(r.Cells, sideCell{Value: short(f.New), Change: f.Change(), Interval: f.Interval(),
			Verdict: string(f.Verdict), How: f.How(), Level: mark[1], Mark: mark[0], Bar: scales[k].bar(f)})
	}
	return r
}

// scale is that of the bars of a system: the logarithm of the new value divided by that of the base, from -reach to reach.
// A figure that is halved is as far from the line of the base as one that is doubled.
type scale struct{ reach float64 }

// The least and the largest ends of scales, as factors: a factor beyond the last one would flatten the others.
const (
	leastFactor = 1.05
	mostFactor  = 100
)

func scaleOf(c *compare.Comparison, key []place) scale {
	reach := math.Log(leastFactor)
	for i := range c.Figures {
		f := &c.Figures[i]
		if !slices.Contains(key, place{f.Tag, f.Stat}) || f.Verdict == compare.Undecided {
			continue
		}
		for _, v := range ratios(f) {
			if artifact.Finite(v) {
				reach = max(reach, math.Abs(v))
			}
		}
	}
	return scale{math.Min(1.05*reach, math.Log(mostFactor))}
}

// ratios are the logarithms of the ratios to the base of the ends of the interval and, between them, of the new value; NaN
// where there is none, and -Inf for an end at or below zero.
func ratios(f *compare.Figure) (of [3]float64) {
	for i, d := range [...]float64{f.Low, f.New - f.Base, f.High} {
		if of[i] = math.NaN(); f.Base > 0 && !math.IsNaN(d) {
			of[i] = math.Log(max(0, f.Base+d) / f.Base)
		}
	}
	return of
}

func (s *scale) place(v float64) float64 {
	return 100 * (min(max(v, -s.reach), s.reach) + s.reach) / (2 * s.reach)
}

func (s *scale) at(v float64) string { return trimmed(s.place(v), 2) }

// text names an end of the scale: as a factor where that is two or more.
func (s *scale) text(v float64) string {
	switch factor := math.Exp(math.Abs(v)); {
	case factor >= 2 && v > 0:
		return "× " + artifact.Significant(factor)
	case factor >= 2:
		return "÷ " + artifact.Significant(factor)
	case v > 0:
		return "+" + trimmed(100*(factor-1), 0) + " %"
	default:
		return "−" + trimmed(100*(1-1/factor), 0) + " %"
	}
}

// leastBar is the least width of a bar, in hundredths of the scale.
const leastBar = 0.8

// bar returns the bar of a figure, which is inside the scale; nil where its interval is not known.
func (s *scale) bar(f *compare.Figure) *bar {
	r := ratios(f)
	low, new, high := r[0], r[1], r[2]
	if math.IsNaN(low) || math.IsNaN(high) || !artifact.Finite(new) {
		return nil
	}
	from := min(s.place(low), 100-leastBar)
	zero, end := s.place(0), s.place(new)
	return &bar{From: trimmed(from, 2), Width: trimmed(max(s.place(high)-from, leastBar), 2), At: s.at(new), Zero: s.at(0),
		Start: trimmed(min(zero, end), 2), Length: trimmed(math.Abs(end-zero), 2),
		Less: low < -s.reach, More: high > s.reach}
}

func newConfigurationTable(list []*compare.Comparison) configurationTable {
	t := configurationTable{Names: []string{list[0].Base.Name}}
	var keys []string
	for _, c := range list {
		t.Names = append(t.Names, c.New.Name)
		for _, d := range c.Configuration {
			if !slices.Contains(keys, d.Key) {
				keys = append(keys, d.Key)
			}
		}
	}
	for _, key := range keys {
		cells := make([]string, 2+len(list))
		cells[0] = key
		for i, c := range list {
			at := slices.IndexFunc(c.Configuration, func(d compare.Difference) bool { return d.Key == key })
			if at >= 0 {
				cells[1], cells[2+i] = orNone(c.Configuration[at].Base), orNone(c.Configuration[at].New)
			} else {
				cells[2+i] = "="
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func orNone(value string) string {
	if value == "" {
		return "–"
	}
	return value
}

// comparedLines are the charts over time, in their order.
var comparedLines = []struct {
	key, title, unit string
	values           func(*library.Timeline) []float64
}{
	{"time_to_first_token", "Time to First Token", "ms", func(t *library.Timeline) []float64 { return t.FirstToken }},
	{"request_latency", "Request Latency", "ms", func(t *library.Timeline) []float64 { return t.Latency }},
	{"output_token_throughput", "Output Token Throughput", "tokens/s",
		func(t *library.Timeline) []float64 { return t.Tokens }},
	{"request_throughput", "Request Throughput", "requests/s", func(t *library.Timeline) []float64 { return t.Done }},
	{"in_flight", "Requests in flight", "requests", func(t *library.Timeline) []float64 { return t.InFlight }},
	{"request_errors", "Failed requests", "requests/s", func(t *library.Timeline) []float64 { return t.Failed }},
}

// smoothed returns the running means of values of a run over the time that the rates of its report have.
func smoothed(t *library.Timeline, values []float64) []float64 {
	g := timeline.Grid{Count: len(values), WidthNS: int64(t.WidthSeconds * 1e9)}
	return g.Window(rateWindow).Mean(values)
}

// charts adds the charts over time that any run has values of.
func (v *comparisonView) charts(lines []TimeLines) {
	for _, of := range comparedLines {
		known := slices.ContainsFunc(lines, func(l TimeLines) bool {
			return slices.ContainsFunc(of.values(l.Timeline), func(v float64) bool { return !math.IsNaN(v) && v != 0 })
		})
		if !known {
			continue
		}
		note := ""
		if of.unit == "ms" {
			note = "medians of the requests sent at that time"
		}
		v.Charts = append(v.Charts, figure{ID: "line-" + of.key, Title: of.title, Unit: of.unit, Note: note,
			Description: of.title + " over time, a line for each run"})
	}
}

// overLoad adds the curves of two sweeps over the load that both vary. named: there are several comparisons.
func (v *comparisonView) overLoad(c *compare.SweepComparison, named bool) {
	for _, of := range c.Curves() {
		d := lineData{ID: fmt.Sprintf("over-%d", len(v.curves)), Unit: of.Metric.Unit, Load: of.Load.Name}
		for _, side := range []struct {
			name  string
			lines []compare.CurveLine
		}{{c.Base.Name, of.Base}, {c.New.Name, of.New}} {
			for _, l := range side.lines {
				line := lineOf{Name: strings.TrimSpace(side.name + " " + l.Name)}
				for i := range l.Points {
					line.Loads = append(line.Loads, l.Points[i].Load)
					line.Values = append(line.Values, l.Points[i].At(of.Metric))
				}
				d.Lines = append(d.Lines, line)
			}
		}
		title := of.Metric.Header
		if stat := of.Metric.Stat; stat != "avg" && stat != "" {
			title += " " + stat
		}
		if named {
			title = c.New.Name + " · " + title
		}
		v.curves = append(v.curves, d)
		v.Curves = append(v.Curves, figure{ID: d.ID, Title: title, Unit: d.Unit, Note: "over " + d.Load,
			Description: title + " over " + d.Load + ", a line for each sweep"})
	}
}

// lineData are the lines of a chart over time, or over the Load of sweeps.
type lineData struct {
	ID    string   `json:"id"`
	Unit  string   `json:"unit"`
	Load  string   `json:"load,omitempty"`
	Lines []lineOf `json:"lines"`
}

// lineOf has values in bins of a width in seconds, or at Loads.
type lineOf struct {
	Name   string  `json:"name"`
	Width  float64 `json:"width"`
	Loads  numbers `json:"loads,omitempty"`
	Values numbers `json:"values"`
}

// data is the JSON in the page: the lines of the charts.
func (v *comparisonView) data(lines []TimeLines) any {
	out := []lineData{}
	for _, of := range comparedLines {
		d := lineData{ID: "line-" + of.key, Unit: of.unit}
		if !slices.ContainsFunc(v.Charts, func(f figure) bool { return f.ID == d.ID }) {
			continue
		}
		for _, l := range lines {
			d.Lines = append(d.Lines, lineOf{Name: l.Name, Width: l.WidthSeconds, Values: smoothed(l.Timeline, of.values(l.Timeline))})
		}
		out = append(out, d)
	}
	return map[string]any{"charts": append(out, v.curves...)}
}

package html

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
)

// Sweep writes the page of a sweep, of a search or of the answer to how much load a server takes.
func Sweep(w io.Writer, s *answer.Sweep) error {
	v := newSweepView(s)
	return execute(w, "sweep.html", &v.Frame, webpage.Content{Parts: webpage.Charts | webpage.Points | webpage.Sorted,
		Script: asset("sweep.js"), Data: newSweepData(s, v.charts()), Style: asset("split.css") + asset("sweep.css")}, v)
}

// sweepView is what the template of sweeps shows.
type sweepView struct {
	webpage.Frame
	Kind   string
	Status []status
	Answer *answerView
	Loads  []loadsView
	Best   []card
	// Curves are the charts over a parameter. Front and Probes are nil where there are none.
	Curves []curveView
	Stats  []string
	// Stat is the statistic that the curves show at first.
	Stat          string
	Front, Probes *figure
	Accuracy      *sweepAccuracy
	Parameters    []string
	// Judged reports that cells have verdicts.
	Judged bool
	// Limited reports that there are limits.
	Limited bool
	// Times are where the time of the cells went; nil where that is not known.
	Times   *cellTimesView
	Columns []column
	Rows    []cellRow
	// Marked reports that points have the letters K and R, Doubtful that cells were limited by the client.
	Marked, Doubtful bool
	Failures         []row
	Skipped          []string
	Search           []row
	Command          string
	Level            string
}

// answerView is the answer of a search for a capacity.
type answerView struct {
	Level, Headline string
	Rows            []row
	Limits, Notes   []string
}

// curveView is the chart of a metric; Keys are its figures by statistic.
type curveView struct {
	figure
	Tag  string
	Keys map[string]string
}

// column is one of the table of cells.
type column struct {
	Title, Unit string
	Number      bool
}

// cellRow is a cell in the table.
type cellRow struct {
	Index        int
	Label, Page  string
	Columns      []cellValue
	Verdict, Why string
	Level        string
	Marks        []string
	// Doubts says that the client was the bottleneck; "" where it was not.
	Doubts        string
	Runs, Failure string
}

// cellValue is a value in the table; Sort is what the table is sorted by.
type cellValue struct{ Text, Small, Sort string }

// curveTags bounds the charts over a parameter: those of the metrics that matter most.
const curveTags = 9

func newSweepView(s *answer.Sweep) *sweepView {
	v := &sweepView{Kind: s.Kind, Command: s.Command, Skipped: s.Skipped, Limited: len(s.Limits) > 0}
	v.Title, v.Version = s.Title, s.Version
	if v.Title == "" {
		v.Title = "Benchmark"
	}
	if v.Kind == "" {
		v.Kind = "Sweep"
	}
	if s.Level > 0 {
		v.Level = answer.Percent(s.Level)
	}
	for _, f := range sweepFacts(s) {
		v.Facts = append(v.Facts, row(f))
	}
	if v.Answer = newAnswerView(s.Capacity); v.Answer != nil {
		v.Command = cmp.Or(v.Command, s.Capacity.Command)
	}
	loads := s.Loads()
	v.Loads, v.Marked = loadViews(s, loads), len(answer.Marks(loads)) > 0
	v.Status = sweepStatus(s)
	v.Best = bestCards(s)
	v.Curves, v.Stats = curveViews(s)
	v.Stat = firstStat(s, v.Stats)
	v.accuracy(s)
	if v.Front = frontFigure(s); v.Front != nil {
		v.Front.Description = "Scatter of the cells: " + v.Front.Title
	}
	if s.Search != nil && len(s.Cells) > 1 && len(s.Parameters) > 0 {
		v.Probes = &figure{ID: "probes", Title: "Probes in order",
			Description: "The value of the searched parameter in each probe, with its verdict."}
	}
	for _, p := range s.Parameters {
		v.Parameters = append(v.Parameters, p.Name)
	}
	v.table(s, answer.Marks(loads))
	for _, f := range s.Failures {
		v.Failures = append(v.Failures, row{Name: f.Label, Value: f.Error})
	}
	for i := range s.Cells {
		for _, f := range s.Cells[i].Failures {
			if !slices.Contains(s.Failures, f) {
				v.Failures = append(v.Failures, row{Name: f.Label, Value: f.Error})
			}
		}
	}
	v.Search = searchRows(s)
	v.Times = newCellTimesView(s)
	return v
}

// sweepFacts are those below the title.
func sweepFacts(s *answer.Sweep) []answer.Fact {
	var out []answer.Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, answer.Fact{Name: name, Value: value})
		}
	}
	add("Endpoint", s.Target)
	runs := 0
	for i := range s.Cells {
		runs += s.Cells[i].Runs
	}
	name := "Cells"
	if s.Search != nil {
		name = "Probes"
	}
	add(name, integer(int64(len(s.Cells))))
	if runs > len(s.Cells) {
		add("Runs", integer(int64(runs)))
	}
	for i, p := range s.Parameters {
		add(p.Name, rangeOf(s, i))
	}
	add("Prompt cache", s.Cache)
	return append(out, s.Facts...)
}

// rangeOf describes the values of a parameter.
func rangeOf(s *answer.Sweep, parameter int) string {
	var seen []string
	low, high, numbers := math.Inf(1), math.Inf(-1), true
	for i := range s.Cells {
		text := valueText(s.Cells[i].Values, parameter)
		if text == "" || slices.Contains(seen, text) {
			continue
		}
		seen = append(seen, text)
		n, ok := s.Cells[i].Number(parameter)
		numbers = numbers && ok
		low, high = min(low, n), max(high, n)
	}
	unit := ""
	if u := s.Parameters[parameter].Unit; u != "" {
		unit = " " + u
	}
	switch {
	case len(seen) <= 6:
		return strings.Join(seen, ", ") + unit
	case numbers:
		return fmt.Sprintf("%s–%s%s (%d values)", short(low), short(high), unit, len(seen))
	}
	return fmt.Sprintf("%d values", len(seen))
}

func valueText(values []any, i int) string {
	if i >= len(values) || values[i] == nil {
		return ""
	}
	return answer.Label(values[i])
}

func newAnswerView(c *answer.Capacity) *answerView {
	if c == nil {
		return nil
	}
	v := &answerView{Headline: c.Headline(), Level: good, Notes: c.Notes}
	switch c.Outcome {
	case answer.NotEvenSmallest:
		v.Level = bad
	case answer.Undecided:
		v.Level = warn
	}
	for _, l := range c.Limits {
		v.Limits = append(v.Limits, answer.LimitText(l))
	}
	add := func(name, value string) {
		if value != "" {
			v.Rows = append(v.Rows, row{Name: name, Value: value})
		}
	}
	add("Measured", c.Measured())
	add("Bound first", c.Bound())
	if c.Why != nil {
		add("Why", c.Why.Title+": "+c.Why.Text)
		add("Try", c.Why.Advice)
	}
	add("Recommended operating point", c.Curve.Point(c.Curve.Recommended))
	add("Knee", c.Curve.Point(c.Curve.Knee))
	if c.Price != nil {
		add("Cost", c.Price.String())
	}
	add("Spent on the answer", c.Spent.String())
	return v
}

// sweepStatus returns the judgements: what failed, what the search came to.
func sweepStatus(s *answer.Sweep) []status {
	var out []status
	failed := len(s.Failures)
	for i := range s.Cells {
		for _, f := range s.Cells[i].Failures {
			if !slices.Contains(s.Failures, f) {
				failed++
			}
		}
	}
	switch {
	case len(s.Cells) == 0:
		out = append(out, status{Level: bad, Title: "No cell has a result", Text: "All runs failed."})
	case failed > 0 || len(s.Skipped) > 0:
		st := status{Level: warn, Title: fmt.Sprintf("%d %s failed", failed, plural(failed, "run"))}
		if failed > 0 {
			st.Text = "What went wrong is below; figures are those of the other runs."
		}
		if len(s.Skipped) > 0 {
			st.Text = "Without any result: " + strings.Join(s.Skipped, "; ")
		}
		out = append(out, st)
	case len(s.Limits) == 0 && s.Search == nil && len(s.Loads()) > 0: // the answer says all
	default:
		out = append(out, status{Level: good, Title: "All runs succeeded", Text: ""})
	}
	if len(s.Limits) > 0 {
		counts := map[answer.Verdict]int{}
		for i := range s.Cells {
			counts[s.Cells[i].Verdict]++
		}
		of := "cells"
		if s.Search != nil {
			of = "probes"
		}
		st := status{Level: good, Title: fmt.Sprintf("%d of %d %s meet the limits", counts[answer.Feasible],
			len(s.Cells), of)}
		if counts[answer.Feasible] == 0 {
			st.Level = bad
		}
		for _, l := range s.Limits {
			st.Items = append(st.Items, answer.LimitText(l))
		}
		if n := counts[answer.ClientLimited]; n > 0 {
			st.Text = fmt.Sprintf("%d of them do not count: %s.", n, judge.ClientLimited().Words())
		}
		out = append(out, st)
	}
	if s.Search != nil {
		out = append(out, searchStatus(s))
	}
	return out
}

func plural(n int, of string) string {
	if n == 1 {
		return of
	}
	return of + "s"
}

// searchReasons says why searches end, by the words of search_history.json.
var searchReasons = map[string]string{
	"max_iterations":          "the number of iterations was reached",
	"improvement_patience":    "the objective did not improve any more",
	"plateau_cv":              "the objective was the same in several iterations",
	"posterior_regret_bound":  "no point was expected to be better",
	"emmr":                    "no point was expected to be better",
	"capacity_client_limited": "larger loads could not be measured: " + judge.ClientLimited().Words(),
	"capacity_budget_used":    "the time that it was given was used",
	"capacity_max_probes":     "it made as many probes as it may",
	"cancelled":               "the search was cancelled",
	"aborted":                 "the search was aborted",
}

// ending says in words why a search ended, "" if it did not end by itself.
func ending(reason string) string {
	ended := searchReasons[reason]
	switch {
	case ended != "":
	case strings.HasSuffix(reason, "_precision_reached") || strings.HasSuffix(reason, "all_converged"):
		ended = "the boundary is known to the precision asked for"
	case strings.HasSuffix(reason, "_no_failure_in_range"):
		ended = "the largest value of the range meets all limits"
	case strings.HasSuffix(reason, "_no_pass_in_range"):
		ended = "the smallest value of the range misses a limit"
	default:
		ended = strings.ReplaceAll(reason, "_", " ")
	}
	return ended
}

func searchStatus(sweep *answer.Sweep) status {
	s := sweep.Search
	ended := ending(s.Reason)
	if ended == "" {
		return status{Level: warn, Title: "The search did not end by itself", Text: "Its results are those up to then."}
	}
	st := status{Level: plain, Title: "The search ended", Text: ended}
	b := s.Boundary
	switch c := sweep.Capacity; {
	case c != nil: // the two sides of the answer, whatever single probes say
		if artifact.Finite(c.Within) {
			st.Items = append(st.Items, "largest measured within the limits: "+c.Load.Value(c.Within))
		}
		if artifact.Finite(c.Beyond) {
			st.Items = append(st.Items, "smallest measured beyond: "+c.Load.Value(c.Beyond))
		}
		return st
	case b == nil || len(s.Ranges) != 1:
		return st
	}
	name := s.Ranges[0].Parameter
	if e := b.Estimate; e != nil && b.FeasibleMax != nil {
		text := "answer: " + name.Value(e.Value)
		if interval := b.Interval(); interval != "" {
			text += ", " + interval
		}
		st.Items = append(st.Items, text)
	}
	if b.FeasibleMax != nil {
		st.Items = append(st.Items, "largest within the limits: "+name.Value(*b.FeasibleMax))
	}
	if b.InfeasibleMin != nil {
		st.Items = append(st.Items, "smallest beyond: "+name.Value(*b.InfeasibleMin))
	}
	if b.Breach != "" {
		st.Items = append(st.Items, b.Breach)
	}
	return st
}

func searchRows(s *answer.Sweep) []row {
	h := s.Search
	if h == nil {
		return nil
	}
	var out []row
	add := func(name, value string) {
		if value != "" {
			out = append(out, row{Name: name, Value: value})
		}
	}
	add("Planner", h.Planner)
	add("Recipe", h.Recipe)
	add("Objectives", strings.Join(h.Objectives, "; "))
	for _, r := range h.Ranges {
		add("Range of "+r.Parameter.Name, short(r.Lo)+"–"+short(r.Hi))
	}
	if h.Most > 0 {
		add("Iterations", fmt.Sprintf("%d of at most %d", len(s.Cells), h.Most))
	}
	add("End", ending(h.Reason))
	if b := h.Boundary; b != nil {
		add("Boundary", b.Type)
		add("Binding constraint", b.Binding)
		if interval := answer.Between(b.MarginLow, b.MarginHigh); interval != "" {
			add("Margin at the boundary", interval)
		}
	}
	return out
}

// bestCards are those of the best cells.
func bestCards(s *answer.Sweep) []card {
	var out []card
	for _, b := range s.Best {
		where := b.Label
		if b.Cell >= 0 && b.Cell < len(s.Cells) {
			where = s.Cells[b.Cell].Label
		}
		out = append(out, card{Title: b.Title, Value: short(b.Value), Unit: b.Metric.Unit,
			Lines: []cardLine{{Text: where}}})
	}
	if s.Search != nil {
		for n, i := range s.Search.Best {
			if n == 3 || i >= len(s.Cells) {
				break
			}
			c := &s.Cells[i]
			of := card{Title: "Best probe", Lines: []cardLine{{Text: c.Label}}}
			if len(s.Search.Best) > 1 {
				of.Title = fmt.Sprintf("On the front, probe %d", i+1)
			}
			if len(c.Objectives) > 0 {
				of.Value = short(c.Objectives[0])
			}
			if len(s.Search.Scored) > 0 {
				of.Unit, of.What = s.Search.Scored[0].Unit, s.Search.Scored[0].Title()
			}
			out = append(out, of)
		}
		for i := range s.Search.Tiers {
			if t := &s.Search.Tiers[i]; len(s.Parameters) > 0 {
				of := card{Title: "Tier " + t.Label, What: s.Parameters[0].Name,
					Lines: []cardLine{{Text: t.Text(s.Parameters[0])}}}
				if t.Boundary != nil {
					of.Value = short(*t.Boundary)
				}
				out = append(out, of)
			}
		}
	}
	return out
}

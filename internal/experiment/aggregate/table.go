package aggregate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/report/console"
)

// figure is one of the live table.
type figure struct{ metric, stat string }

// shown are the figures of the live table.
var shown = [...]figure{
	{"output_token_throughput", "avg"}, {firstToken, "p99"}, {"inter_token_latency", "p99"}, {latency, "p95"},
}

// goodput are the figures that follow them where requests had objectives.
var goodput = [...]figure{{"goodput", "avg"}, {"good_request_fraction", "avg"}}

// further are the figures that follow where a cell has the first of them: of jobs, of requests that had objectives, of
// jobs that had.
var further = [...][]figure{
	{{"jobs_per_hour", "avg"}, {"job_latency", "p95"}}, goodput[:], {{"job_goodput", "avg"}, {"good_job_fraction", "avg"}},
}

// figures are those of the table.
func (s *Sweep) tableFigures() []figure {
	list := slices.Clone(shown[:])
	for _, more := range further {
		if slices.ContainsFunc(s.cells, func(c *Cell) bool { _, has := c.Mean(more[0].metric, more[0].stat); return has }) {
			list = append(list, more...)
		}
	}
	return list
}

// Rows returns the live table: the headings, then a line for each cell that has figures or failed. A figure that a cell
// does not have is empty. Further columns mark the Pareto front so far if axes were asked for, and, where there are
// some, cells that failed or in which the client was the bottleneck.
func (s *Sweep) Rows() [][]string {
	header := append([]string{}, s.names...)
	figures, noted := s.tableFigures(), false
	for _, f := range figures {
		header = append(header, f.metric+" "+f.stat)
	}
	header = append(header, "trials")
	front := map[*Cell]bool{}
	if s.Axes != nil {
		header = append(header, "pareto")
		for _, c := range s.Front() {
			front[c] = true
		}
	}
	for _, c := range s.cells {
		noted = noted || c.note() != ""
	}
	if noted {
		header = append(header, "note")
	}
	rows := [][]string{header}
	for _, c := range s.cells {
		if len(c.Runs) == 0 {
			continue
		}
		row := s.texts(c)
		for _, f := range figures {
			text := ""
			if v, ok := c.Mean(f.metric, f.stat); ok {
				text = artifact.Fixed2(v)
			}
			row = append(row, text)
		}
		row = append(row, strconv.Itoa(len(c.trials)))
		if s.Axes != nil {
			mark := ""
			if front[c] {
				mark = "*"
			}
			row = append(row, mark)
		}
		if noted {
			row = append(row, c.note())
		}
		rows = append(rows, row)
	}
	return rows
}

// note says that a cell failed, or that the client was the bottleneck; "" for neither.
func (c *Cell) note() string {
	switch {
	case len(c.Runs) > 0 && !c.Succeeded():
		return "failed"
	case c.limited() > 0:
		return "client-limited"
	}
	return ""
}

// Table returns the live table for a screen or, without styles, as plain text; nil while no cell has figures.
func (s *Sweep) Table(o console.Options) []byte {
	rows := s.Rows()
	if s.Empty() {
		return nil
	}
	for i, f := range s.tableFigures() { // short names, so that the table fits a terminal
		m := answer.NewMetric(f.metric, f.stat, "")
		rows[0][len(s.names)+i] = fmt.Sprintf("%s\n%s\n%s", m.Short, f.stat, m.Unit)
	}
	title := fmt.Sprintf("Sweep | %d of %d cells", len(s.listed()), len(s.cells))
	var out bytes.Buffer
	_ = console.RenderTable(&out, title, rows, o) // a buffer takes everything
	return out.Bytes()
}

// Plan is what is about to be done, for [Banner].
type Plan struct {
	// Cells are the configurations; of a search those that are known, which may be none.
	Cells []series.Cell
	// Trials is the number of runs of a cell; with Convergence the most of them.
	Trials int
	// Mode is Repeated or Independent.
	Mode                      string
	Level                     float64
	RunCooldown, CellCooldown time.Duration
	Convergence               *config.Convergence
	// Search is nil for a sweep.
	Search *SearchPlan
}

// SearchPlan is a search over runs.
type SearchPlan struct {
	Planner       string
	MaxIterations int
	Space         []search.Dimension
	Objectives    []search.Objective
}

// Banner returns the lines that say what an experiment is about to do.
func Banner(p *Plan) []string {
	runs := len(p.Cells) * p.Trials
	lines := []string{"Parameter sweep"}
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	if p.Search != nil {
		lines[0] = "Adaptive search"
		var paths, objectives []string
		for _, d := range p.Search.Space {
			paths = append(paths, d.Path)
		}
		for _, o := range p.Search.Objectives {
			objectives = append(objectives, fmt.Sprintf("%s:%s:%s", o.Metric, o.Stat, direction(o)))
		}
		add("Planner: %s; max_iterations: %d; search space: %s; objectives: %s", p.Search.Planner,
			p.Search.MaxIterations, strings.Join(paths, ", "), strings.Join(objectives, ", "))
	} else {
		add("Configurations: %d", len(p.Cells))
	}
	most := ""
	if p.Convergence != nil {
		most = " at most, fewer on convergence"
	}
	add("Trials per configuration: %d%s", p.Trials, most)
	if p.Search != nil {
		runs, most = p.Search.MaxIterations*p.Trials, " at most"
	}
	add("Total runs: %d%s", runs, most)
	add("Confidence level: %s", console.Percent(p.Level))
	if p.Trials > 1 {
		add("Cooldown between trials: %g s", p.RunCooldown.Seconds())
	}
	add("Cooldown between configurations: %g s", p.CellCooldown.Seconds())
	if c := p.Convergence; c != nil {
		add("Convergence: %s %s, %s, threshold %g", c.Metric, c.Stat, c.Mode, c.Threshold)
	}
	if d, known := p.Duration(); known {
		add("Estimated duration: %v, without preparation", d.Round(time.Second))
	}
	return lines
}

func direction(o search.Objective) string {
	if o.Maximize {
		return "maximize"
	}
	return "minimize"
}

// Duration returns how long the runs and the pauses between them take; false if a phase of a cell has no duration.
func (p *Plan) Duration() (total time.Duration, known bool) {
	for i := range p.Cells {
		if p.Cells[i].Config == nil {
			return 0, false
		}
		for k := range p.Cells[i].Config.Phases {
			phase := &p.Cells[i].Config.Phases[k]
			warms := phase.Kind == config.WarmupPhase
			switch {
			case phase.Duration == nil && warms:
			case phase.Duration == nil:
				return 0, false
			case warms && p.Cells[i].Config.Series.WarmupOnce:
				total += *phase.Duration
			default:
				total += time.Duration(p.Trials) * *phase.Duration
			}
		}
	}
	// Of two runs that follow each other, either the cell or the trial changes, or with the outer one both.
	outer, inner := p.Trials, len(p.Cells)
	between, within := p.RunCooldown, p.CellCooldown
	if p.Mode == Independent {
		outer, inner, between, within = inner, outer, within, between
	}
	if outer == 0 || inner == 0 {
		return 0, false
	}
	return total + time.Duration(outer-1)*between + time.Duration(outer*(inner-1))*within, true
}

// Summary returns the lines at the end of a sweep: how the runs went, the best configurations, the Pareto front, and the
// cells that have no figures.
func (s *Sweep) Summary() []string {
	failed := s.Failed()
	lines := []string{fmt.Sprintf("All runs complete: %d/%d successful", len(s.runs)-len(failed), len(s.runs))}
	for _, r := range failed {
		first, _, _ := strings.Cut(r.Err, "\n")
		lines = append(lines, fmt.Sprintf("  Failed: %s (%s)", r.Info.RunLabel, first))
	}
	for _, c := range s.Skipped() {
		why := "no run of it was made"
		if len(c.Runs) > 0 {
			why = "none of its runs succeeded"
		}
		lines = append(lines, fmt.Sprintf("  Not in the aggregate: %s (%s)", s.describe(c), why))
	}
	if s.Empty() {
		return append(lines, "No cell has a successful run, so there is no aggregate.")
	}
	if len(s.Filters) > 0 {
		list := s.listed()
		good := len(s.feasible(list))
		line := fmt.Sprintf("Cells that meet all limits: %d of %d", good, len(list))
		if good == 0 {
			line += "; the best configurations are those of all cells"
		}
		lines = append(lines, line)
	}
	lines = append(lines, "Best Configurations:")
	best := s.Best()
	for _, b := range best {
		name := strings.ToUpper(b.Name[:1]) + strings.ToLower(b.Name[1:])
		value := strings.TrimSpace(artifact.Fixed2(b.Value) + " " + b.Unit)
		line := fmt.Sprintf("  %s: %s (%s)", name, value, s.describe(b.Cell))
		if b.ofFirstToken() {
			line += ", of the time to first token"
		}
		lines = append(lines, line)
	}
	if len(best) == 0 {
		lines = append(lines, "  None: no figure to compare by is in all cells")
	}
	front := s.Front()
	lines = append(lines, "Pareto Optimal Points:"+map[bool]string{true: " None"}[len(front) == 0])
	for _, c := range front {
		lines = append(lines, "  "+s.describe(c))
	}
	return lines
}

// describe returns the values of a cell as name=value, name=value, or its label if it has none.
func (s *Sweep) describe(c *Cell) string {
	var parts []string
	for i, text := range s.texts(c) {
		if _, has := c.Parameters.Get(s.names[i]); has {
			parts = append(parts, s.names[i]+"="+text)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), c.Label)
}

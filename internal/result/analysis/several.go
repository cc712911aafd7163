package analysis

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
)

// repeats fills the card of repeats: means with their intervals.
func (c *Card) repeats(d *library.Folder, f *library.Facts) error {
	data, err := bounded.ReadFile(d.File)
	if err != nil {
		return err
	}
	var file struct {
		Metadata struct {
			Runs       int     `json:"num_profile_runs"`
			Successful int     `json:"num_successful_runs"`
			Level      float64 `json:"confidence_level"`
		}
		Metrics map[string]struct {
			Mean *float64
			Low  *float64 `json:"ci_low"`
			High *float64 `json:"ci_high"`
			Unit string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("%s: not the aggregate of repeats: %w", d.File, err)
	}
	value := func(tag, stat string) (answer.Figure, bool) {
		m, ok := file.Metrics[tag+"_"+stat]
		if !ok || m.Mean == nil {
			return answer.Figure{}, false
		}
		out := answer.Single(*m.Mean)
		if m.Low != nil && m.High != nil && *m.Low < *m.High {
			out.Low, out.High = *m.Low, *m.High
		}
		return out, true
	}
	unit := func(tag string) string {
		for _, stat := range []string{"avg", "p50"} {
			if m, ok := file.Metrics[tag+"_"+stat]; ok {
				return m.Unit
			}
		}
		return ""
	}
	c.Facts = append(c.Facts, counted(float64(file.Metadata.Successful), "run"))
	if failed := file.Metadata.Runs - file.Metadata.Successful; failed > 0 {
		c.Facts = append(c.Facts, fmt.Sprintf("%d failed", failed))
	}
	c.keyFigures(value, unit)
	c.Head = []string{"mean of the runs", "average", "p50", "p90", "p99"}
	for _, tag := range rows {
		c.row(tag, unit(tag), value)
	}
	if len(c.Rows) == 0 {
		return fmt.Errorf("%s: %w", d.File, errNone)
	}
	if file.Metadata.Level > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("In brackets: the interval of the mean at a confidence of %s.",
			answer.Percent(file.Metadata.Level)))
	}
	return nil
}

// loadAnswers appends what the cells of a sweep say together: of one combination of the other parameters the answer, the
// bend and the shape, of several the answers of the first ones.
func (c *Card) loadAnswers(s *answer.Sweep) {
	const most = 3
	list := s.Loads()
	for i := range list[:min(len(list), most)] {
		findings := list[i].Findings
		if len(list) > 1 {
			findings = findings[:min(1, len(findings))]
		}
		for k, f := range findings[:min(len(findings), most)] {
			of := CardFinding{Level: f.Level, Title: f.Title}
			if k == 0 {
				of.Text = f.Text
			}
			if list[i].Fixed != "" {
				of.Title = list[i].Fixed + ": " + of.Title
			}
			c.Findings = append(c.Findings, of)
		}
	}
}

// mostCells is the number of rows of a table of cells.
const mostCells = 12

// sweep fills the card of a sweep, a search or a capacity.
func (c *Card) sweep(d *library.Folder, f *library.Facts) error {
	s, err := library.ReadSweep(d)
	if err != nil {
		return err
	}
	if s.Search != nil && f.Planner == "capacity" {
		c.Kind = "Capacity"
	}
	command := s.Command
	if h := s.Search; h != nil && h.Boundary != nil && h.Boundary.Command != "" {
		command = h.Boundary.Command
	}
	if command != "" {
		c.Command = artifact.NewRedactor().Text(command)
	}
	var names []string
	for _, p := range s.Parameters {
		names = append(names, p.Name)
	}
	if len(names) > 0 {
		c.Facts = append(c.Facts, "over "+strings.Join(names, ", "))
	}
	if s.Capacity == nil {
		c.boundary(s)
	}
	c.loadAnswers(s)
	for _, b := range s.Best {
		if len(c.Figures) == mostFigures {
			break
		}
		where := b.Label
		if b.Cell >= 0 && b.Cell < len(s.Cells) {
			where = s.Cells[b.Cell].Label
		}
		c.Figures = append(c.Figures, CardFigure{Name: b.Title, Value: artifact.Significant(b.Value), Unit: b.Metric.Unit,
			Detail: "at " + where})
	}
	for i := range s.Cells {
		if a := s.Cells[i].Accuracy; a != nil && a.Against != nil && a.Against.Shown() {
			level := judge.Good
			if a.Against.Difference < 0 {
				level = judge.Bad
			}
			c.Findings = append(c.Findings, CardFinding{level, "At " + s.Cells[i].Label + " the server " + a.Against.Finding(),
				a.Against.Counts()})
		}
	}
	columns := columnsOf(s)
	c.Head = []string{strings.Join(names, ", ")}
	for _, m := range columns {
		c.Head = append(c.Head, titled(m))
	}
	judged := slices.ContainsFunc(s.Cells, func(cell answer.Cell) bool { return cell.Verdict != "" })
	if judged {
		c.Head = append(c.Head, "limits")
	}
	for i := range s.Cells {
		if i == mostCells && len(s.Cells) > mostCells+1 {
			c.Notes = append(c.Notes, fmt.Sprintf("%d of %d cells are not shown.", len(s.Cells)-i, len(s.Cells)))
			break
		}
		cell := &s.Cells[i]
		row := []string{cell.Label}
		if len(cell.Values) == 1 && cell.Values[0] != nil {
			row[0] = answer.Label(cell.Values[0]) // the head has the name
		}
		for _, m := range columns {
			text := ""
			if v, ok := cell.Figure(m.Key()); ok {
				text = artifact.Significant(v.Mean)
			}
			row = append(row, text)
		}
		if judged {
			row = append(row, limitWords[cell.Verdict])
		}
		c.Rows = append(c.Rows, row)
	}
	c.loadCurves(s)
	if s.Capacity != nil {
		c.capacity(s.Capacity)
		c.Figures = c.Figures[:min(len(c.Figures), mostFigures)]
	}
	if len(c.Rows) == 0 {
		return fmt.Errorf("%s: %w", d.File, errNone)
	}
	for _, failed := range s.Failures {
		c.Notes = append(c.Notes, "Failed: "+failed.Label+": "+failed.Error)
	}
	return nil
}

var limitWords = map[answer.Verdict]string{answer.Feasible: "within", answer.Infeasible: "missed",
	answer.ClientLimited: "client-limited", answer.Failed: "failed"}

// boundary makes the answer of a search the first figure.
func (c *Card) boundary(s *answer.Sweep) {
	if s.Search == nil || s.Search.Boundary == nil || len(s.Parameters) == 0 {
		return
	}
	b, p := s.Search.Boundary, s.Parameters[0]
	var limits []string
	for _, l := range s.Limits {
		limits = append(limits, answer.LimitText(l))
	}
	within := strings.Join(limits, ", ")
	f := CardFigure{Name: "Largest " + strings.ReplaceAll(p.Name, "_", " ") + " within the limits", Unit: p.Unit}
	switch largest, ok := b.Largest(); {
	case !ok:
		f.Value, f.Detail = "none", within
		c.Findings = append(c.Findings, CardFinding{judge.Bad, "No load meets the limits", within})
	default:
		f.Value, f.Detail = artifact.Short(largest), within
		if interval := b.Interval(); interval != "" {
			f.Detail = interval
		}
		text := within
		if b.InfeasibleMin != nil {
			text = fmt.Sprintf("Of the probes, %s met them, %s did not", artifact.Short(*b.FeasibleMax),
				artifact.Short(*b.InfeasibleMin))
			if b.Breach != "" {
				text += ": " + b.Breach
			}
			text += "."
		}
		c.Findings = append(c.Findings, CardFinding{judge.Good, "Limits: " + within, text})
	}
	c.Figures = append(c.Figures, f)
}

// columnsOf returns the metrics of the table of cells: the key ones that a cell has.
func columnsOf(s *answer.Sweep) []answer.Metric {
	var out []answer.Metric
	for _, want := range library.KeyFigures {
		if len(out) == 5 {
			break
		}
		for _, m := range s.Metrics {
			if m.Tag != metrics.AccuracyOverall && m.Key() == want.Key() && s.Having(m.Key()) > 0 {
				out = append(out, m)
			}
		}
	}
	if s.Graded() {
		out = append(out, answer.NewMetric(metrics.AccuracyOverall, "avg", ""))
	}
	if len(out) == 0 && len(s.Metrics) > 0 {
		out = s.Metrics[:min(5, len(s.Metrics))]
	}
	return out
}

func titled(m answer.Metric) string {
	text := m.Short
	if m.Stat != "avg" && m.Stat != "" {
		text += " " + m.Stat
	}
	if m.Unit != "" {
		text += " (" + m.Unit + ")"
	}
	return text
}

// CompareCard reads two results and compares the second one with the first.
func CompareCard(base, next string) (*Card, error) {
	a, err := compare.Load(base)
	if err != nil {
		return nil, err
	}
	b, err := compare.Load(next)
	if err != nil {
		return nil, err
	}
	comparison, err := compare.Compare(&a, &b, compare.Options{})
	if err != nil {
		return nil, err
	}
	c := &Card{Kind: "Comparison", Title: b.Name + " against " + a.Name, Command: "aiperf compare " + base + " " + next}
	var clients []CardFinding
	for _, path := range [...]string{base, next} {
		of, err := ReadCard(path)
		if err != nil {
			continue // it can be compared, as a single file can, and says no more
		}
		c.Facts, c.Program, c.When = append([]string{of.Title}, of.Facts...), of.Program, of.When
		for _, f := range of.Findings {
			if strings.HasPrefix(f.Title, "Client ") {
				clients = append(clients, CardFinding{f.Level, path + ": " + strings.ToLower(f.Title[:1]) + f.Title[1:], f.Text})
			}
		}
	}
	finding := CardFinding{Level: judge.Plain, Title: comparison.Finding()}
	if comparison.Incomplete {
		c.Notes = append(c.Notes, "A run did not complete.")
	}
	c.Findings = append(append(c.Findings, finding), clients...)
	c.Head = []string{"", "base", "new", "change", "verdict"}
	for _, at := range comparison.Key() {
		f := &comparison.Figures[at]
		title := f.Header
		if f.Stat != "avg" {
			title += " " + f.Stat
		}
		change := artifact.Significant(math.Abs(f.Percent()))
		switch {
		case change == "":
		case f.New < f.Base:
			change = "−" + change + " %"
		default:
			change = "+" + change + " %"
		}
		if f.Unit != "" {
			title += " (" + f.Unit + ")"
		}
		c.Rows = append(c.Rows, []string{title, artifact.Significant(f.Base), artifact.Significant(f.New), change,
			string(f.Verdict)})
		if len(c.Figures) < mostFigures && change != "" && (f.Verdict == compare.Better || f.Verdict == compare.Worse) {
			c.Figures = append(c.Figures, CardFigure{Name: strings.TrimSuffix(f.Header+" "+strings.TrimPrefix(f.Stat, "avg"), " "),
				Value: change, Detail: artifact.Significant(f.Base) + " → " + artifact.Significant(f.New) + " " + f.Unit})
		}
	}
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("%s and %s have no metric in common", base, next)
	}
	c.Notes = append(c.Notes, comparison.Notes...)
	return c, nil
}

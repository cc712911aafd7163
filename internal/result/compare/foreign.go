package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/manual"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/foreign"
	"aiperf/internal/result/summary"
)

// foreignRuns reads the runs of other tools that a path names: those of a file, or of a folder and of those below it. A
// folder with results of this program has none.
func foreignRuns(path string) ([]foreign.Run, error) {
	info, err := os.Stat(foreign.File(path))
	switch {
	case err != nil:
		return nil, nil // whoever reads a run reports it
	case !info.IsDir() && foreign.Is(path):
		return foreign.Read(path)
	case !info.IsDir():
		return nil, nil
	}
	for _, own := range []string{"profile_export_aiperf.json", "profile_runs", "aggregate", "sweep_aggregate"} {
		if _, err := os.Stat(filepath.Join(path, own)); err == nil {
			return nil, nil
		}
	}
	runs, faults := foreign.Below(path)
	if len(runs) == 0 && len(faults) > 0 {
		return nil, faults[0]
	}
	return runs, nil
}

// foreignRepeats adds the runs of another tool that a path names, where all of them had the same load.
func (s *System) foreignRepeats(path string) (found bool, err error) {
	runs, err := foreignRuns(path)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	for i := range runs {
		if err := s.add(runs[i].Path); err != nil {
			return false, err
		}
	}
	return true, nil
}

// own is the name of this program as the tool of a benchmark report.
const own = "aiperf"

// origin returns the tool that measured the runs.
func (s *System) origin() string {
	if len(s.Runs) == 0 {
		return own
	}
	return cmp.Or(s.Runs[0].Figures.Origin.Tool, own)
}

// converted reports that the runs come from a file of another format than ours.
func (s *System) converted() bool { return len(s.Runs) > 0 && s.Runs[0].Figures.Origin.Tool != "" }

// originNote says that two systems were measured by different tools; "" where they were not.
func originNote(base, next *System) string {
	a, b := base.origin(), next.origin()
	if a == b {
		return ""
	}
	return fmt.Sprintf("%s was measured by %s, %s by %s: what they count differs in places; %s says where", base.Name, a,
		next.Name, b, manual.Page("other-results"))
}

// varied are what cells of another tool's runs may differ in.
var varied = []struct {
	name  string
	value func(r *foreign.Run) any
}{
	{"model", func(r *foreign.Run) any { return strings.Join(r.Models, ", ") }},
	{"concurrency", func(r *foreign.Run) any { return quantity(r.Concurrency) }},
	{"rate", func(r *foreign.Run) any { return quantity(r.Rate) }},
	{"isl", func(r *foreign.Run) any { return quantity(r.ISL) }},
	{"osl", func(r *foreign.Run) any { return quantity(r.OSL) }},
	{"label", func(r *foreign.Run) any { return r.Label }},
}

// quantity is a number as the files of sweeps have it; nil for none.
func quantity(v float64) any {
	if v == 0 {
		return nil
	}
	return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
}

// foreignSweep returns the runs of another tool that a path names as a sweep: runs of the same load are the repeats of a
// cell. It is nil where all had the same load, or there is no such run.
func foreignSweep(path string) (*Sweep, error) {
	runs, err := foreignRuns(path)
	if err != nil || len(runs) < 2 {
		return nil, nil // whoever reads a run reports it
	}
	sweep := &answer.Sweep{Title: strings.Join(runs[0].Models, ", "), Kind: "Sweep", Version: runs[0].Origin()}
	var values []func(r *foreign.Run) any
	for _, v := range varied {
		if slices.ContainsFunc(runs, func(r foreign.Run) bool { return v.value(&r) != v.value(&runs[0]) }) {
			sweep.Parameters = append(sweep.Parameters, answer.Parameter{Name: v.name})
			values = append(values, v.value)
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	s := &Sweep{Name: path, sweep: sweep}
	var members [][]*foreign.Run
	for i := range runs {
		var of []any
		for _, value := range values {
			of = append(of, value(&runs[i]))
		}
		at := slices.IndexFunc(sweep.Cells, func(c answer.Cell) bool { return slices.Equal(c.Values, of) })
		if at < 0 {
			at = len(members)
			sweep.Cells = append(sweep.Cells, answer.Cell{Values: of, Label: labelOf(sweep.Parameters, of)})
			members = append(members, nil)
		}
		members[at] = append(members[at], &runs[i])
	}
	units := map[string]string{}
	for i, of := range members {
		if err := fillCell(&sweep.Cells[i], of, units); err != nil {
			return nil, err
		}
	}
	sweep.Metrics = answer.Metrics(units)
	for _, p := range sweep.Parameters {
		s.parameters = append(s.parameters, p.Name)
	}
	s.fill()
	return s, nil
}

func labelOf(parameters []answer.Parameter, values []any) string {
	var parts []string
	for i, p := range parameters {
		if values[i] != nil && values[i] != "" {
			parts = append(parts, fmt.Sprintf("%s=%v", p.Name, values[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// fillCell gives a cell the means of its runs, and notes the units of their figures.
func fillCell(cell *answer.Cell, runs []*foreign.Run, units map[string]string) error {
	cell.Runs, cell.Figures = len(runs), map[string]answer.Figure{}
	all := map[string][]float64{}
	for _, r := range runs {
		text, err := artifact.AppendJSON(nil, r.Document())
		if err != nil {
			return err
		}
		figures, err := summary.ParseFigures(text)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		for _, b := range figures.Blocks {
			for stat, v := range b.Stats {
				key := answer.NewMetric(b.Tag, stat, b.Unit).Key()
				all[key], units[key] = append(all[key], v), b.Unit
			}
		}
	}
	for key, values := range all {
		m := momentsOf(values)
		f := answer.Single(m.mean)
		f.Runs = len(values)
		if m.n > 1 {
			f.Std = math.Sqrt(m.variance)
		}
		cell.Figures[key] = f
	}
	return nil
}

package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/result/answer"
)

// Curves is a figure of both sweeps over a parameter that both vary. The loads of the sweeps need not be the same.
type Curves struct {
	Load   answer.Parameter
	Metric answer.Metric
	// Base and New have a line for each combination of the other parameters.
	Base, New []CurveLine
}

// CurveLine has points in the order of their loads. Name are the values of the other parameters, "" without any.
type CurveLine struct {
	Name   string
	Points []answer.Point
}

// mostCurves bounds the figures that are drawn over the load.
const mostCurves = 6

// Curves returns the figures that matter most over the parameter that both sweeps vary; none where they have no such
// parameter, or fewer than two of its values.
func (c *SweepComparison) Curves() (list []Curves) {
	load, ok := commonLoad(c.Base, c.New)
	if !ok {
		return nil
	}
	for _, k := range keyFigures {
		m, found := commonMetric(c.Base, c.New, k)
		if !found || len(list) == mostCurves ||
			slices.ContainsFunc(list, func(of Curves) bool { return of.Metric.Key() == m.Key() }) {
			continue
		}
		of := Curves{Load: load, Metric: m, Base: c.Base.curve(load.Name, m), New: c.New.curve(load.Name, m)}
		if len(of.Base) > 0 && len(of.New) > 0 && !of.flatZero() {
			list = append(list, of)
		}
	}
	return list
}

// flatZero reports whether all points are 0, as error rates should be.
func (c *Curves) flatZero() bool {
	for _, lines := range [...][]CurveLine{c.Base, c.New} {
		for _, l := range lines {
			if slices.ContainsFunc(l.Points, func(p answer.Point) bool { return p.At(c.Metric) != 0 }) {
				return false
			}
		}
	}
	return true
}

// commonMetric returns a key figure, or its average, as both sweeps have it.
func commonMetric(base, next *Sweep, k keyFigure) (answer.Metric, bool) {
	for _, stat := range []string{k.stat, "avg"} {
		of := func(s *Sweep) int {
			return slices.IndexFunc(s.sweep.Metrics, func(m answer.Metric) bool { return m.Tag == k.tag && m.Stat == stat })
		}
		if at := of(base); at >= 0 && of(next) >= 0 {
			return base.sweep.Metrics[at], true
		}
	}
	return answer.Metric{}, false
}

// commonLoad returns the parameter that both sweeps vary, with numbers alone; of several the one with most values.
func commonLoad(base, next *Sweep) (load answer.Parameter, ok bool) {
	most := 1
	if base.sweep == nil || next.sweep == nil {
		return load, false
	}
	for _, p := range base.sweep.Parameters {
		a, okA := base.numbers(p.Name)
		b, okB := next.numbers(p.Name)
		if n := min(len(a), len(b)); okA && okB && n > most {
			load, ok, most = p, true, n
		}
	}
	return load, ok
}

// numbers returns the different values of a parameter in their order; false where one is no number.
func (s *Sweep) numbers(parameter string) (list []float64, ok bool) {
	for i := range s.Cells {
		v, ok := s.Cells[i].number(parameter)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	slices.Sort(list)
	return slices.Compact(list), true
}

// number returns the value of a parameter.
func (c *SweepCell) number(parameter string) (float64, bool) {
	v, ok := c.Parameters.Get(parameter)
	if !ok {
		return 0, false
	}
	x, err := scalar.Number(fmt.Sprint(v))
	return x, err == nil && artifact.Finite(x)
}

// curve returns the lines of a figure over a parameter.
func (s *Sweep) curve(parameter string, m answer.Metric) (lines []CurveLine) {
	for i := range s.Cells {
		x, ok := s.Cells[i].number(parameter)
		cell := &s.sweep.Cells[i]
		if _, has := cell.Figure(m.Key()); !ok || !has {
			continue
		}
		name := s.Cells[i].others(parameter)
		at := slices.IndexFunc(lines, func(l CurveLine) bool { return l.Name == name })
		if at < 0 {
			at, lines = len(lines), append(lines, CurveLine{Name: name})
		}
		lines[at].Points = append(lines[at].Points, answer.Point{Load: x, Figures: cell.Figures, Verdict: cell.Verdict})
	}
	for i := range lines {
		slices.SortStableFunc(lines[i].Points, func(a, b answer.Point) int { return cmp.Compare(a.Load, b.Load) })
	}
	return lines
}

// others are the values of the other parameters.
func (c *SweepCell) others(parameter string) string {
	var parts []string
	for _, p := range c.Parameters {
		if p.Key != parameter {
			parts = append(parts, p.Key+" "+answer.Label(p.Value))
		}
	}
	return strings.Join(parts, ", ")
}

// grid describes the values of a parameter.
func (s *Sweep) grid(parameter string) string {
	var parts []string
	list, _ := s.numbers(parameter)
	const most = 8
	for _, v := range list[:min(most, len(list))] {
		parts = append(parts, artifact.Short(v))
	}
	if len(list) > most {
		parts = append(parts, "… "+artifact.Short(list[len(list)-1]))
	}
	return strings.Join(parts, ", ")
}

// apart says that the sweeps have no cell in common.
func (c *SweepComparison) apart() string {
	load, _ := commonLoad(c.Base, c.New)
	return fmt.Sprintf("no cell in common (%s %s; the base %s): compare the curves", load.Name, c.New.grid(load.Name),
		c.Base.grid(load.Name))
}

// curvesTable returns the points of curves as rows: the load, then base and new of each figure. Only lines that both
// sweeps have stand in one row.
func curvesTable(list []Curves) (rows [][]cell) {
	head := []cell{{text: list[0].Load.Name, right: true}}
	for i := range list {
		label := list[i].Metric.Short
		if list[i].Metric.Stat != "avg" {
			label += " " + list[i].Metric.Stat
		}
		head = append(head, cell{text: label + " base", right: true}, cell{text: "new", right: true})
	}
	rows = [][]cell{head}
	type key struct {
		name string
		load float64
	}
	var keys []key
	values := map[key][]float64{}
	for i := range list {
		for side, lines := range [...][]CurveLine{list[i].Base, list[i].New} {
			for _, l := range lines {
				for k := range l.Points {
					at := key{l.Name, l.Points[k].Load}
					if values[at] == nil {
						keys = append(keys, at)
						values[at] = slices.Repeat([]float64{math.NaN()}, 2*len(list))
					}
					values[at][2*i+side] = l.Points[k].At(list[i].Metric)
				}
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.load, b.load))
	})
	for _, at := range keys {
		name := artifact.Short(at.load)
		if at.name != "" {
			name = at.name + ", " + name
		}
		row := []cell{{text: name, right: true}}
		for _, v := range values[at] {
			text := "–"
			if !math.IsNaN(v) {
				text = artifact.Short(v)
			}
			row = append(row, cell{text: text, right: true})
		}
		rows = append(rows, row)
	}
	return rows
}

package analysis

import (
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// leastLoads is the number of loads from which on a sweep has curves on its card.
const leastLoads = 3

// The figures of the curves of a sweep, and of the columns of their table: of each the first that the cells have.
var (
	latencies = []answer.Metric{answer.NewMetric("time_to_first_token", "p99", ""), answer.NewMetric("request_latency", "p99", ""),
		answer.NewMetric("time_to_first_token", "avg", ""), answer.NewMetric("request_latency", "avg", "")}
	throughputs = []answer.Metric{answer.NewMetric("output_token_throughput", "avg", ""),
		answer.NewMetric("request_throughput", "avg", "")}
	goods = []answer.Metric{answer.NewMetric("good_request_fraction", "avg", ""), answer.NewMetric("goodput", "avg", "")}
)

// firstOf returns the first metric that the cells of a sweep have, with its unit there.
func firstOf(s *answer.Sweep, list []answer.Metric) answer.Metric {
	for _, m := range list {
		if s.Having(m.Key()) == 0 {
			continue
		}
		if i := slices.IndexFunc(s.Metrics, func(o answer.Metric) bool { return o.Key() == m.Key() }); i >= 0 {
			return s.Metrics[i]
		}
		return m
	}
	return answer.Metric{}
}

// loadCurves gives the card of a sweep over one load its answer as the first figure, the curves of throughput and latency
// over the load, and a table of the loads.
func (c *Card) loadCurves(s *answer.Sweep) {
	list := s.Loads()
	if len(list) != 1 {
		return
	}
	l := &list[0]
	latency, throughput := firstOf(s, latencies), firstOf(s, throughputs)
	if latency.Tag == "" || throughput.Tag == "" {
		return
	}
	curve := answer.NewCurve(s, l.Parameter, latency, throughput, firstOf(s, goods))
	if len(curve.Points) < leastLoads {
		return
	}
	point := func(cell int) int {
		if cell < 0 {
			return -1
		}
		load, _ := s.Cells[cell].Number(l.Parameter)
		return slices.IndexFunc(curve.Points, func(p answer.Point) bool { return p.Load == load })
	}
	curve.Knee, curve.Recommended = point(l.Knee), point(l.Recommended)
	for _, limit := range s.Limits {
		if limit.Metric == latency.Tag && limit.Stat == latency.Stat {
			curve.Limit = limit.Threshold
		}
	}
	for i := range curve.Points {
		p := &curve.Points[i]
		for k := range s.Cells {
			if load, ok := s.Cells[k].Number(l.Parameter); ok && load == p.Load && s.Cells[k].ClientLimited > 0 {
				p.Verdict = answer.ClientLimited
			}
		}
	}
	yield := func(at int) string {
		return artifact.Significant(curve.Points[at].At(throughput)) + " " + throughput.Unit
	}
	figure := CardFigure{}
	switch allowed := point(l.Allowed); {
	case allowed >= 0:
		curve.Boundary = curve.Points[allowed].Load
		figure.Name = curve.Load.Largest()
		figure.Detail = strings.Join(append(slices.Clone(s.Objectives), yield(allowed)), "; ")
		figure.Name = strings.ToUpper(figure.Name[:1]) + figure.Name[1:] + " that meets the objectives"
	case curve.Recommended >= 0:
		curve.Boundary = curve.Points[curve.Recommended].Load
		name := strings.ReplaceAll(curve.Load.Name, "_", " ")
		figure.Name = strings.ToUpper(name[:1]) + name[1:] + " to run at"
		figure.Detail = yield(curve.Recommended)
	}
	if figure.Name != "" {
		figure.Value, figure.Unit = artifact.Short(curve.Boundary), curve.Load.Unit
		c.Figures = append([]CardFigure{figure}, c.Figures...)
	}
	c.Curve, c.Marked = &curve, -1
	c.pictured(&curve)
}

// pictured makes the table of the loads beside the curves, with the marks of these.
func (c *Card) pictured(of *answer.Curve) {
	columns := slices.DeleteFunc([]answer.Metric{of.Throughput, of.Latency, of.PerUser},
		func(m answer.Metric) bool { return m.Tag == "" })
	c.brief.head = []string{of.Load.Name}
	for _, m := range columns {
		c.brief.head = append(c.brief.head, titled(m))
	}
	for i := range of.Points {
		p := &of.Points[i]
		row := []string{artifact.Short(p.Load)}
		if p.Load == of.Boundary {
			c.Marked = i
		}
		switch i {
		case of.Recommended:
			row[0] += " R"
		case of.Knee:
			row[0] += " K"
		}
		for _, m := range columns {
			row = append(row, artifact.Significant(p.At(m)))
		}
		c.brief.rows = append(c.brief.rows, row)
	}
}

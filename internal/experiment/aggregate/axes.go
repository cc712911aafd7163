package aggregate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
)

// Axes are the two objectives of a Pareto front.
type Axes struct {
	X, Y search.Objective
	// Series are the parameters that tell curves apart in a plot, such as isl and osl; nil for none.
	Series []string
}

// axesForm explains the form of --pareto-objectives in errors.
const axesForm = "write two objectives as METRIC:STAT:DIRECTION, for example " +
	"'time_to_first_token:p99:min,output_token_throughput:avg:max'"

// ParseAxes reads a value of --pareto-objectives: metric:stat:direction,metric:stat:direction. The direction is min or
// max, or minimize or maximize. A metric may be a swept parameter, whose statistic is avg.
func ParseAxes(text string, parameters []string) (*Axes, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 2 {
		return nil, fmt.Errorf("%q has %d objectives, not 2: %s", text, len(parts), axesForm)
	}
	var list [2]search.Objective
	for i, part := range parts {
		var err error
		if list[i], err = parseObjective(strings.TrimSpace(part), parameters); err != nil {
			return nil, err
		}
	}
	if list[0].Metric == list[1].Metric && list[0].Stat == list[1].Stat {
		return nil, fmt.Errorf("%q names %s:%s twice: a front needs two different objectives", text, list[0].Metric,
			list[0].Stat)
	}
	return &Axes{X: list[0], Y: list[1]}, nil
}

func parseObjective(text string, parameters []string) (search.Objective, error) {
	var o search.Objective
	fields := strings.Split(text, ":")
	if len(fields) != 3 {
		return o, fmt.Errorf("%q is not an objective: %s", text, axesForm)
	}
	o.Metric, o.Stat = metrics.Canonical(fields[0]), fields[1]
	switch strings.ToLower(fields[2]) {
	case "max", "maximize":
		o.Maximize = true
	case "min", "minimize":
	default:
		return o, fmt.Errorf("%q: %q is not a direction; write min or max", text, fields[2])
	}
	definition, known := metrics.Lookup(o.Metric)
	switch {
	case !known && slices.Contains(parameters, o.Metric):
		if o.Stat != "avg" {
			return o, fmt.Errorf("%q: %s is a swept value; its statistic is avg", text, o.Metric)
		}
		return o, nil
	case !known:
		return o, fmt.Errorf("%q: %q is neither a metric nor a swept parameter; %s lists the metrics",
			text, fields[0], manual.Page("metrics"))
	case !slices.Contains(series.Stats(), o.Stat):
		return o, fmt.Errorf("%q: %q is not a statistic; choose from %s", text, o.Stat,
			strings.Join(series.Stats(), ", "))
	case (definition.Kind == metrics.KindAggregate || definition.Kind == metrics.KindDerived) && o.Stat != "avg":
		return o, fmt.Errorf("%q: %s is one number for the whole run; its statistic is avg", text, o.Metric)
	}
	return o, nil
}

// CheckAxes returns an error if the runs of a sweep cannot have one of its axes: a metric that no successful run so far
// has. Before the first one there is none.
func (s *Sweep) CheckAxes() error {
	if s.Axes == nil || s.Empty() {
		return nil
	}
	var faults []error
	for _, o := range []search.Objective{s.Axes.X, s.Axes.Y} {
		if !slices.ContainsFunc(s.listed(), func(c *Cell) bool { _, ok := s.value(c, o); return ok }) {
			faults = append(faults, fmt.Errorf("the Pareto front is empty: no cell has %s:%s", o.Metric, o.Stat))
		}
	}
	return errors.Join(faults...)
}

// document is pareto_axes of the sweep's metadata.
func (a *Axes) document() *answer.AxesDocument {
	return &answer.AxesDocument{XMetric: a.X.Metric, XStat: a.X.Stat, XMinimize: new(!a.X.Maximize),
		YMetric: a.Y.Metric, YStat: a.Y.Stat, YMaximize: &a.Y.Maximize, Series: a.Series}
}

// value returns the value of an objective in a cell: the mean of a figure, or a swept number.
func (s *Sweep) value(c *Cell, o search.Objective) (float64, bool) {
	if v, ok := c.Mean(o.Metric, o.Stat); ok {
		return v, true
	}
	if v, ok := c.Parameters.Get(o.Metric); ok {
		return number(v)
	}
	if v, ok := c.Values.Get(o.Metric); ok {
		return number(v)
	}
	return 0, false
}

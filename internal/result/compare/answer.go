package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/scalar"
	"aiperf/internal/measure/metrics"
)

// Answer is a condition on what a sweep or a search found, rather than on one run.
type Answer struct {
	// Text is the condition as written.
	Text string
	// kind is best, max, min or count; name is the best configuration, the metric, the parameter or what is counted.
	kind, name, stat string
	parameter        bool
	op               string
	limit            float64
	number, unit     string
}

// counts are the answers that count.
var countAnswers = []string{"failed_runs", "feasible_cells", "pareto_cells", "skipped_cells"}

// answerGrammar explains answers in errors.
const answerGrammar = "answers of a sweep are best_throughput, best_latency_p99, max_TAG[:STAT] and min_TAG[:STAT] " +
	"of a metric or swept parameter, failed_runs, feasible_cells, pareto_cells and skipped_cells"

// IsAnswer reports whether a condition is about a sweep or a search as a whole. The name of a metric is none.
func IsAnswer(text string) bool {
	parts := shape.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	if _, known := metrics.Lookup(metrics.Canonical(parts[1])); known {
		return false
	}
	kind, rest, _ := strings.Cut(parts[1], "_")
	return rest != "" && slices.Contains([]string{"best", "max", "min"}, kind) ||
		slices.Contains(countAnswers, parts[1])
}

// ParseAnswer reads a condition on answers: NAME[:STAT]OP NUMBER[UNIT], such as max_goodput>=10. Parameters are the
// names of what is swept.
func ParseAnswer(text string, parameters []string) (Answer, error) {
	parts := shape.FindStringSubmatch(text)
	if parts == nil || !IsAnswer(text) {
		return Answer{}, fmt.Errorf("%s is not a condition on an answer: %s", quote(text), answerGrammar)
	}
	a := Answer{Text: strings.TrimSpace(text), kind: "count", name: parts[1], stat: parts[2], op: parts[3],
		number: parts[4], unit: parts[5]}
	if !slices.Contains(countAnswers, a.name) {
		a.kind, a.name, _ = strings.Cut(a.name, "_")
	}
	var err error
	if a.limit, err = scalar.Number(a.number); err != nil || math.IsInf(a.limit, 0) {
		return a, fmt.Errorf("%s: %s is not a finite number", quote(text), a.number)
	}
	switch a.kind {
	case "count", "best":
		if a.stat != "" {
			return a, fmt.Errorf("%s: %s is one number: leave :%s out", quote(text), parts[1], a.stat)
		}
	default:
		if err := a.figure(parameters); err != nil {
			return a, fmt.Errorf("%s: %w", quote(text), err)
		}
	}
	if a.kind == "count" && a.unit != "" {
		return a, fmt.Errorf("%s: %s is a count and has no unit", quote(text), a.name)
	}
	return a, nil
}

// figure finds the metric or the parameter of an answer. A parameter goes before a metric that has another name too.
func (a *Answer) figure(parameters []string) error {
	tag := metrics.Canonical(a.name)
	d, known := metrics.Lookup(tag)
	switch {
	case known && (tag == a.name || !slices.Contains(parameters, a.name)):
		a.name = tag
		if a.stat == "" {
			a.stat = "avg"
		}
		if err := checkStat(a.stat, &d, true, nil, true); err != nil {
			return err
		}
		_, err := inUnit(a.limit, a.number, a.unit, string(d.Display))
		return err
	case slices.Contains(parameters, a.name):
		a.parameter = true
		if a.stat != "" || a.unit != "" {
			return fmt.Errorf("%s is a swept parameter, which has neither a statistic nor a unit", a.name)
		}
		return nil
	}
	return fmt.Errorf("%s is neither a metric%s nor swept (%s)", quote(a.name), Near(a.name),
		orNothing(strings.Join(parameters, ", ")))
}

func orNothing(list string) string {
	if list == "" {
		return "nothing is"
	}
	return "swept: " + list
}

// Judge evaluates the condition on the results of a sweep. An answer that is not there is a failure.
func (a *Answer) Judge(s *Sweep) Judgement {
	j := Judgement{Text: a.Text}
	v, unit, why := a.value(s)
	if why != "" {
		j.Failure = a.Text + ": " + why
		return j
	}
	limit, err := inUnit(a.limit, a.number, a.unit, unit)
	if err != nil {
		j.Failure = fmt.Sprintf("%s: it is measured in %s: %v", a.Text, unitName(unit), err)
		return j
	}
	j.Seen = strings.TrimSpace(fmt.Sprintf("it is %s %s", Number(v.value), unit))
	if v.at != "" {
		j.Seen += " (" + v.at + ")"
	}
	if (&Threshold{Op: a.op, Limit: limit}).holds(v.value) {
		j.Failure = a.Text + ": " + j.Seen
	}
	return j
}

// Check returns why the results are a failure, "" if they are not: the condition holds, or the answer is not there.
func (a *Answer) Check(s *Sweep) string { return a.Judge(s).Failure }

// found is the value of an answer and the cell that it comes from, "" for none.
type found struct {
	value float64
	at    string
}

// value returns the value of an answer with its unit, or why there is none.
func (a *Answer) value(s *Sweep) (v found, unit, why string) {
	switch a.kind {
	case "count":
		return a.count(s)
	case "best":
		b, ok := s.best()["best_"+a.name]
		if !ok {
			return v, "", "the results have no best_" + a.name
		}
		return found{b.Value, b.Label}, b.Metric.Unit, ""
	}
	return a.extreme(s)
}

// count returns an answer that counts.
func (a *Answer) count(s *Sweep) (v found, unit, why string) {
	if s.sweep == nil {
		return v, "", "there is no aggregate of cells"
	}
	n := 0
	switch a.name {
	case "failed_runs":
		n = len(s.sweep.Failures)
	case "feasible_cells":
		n = len(s.met())
	case "skipped_cells":
		n = len(s.sweep.Skipped)
	default:
		for i := range s.sweep.Cells {
			if s.sweep.Cells[i].Pareto {
				n++
			}
		}
	}
	return found{value: float64(n)}, "", ""
}

// met returns the cells that meet all limits.
func (s *Sweep) met() (list []*SweepCell) {
	for i := range s.Cells {
		if s.Cells[i].feasible {
			list = append(list, &s.Cells[i])
		}
	}
	return list
}

// extreme returns the largest or the smallest value over the cells that meet all limits. The largest value of what a
// search of one dimension varied is its boundary.
func (a *Answer) extreme(s *Sweep) (v found, unit, why string) {
	if b := s.search; a.parameter && b != nil && b.Search.Boundary != nil && b.Parameters[0].Name == a.name &&
		a.kind == "max" {
		largest, ok := b.Search.Boundary.Largest()
		if !ok {
			return v, "", "not even the smallest value met the limits"
		}
		return found{value: largest}, "", ""
	}
	list := s.met()
	if len(list) == 0 {
		return v, "", "no cell meets the limits"
	}
	seen := false
	for _, c := range list {
		x, ok := a.of(c)
		if !ok {
			continue
		}
		if !seen || a.kind == "max" && x > v.value || a.kind == "min" && x < v.value {
			v, seen = found{x, c.Name}, true
		}
	}
	if !seen {
		return v, "", "the results have no " + strings.TrimSuffix(a.name+":"+a.stat, ":")
	}
	if !a.parameter {
		unit = list[0].unitOf(a.name, a.stat)
	}
	return v, unit, ""
}

// of returns the value in a cell.
func (a *Answer) of(c *SweepCell) (float64, bool) {
	if !a.parameter {
		return c.figure(a.name, a.stat)
	}
	v, ok := c.Parameters.Get(a.name)
	if !ok {
		return 0, false
	}
	x, err := scalar.Number(fmt.Sprint(v))
	return x, err == nil
}

// CheckCells returns why the results of a sweep are a failure by a condition on single runs: the cells for which it
// holds, or that lack the figure.
func (t *Threshold) CheckCells(s *Sweep) []string {
	var out []string
	for i := range s.Cells {
		c := &s.Cells[i]
		v, ok := c.figure(t.Tag, t.Stat)
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s: %s has no %s of %s", t.Text, c.Name, t.Stat, t.Tag))
		case t.holds(v):
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s is %s %s", t.Text, c.Name, t.Tag, t.Stat,
				Number(v), t.Unit)))
		}
	}
	return out
}

// Judge evaluates conditions: those on answers once, those of a run in every cell. The failure of one that is met in
// several cells names the first, and how many there are.
func (s *Sweep) Judge(conditions []Condition) (list []Judgement) {
	for _, c := range conditions {
		if c.Answer != nil {
			list = append(list, c.Answer.Judge(s))
			continue
		}
		j := Judgement{Text: c.Threshold.Text, Seen: "in none of " + cellsOf(len(s.Cells))}
		failed := c.Threshold.CheckCells(s)
		if len(failed) > 0 {
			j.Failure = failed[0]
		}
		if len(failed) > 1 {
			j.Failure += fmt.Sprintf(", and %d more of %s", len(failed)-1, cellsOf(len(s.Cells)))
		}
		list = append(list, j)
	}
	return list
}

// Condition is one on an answer, or one on every cell.
type Condition struct {
	Answer    *Answer
	Threshold Threshold
}

// ParseCondition reads a condition on the results of a sweep: on an answer, or on every cell.
func ParseCondition(text string, parameters []string) (Condition, error) {
	if IsAnswer(text) {
		a, err := ParseAnswer(text, parameters)
		return Condition{Answer: &a}, err
	}
	t, err := ParseThreshold(text, nil, nil)
	return Condition{Threshold: t}, err
}

package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// number returns a value as a number; false if it is none, or not finite.
func number(v any) (float64, bool) {
	f, ok := artifact.Number(v)
	return f, ok && artifact.Finite(f)
}

// Read reads the aggregate of a sweep, profile_export_aiperf_sweep.json, of this program or of the original. Labels,
// pages and runs of the cells are not in the file.
func Read(aggregate []byte) (*Sweep, error) {
	var f AggregateDocument
	if err := json.Unmarshal(aggregate, &f); err != nil {
		return nil, err
	}
	if f.Type != "sweep" {
		return nil, fmt.Errorf("it is not the aggregate of a sweep: its aggregation_type is %.40q", f.Type)
	}
	s := &Sweep{Kind: "Sweep"}
	for _, p := range f.Metadata.Parameters {
		s.Parameters = append(s.Parameters, Parameter{Name: p.Name})
	}
	for i := range f.Cells { // those of scenarios may be in cells only
		for _, m := range f.Cells[i].Parameters {
			if !slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == m.Key }) {
				s.Parameters = append(s.Parameters, Parameter{Name: m.Key})
			}
		}
	}
	trials := 0
	if t := f.Metadata.Trials; t != nil {
		trials = *t
	}
	if l := f.Metadata.Level; l != nil && trials > 1 {
		s.Level = *l
	}
	units := map[string]string{}
	for i := range f.Cells {
		s.Cells = append(s.Cells, f.Cells[i].cell(s.Parameters, trials, s.Level, units))
	}
	s.Metrics = Metrics(units)
	for _, r := range f.FailedRuns {
		s.Failures = append(s.Failures, Failure(r))
	}
	for _, v := range f.Metadata.Skipped {
		s.skipped(v)
	}
	if c := f.Metadata.Constraint; c != nil {
		for _, l := range c.Filters {
			s.Limits = append(s.Limits, l.limit())
		}
		s.Judge()
	}
	if len(f.Answers) > 0 { // the limits are among the objectives
		for _, text := range f.Answers[0].Objectives {
			if !slices.ContainsFunc(s.Limits, func(l Limit) bool { return LimitText(l) == text }) {
				s.Objectives = append(s.Objectives, text)
			}
		}
	}
	s.accuracy(&f)
	s.front(&f)
	s.best(f.Best)
	return s, nil
}

// skipped adds a cell without results, which is written with its parameters or its label.
func (s *Sweep) skipped(v any) {
	values, ok := v.(map[string]any)
	if !ok {
		s.Skipped = append(s.Skipped, Label(v))
		return
	}
	c := Cell{Verdict: Failed}
	var parts []string
	for _, p := range s.Parameters {
		value, has := values[p.Name]
		c.Values = append(c.Values, value)
		if has {
			parts = append(parts, p.Name+" "+Label(value))
		}
	}
	c.Label = strings.Join(parts, ", ")
	s.missing = append(s.missing, c)
	s.Skipped = append(s.Skipped, c.Label)
}

func (l *LimitDocument) limit() Limit {
	out := Limit{Metric: l.Metric, Stat: l.Stat, Op: strings.ToLower(l.Op), Unit: NewMetric(l.Metric, l.Stat, "").Unit}
	if l.Threshold != nil {
		out.Threshold = *l.Threshold
	}
	return out
}

func (c *CellDocument) cell(parameters []Parameter, trials int, level float64, units map[string]string) Cell {
	cell := Cell{Figures: map[string]Figure{}, Runs: trials, ClientLimited: c.ClientLimited,
		Times: c.Times}
	var parts []string
	for _, p := range parameters {
		v, ok := c.Parameters.Get(p.Name)
		cell.Values = append(cell.Values, v)
		if ok {
			parts = append(parts, p.Name+" "+Label(v))
		}
	}
	cell.Label = strings.Join(parts, ", ")
	for key, m := range c.Metrics {
		if m.Mean == nil {
			continue
		}
		// A plain tag, as the original writes it for cells of one run, is the average. Beside its figures it says nothing
		// new.
		if _, stat := splitKey(key); stat == "" {
			if _, flattened := c.Metrics[key+"_avg"]; flattened {
				continue
			}
			for name, v := range m.Stats {
				cell.Figures[key+"_"+name], units[key+"_"+name] = Single(v), m.Unit
			}
			key += "_avg"
		}
		if _, twice := cell.Figures[key]; twice {
			continue
		}
		f := Single(*m.Mean)
		f.Runs = trials
		if m.Low != nil && m.High != nil && trials > 1 {
			f.Low, f.High = *m.Low, *m.High
			if m.Std != nil {
				f.Std = *m.Std
				f.Runs = valuesBehind((f.High-f.Low)/2, f.Std, level, trials)
			}
		}
		cell.Figures[key] = f
		units[key] = m.Unit
	}
	return cell
}

// valuesBehind returns of how many values a deviation is, which the file does not say: the half width of the interval
// does.
func valuesBehind(half, std, level float64, most int) int {
	for n := 2; n < most; n++ {
		if want := stats.StudentT(level, float64(n-1)) * std / math.Sqrt(float64(n)); std > 0 &&
			math.Abs(half-want) < 1e-6*want {
			return n
		}
	}
	return most
}

// Label writes a value of a parameter.
func Label(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if f, ok := number(v); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	text, err := artifact.AppendJSON(nil, v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// statistics are those that end a flattened key.
var statistics = []string{"avg", "min", "max", "std", "sum", "count"}

// splitKey splits a flattened key into tag and statistic; the statistic is empty where the key is a plain tag.
func splitKey(key string) (tag, stat string) {
	i := strings.LastIndexByte(key, '_')
	if _, plain := metrics.Lookup(key); plain || i < 0 {
		return key, ""
	}
	stat = key[i+1:]
	if slices.Contains(statistics, stat) || isRank(stat) {
		return key[:i], stat
	}
	return key, ""
}

func isRank(stat string) bool {
	digits, ok := strings.CutPrefix(stat, "p")
	return ok && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// firstMetrics are the metrics that matter most, in their order on the page.
var firstMetrics = []string{
	"output_token_throughput", "request_throughput", "goodput", "good_request_fraction",
	"jobs_per_hour", "job_latency", "job_goodput", "good_job_fraction", metrics.AccuracyOverall, "total_token_throughput",
	"output_token_throughput_per_user", "time_to_first_token", "inter_token_latency", "request_latency",
	"request_error_rate", "cost_per_million_output_tokens",
}

// statOrder are the statistics in their order on the page; others follow.
var statOrder = []string{"avg", "p50", "p90", "p95", "p99", "max", "min", "std"}

// Metrics returns the metrics of flattened keys with their units: those first that matter most, then by
// the order of the table.
func Metrics(units map[string]string) []Metric {
	var list []Metric
	for key, unit := range units {
		tag, stat := splitKey(key)
		list = append(list, NewMetric(tag, stat, unit))
	}
	order := map[string]int{}
	for i, d := range metrics.Table() {
		order[d.Tag] = len(firstMetrics) + i
	}
	for i, tag := range firstMetrics {
		order[tag] = i
	}
	place := func(tag string) int {
		if p, ok := order[tag]; ok {
			return p
		}
		return math.MaxInt
	}
	rank := func(stat string) int {
		if i := slices.Index(statOrder, stat); i >= 0 {
			return i
		}
		return len(statOrder)
	}
	slices.SortFunc(list, func(a, b Metric) int {
		return cmp.Or(cmp.Compare(place(a.Tag), place(b.Tag)), cmp.Compare(a.Tag, b.Tag),
			cmp.Compare(rank(a.Stat), rank(b.Stat)), cmp.Compare(a.Stat, b.Stat))
	})
	return list
}

// Judge sets the verdicts of the cells that have none by the limits: the mean of a figure must meet its limit.
func (s *Sweep) Judge() {
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Verdict != "" || len(s.Limits) == 0 {
			continue
		}
		c.Verdict = Feasible
		for _, l := range s.Limits {
			f, ok := c.Figure(l.Metric + "_" + l.Stat)
			if !ok {
				f, ok = c.Figure(l.Metric + "_avg")
			}
			if !ok {
				c.Verdict, c.Why = Infeasible, l.Metric+" was not measured"
				break
			}
			if !Meets(l, f.Mean) {
				c.Verdict, c.Why = Infeasible, Breach(l, f.Mean)
				break
			}
		}
	}
}

// Meets reports whether a value is within a limit.
func Meets(l Limit, v float64) bool {
	switch l.Op {
	case "lt":
		return v < l.Threshold
	case "le":
		return v <= l.Threshold
	case "gt":
		return v > l.Threshold
	}
	return v >= l.Threshold
}

// comparisons are the operators of limits as they are shown.
var comparisons = map[string]string{"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}

// LimitText writes a limit for people: "Time to First Token p99 < 300 ms".
func LimitText(l Limit) string {
	m := NewMetric(l.Metric, l.Stat, l.Unit)
	return strings.TrimSpace(m.Title() + " " + comparisons[l.Op] + " " +
		artifact.Trimmed(l.Threshold, 6) + " " + m.Unit)
}

// Breach says which limit a value misses: "Time to First Token p99 was 412.5, limit < 300 ms".
func Breach(l Limit, v float64) string {
	m := NewMetric(l.Metric, l.Stat, l.Unit)
	return fmt.Sprintf("%s was %.4g, limit %s %s", m.Title(), v, comparisons[l.Op],
		strings.TrimSpace(artifact.Trimmed(l.Threshold, 6)+" "+m.Unit))
}

// front marks the cells of the Pareto front, and sets its axes.
func (s *Sweep) front(f *AggregateDocument) {
	for _, at := range f.Pareto {
		for i := range s.Cells {
			if f.Cells[i].matches(at) {
				s.Cells[i].Pareto = true
			}
		}
	}
	if a := f.Metadata.Axes; a != nil {
		s.Front = &Axes{X: NewMetric(a.XMetric, a.XStat, ""), Y: NewMetric(a.YMetric, a.YStat, ""),
			MaximizeX: a.XMinimize != nil && !*a.XMinimize, MinimizeY: a.YMaximize != nil && !*a.YMaximize}
		return
	}
	for _, latency := range []string{"time_to_first_token", "request_latency"} {
		x, y := NewMetric(latency, "p99", ""), NewMetric("request_throughput", "avg", "")
		if s.all(x.Key()) && s.all(y.Key()) {
			s.Front = &Axes{X: x, Y: y}
			return
		}
	}
}

// all reports whether there are cells and all of them have a figure.
func (s *Sweep) all(key string) bool {
	return len(s.Cells) > 0 && !slices.ContainsFunc(s.Cells, func(c Cell) bool {
		_, ok := c.Figure(key)
		return !ok
	})
}

func (c *CellDocument) matches(parameters artifact.Object) bool {
	if len(parameters) != len(c.Parameters) {
		return false
	}
	for _, m := range parameters {
		if v, ok := c.Parameters.Get(m.Key); !ok || Label(v) != Label(m.Value) {
			return false
		}
	}
	return true
}

// best sets the best cells.
func (s *Sweep) best(list artifact.Map[*BestDocument]) {
	for _, m := range list {
		if m.Value == nil || m.Value.Metric == nil {
			continue
		}
		v := *m.Value.Metric
		title := strings.ReplaceAll(m.Key, "_", " ")
		b := Best{Key: m.Key, Title: strings.ToUpper(title[:1]) + title[1:], Value: v, Cell: -1,
			Metric: Metric{Unit: m.Value.Unit}}
		if at := m.Value.Parameters; at != nil {
			var parts []string
			for _, p := range at {
				parts = append(parts, p.Key+" "+Label(p.Value))
			}
			b.Label = strings.Join(parts, ", ")
			b.Cell = slices.IndexFunc(s.Cells, func(c Cell) bool { return c.Label == b.Label })
		}
		// What the files call latency is the time to the first token where all cells have it.
		if ttft := NewMetric("time_to_first_token", "p99", ""); b.Key == "best_latency_p99" && b.Cell >= 0 {
			if f, ok := s.Cells[b.Cell].Figure(ttft.Key()); ok && f.Mean == v {
				b.Title = "Best TTFT p99"
			}
		}
		s.Best = append(s.Best, b)
	}
}

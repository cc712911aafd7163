// Package answer holds what several runs say together: the cells of a sweep, the probes of a search, the load that a
// server takes within limits, what the answer cost. The page and the console show it; [Read] reads it from the files of
// a sweep and of a search.
//
// Vocabulary: a parameter is what is swept; a cell has one value for each parameter, and the figures of its runs; a
// figure is one statistic of one metric with the confidence interval of its mean. The load is the parameter that a
// search varies; the boundary is the largest load within the limits; beyond the knee, more load buys less throughput
// than it costs in latency; the operating point is the measured load that is recommended.
//
// Invariant: values only. Nothing here is run, written or printed, and no text contains a secret unless it was given
// one.
package answer

import (
	"math"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// Figure is a mean over runs, with its confidence interval: NaN where there is none.
type Figure struct {
	Mean, Low, High float64
	// Std is the standard deviation of the sample, 0 where there is none.
	Std float64
	// Runs is the number of runs that have it, 0 if it is not known.
	Runs int
}

// Single returns the figure of one run, or of one without an interval.
func Single(v float64) Figure { return Figure{Mean: v, Low: math.NaN(), High: math.NaN(), Runs: 1} }

// HasInterval reports whether the interval is known.
func (f Figure) HasInterval() bool { return artifact.Finite(f.Low) && artifact.Finite(f.High) }

// Metric is one statistic of a metric.
type Metric struct {
	Tag, Stat string
	// Header is the name for people, Short that for narrow places.
	Header, Short, Unit string
}

// NewMetric returns a statistic of a metric as the table of metrics describes it. A unit that is given replaces the
// table's; a metric that is not in the table has its tag as the header.
func NewMetric(tag, stat, unit string) Metric {
	m := Metric{Tag: tag, Stat: stat, Header: tag, Short: tag, Unit: unit}
	if d, ok := metrics.Lookup(tag); ok {
		m.Header, m.Short = d.Header, d.Short
		if unit == "" {
			m.Unit = string(d.Display)
		}
	}
	return m
}

// Key returns the name of the figure in aggregates, such as time_to_first_token_p99.
func (m Metric) Key() string { return m.Tag + "_" + m.Stat }

// Title returns the header with the statistic, unless that is the average.
func (m Metric) Title() string {
	if m.Stat == "" || m.Stat == "avg" {
		return m.Header
	}
	return m.Header + " " + m.Stat
}

// Limit is a condition on a figure, with what was measured on both sides of the boundary where that is known.
type Limit = summary.SearchLimit

// Parameter is what is swept.
type Parameter struct {
	// Name is short, such as concurrency; Path is the full path in a configuration file, "" if it is not known.
	Name, Path string
	// Unit is that of the values, "" for none.
	Unit string
}

// Verdict is how a cell stands to the limits.
type Verdict string

// The verdicts. A cell without limits has none.
const (
	Feasible   Verdict = "feasible"
	Infeasible Verdict = "infeasible"
	// ClientLimited is the verdict where the client was the bottleneck: neither feasible nor infeasible.
	ClientLimited Verdict = "client-limited"
	// Failed is the verdict where no run succeeded.
	Failed Verdict = "failed"
)

// Cell is one configuration with what its runs yielded; in a search one visit to a point.
type Cell struct {
	Label string
	// Values has one for each parameter: a number, text or boolean; nil where the cell does not set it.
	Values []any
	// Page is the address of the cell's own page relative to the sweep's page, with slashes; "" if it has none.
	Page string
	// Runs succeeded, Failures did not.
	Runs     int
	Failures []Failure
	// Figures are keyed as [Metric.Key].
	Figures map[string]Figure
	// Accuracy is nil where no answers were graded; [Cell.SetAccuracy] sets it.
	Accuracy *Accuracy
	Verdict  Verdict
	// Why is the reason for the verdict in words, such as the limit that was missed; "" for none.
	Why string
	// Objectives are the values that the search scored, empty where there are none.
	Objectives []float64
	// NonMonotonic reports that the cell contradicts an earlier one: a larger load passed, or a smaller one failed.
	NonMonotonic bool
	// ClientLimited is the number of runs in which the client was the bottleneck.
	ClientLimited int
	// Times is where the time of requests went, on average over the runs; nil where that is not known.
	Times *timesplit.Times
	// Pareto reports that no other cell is better on both axes of the front.
	Pareto bool
}

// Figure returns a figure of the cell; false if it has none.
func (c *Cell) Figure(key string) (Figure, bool) {
	f, ok := c.Figures[key]
	return f, ok && artifact.Finite(f.Mean)
}

// Number returns the value of a parameter as a number; false if it is none.
func (c *Cell) Number(parameter int) (float64, bool) {
	if parameter < 0 || parameter >= len(c.Values) {
		return 0, false
	}
	return number(c.Values[parameter])
}

// Failure is a run that failed.
type Failure struct{ Label, Error string }

// Best is the best cell by some measure.
type Best struct {
	// Key is its name in files, "" for none. Title says by which, such as "Best throughput"; Metric is the figure.
	Key, Title string
	Metric     Metric
	Value      float64
	// Cell is the index among the cells, -1 if it is none of them; Label is what the page shows then.
	Cell  int
	Label string
}

// Axes are those of the Pareto front.
type Axes struct {
	X, Y Metric
	// MaximizeX and MinimizeY turn the usual directions, small x and large y, around.
	MaximizeX, MinimizeY bool
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Sweep is what several runs say together.
type Sweep struct {
	// Title is the name of the models; Kind is such as "Sweep", "Search" or "Capacity".
	Title, Kind string
	// Target is the address that was asked, Command the command line, both without secrets.
	Target, Command string
	Version         string
	// Facts are shown below the title.
	Facts      []Fact
	Parameters []Parameter
	// Metrics are the figures of the cells, those first that matter most.
	Metrics []Metric
	// Cells are in the order of execution.
	Cells  []Cell
	Limits []Limit
	// Objectives are what single requests are to meet, in words: "TTFT ≤ 300 ms".
	Objectives []string
	Best       []Best
	// Front has the axes by which cells are marked; nil for none.
	Front *Axes
	// Failures are runs that failed, of all cells.
	Failures []Failure
	// Cache warns that runs found prompts of earlier ones in the server's cache; "" where they did not.
	Cache string
	// Skipped are the labels of cells without any result.
	Skipped []string
	// missing are the skipped cells whose values are known and that are not among Cells.
	missing []Cell
	// Level is that of the confidence intervals, 0 if there are none.
	Level float64
	// Search is nil for a sweep.
	Search *Search
	// Capacity is the answer to how much load the server takes, nil if that was not asked.
	Capacity *Capacity
	// history is the file that the search was read from, nil for none.
	history *HistoryDocument
}

// Search is how a search went.
type Search struct {
	Planner string
	// Objectives are texts as metric, statistic and direction; Scored are their metrics.
	Objectives []string
	Scored     []Metric
	// Ranges are the bounds of the parameters.
	Ranges []Range
	// Recipe is its name, "" for none. Reason is why the search ended, "" if it did not end by itself.
	Recipe, Reason string
	Most           int // iterations
	// Boundary is nil unless one parameter is searched.
	Boundary *Boundary
	// Best are the indices of the best cells.
	Best []int
	// Tiers are the limits of several sets of conditions; nil if there was one.
	Tiers []Tier
}

// Tier is what a search found for one of several sets of conditions.
type Tier struct {
	Label string
	// Boundary is the largest value that met the conditions; nil if there is none.
	Boundary *float64
	// Status is converged, partial, no_pass_in_range or no_failure_in_range.
	Status string
}

// Text says the limit of a tier whose values are those of a parameter.
func (t *Tier) Text(of Parameter) string {
	switch {
	case t.Boundary == nil:
		return t.Label + ": none of the values meets its limits"
	case t.Status == "no_failure_in_range":
		return t.Label + ": at least " + of.Value(*t.Boundary)
	case t.Status == "partial":
		return t.Label + ": " + of.Value(*t.Boundary) + ", not as precisely as asked for"
	}
	return t.Label + ": " + of.Value(*t.Boundary)
}

// Range has the bounds of a parameter.
type Range struct {
	Parameter Parameter
	Lo, Hi    float64
}

// Boundary is what a search of one parameter found: the largest value that met all limits and the smallest that did
// not, each nil if there is none.
type Boundary struct {
	FeasibleMax, InfeasibleMin *float64
	// Breach is the limit that is missed first beyond the boundary, with the value observed; "" if it is not known.
	Breach string
	// Type is smooth or cliff, Binding the limit that binds; "" if they are not known.
	Type, Binding string
	// MarginLow and MarginHigh are the interval of the margin at the boundary; NaN if there is none.
	MarginLow, MarginHigh float64
	// Estimate is the answer where all probes together give one; nil where the largest value that met the limits is it.
	Estimate *Estimate
	// Command repeats the search; "" if it is not known.
	Command string
}

// Estimate is a value with its interval at a level; the interval is NaN if it is not known.
type Estimate struct{ Value, Low, High, Level float64 }

// Largest returns the answer: the largest value within the limits; false if there is none.
func (b *Boundary) Largest() (v float64, ok bool) {
	switch {
	case b.FeasibleMax == nil:
		return 0, false
	case b.Estimate != nil:
		return b.Estimate.Value, true
	}
	return *b.FeasibleMax, true
}

// Interval says how sure the answer is, such as "95 %: 21–30"; "" if that is not known.
func (b *Boundary) Interval() string {
	e := b.Estimate
	if e == nil || !artifact.Finite(e.Low) || !artifact.Finite(e.High) {
		return ""
	}
	return Percent(e.Level) + ": " + Between(e.Low, e.High)
}

// Outcome says what the search for a capacity came to.
type Outcome string

// The outcomes.
const (
	// Found is the outcome where both sides of the boundary were measured.
	Found Outcome = "found"
	// NotEvenSmallest is the outcome where the smallest load of the range misses the limits.
	NotEvenSmallest Outcome = "not even the smallest load"
	// WholeRange is the outcome where the largest load of the range meets all limits.
	WholeRange Outcome = "the whole range"
	// Undecided is the outcome where the search ended before it knew.
	Undecided Outcome = "undecided"
)

// Capacity is the largest load that a server takes within limits.
type Capacity struct {
	Outcome Outcome
	// Load is what was searched; Lo and Hi are its range.
	Load   Parameter
	Lo, Hi float64
	// Value is the answer, the largest load that was measured within the limits where the boundary was found, with the
	// interval of the boundary at Level; the interval is NaN if it is not known.
	Value, Low, High float64
	Level            float64
	// Estimate is where the curve through all probes meets a limit; NaN if it is not known.
	Estimate float64
	// Within is the largest load that was measured to be within the limits up to Value, Beyond the smallest above that
	// missed one; NaN where there is none.
	Within, Beyond float64
	// Rate is the throughput of requests at Value in requests per second; its Mean is NaN if it is not known or Load
	// is the rate itself. InJobs has it in jobs per hour instead, as a limit is one of jobs.
	Rate   Figure
	InJobs bool
	Limits []Limit
	// Binding is the index of the limit that is missed first, -1 if it is not known. BoundBy replaces its text where
	// something else bound, such as the client itself.
	Binding int
	BoundBy string
	// Why is what made the load slow that lies beyond the answer; nil where neither its run nor the curves show it.
	Why   *judge.Finding
	Curve Curve
	Spent Spent
	// Price is nil if none was given.
	Price *Price
	// Command repeats the measurement.
	Command string
	// Notes are sentences on what the reader should know: contradictions, doubts, how sure the verdicts are.
	Notes []string
}

// Spent is what an answer cost.
type Spent struct {
	Runs, Requests, Tokens int64
	Time                   time.Duration
	// Saved is the time by which probes ended before their planned end; 0 for none.
	Saved time.Duration
}

// Having returns the number of cells that have a figure.
func (s *Sweep) Having(key string) int {
	n := 0
	for i := range s.Cells {
		if _, ok := s.Cells[i].Figure(key); ok {
			n++
		}
	}
	return n
}

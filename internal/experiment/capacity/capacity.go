// Package capacity finds how much load a server takes within limits: the search that "aiperf capacity" makes, its
// probes, and its answer.
//
// Vocabulary: a limit is a condition on a figure of a run; a probe is a run at one load, which ends when it is certain
// whether the limits hold; the answer is the largest load that holds, with an interval.
//
// Invariants: a probe that this program or its machine limited is neither feasible nor infeasible; a probe is told with
// the errors of its figures, so that the interval of the answer holds what is not known. The package never knows which
// flags the question came from.
//
// It also answers what a server can do for how many users, within about a minute.
//
// Vocabulary: a stage is a short run with a number of users, each of which sends its next request when the last one is
// answered; limits are on percentiles of the time to first token and between tokens; a stage holds if it meets them.
//
// Invariants: [Next] and [Answer] are pure functions of the stages; a stage in which the client was the bottleneck
// neither holds nor fails.
//
// It also judges one run of a search while it goes on: whether its service levels are met for certain, violated for
// certain, or not decided yet; whether the load is more than the server can serve for good; and whether the warm-up has
// lasted long enough. What is certain need not be measured on: the probe ends early.
//
// Vocabulary: a probe is a run at one point of a search; a [Judge] observes it and its [Verdict] says what came of it;
// a probe is saturated if the work in the system grows without bound, which only an open loop can show: in a closed
// loop there is never more in flight than the concurrency.
//
// Invariants: a verdict that is certain is wrong with at most the probability that its level leaves, whenever it is
// made (see [sequential]); a value of a request is that of the metric's own definition; a judge never decides how a run
// is counted or written, and a run without one is the same run.
//
// It also bounds shares and means of a stream of values at every look: whoever looks after each value and stops when it
// likes is wrong no more often than the level says.
//
// Vocabulary: evidence is the logarithm of an e-value, a bet against a hypothesis whose capital grows beyond 1/α with a
// probability of at most α if the hypothesis is true, whenever one looks (Ville's inequality). A condition on a
// quantile, p99 ≤ T, is one on a share: at least 0.99 of the values are at most T.
//
// What the bounds rely on: those of shares hold for every number of values as long as each value has the same chance
// given those before it. The values of requests that are in flight together have not: [Blocks] measures by how much the
// mean scatters more than that of independent values, and the counts are divided by it, which is an approximation for
// many blocks. Bounds of means are asymptotic besides: they need a finite variance and some tens of values.
package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/result/judge"
)

// Planner is the name of the planner in search_history.json.
const Planner = "capacity"

// Question is what is asked.
type Question struct {
	Limits []search.Filter
	// Implied is the number of limits at the end that nobody asked for: a probe does not go on to be certain of them.
	Implied int
	// Over is one of [Loads]. Min and Max are its range; below 0: not given, see [Question.FitRange].
	Over     string
	Min, Max float64
	// Interval is the time from one turn of a user to the next, of Users only.
	Interval time.Duration
	// Context is the length of the model's context in tokens as the server says it, 0 if it does not; of ISL and OSL only.
	Context int64
	// KeepEntries reports that the number of prompts was asked for.
	KeepEntries bool
	// Budget is the time of the whole search: no probe starts that would end after it.
	Budget time.Duration
	// Precision is the width of the interval, relative to the answer, at which the search ends.
	Precision float64
	// Probe is the longest measured time of a probe, Warmup that of its warm-up.
	Probe, Warmup time.Duration
	// MaxProbes bounds the number of probes.
	MaxProbes int
	// Confidence is that of the answer and of the verdicts.
	Confidence float64
}

// metricOf are the metrics of limits by their names.
var metricOf = map[string]string{
	"ttft": "time_to_first_token", "itl": "inter_token_latency", "e2e": "request_latency",
	"job-latency": "job_latency"}

// Limit reads a limit of a latency, as "p99:300" or "300", in milliseconds. Without a statistic it is p95.
func Limit(name, text string) (search.Filter, error) {
	f := search.Filter{Metric: metricOf[name], Stat: "p95", Op: search.LE}
	number := text
	if stat, rest, found := strings.Cut(text, ":"); found {
		if !slices.Contains(sweep.Stats(), stat) {
			return f, fmt.Errorf("%q: %s is not a statistic; write one of %s", text, stat,
				strings.Join(sweep.Stats(), ", "))
		}
		f.Stat, number = stat, rest
	}
	v, err := latency(number)
	if err != nil {
		return f, fmt.Errorf("%q: %q is not a number of milliseconds above 0; write it as p99:300 or p99:300ms",
			text, number)
	}
	f.Threshold = v
	return f, nil
}

// latency reads a limit of a latency in milliseconds, with or without a unit.
func latency(text string) (float64, error) {
	v, err := scalar.In(time.Millisecond, text)
	if err == nil && (!(v > 0) || !artifact.Finite(v)) {
		err = errors.New("it must be above 0")
	}
	return v, err
}

// ErrorRate returns the limit of the share of failed requests.
func ErrorRate(share float64) search.Filter {
	return search.Filter{Metric: "request_error_rate", Stat: "avg", Op: search.LE, Threshold: 100 * share}
}

// Lengths of probes where none is given: parts of the budget, so that there are enough probes, up to a bound.
const (
	budgetOfProbe, longestProbe  = 10, time.Minute
	probeOfWarmup, longestWarmup = 4, 15 * time.Second
)

// FitProbes sets the longest times of a probe and of its warm-up, where they are below 0, so that the budget has room
// for some ten probes. In a probe over users each of them takes at least one turn.
func (q *Question) FitProbes() {
	if q.Probe < 0 {
		q.Probe = min(q.Budget/budgetOfProbe, longestProbe)
		if q.Over == Users {
			q.Probe = max(q.Probe, q.Interval)
		}
	}
	if q.Warmup < 0 {
		q.Warmup = min(q.Probe/probeOfWarmup, longestWarmup)
	}
}

// Block returns the search as a block of a configuration file has it.
func (q *Question) Block() *document.Node {
	dimension := artifact.Object{{Key: "path", Value: q.Path()}}
	if q.real() {
		dimension = append(dimension, artifact.Member{Key: "lo", Value: q.Min},
			artifact.Member{Key: "hi", Value: q.Max},
			artifact.Member{Key: "kind", Value: "real"})
	} else {
		dimension = append(dimension, artifact.Member{Key: "lo", Value: int64(q.Min)},
			artifact.Member{Key: "hi", Value: int64(q.Max)}, artifact.Member{Key: "kind", Value: "int"})
	}
	filters := []any{}
	for _, f := range q.Limits {
		filters = append(filters, artifact.Object{{Key: "metric_tag", Value: f.Metric}, {Key: "stat", Value: f.Stat},
			{Key: "op", Value: f.Op}, {Key: "threshold", Value: f.Threshold}})
	}
	return document.Of(artifact.Object{{Key: "type", Value: sweep.AdaptiveSearch},
		{Key: "search_space", Value: []any{append(dimension, artifact.Member{Key: "prior", Value: "log-uniform"})}},
		{Key: "objectives", Value: []any{artifact.Object{{Key: "metric", Value: "request_throughput"},
			{Key: "stat", Value: "avg"}, {Key: "direction", Value: "maximize"}}}},
		{Key: "sla_filters", Value: filters}, {Key: "max_iterations", Value: int64(q.MaxProbes)},
		{Key: "n_initial_points", Value: int64(1)},
		{Key: "improvement_patience", Value: int64(q.MaxProbes)}, {Key: "plateau_window", Value: int64(q.MaxProbes)}})
}

// Study is a search for a capacity under way.
type Study struct {
	Question
	Judges
	planner *boundary.Capacity
	probes  int
	remarks []string
	// Command is the command line that asked, without secrets.
	Command string
	// Elapsed returns how long the search has lasted, which the budget bounds; nil: only measured time counts.
	Elapsed func() time.Duration
	// refused are the lengths of prompts that the server refused as too long, unreached those whose replies were too
	// short.
	refused, unreached []float64
	// told are the runs so far.
	told []probe
}

// New begins a study.
func New(q Question) (*Study, error) {
	s := &Study{Question: q, Judges: NewJudges(q.Limits, q.Implied, q.Confidence)}
	d := search.Dimension{Path: q.Path(), Lo: q.Min, Hi: q.Max, Int: !q.real(), LogUniform: true}
	var err error
	s.planner, err = boundary.NewCapacity(d, q.Limits, boundary.CapacityOptions{Precision: q.Precision,
		Level: q.Confidence, Budget: q.Budget.Seconds(), MaxProbes: q.MaxProbes,
		Evidence: func(search.Result) boundary.Evidence {
			e := s.Evidence()
			if s.Elapsed != nil {
				e.Elapsed = s.Elapsed().Seconds()
			}
			return e
		}})
	return s, err
}

// Trial returns what a run says to the search, and its verdict for the history.
func (s *Study) Trial(r *series.Run) (loop.Trial, artifact.Object) {
	t, extra := s.Judges.Trial(r)
	at := loadOf(r)
	s.told = append(s.told, probe{at, t.Limited != "" && r.Succeeded(), r.Judged})
	if t.Refused != "" {
		s.refused = append(s.refused, at)
	}
	if got, known := t.Figure("output_sequence_length", "avg"); known && t.Limited == "" {
		if t.Limited = s.tooShort(at, got); t.Limited != "" {
			s.last.Verdict = boundary.ClientLimited
			s.unreached = append(s.unreached, at)
		}
	}
	return t, extra
}

// probe is a run of the search: its load, whether the client was the bottleneck, and what is to be thought of it.
type probe struct {
	load    float64
	limited bool
	judged  judge.Judgement
}

// limitedLoads are those at which the client was the bottleneck, each once, in ascending order.
func (s *Study) limitedLoads() (list []float64) {
	for i := range s.told {
		if p := &s.told[i]; p.limited {
			list = append(list, p.load)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// why returns what the judgement of a probe at a load says made it slow; nil where none does.
func (s *Study) why(load float64) *judge.Finding {
	for i := range s.told {
		if p := &s.told[i]; p.load == load && !p.limited {
			if f, found := p.judged.Explains(); found {
				return &f
			}
		}
	}
	return nil
}

// loadOf returns the load of a run, NaN if it has none.
func loadOf(r *series.Run) float64 {
	if v := r.Info.VariationValues; len(v) == 1 {
		if at, ok := artifact.Number(v[0].Value); ok {
			return at
		}
	}
	return math.NaN()
}

// Planner returns the planner of the search.
func (s *Study) Planner() search.Planner { return s.planner }

// Probe returns the configuration of the next probe: with prompts of its own, bounded, and warmed up.
func (s *Study) Probe(cfg *config.Run) *config.Run {
	s.probes++
	own, remark := Independent(cfg, s.probes)
	if remark != "" && !slices.Contains(s.remarks, remark) {
		s.remarks = append(s.remarks, remark)
	}
	own.Phases = slices.Clone(own.Phases)
	i := slices.IndexFunc(own.Phases, func(p config.Phase) bool { return p.Kind == config.ProfilingPhase })
	measured := &own.Phases[i]
	s.paced(measured)
	s.fewerPrompts(own)
	if !cfg.Asked.RequestCount.Given() && !cfg.Asked.NumSessions.Given() {
		measured.Requests, measured.Sessions = nil, nil
		if !cfg.Asked.BenchmarkDuration.Given() {
			measured.Duration, measured.Grace = &s.Question.Probe, s.Question.Probe
		}
	}
	if !slices.ContainsFunc(own.Phases, func(p config.Phase) bool { return p.Kind == config.WarmupPhase }) &&
		s.Question.Warmup > 0 {
		warm := *measured
		warm.Name, warm.Kind, warm.Duration = "warmup", config.WarmupPhase, &s.Question.Warmup
		warm.Requests, warm.Sessions, warm.Seamless, warm.Adaptive = nil, nil, false, nil
		own.Phases = append([]config.Phase{warm}, own.Phases...)
	}
	return own
}

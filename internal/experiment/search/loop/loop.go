package loop

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
)

// The files of a search in the folder of its experiment.
const (
	HistoryFile    = "search_history.json"
	CheckpointFile = "search_checkpoint.json"
)

// Reasons that end a search in which its planner has no part.
const (
	MaxIterations       = "max_iterations"
	ImprovementPatience = "improvement_patience"
	PlateauCV           = "plateau_cv"
	Cancelled           = "cancelled"
	Aborted             = "aborted"
	unknownReason       = "unknown"
)

// Options are what a search needs beside its specification.
type Options struct {
	// Dir is the folder of the experiment, which must exist; empty writes no files.
	Dir string
	// Log gets warnings; nil drops them.
	Log *slog.Logger
	// Planner replaces the planner of the specification; nil does not.
	Planner search.Planner
	// PlannerName is the name of such a planner in the history.
	PlannerName string
}

// Search is a search under way.
type Search struct {
	spec    *Spec
	options Options
	planner search.Planner
	// proposal is the point that was proposed and not told yet.
	proposal *Proposal
	results  []iteration
	// improved is the number of iterations up to the last one that was better than all before.
	improved int
	reason   string
	// Extra are further members of boundary_summary, such as an interval of the answer; its caller sets it before
	// the files are written.
	Extra artifact.Object
	// warned are the metrics and other things that were warned about.
	warned map[string]bool
}

// Proposal is the next point of a search.
type Proposal struct {
	Iteration int
	Point     search.Point
	// First reports that no earlier iteration visited the point.
	First bool
	// Values are the paths with their values, whole numbers as int64.
	Values artifact.Object
	// Label names the iteration and its folder: search_iter_0000.
	Label string
}

// iteration is a visit to a point with what came of it.
type iteration struct {
	proposal Proposal
	trials   []Trial
	result   search.Result
	// pooled are the objectives that replace means over trials, as the checkpoint keeps them; nil for none.
	pooled []float64
	// limited reports that the trials say nothing about the server.
	limited bool
	// contradicts reports that the verdict contradicts an earlier one.
	contradicts bool
	extra       artifact.Object
}

// New makes a search. Its error says what of the specification no planner can do.
func New(spec *Spec, o Options) (*Search, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Search{spec: spec, options: o, planner: o.Planner, warned: map[string]bool{}}
	if s.planner == nil {
		p, err := plannerOf(spec)
		if err != nil {
			return nil, err
		}
		s.planner = p
	}
	return s, nil
}

// Ask returns the next point; false when the search is over, and [Search.Reason] says why. It returns the same point
// until it was told.
func (s *Search) Ask() (Proposal, bool) {
	if s.proposal != nil {
		return *s.proposal, true
	}
	if s.reason == "" {
		s.reason = s.stop()
	}
	if s.reason != "" {
		return Proposal{}, false
	}
	at, more := s.planner.Ask()
	if !more {
		if s.reason = s.planner.Reason(); s.reason == "" {
			s.reason = unknownReason
		}
		return Proposal{}, false
	}
	p := Proposal{Iteration: len(s.results), Point: slices.Clone(at), First: true}
	p.Label = fmt.Sprintf("search_iter_%04d", p.Iteration)
	for i, d := range s.spec.Space {
		p.Values = append(p.Values, artifact.Member{Key: d.Path, Value: ValueOf(d, at[i])})
	}
	for i := range s.results {
		p.First = p.First && !slices.Equal(s.results[i].proposal.Point, p.Point)
	}
	s.proposal = &p
	return p, true
}

// ValueOf returns a coordinate as the value of a configuration.
func ValueOf(d search.Dimension, v float64) any {
	if d.Int {
		return int64(v)
	}
	return v
}

// Tell reports the runs at the point that was asked for, and writes the files. extra are further members of the
// iteration in the history; nil for none. Its error is that of the files: the search itself goes on.
func (s *Search) Tell(trials []Trial, extra artifact.Object) error {
	if s.proposal == nil {
		return errors.New("a search was told of runs that it did not ask for")
	}
	s.tell(trials, s.pool(trials), extra)
	return s.Write()
}

// tell adds an iteration.
func (s *Search) tell(trials []Trial, pooled []float64, extra artifact.Object) {
	p := *s.proposal
	s.proposal = nil
	result, limited := s.judge(p.Point, trials, pooled)
	s.planner.Tell(result)
	it := iteration{proposal: p, trials: trials, result: result, pooled: pooled, limited: limited, extra: extra}
	if b, ok := s.planner.(search.Bounded); ok {
		it.contradicts = b.Boundary().NonMonotonic
	}
	s.results = append(s.results, it)
	if s.improves() {
		s.improved = len(s.results)
	}
	s.warnUnknown(trials)
}

// pool returns the objectives as percentiles over the requests of all trials, nil where the mean over trials is asked
// for, NaN for an objective that has no such percentile.
func (s *Search) pool(trials []Trial) []float64 {
	if !s.spec.Pooled {
		return nil
	}
	var paths []string
	for _, t := range trials {
		if t.Err != "" {
			continue
		}
		if _, err := bounded.StatCompressed(t.Requests); t.Requests == "" || err != nil {
			s.warnOnce("pooling", fmt.Sprintf("run %s has no per-request file, so the percentiles of its point are the "+
				"mean over runs", t.Label))
			return nil
		}
		paths = append(paths, t.Requests)
	}
	values := make([]float64, len(s.spec.Objectives))
	for i, o := range s.spec.Objectives {
		values[i] = math.NaN()
		if o.Stat == "avg" || len(paths) == 0 {
			continue
		}
		v, ok, err := series.PooledPercentile(paths, o.Metric, o.Stat)
		if err != nil {
			s.warnOnce("pooling", fmt.Sprintf("percentiles are the mean over runs: %v", err))
			return nil
		}
		if ok {
			values[i] = v
		}
	}
	return values
}

func (s *Search) warnOnce(about, text string) {
	if !s.warned[about] {
		s.warned[about] = true
		s.options.Log.Warn(text)
	}
}

// warnUnknown warns once of each metric that successful runs do not have.
func (s *Search) warnUnknown(trials []Trial) {
	var good []*Trial
	for i := range trials {
		if trials[i].Err == "" {
			good = append(good, &trials[i])
		}
	}
	if len(good) == 0 {
		return
	}
	for _, tag := range s.metrics() {
		if slices.ContainsFunc(good, func(t *Trial) bool { return t.has(tag) }) {
			continue
		}
		var tags []string
		for _, m := range good[0].Metrics {
			tags = append(tags, m.Tag)
		}
		s.warnOnce("metric "+tag, fmt.Sprintf("the runs have no metric %s, so that no condition on it is ever met; "+
			"they have %s", tag, strings.Join(tags, ", ")))
	}
}

// metrics returns the metrics that the search looks at.
func (s *Search) metrics() (tags []string) {
	for _, f := range s.conditions() {
		tags = append(tags, f.Metric)
	}
	for _, o := range s.spec.Objectives {
		tags = append(tags, o.Metric)
	}
	for _, c := range s.spec.Constraints {
		tags = append(tags, c.Metric)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Reason says why the search ended, empty while it goes on.
func (s *Search) Reason() string { return s.reason }

// Planner returns the planner, for what only it knows.
func (s *Search) Planner() search.Planner { return s.planner }

// Last returns what the last iteration found: its objectives and whether it is feasible; empty before the first.
func (s *Search) Last() string {
	if len(s.results) == 0 {
		return ""
	}
	it := &s.results[len(s.results)-1]
	if it.limited {
		return "not counted: " + it.first(func(t *Trial) string { return t.Limited })
	}
	var parts []string
	for i, o := range s.spec.Objectives {
		if i < len(it.result.Objectives) {
			parts = append(parts, fmt.Sprintf("%s %s %.6g", o.Metric, o.Stat, it.result.Objectives[i]))
		}
	}
	if len(parts) == 0 && len(s.spec.Objectives) > 0 {
		parts = append(parts, "no figures")
	}
	if len(s.conditions()) > 0 {
		parts = append(parts, map[bool]string{true: "feasible", false: "infeasible"}[it.result.Feasible])
	}
	return strings.Join(parts, ", ")
}

// LastVerdict returns whether the last iteration met all conditions: met, missed, or undecided where it says nothing about
// the server; empty in a search without conditions and before the first iteration.
func (s *Search) LastVerdict() string {
	if len(s.results) == 0 || len(s.conditions()) == 0 {
		return ""
	}
	switch it := &s.results[len(s.results)-1]; {
	case it.limited:
		return "undecided"
	case it.result.Feasible:
		return "met"
	}
	return "missed"
}

// SoFar returns in a line what the search knows: the interval of the largest value that meets all conditions, or the
// best point; empty before the first iteration.
func (s *Search) SoFar() string {
	if len(s.results) == 0 {
		return ""
	}
	if len(s.spec.Space) == 1 && len(s.conditions()) > 0 {
		path := s.spec.Space[0].Path
		name := path[strings.LastIndexByte(path, '.')+1:]
		highest, lowest := s.bounds()
		var parts []string
		if highest != nil {
			parts = append(parts, fmt.Sprintf("%s %v meets all limits", name, highest.proposal.Values[0].Value))
		}
		if lowest != nil {
			parts = append(parts, fmt.Sprintf("%s %v misses one", name, lowest.proposal.Values[0].Value))
		}
		return strings.Join(parts, ", ")
	}
	if len(s.spec.Objectives) == 0 {
		return s.Last()
	}
	best := s.best()
	if len(best) == 0 {
		return ""
	}
	it := &s.results[best[0]]
	o := s.spec.Objectives[0]
	return fmt.Sprintf("best so far: %s %s %.6g with %s", o.Metric, o.Stat, it.result.Objectives[0], &it.proposal)
}

// String returns the point as path=value, path=value.
func (p *Proposal) String() string { return pointText(p.Values) }

// Finish ends the search and writes the files: reason is Cancelled or Aborted, or empty when Ask returned false.
func (s *Search) Finish(reason string) error {
	if s.reason == "" {
		s.reason = reason
	}
	return s.Write()
}

// Write writes the files of the search.
func (s *Search) Write() error {
	if s.options.Dir == "" {
		return nil
	}
	return errors.Join(
		artifact.WriteObject(filepath.Join(s.options.Dir, HistoryFile), s.Document()),
		artifact.WriteObject(filepath.Join(s.options.Dir, CheckpointFile), s.checkpoint()))
}

// Coordinates are the values alone, in the order of the dimensions.
func (p *Proposal) Coordinates() (list []any) {
	for _, m := range p.Values {
		list = append(list, m.Value)
	}
	return list
}

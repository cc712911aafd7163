package loop

import (
	"cmp"
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/result/answer"
)

// Document returns search_history.json as it stands.
func (s *Search) Document() artifact.Object {
	d := answer.HistoryDocument{Config: s.spec.document(s.options.PlannerName), BestTrials: s.bestTrials(),
		Boundary: s.boundarySummary(), Recipe: orNull(s.spec.Recipe), Reason: orNull(s.reason)}
	for i := range s.results {
		d.Iterations = append(d.Iterations, s.iterationDocument(&s.results[i]))
	}
	if t, ok := s.planner.(Tiered); ok {
		d.Tiers, d.Pairs = t.TierDocuments()
		s.addTierMetrics(d.Tiers)
	}
	return artifact.ObjectOf(d)
}

// Tiered is a planner that searches the limits of several tiers.
type Tiered interface {
	search.Planner
	// TierDocuments returns what the history has of the tiers.
	TierDocuments() ([]answer.TierDocument, *answer.TierMetadataDocument)
}

// document returns the specification as the history has it. name replaces that of the planner where it is not empty.
func (s *Spec) document(name string) answer.HistoryConfig {
	d := answer.HistoryConfig{Planner: cmp.Or(name, s.Planner), Most: s.MaxIterations, InitialPoints: s.InitialPoints,
		Seed: s.Seed, Patience: s.Patience, PlateauWindow: s.PlateauWindow, PlateauThreshold: s.PlateauThreshold,
		Filters: limits(s.Filters)}
	for _, o := range s.Objectives {
		direction := "MINIMIZE"
		if o.Maximize {
			direction = "MAXIMIZE"
		}
		d.Objectives = append(d.Objectives, answer.ObjectiveDocument{Metric: o.Metric, Stat: o.Stat, Direction: direction,
			Threshold: o.Threshold})
	}
	for _, c := range s.Constraints {
		d.Constraints = append(d.Constraints, answer.ConstraintDocument{Metric: c.Metric, Op: c.Op, Bound: c.Bound})
	}
	for _, of := range s.Space {
		kind := "real"
		if of.Int {
			kind = "int"
		}
		d.Space = append(d.Space, answer.DimensionDocument{Path: of.Path, Lo: of.Lo, Hi: of.Hi, Kind: kind})
	}
	for _, t := range s.Tiers {
		d.Tiers = append(d.Tiers, answer.TierLimitsDocument{Label: t.Label, Filters: limits(t.Filters), Rank: t.Rank})
	}
	return d
}

func limits(filters []search.Filter) (list []answer.LimitDocument) {
	for _, f := range filters {
		list = append(list, limit(f))
	}
	return list
}

func limit(f search.Filter) answer.LimitDocument {
	return answer.LimitDocument{Metric: f.Metric, Stat: f.Stat, Op: f.Op, Threshold: &f.Threshold}
}

func (s *Search) iterationDocument(it *iteration) answer.IterationDocument {
	return answer.IterationDocument{
		Index: it.proposal.Iteration, Values: it.proposal.Values, Objectives: valuesOrNull(it.result.Objectives),
		Feasible: new(s.feasible(*it)), NonMonotonic: it.contradicts,
		ClientLimited: it.first(func(t *Trial) string { return t.Limited }),
		Saturated:     it.first(func(t *Trial) string { return t.Saturated }),
		Refused:       it.first(func(t *Trial) string { return t.Refused }), Extra: it.extra,
	}
}

// first returns the first text of the trials that is not empty.
func (it *iteration) first(of func(*Trial) string) string {
	for i := range it.trials {
		if text := of(&it.trials[i]); text != "" {
			return text
		}
	}
	return ""
}

func pointText(values artifact.Object) string {
	var parts []string
	for _, m := range values {
		parts = append(parts, fmt.Sprintf("%s=%v", m.Key, m.Value))
	}
	return strings.Join(parts, ", ")
}

func valuesOrNull(values []float64) *[]*float64 {
	if values == nil {
		return nil
	}
	list := make([]*float64, len(values))
	for i, v := range values {
		list[i] = artifact.Known(v)
	}
	return &list
}

// bestTrials returns the best points, nil when nothing was scored.
func (s *Search) bestTrials() *[]answer.BestTrialDocument {
	best := s.best()
	if len(best) == 0 {
		return nil
	}
	feasible := 0
	for _, it := range s.results {
		if s.feasible(it) {
			feasible++
		}
	}
	var list []answer.BestTrialDocument
	for _, i := range best {
		it := s.results[i]
		list = append(list, answer.BestTrialDocument{Index: i, Objectives: valuesOrNull(it.result.Objectives),
			Values: it.proposal.Values, Feasible: s.feasible(it), FeasibleCount: feasible})
	}
	return &list
}

// boundarySummary returns between which values of the only dimension the limit is, nil with several dimensions.
func (s *Search) boundarySummary() *answer.BoundaryDocument {
	if len(s.spec.Space) != 1 {
		return nil
	}
	d := &answer.BoundaryDocument{Path: s.spec.Space[0].Path, Extra: s.Extra}
	highest, lowest := s.bounds()
	if highest != nil {
		d.FeasibleMax = &answer.FeasibleDocument{Value: highest.proposal.Values[0].Value,
			Index: highest.proposal.Iteration}
		if v := highest.result.Objectives; len(v) > 0 {
			d.FeasibleMax.Objective = &v[0]
		}
	}
	if lowest != nil {
		d.InfeasibleMin = &answer.InfeasibleDocument{Value: lowest.proposal.Values[0].Value,
			Index: lowest.proposal.Iteration, Breach: s.firstBreach(lowest)}
	}
	if b, ok := s.planner.(search.Bounded); ok {
		d.BoundaryKindDocument = s.boundaryKind(b.Boundary())
	}
	if _, tiered := s.planner.(Tiered); tiered {
		d.TierVerdictDocument = &answer.TierVerdictDocument{Reason: orNull(s.reason)}
		for i := range s.results {
			d.NonMonotonic = d.NonMonotonic || s.results[i].contradicts
		}
	}
	return d
}

// addTierMetrics adds all figures at the limit of each tier.
func (s *Search) addTierMetrics(tiers []answer.TierDocument) {
	for k := range tiers {
		at, found := artifact.Number(tiers[k].Boundary)
		if !found {
			continue
		}
		var trials []Trial
		for i := range s.results {
			if it := &s.results[i]; !it.limited && it.proposal.Point[0] == at {
				trials = append(trials, it.trials...)
			}
		}
		if metrics := meansOf(trials); len(metrics) > 0 {
			tiers[k].Metrics = &metrics
		}
	}
}

// meansOf returns the means of all figures over the successful trials, by metric and statistic.
func meansOf(trials []Trial) artifact.Object {
	all := artifact.Object{}
	for i := range trials {
		for _, m := range trials[i].Metrics {
			if _, done := all.Get(m.Tag); done {
				continue
			}
			stats := artifact.Object{}
			for _, stat := range m.Stats {
				sum, n := 0.0, 0
				for k := range trials {
					if v, ok := trials[k].Figure(m.Tag, stat.Key); ok {
						sum, n = sum+v, n+1
					}
				}
				if n > 0 {
					stats = append(stats, artifact.Member{Key: stat.Key, Value: sum / float64(n)})
				}
			}
			all = append(all, artifact.Member{Key: m.Tag, Value: stats})
		}
	}
	return all
}

// bounds returns the iterations of the largest value of the only dimension that met all conditions and of the smallest
// that did not; nil where there is none.
func (s *Search) bounds() (highest, lowest *iteration) {
	for i := range s.results {
		it := &s.results[i]
		at := it.proposal.Point[0]
		switch {
		case it.limited:
		case it.result.Feasible && (highest == nil || at >= highest.proposal.Point[0]):
			highest = it
		case !it.result.Feasible && (lowest == nil || at <= lowest.proposal.Point[0]):
			lowest = it
		}
	}
	return highest, lowest
}

// boundaryKind returns what a planner knows of the limit, nil where it does not tell its kinds apart.
func (s *Search) boundaryKind(b search.Boundary) *answer.BoundaryKindDocument {
	if b.Type == "" {
		return nil
	}
	d := &answer.BoundaryKindDocument{Type: b.Type}
	if b.Binding >= 0 && b.Binding < len(s.spec.Filters) {
		d.Binding = new(FilterKey(b.Binding, s.spec.Filters[b.Binding]))
	}
	if artifact.Finite(b.MarginLow) && artifact.Finite(b.MarginHigh) {
		d.CI = &answer.IntervalDocument{Lo: &b.MarginLow, Hi: &b.MarginHigh}
	}
	return d
}

// FilterKey returns the name of a condition in the files of a search: index:tag.stat.op.threshold.
func FilterKey(index int, f search.Filter) string {
	return fmt.Sprintf("%d:%s.%s.%s.%s", index, f.Metric, f.Stat, f.Op, artifact.AppendFloat(nil, f.Threshold))
}

// firstBreach returns the first condition that no trial meets; failing that, the first that not all meet. It is nil
// where the verdict does not come from a condition.
func (s *Search) firstBreach(it *iteration) *answer.BreachDocument {
	var breached *search.Filter
	least := 0
	for _, f := range s.conditions() {
		passed, good := 0, 0
		for i := range it.trials {
			if t := &it.trials[i]; t.Err == "" {
				good++
				if v, ok := t.Figure(f.Metric, f.Stat); ok && f.Passes(v) {
					passed++
				}
			}
		}
		if (passed < good || good == 0) && (breached == nil || passed < least) {
			breached, least = &f, passed
		}
	}
	if breached == nil {
		return nil
	}
	var trials []search.Trial
	for i := range it.trials {
		if it.trials[i].Err == "" {
			trials = append(trials, it.trials[i].Figure)
		}
	}
	d := &answer.BreachDocument{LimitDocument: limit(*breached)}
	if v, ok := search.Mean(trials, breached.Metric, breached.Stat); ok {
		d.Observed = &v
	}
	return d
}

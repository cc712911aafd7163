package loop

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/bayes"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/result/answer"
)

// plannerOf makes the planner of a specification.
func plannerOf(s *Spec) (search.Planner, error) {
	var seed uint64
	if s.Seed != nil {
		seed = uint64(*s.Seed)
	}
	switch {
	case len(s.Tiers) > 0:
		tiers := make([]boundary.Tier, len(s.Tiers))
		for i, t := range s.Tiers {
			tiers[i] = boundary.Tier{Label: t.Label, Filters: t.Filters}
		}
		return &tiered{boundary.NewTiers(s.Space[0], tiers, s.Filters)}, nil
	case s.Planner == MonotonicSLA:
		return boundary.NewMonotonic(s.Space[0], s.Stability), nil
	case s.Planner == SmoothIsotonic:
		return boundary.NewIsotonic(s.Space[0], s.Filters, boundary.IsotonicOptions{Replicates: s.Replicates, Seed: seed}),
			nil
	}
	o := bayes.Options{Initial: s.InitialPoints, Seed: seed}
	if s.Planner == Optuna {
		if s.Terminator != "none" {
			o.Terminator = s.Terminator
		}
		if s.Sampler == "tpe" {
			return bayes.NewParzen(&s.Problem, o)
		}
	}
	return bayes.New(&s.Problem, o)
}

// tiered writes what a search over tiers found.
type tiered struct{ *boundary.Tiers }

// TierDocuments implements [Tiered].
func (t *tiered) TierDocuments() (list []answer.TierDocument, pairs *answer.TierMetadataDocument) {
	list = []answer.TierDocument{}
	results := t.Results()
	for _, r := range results {
		d := answer.TierDocument{Label: r.Label, Boundary: wholeOrNull(r.Boundary), Status: r.Status,
			Reason: orNull(r.Reason), Lower: wholeOrNull(r.Low), Upper: wholeOrNull(r.High), Probes: r.Probes,
			Filters: limits(r.Filters)}
		if r.Binding >= 0 && r.Binding < len(r.Filters) {
			d.Binding = &answer.BreachDocument{LimitDocument: limit(r.Filters[r.Binding]),
				Observed: artifact.Known(r.Breached)}
		}
		list = append(list, d)
	}
	m := t.Metadata()
	pairs = &answer.TierMetadataDocument{Probes: m.Probes, Evaluations: m.Evaluations, Ordered: len(m.Ordering) > 0}
	for _, p := range m.Ordering {
		pairs.Pairs = append(pairs.Pairs, answer.TierPairDocument{Strict: results[p.Strict].Label,
			Lenient: results[p.Lenient].Label})
	}
	return list, pairs
}

func wholeOrNull(v float64) any {
	if !artifact.Finite(v) {
		return nil
	}
	return int64(v)
}

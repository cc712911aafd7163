package loop

import (
	"math"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/bayes"
	"aiperf/internal/experiment/search/boundary"
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

// TierDocument implements [Tiered].
func (t *tiered) TierDocument() artifact.Object {
	list := []any{}
	results := t.Results()
	for _, r := range results {
		var binding any
		if r.Binding >= 0 && r.Binding < len(r.Filters) {
			binding = append(filterObject(r.Filters[r.Binding]),
				artifact.Member{Key: "observed", Value: numberOrNull(r.Breached)})
		}
		list = append(list, artifact.Object{
			{Key: "label", Value: r.Label}, {Key: "boundary_concurrency", Value: wholeOrNull(r.Boundary)},
			{Key: "convergence_status", Value: r.Status}, {Key: "convergence_reason", Value: orNull(r.Reason)},
			{Key: "binding_constraint", Value: binding}, {Key: "bracket_lower", Value: wholeOrNull(r.Low)},
			{Key: "bracket_upper", Value: wholeOrNull(r.High)}, {Key: "confidence_interval", Value: nil},
			{Key: "probe_count", Value: r.Probes}, {Key: "boundary_metrics", Value: nil},
			{Key: "filters", Value: filtersObject(r.Filters)},
		})
	}
	m := t.Metadata()
	pairs := []any{}
	for _, p := range m.Ordering {
		pairs = append(pairs, artifact.Object{{Key: "strict", Value: results[p.Strict].Label},
			{Key: "lenient", Value: results[p.Lenient].Label}})
	}
	return artifact.Object{{Key: "tier_results", Value: list}, {Key: "tier_metadata", Value: artifact.Object{
		{Key: "actual_probe_count", Value: m.Probes}, {Key: "tier_evaluation_count", Value: m.Evaluations},
		{Key: "ordering_detected", Value: len(pairs) > 0}, {Key: "ordering_pairs", Value: pairs}}}}
}

func numberOrNull(v float64) any {
	if !artifact.Finite(v) {
		return nil
	}
	return v
}

func wholeOrNull(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return int64(v)
}

package sweep_test

import (
	"errors"
	"strings"
	"testing"

	"aiperf/internal/experiment/sweep"
)

func TestSearchesAreChecked(t *testing.T) {
	const objective = `objectives: [{metric: output_token_throughput, direction: maximize}]`
	const space = `search_space: [{path: concurrency, lo: 1, hi: 10, kind: int}]`
	search := func(parts ...string) string {
		return "sweep: {type: adaptive_search, " + strings.Join(parts, ", ") + "}"
	}
	for _, rest := range []string{"max_iterations: 20", "max_iterations: 4, planner: smooth_isotonic, sla_filters: " +
		"[{metric_tag: request_latency, op: lt, threshold: 3}]"} {
		p := plan(t, search(objective, space, rest), body)
		if p.Type != sweep.AdaptiveSearch || len(p.Variations) != 0 {
			t.Errorf("%s: %d variations", p.Type, len(p.Variations))
		}
		if err := p.Write(nil, sweep.Output{Format: sweep.Text}); !errors.Is(err, sweep.ErrSearch) {
			t.Error(err)
		}
	}
	for _, c := range []struct{ sweep, want string }{
		{search(objective, space), "max_iterations is missing"},
		{search(space, "max_iterations: 5"), "objectives is missing"},
		{search(objective, "max_iterations: 5"), "search_space is missing"},
		{search(objective, space, "max_iterations: 5"), "5 is not below max_iterations (5)"},
		{search(objective, space, "max_iterations: 201"), "from 2 to 200"},
		{search(objective, space, "max_iterations: 20, n_initial_points: 20"), "20 is not below"},
		{search(objective, space, "max_iterations: 20, same_seed: true"), "sweep.same_seed"},
		{search(objective, space, "max_iterations: 20, planner: monotonic_sla"), "at least one condition"},
		{search(objective, space, "max_iterations: 20, planner: u"), "one of bayesian"},
		{search(objective, space, "max_iterations: 20, improvement_patience: 1"), "at least 2"},
		{search(objective, space, "max_iterations: 20, plateau_threshold: 0"), "above 0"},
		{search(objective, space, "max_iterations: 20, sla_tiers: [{label: a, filters: [{metric_tag: a, op: lt, "+
			"threshold: 1}]}]"), "2 to 10 tiers"},
		{search(objective, "max_iterations: 20", "search_space: [{path: rate, lo: 0, hi: 2, prior: log-uniform}]"),
			"above 0"},
		{search(objective, "max_iterations: 20", "search_space: [{path: rate, lo: 3, hi: 2}]"), "above lo"},
		{search(objective, "max_iterations: 20", "search_space: [{path: nope.x, lo: 1, hi: 2}]"), "there is no nope"},
		{search(objective, "max_iterations: 20", "search_space: [{path: users, lo: 1, hi: 2}]"), "kind: int"},
		{search(objective, "max_iterations: 20", "search_space: [{path: rate_series, lo: 1, hi: 2}]"),
			"cannot be searched"},
		{search(objective, "max_iterations: 20", "search_space: [{path: rate, lo: 1, hi: 2}, "+
			"{path: phases.1.rate, lo: 1, hi: 2}]"), "the same field"},
		{search(objective, space, "max_iterations: 20, planner: optuna, optuna_acquisition: qnehvi"),
			"qnehvi is for several objectives; this search has 1"},
		{search(space, "max_iterations: 20, planner: optuna, optuna_acquisition: logei, objectives: [{metric: a, "+
			"direction: maximize}, {metric: b, direction: minimize}]"), "logei is for one objective; this search has 2"},
		{search(objective, space, "max_iterations: 20, planner: optuna, optuna_sampler: tpe, optuna_acquisition: logei"),
			"only applies to the sampler botorch"},
		{search(space, "max_iterations: 20, objective_pooling: pooled, objectives: [{metric: a, stat: avg, direction: "+
			"maximize}]"), "pooled needs a percentile"},
		{search(space, "max_iterations: 20", "objectives: [{metric: a, stat: p97, direction: up}]"), "one of maximize"},
	} {
		wantFault(t, c.sweep, body, c.want)
	}
}

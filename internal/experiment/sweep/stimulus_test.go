package sweep_test

import (
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/sweep"
)

// The folder of a sweep is named for what it varies, not for its first variation.
func TestStimulus(t *testing.T) {
	const load = "phases.profiling.concurrency"
	of := func(kind string, rows ...artifact.Object) *sweep.Plan {
		p := &sweep.Plan{Type: kind}
		for i, values := range rows {
			p.Variations = append(p.Variations, sweep.Variation{Index: i, Values: values})
		}
		return p
	}
	at := func(v any) artifact.Object { return artifact.Object{{Key: load, Value: v}} }
	var many []artifact.Object
	for i := range 40 {
		many = append(many, at(int64((i*7)%40+1)))
	}
	for _, c := range []struct {
		name string
		plan *sweep.Plan
		want string
	}{
		{"one parameter", of(sweep.Grid, at(int64(2)), at(int64(4)), at(int64(16))), "concurrency_sweep_2_4_16"},
		{"two", of(sweep.Grid,
			artifact.Object{{Key: load, Value: int64(2)}, {Key: "datasets.main.prompts.isl", Value: int64(64)}},
			artifact.Object{{Key: load, Value: int64(2)}, {Key: "datasets.main.prompts.isl", Value: int64(128)}}),
			"concurrency_sweep_2-isl_sweep_64_128"},
		{"many values", of(sweep.Sobol, many...), "concurrency_sweep_1_to_40"},
		{"a value that is no word", of(sweep.Grid, at("a/b"), at("c")), "sweep_2"},
		{"scenarios", of(sweep.Scenarios, at(int64(2)), at(int64(4)), at(int64(8))), "sweep_3"},
		{"a search", of(sweep.AdaptiveSearch), "search"},
	} {
		if got := c.plan.Stimulus(); got != c.want || strings.ContainsAny(got, "/ ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

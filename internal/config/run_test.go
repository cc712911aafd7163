package config_test

import (
	"testing"

	"aiperf/internal/config"
)

func TestWorkersAreBoundedByTheLargestConcurrencyOfTheProfilingPhases(t *testing.T) {
	two, four, ninety := 2, 4, 90
	phase := func(kind config.PhaseKind, concurrency *int) config.Phase {
		return config.Phase{Kind: kind, Concurrency: concurrency}
	}
	for _, c := range []struct {
		phases []config.Phase
		want   int
	}{
		{[]config.Phase{phase(config.ProfilingPhase, &two)}, 2},
		{[]config.Phase{phase(config.WarmupPhase, &ninety), phase(config.ProfilingPhase, &two), phase(config.ProfilingPhase, &four)}, 4},
		{[]config.Phase{phase(config.ProfilingPhase, &two), phase(config.ProfilingPhase, nil)}, 11},
	} {
		r := &config.Run{Phases: c.phases}
		r.Env.Worker.CPUUtilizationFactor, r.Env.Worker.MaxWorkersCap, r.Env.HTTP.ConnectionLimit = 0.75, 32, 1000
		if got := r.LogicalWorkers(16); got != c.want {
			t.Errorf("%+v: %d workers, want %d", c.phases, got, c.want)
		}
	}
}

func TestCommonValuesOfPhases(t *testing.T) {
	one, same, two := 1, 1, 2
	for _, c := range []struct {
		list []*int
		want *int
	}{{nil, nil}, {[]*int{&one}, &one}, {[]*int{&one, &same}, &one}, {[]*int{&one, &two}, nil},
		{[]*int{&one, nil}, nil}, {[]*int{nil, &one}, nil}} {
		if got := config.Common(c.list); got != c.want {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}

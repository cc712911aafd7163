package config

import "testing"

func TestWorkersAreBoundedByTheLargestConcurrencyOfTheProfilingPhases(t *testing.T) {
	two, four, ninety := 2, 4, 90
	phase := func(kind PhaseKind, concurrency *int) Phase { return Phase{Kind: kind, Concurrency: concurrency} }
	for _, c := range []struct {
		phases []Phase
		want   int
	}{
		{[]Phase{phase(ProfilingPhase, &two)}, 2},
		{[]Phase{phase(WarmupPhase, &ninety), phase(ProfilingPhase, &two), phase(ProfilingPhase, &four)}, 4},
		{[]Phase{phase(ProfilingPhase, &two), phase(ProfilingPhase, nil)}, 11},
	} {
		r := &Run{Phases: c.phases}
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
		if got := Common(c.list); got != c.want {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}

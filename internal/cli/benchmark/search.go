package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
)

// planSearch reads what the search is asked to do and makes it.
func (s *several) planSearch(plan *aggregate.Plan) (err error) {
	var warnings []string
	s.spec, warnings = loop.Read(s.asked.plan.Block)
	for _, w := range warnings {
		s.log.Warn(w)
	}
	canonical(s.spec.Filters)
	for i := range s.spec.Objectives {
		s.spec.Objectives[i].Metric = metrics.Canonical(s.spec.Objectives[i].Metric)
	}
	for i := range s.spec.Constraints {
		s.spec.Constraints[i].Metric = metrics.Canonical(s.spec.Constraints[i].Metric)
	}
	for i := range s.spec.Tiers {
		canonical(s.spec.Tiers[i].Filters)
	}
	s.spec.Trials = s.layout.Trials
	s.layout.Independent, s.layout.Nested = true, true
	s.asked.plan.Filters = s.spec.Filters
	o := loop.Options{Dir: s.layout.Dir, Log: s.log}
	if study := s.asked.study; study != nil {
		o.Planner, o.PlannerName = study.Planner(), capacity.Planner
	}
	plan.Search = &aggregate.SearchPlan{Planner: cmp.Or(o.PlannerName, s.spec.Planner),
		MaxIterations: s.spec.MaxIterations, Space: s.spec.Space, Objectives: s.spec.Objectives}
	s.search, err = loop.New(s.spec, o)
	return err
}

// runSearch makes the runs that a search asks for.
func (s *several) runSearch() ([]series.Run, bool, error) {
	spec := s.spec
	plan := &loop.Plan{Layout: s.layout, Search: s.search}
	plan.Make = func(p *loop.Proposal) (series.Cell, error) { return s.probe(spec, p) }
	if study := s.asked.study; study != nil {
		s.judges, plan.Trial = &study.Judges, study.Trial
		study.Elapsed = func() time.Duration { return time.Since(s.begun) }
	} else if s.base.Probes.EarlyStop {
		own := capacity.NewJudges(spec.Filters, 0, s.base.Probes.Confidence)
		s.judges = &own
	}
	if s.judges != nil && s.base.Asked.Resume.Get() {
		if err := s.restoreVerdicts(); err != nil {
			return nil, false, err
		}
	}
	if s.judges != nil && plan.Trial == nil {
		plan.Trial = s.judges.Trial
	}
	if s.asked.study != nil || s.base.Probes.Isolated {
		ctx, release := withStop(context.Background(), s.interrupts.Stop)
		var err error
		if s.idle, err = run.WatchIdle(ctx, s.base, s.options); err != nil {
			s.log.Warn("The search does not wait until the server is idle between runs", "error", err)
		}
		release()
		defer s.idle.Close()
	}
	s.course = series.NewCourse(progress.SearchKind, s.layout.Trials, s.options.Observers, s.search.SoFar)
	plan.Told = func(p *loop.Proposal, _ *series.Cell, own []series.Run) {
		s.course.Judge(own, s.search.LastVerdict())
		if study := s.asked.study; study != nil {
			s.Terminal.Print(study.Line(p.Iteration+1, p.Point[0], &own[0], s.search.LastVerdict() == "met"))
			return
		}
		fmt.Fprintf(s.Terminal.Out, "[search iter %d] %s\n", p.Iteration, s.search.Last())
	}
	runs, stopped, err := s.runs(plan, 0)
	if err == nil {
		err = plan.Err
	}
	if s.asked.study != nil {
		s.search.Extra = s.asked.study.Members(nil)
	}
	reason := s.search.Reason()
	switch {
	case stopped:
		reason = loop.Cancelled
	case err != nil:
		reason = loop.Aborted
	}
	if failed := s.search.Finish(reason); failed != nil && err == nil {
		err = failed
	}
	if s.asked.study == nil {
		fmt.Fprintf(s.Terminal.Out, "Search ended: reason=%s\n", reason)
	}
	return runs, stopped, err
}

// restoreVerdicts reads what the runs of an earlier start said to the search.
func (s *several) restoreVerdicts() error {
	history, err := bounded.ReadFile(filepath.Join(s.layout.Dir, loop.HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.judges.Restore(history)
	}
	return err
}

// probing are the lengths of the probes of planners of one dimension.
func probing() loop.Probing {
	seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	p := loop.Probing{Warmup: seconds(boundary.DefaultWarmup), FirstFloor: seconds(boundary.Warmup(1, true)),
		Floor: seconds(boundary.Warmup(1, false)), Requests: map[string]int64{}}
	for precision, n := range boundary.Requests {
		p.Requests[precision] = int64(n)
	}
	return p
}

// probe makes the cell of a point, and waits until the server is idle.
func (s *several) probe(spec *loop.Spec, p *loop.Proposal) (series.Cell, error) {
	if s.judges != nil {
		if err := s.judges.Lost(); err != nil {
			return series.Cell{}, err
		}
	}
	c, err := s.point(spec, p)
	if err != nil {
		return series.Cell{}, err
	}
	if s.asked.study == nil {
		fmt.Fprintf(s.Terminal.Out, "[search iter %d] proposing %s\n", p.Iteration, p)
	}
	if s.idle != nil && p.Iteration > 0 {
		ctx, release := withStop(context.Background(), s.interrupts.Stop)
		if found := s.idle.WaitUntilIdle(ctx, capacity.IdleBound); found.Known && found.Requests > 0 {
			s.log.Warn("The server still has requests of the run before", "requests", found.Requests)
		}
		release()
	}
	s.whole.AddCells(c)
	return c, nil
}

// point makes the cell of a point.
func (s *several) point(spec *loop.Spec, p *loop.Proposal) (series.Cell, error) {
	v := s.asked.plan.Point(p.Iteration, p.Coordinates())
	cfg, _, err := s.asked.config(&v)
	if err != nil {
		return series.Cell{}, err
	}
	limits := probing()
	switch study := s.asked.study; {
	case study != nil:
		cfg, limits = study.Probe(cfg), loop.Probing{}
	case s.base.Probes.Isolated:
		cfg, _ = capacity.Independent(cfg, p.Iteration)
	}
	if n := spec.ProbeRequests(limits); n > 0 {
		shorten(cfg, n)
	}
	if d := spec.ProbeWarmup(limits, p.First); d > 0 {
		warmUp(cfg, d)
	}
	return series.Cell{Index: v.Index, Dir: v.Dir, Label: v.Label,
		Values: artifact.HideSensitive(v.Values).(artifact.Object), Config: cfg}, nil
}

// shorten bounds the measured phase of a probe to a number of requests, unless the user bounded it.
func shorten(cfg *config.Run, requests int64) {
	if p := cfg.Asked; p.RequestCount.Given() || p.BenchmarkDuration.Given() || p.NumSessions.Given() {
		return
	}
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Kind == config.ProfilingPhase && cfg.Asked.Phases == nil {
			p.Requests, p.Sessions, p.Duration = &requests, nil, nil
		}
	}
}

// warmUp puts a warm-up before the measured phases that loads the server as they do.
func warmUp(cfg *config.Run, length time.Duration) {
	i := slices.IndexFunc(cfg.Phases, func(p config.Phase) bool { return p.Kind == config.ProfilingPhase })
	own := cfg.Phases[i]
	if own.Mode == config.FixedSchedule || own.Mode == config.AgenticReplay {
		return
	}
	own.Name, own.Kind, own.Duration = warmupName, config.WarmupPhase, &length
	own.Requests, own.Sessions, own.Seamless, own.Adaptive = nil, nil, false, nil
	if first := cfg.Phases[0]; first.Kind == config.WarmupPhase && first.Name == warmupName {
		cfg.Phases = slices.Clone(cfg.Phases)
		cfg.Phases[0] = own
		return
	}
	cfg.Phases = append([]config.Phase{own}, cfg.Phases...)
}

const warmupName = "warmup"

package load

// control changes a limit or the rate of a phase while it sends. A phase has a list of controls, which is empty where
// the load stays as it is.
type control interface {
	// dueNS returns the instant of the next change, 0 = none.
	dueNS() int64
	// apply makes the change that is due. It may end the sending of the phase.
	apply(nowNS int64)
	// end is called when sending is complete.
	end(nowNS int64)
}

// control applies the changes that are due. A search comes last, since it may end the sending.
func (p *phaseRun) control(nowNS int64) {
	for _, c := range p.controls {
		if due := c.dueNS(); due != 0 && due <= nowNS {
			c.apply(nowNS)
		}
	}
}

// startControls applies the limits of the phase, or the first ones of their ramps or of its search.
func (p *phaseRun) startControls(nowNS int64) {
	p.sessions.limit, p.prefill.limit = slotLimit(p.phase.Concurrency), slotLimit(p.phase.Prefill)
	if from, adapts := p.phase.adaptsFrom(ControlConcurrency); adapts {
		p.sessions.limit = int(from)
	}
	if from, adapts := p.phase.adaptsFrom(ControlPrefill); adapts {
		p.prefill.limit = int(from)
	}
	seed, whole := p.e.plan.Seed, &p.e.plan.Phases[p.stats.Index]
	for _, r := range []*limitRamp{
		{p.sessions, p.share, whole.ConcurrencyRamp.steps(whole.Concurrency, rampDraws(seed, concurrencyDraws)), nowNS},
		{p.prefill, p.share, whole.PrefillRamp.steps(whole.Prefill, rampDraws(seed, prefillDraws)), nowNS},
	} {
		if len(r.steps) > 0 {
			r.apply(nowNS)
			p.controls = append(p.controls, r)
		}
	}
	if p.phase.Adaptive != nil {
		p.controls = append(p.controls, p.startSearch(nowNS))
	}
}

// loadSearch is the [control] of an adaptive phase: its controller decides, and it applies and publishes what it
// decided.
type loadSearch struct {
	*controller
	p *phaseRun
}

// startSearch begins the first window of a search. Limits, rate and users begin at its minimum by themselves.
func (p *phaseRun) startSearch(nowNS int64) *loadSearch {
	s := &loadSearch{newController(p.phase, p.e.opt.Windows, p.e.clock, p.stats.Index), p}
	s.result.Summary.ProfilingIndex = p.e.plan.profilingIndex(p.stats.Index)
	s.start(nowNS)
	s.publish()
	return s
}

// adaptsFrom returns the value at which the search for a variable begins, if the phase has one.
func (p Phase) adaptsFrom(v Variable) (value float64, adapts bool) {
	if p.Adaptive == nil || p.Adaptive.Variable != v {
		return 0, false
	}
	return p.Adaptive.withDefaults(p).Min, true
}

// dueNS returns the end of the window.
func (s *loadSearch) dueNS() int64 { return s.controller.dueNS }

// apply decides at the end of a window.
func (s *loadSearch) apply(nowNS int64) {
	before := s.value
	over := s.assess(nowNS, s.p.stats.tally())
	s.publish()
	if over {
		s.p.finishSending(nowNS)
		return
	}
	if s.value != before {
		s.set(nowNS)
	}
}

func (s *loadSearch) end(nowNS int64) {
	s.controller.end(nowNS, s.p.stats.tally())
	s.publish()
}

// publish makes the search visible to [Engine.Searches].
func (s *loadSearch) publish() {
	e := s.p.e
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.searches {
		if e.searches[i].Phase == s.phase {
			e.searches[i] = s.result
			return
		}
	}
	e.searches = append(e.searches, s.result)
}

// set gives the variable its value. Validation has seen to it that the phase has the mode to which the variable
// belongs.
func (s *loadSearch) set(nowNS int64) {
	switch s.opt.Variable {
	case ControlConcurrency:
		s.p.sessions.limit = int(s.value)
	case ControlPrefill:
		s.p.prefill.limit = int(s.value)
	case ControlRequestRate:
		s.p.mode.(*openLoop).pacer.setRate(nowNS, s.value)
	case ControlUsers:
		s.p.mode.(*timetabled).timetable.(*userTimetable).resize(int(s.value), nowNS)
		s.p.lookAhead()
	}
}

package load

import "slices"

// Merge returns the numbers of a phase, of several shares, as those of one run. Its start is the first of theirs, each
// end the last one, where all have come to it. Without shares the phase is not created yet.
func (p Plan) Merge(phase int, parts []Stats) Stats {
	plan := &p.Phases[phase]
	whole := newStats(phase, *plan, p.URLs)
	sum := whole
	if len(parts) > 0 {
		sum = parts[0].clone()
	}
	for i := 1; i < len(parts); i++ {
		sum.add(&parts[i])
	}
	// Not all parts may have begun. What a schedule or lanes expect is known by the parts alone.
	sum.Index, sum.Name, sum.Kind, sum.TargetRate = whole.Index, whole.Name, whole.Kind, whole.TargetRate
	sum.ExpectedDuration, sum.ExpectedGrace = whole.ExpectedDuration, whole.ExpectedGrace
	if mode := plan.mode(); mode != bySchedule && mode != byLanes {
		sum.ExpectedRequests, sum.ExpectedSessions = whole.ExpectedRequests, whole.ExpectedSessions
	}
	if sum.State < SendingComplete {
		sum.SentEndNS, sum.FinalSent = 0, nil
	}
	if sum.State < Complete {
		sum.RequestsEndNS, sum.FinalReturned = 0, nil
	}
	if a := plan.Arrivals; plan.mode() == atRate && sum.SentEndNS != 0 {
		pacer := a.pacer(newRateIntegral(a, p.Seed), p.Seed, sum.StartNS, Share{})
		if rate, changes := pacer.meanRate(sum.SentEndNS); changes {
			sum.TargetRate = rate
		}
	}
	return sum
}

// clone returns a copy that shares nothing.
func (s *Stats) clone() Stats {
	c := *s
	c.RequestsPerURL = slices.Clone(s.RequestsPerURL)
	if s.FinalSent != nil {
		c.FinalSent = new(*s.FinalSent)
	}
	if s.FinalReturned != nil {
		c.FinalReturned = new(*s.FinalReturned)
	}
	return c
}

// add adds the numbers of another share. The state is the one that comes first, but that a phase has started which has
// in any share. Counts add up; of instants the first start and the last end count, as the shares run at the same time.
func (s *Stats) add(o *Stats) {
	s.State = together(s.State, o.State)
	s.StartNS, s.FirstDueNS = earlier(s.StartNS, o.StartNS), earlier(s.FirstDueNS, o.FirstDueNS)
	s.SentEndNS, s.RequestsEndNS = max(s.SentEndNS, o.SentEndNS), max(s.RequestsEndNS, o.RequestsEndNS)
	s.GraceEndNS = max(s.GraceEndNS, o.GraceEndNS)
	for _, n := range []struct{ to, from *int64 }{
		{&s.ExpectedRequests, &o.ExpectedRequests}, {&s.ExpectedSessions, &o.ExpectedSessions},
		{&s.RequestsSent, &o.RequestsSent}, {&s.RequestsCompleted, &o.RequestsCompleted},
		{&s.RequestsCancelled, &o.RequestsCancelled}, {&s.RequestErrors, &o.RequestErrors},
		{&s.SentSessions, &o.SentSessions}, {&s.CompletedSessions, &o.CompletedSessions},
		{&s.CancelledSessions, &o.CancelledSessions}, {&s.TotalSessionTurns, &o.TotalSessionTurns},
		{&s.SkippedArrivals, &o.SkippedArrivals}, {&s.DroppedByCatchup, &o.DroppedByCatchup},
		{&s.ForcedReturns, &o.ForcedReturns},
	} {
		*n.to += *n.from
	}
	if o.FinalSent != nil {
		sent := SentTotals{}
		if s.FinalSent != nil {
			sent = *s.FinalSent
		}
		s.FinalSent = &SentTotals{sent.Requests + o.FinalSent.Requests, sent.Sessions + o.FinalSent.Sessions}
	}
	if o.FinalReturned != nil {
		r := ReturnedTotals{}
		if s.FinalReturned != nil {
			r = *s.FinalReturned
		}
		r.add(o.FinalReturned)
		s.FinalReturned = &r
	}
	s.TimeoutTriggered = s.TimeoutTriggered || o.TimeoutTriggered
	s.GracePeriodTimeoutTriggered = s.GracePeriodTimeoutTriggered || o.GracePeriodTimeoutTriggered
	s.WasCancelled, s.EndedEarly = s.WasCancelled || o.WasCancelled, s.EndedEarly || o.EndedEarly
	s.OldestCutOff = max(s.OldestCutOff, o.OldestCutOff)
	for len(s.RequestsPerURL) < len(o.RequestsPerURL) {
		s.RequestsPerURL = append(s.RequestsPerURL, 0)
	}
	for i, n := range o.RequestsPerURL {
		s.RequestsPerURL[i] += n
	}
	s.Branches.add(&o.Branches)
	s.Barrier.add(&o.Barrier)
}

// together returns the state of two shares of a phase.
func together(a, b State) State {
	first, last := min(a, b), max(a, b)
	if first == Created && last > Created {
		return Started
	}
	return first
}

// earlier returns the earlier of two instants, 0 being none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (r *ReturnedTotals) add(o *ReturnedTotals) {
	r.RequestsCompleted += o.RequestsCompleted
	r.RequestsCancelled += o.RequestsCancelled
	r.RequestErrors += o.RequestErrors
	r.CompletedSessions += o.CompletedSessions
	r.CancelledSessions += o.CancelledSessions
}

func (b *Branches) add(o *Branches) {
	for _, n := range []struct{ to, from *int64 }{
		{&b.ChildrenSpawned, &o.ChildrenSpawned}, {&b.ChildrenCompleted, &o.ChildrenCompleted},
		{&b.ChildrenErrored, &o.ChildrenErrored}, {&b.ChildrenTruncated, &o.ChildrenTruncated},
		{&b.ChildrenDelayed, &o.ChildrenDelayed}, {&b.ParentsSuspended, &o.ParentsSuspended},
		{&b.ParentsResumed, &o.ParentsResumed}, {&b.JoinsSuppressed, &o.JoinsSuppressed},
		{&b.ParentsFailed, &o.ParentsFailed},
	} {
		*n.to += *n.from
	}
}

func (b *Barrier) add(o *Barrier) {
	b.Size, b.Released = b.Size+o.Size, b.Released+o.Released
	b.FirstNS, b.LastNS = earlier(b.FirstNS, o.FirstNS), max(b.LastNS, o.LastNS)
}

// Shift moves all instants of the numbers, where they are known, as from one clock to another.
func (s *Stats) Shift(byNS int64) {
	for _, at := range []*int64{
		&s.StartNS, &s.SentEndNS, &s.RequestsEndNS, &s.GraceEndNS, &s.Barrier.FirstNS, &s.Barrier.LastNS,
	} {
		if *at != 0 {
			*at += byNS
		}
	}
}

package capacity

import (
	"fmt"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/result/judge"
	"aiperf/internal/run"
)

// earlyStopBar is what ends a probe early, chosen with simulated servers whose figures vary slower than a probe:
// without it, answers are too high, as a lucky start passes for the whole. A probe ends early with 40 % of room to
// every limit after 20 s, or 15 % beyond one.
var earlyStopBar = Bar{Met: 0.4, After: 20 * time.Second, Violated: 0.15}

// Judges judge the runs of a search, each one while it goes on.
type Judges struct {
	limits     []search.Filter
	implied    int
	confidence float64
	judge      *Judge
	verdicts   map[string]Verdict
	last       boundary.Evidence
	spent      spent
	// earlier are the verdicts of an earlier start by iteration, nil for none.
	earlier []*VerdictDocument
	// measured is the measured time of the last run.
	measured time.Duration
	// lost are the runs in a row, up to the last one, that had no results, and why.
	lost int
	why  error
}

// maxLostRuns is the number of runs in a row without results after which a search has no server any more.
const maxLostRuns = 2

// Lost returns why a search cannot go on: its last runs had no results at all. nil: it can.
func (s *Judges) Lost() error {
	if s.lost < maxLostRuns {
		return nil
	}
	return fmt.Errorf("the last %d runs had no results, so the search ends: %w", s.lost, s.why)
}

// Decided reports whether a run without a success says something all the same: that the server refused its requests.
func (s *Judges) Decided(r *series.Run) bool {
	return s != nil && s.verdicts[r.Info.RunLabel].Refused != ""
}

// NewJudges returns judges of limits, of which the last ones are implied: nobody asked for them, so that a run does not
// go on to be certain of them.
func NewJudges(limits []search.Filter, implied int, confidence float64) Judges {
	return Judges{limits: limits, implied: implied, confidence: confidence, verdicts: map[string]Verdict{}}
}

// Observe gives the options of a run a judge that ends it when its verdict is certain.
func (s *Judges) Observe(step *series.Step, o *run.Options) {
	ends := make(chan run.End, len(step.Config.Phases))
	s.judge = NewJudge(step.Config, JudgeOptions{Filters: s.limits[:len(s.limits)-s.implied],
		Confidence: s.confidence, End: ends, Bar: earlyStopBar})
	o.Ends = ends
	o.Observers = append(o.Observers[:len(o.Observers):len(o.Observers)], s.judge)
}

// Done takes the verdict of a run that has ended.
func (s *Judges) Done(step *series.Step, f *series.Finished) {
	v := s.judge.Verdict()
	s.Take(step.Info.RunLabel, v, s.spent.add(f, v.Saved))
	if s.lost++; f.Outcome != nil {
		s.lost = 0
	}
	s.why = f.Err
}

// Take takes the verdict of a run and the time that was measured in it, which [Judges.Trial] reads then.
func (s *Judges) Take(label string, v Verdict, measured time.Duration) {
	s.verdicts[label], s.measured = v, measured
}

// Evidence returns what the run that [Judges.Trial] read last says to the planner.
func (s *Judges) Evidence() boundary.Evidence { return s.last }

// Trial returns what a run says to the search, and its verdict for the history.
func (s *Judges) Trial(r *series.Run) (loop.Trial, artifact.Object) {
	t := loop.TrialOf(r)
	v, known := s.verdicts[r.Info.RunLabel]
	if !known && r.Succeeded() { // it was taken over from an earlier start
		if v, known = s.restored(r.Info.VariationIndex); known {
			s.Take(r.Info.RunLabel, v, s.spent.addRun(r.Metrics, v.Saved))
		}
	}
	s.last = boundary.Evidence{Seconds: s.measured.Seconds()}
	if !known {
		return t, nil
	}
	if s.lost > 0 {
		s.last.Verdict = boundary.ClientLimited
		t.Limited = "the run had no results"
		return t, nil
	}
	for _, f := range v.Filters {
		e := 0.0
		if f.StandardError != nil {
			e = *f.StandardError
		}
		s.last.Errors = append(s.last.Errors, e)
	}
	for len(s.last.Errors) < len(s.limits) {
		s.last.Errors = append(s.last.Errors, 0)
	}
	switch {
	case v.Refused != "":
		s.last.Verdict = boundary.Saturated // infeasible, and no figure of it counts
		t.Refused = v.Refused
	case v.ClientLimited:
		s.last.Verdict = boundary.ClientLimited
		t.Limited = judge.ClientLimited().Words()
	case v.Saturated:
		s.last.Verdict = boundary.Saturated
		t.Saturated = v.Evidence
	case v.EndedEarly && v.Decision != Undecided: // which says the side, less the distance
		s.last.Verdict = boundary.Certain
	}
	return t, artifact.Object{{Key: "verdict", Value: v.Object()}}
}

package load

import (
	"errors"
	"fmt"
	"math"
)

// Validate returns an error that names what makes a plan impossible to run.
func (p Plan) Validate() error {
	if len(p.Phases) == 0 {
		return errors.New("the load plan has no phase")
	}
	if err := p.Share.Validate(); err != nil {
		return err
	}
	for i := range p.Phases {
		phase := &p.Phases[i]
		err := phase.validate()
		if err == nil && !p.Share.Whole() {
			err = phase.needsWhole()
		}
		if i == 0 && phase.Seamless {
			err = errors.New("the first phase cannot be seamless")
		}
		if err != nil {
			return fmt.Errorf("phase %d (%s): %w", i, phase.Name, err)
		}
	}
	return nil
}

// validate returns an error for a phase that cannot run. A search is validated last, as it relies on a valid mode.
func (p Phase) validate() error {
	switch {
	case p.Concurrency < 0 || p.Prefill < 0 || p.Requests < 0 || p.Sessions < 0 || p.Duration < 0 || p.Grace < 0:
		return errors.New("a limit is negative")
	case p.mode() != bySchedule && !p.endsItself() && p.Requests == 0 && p.Sessions == 0 && p.Duration == 0:
		return errors.New("no stop condition: give a number of requests, a number of sessions or a duration")
	case p.burst() && p.Concurrency == 0 && p.Prefill == 0 && p.Requests == 0 && p.Sessions == 0:
		return errors.New("without a rate a concurrency, a prefill concurrency, a number of requests or of sessions " +
			"is needed")
	case !(p.Cancellation.Percent >= 0 && p.Cancellation.Percent <= 100) || p.Cancellation.Delay < 0:
		return fmt.Errorf("cancellation of %v %% after %v: the rate is 0 to 100, the delay not negative",
			p.Cancellation.Percent, p.Cancellation.Delay)
	case p.Barrier && !(p.burst() && p.Concurrency > 0 && p.ConcurrencyRamp.Duration == 0):
		return errors.New("a barrier needs a concurrency without a rate, a schedule, users or a ramp")
	}
	if err := p.validateMode(); err != nil {
		return err
	}
	for _, ramp := range []Ramp{p.ConcurrencyRamp, p.PrefillRamp, p.Arrivals.Ramp.Ramp} {
		if err := ramp.validate(); err != nil {
			return err
		}
	}
	if p.Adaptive != nil {
		return p.Adaptive.validate(p)
	}
	return nil
}

// burst reports whether requests go out as soon as a slot is free.
func (p Phase) burst() bool { return p.mode() == asBurst }

// endsItself reports whether the stage of the lanes has an end of its own.
func (p Phase) endsItself() bool {
	stage := p.replay()
	return stage.Stage == SeedLanes || stage.Stage == FillLanes && stage.PerLane > 0
}

func (l *Lanes) validate(p Phase) error {
	switch {
	case p.Concurrency < 1:
		return errors.New("lanes need a concurrency: it is their number")
	case p.ConcurrencyRamp.Duration != 0 || p.Barrier || p.Seamless || p.Adaptive != nil:
		return errors.New("lanes exclude a ramp of the concurrency, a barrier, a seamless start and a search")
	case !(l.MinStart >= 0 && l.MinStart <= l.MaxStart && l.MaxStart <= 1):
		return fmt.Errorf("lanes start from %v to %v of a recording: want shares from 0 to 1, the smaller one first",
			l.MinStart, l.MaxStart)
	case l.TreeIdle < 0 || l.SystemIdle < 0 || l.PerLane < 0:
		return errors.New("a limit of the lanes is negative")
	case l.PerLane > 0 && (l.Stage != FillLanes || p.Duration != 0):
		return errors.New("a number of requests per lane replaces the duration of the phase that fills the lanes")
	}
	return nil
}

func (p Phase) validateMode() error {
	if len(p.modes()) > 1 {
		return errors.New("give one of a rate, a schedule, users and lanes")
	}
	mode := p.mode()
	switch {
	case mode == byLanes:
		return p.Lanes.validate(p)
	case mode == byUsers:
		return p.Users.validate()
	case mode == atRate:
		return p.Arrivals.validate()
	case len(p.Arrivals.Series) > 0 || p.Arrivals.Ramp.Duration != 0:
		return errors.New("a rate series or ramp needs an arrival pattern")
	case mode == bySchedule && p.Schedule.AutoOffset && p.Schedule.StartOffset != 0:
		return errors.New("a schedule has an automatic offset or a start offset, not both")
	}
	return nil
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

// validate returns what is wrong with arrivals: a series of rates or one rate, not both, and times that increase.
func (a Arrivals) validate() error {
	switch {
	case a.Smoothness < 0 || math.IsNaN(a.Smoothness) || math.IsInf(a.Smoothness, 0):
		return fmt.Errorf("arrival smoothness must be above 0, got %v", a.Smoothness)
	case len(a.Series) == 0 && !positive(a.Rate):
		return fmt.Errorf("%s arrivals need a rate above 0, got %v", a.Pattern, a.Rate)
	case len(a.Series) > 0 && (a.Rate != 0 || a.Ramp.Duration != 0):
		return errors.New("a rate series excludes a rate and a rate ramp")
	case len(a.Series) == 1:
		return errors.New("a rate series needs at least 2 points")
	}
	for i, point := range a.Series {
		switch {
		case !positive(point.Rate):
			return fmt.Errorf("rate series, point %d: the rate must be above 0, got %v", i, point.Rate)
		case point.At < 0 || i > 0 && point.At <= a.Series[i-1].At:
			return fmt.Errorf("rate series, point %d: times must increase from 0 on, got %v", i, point.At)
		}
	}
	return nil
}

func (u Users) validate() error {
	switch {
	case u.Count < 1:
		return fmt.Errorf("the number of users must be at least 1, got %d", u.Count)
	case !positive(u.Rate):
		return fmt.Errorf("users need a rate above 0, got %v", u.Rate)
	case !(u.MeanTurns >= 1) || math.IsInf(u.MeanTurns, 0):
		return fmt.Errorf("users need conversations of at least 1 turn, got a mean of %v", u.MeanTurns)
	}
	return nil
}

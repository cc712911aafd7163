package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	"aiperf/internal/random"
)

// Kind tells what the requests of a phase are for.
type Kind uint8

// The kinds of phases.
const (
	Warmup Kind = iota
	Profiling
)

// String is the kind as it stands in files.
func (k Kind) String() string { return [...]string{"warmup", "profiling"}[k] }

// Pattern is how the arrivals of a phase are spaced.
type Pattern uint8

// The patterns. Burst has no arrivals: a request goes out as soon as a slot is free.
const (
	Burst Pattern = iota
	Constant
	Poisson
	Gamma
)

// String is the pattern as users write it.
func (p Pattern) String() string {
	return [...]string{"concurrency_burst", "constant", "poisson", "gamma"}[p]
}

// Infinite is a grace period without an end.
const Infinite = time.Duration(math.MaxInt64)

// Plan is everything that decides when requests are sent.
type Plan struct {
	Phases []Phase
	Seed   random.Seed
	// URLs is the number of base URLs among which sessions alternate; 0 means 1.
	URLs int
}

// Phase is one stretch of load. A limit or stop condition of 0 is absent; at least one stop condition is needed.
type Phase struct {
	Name     string
	Kind     Kind
	Arrivals Arrivals
	// Concurrency limits sessions, Prefill requests before their first content.
	Concurrency, Prefill int
	// Requests, Sessions and Duration stop the phase, whichever comes first.
	Requests, Sessions int64
	Duration           time.Duration
	// Grace is how long after Duration requests in flight may still finish. Without a Duration there is no limit.
	Grace        time.Duration
	Cancellation Cancellation
}

// Arrivals describes an arrival process.
type Arrivals struct {
	Pattern Pattern
	// Rate is the mean number of arrivals per second; unused by Burst.
	Rate float64
	// Smoothness is the shape of Gamma: the variation of the gaps is 1/√Smoothness. 0 means 1.
	Smoothness float64
}

// Cancellation simulates clients that go away. It does nothing in a warm-up.
type Cancellation struct {
	// Percent of the requests, 0 to 100.
	Percent float64
	// Delay from the request written in full to the cancellation.
	Delay time.Duration
}

// Validate names what makes a plan impossible to run.
func (p Plan) Validate() error {
	if len(p.Phases) == 0 {
		return errors.New("the load plan has no phase")
	}
	for i, phase := range p.Phases {
		if err := phase.validate(); err != nil {
			return fmt.Errorf("phase %d (%s): %w", i, phase.Name, err)
		}
	}
	return nil
}

func (p Phase) validate() error {
	a := p.Arrivals
	switch {
	case p.Concurrency < 0 || p.Prefill < 0 || p.Requests < 0 || p.Sessions < 0 || p.Duration < 0 || p.Grace < 0:
		return errors.New("a limit is negative")
	case p.Requests == 0 && p.Sessions == 0 && p.Duration == 0:
		return errors.New("no stop condition: give a number of requests, a number of sessions or a duration")
	case a.Pattern == Burst && p.Concurrency == 0 && p.Prefill == 0:
		return errors.New("without a rate a concurrency or prefill concurrency is needed")
	case a.Pattern != Burst && (!(a.Rate > 0) || math.IsInf(a.Rate, 0)):
		return fmt.Errorf("%s arrivals need a rate above 0, got %v", a.Pattern, a.Rate)
	case a.Smoothness < 0 || math.IsNaN(a.Smoothness) || math.IsInf(a.Smoothness, 0):
		return fmt.Errorf("arrival smoothness must be above 0, got %v", a.Smoothness)
	case !(p.Cancellation.Percent >= 0 && p.Cancellation.Percent <= 100) || p.Cancellation.Delay < 0:
		return fmt.Errorf("cancellation of %v %% after %v: the rate is 0 to 100, the delay not negative",
			p.Cancellation.Percent, p.Cancellation.Delay)
	}
	return nil
}

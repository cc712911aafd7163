package load

import (
	"math"
	"time"

	"aiperf/internal/base/random"
)

// Kind is what the requests of a phase are for.
type Kind uint8

// The kinds of phases.
const (
	Warmup Kind = iota
	Profiling
)

// String returns the kind as it stands in files.
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

// String returns the pattern as users write it.
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
	// FailFast ends the run at the first failed request of a child session.
	FailFast bool
	// Share is the part of the plan that an engine carries out. The phases are those of the whole.
	Share Share
}

// Phase is one stretch of load. A limit or stop condition of 0 is absent; at least one stop condition is needed,
// except by a schedule, which ends.
type Phase struct {
	Name string
	Kind Kind
	// Arrivals, Schedule, Users and Lanes exclude each other; without any of them the phase is a burst.
	Arrivals Arrivals
	Schedule *Schedule
	Users    *Users
	// Lanes replays recorded trees; their number is the Concurrency.
	Lanes *Lanes
	// Concurrency limits sessions, Prefill requests before their first content. Their ramps begin at 1.
	Concurrency, Prefill         int
	ConcurrencyRamp, PrefillRamp Ramp
	// Requests, Sessions and Duration stop the phase, whichever comes first.
	Requests, Sessions int64
	Duration           time.Duration
	// Grace is how long after Duration requests in flight may still finish. Without a Duration there is no limit.
	Grace        time.Duration
	Cancellation Cancellation
	// Seamless phases start when the one before has sent its last credit. What that one has in flight counts
	// against the limits of this one.
	Seamless bool
	// Barrier starts the first sessions of a burst, as many as its limits allow, at the same instant.
	Barrier bool
	// Pass is the number of conversations, where the phase begins with the first one, of those that are played in
	// order; 0: it goes on where the phase before ended.
	Pass int
	// Adaptive searches the highest load that meets the SLA; nil = no search.
	Adaptive *Adaptive
}

// Arrivals describes an arrival process.
type Arrivals struct {
	Pattern Pattern
	// Rate is the mean number of arrivals per second; unused by Burst and with a Series.
	Rate float64
	// Smoothness is the shape of Gamma: the variation of the gaps is 1/√Smoothness. 0 means 1.
	Smoothness float64
	// Ramp lets the rate grow to Rate.
	Ramp RateRamp
	// Series is a rate that changes: linear between its points, constant outside of them.
	Series []RatePoint
}

// RatePoint is the rate at an instant from the start of the phase.
type RatePoint struct {
	At   time.Duration
	Rate float64
}

// Schedule replays the times of a Recorded source. Every conversation is played once, in the order of
// time.
type Schedule struct {
	// AutoOffset makes the earliest time the start of the phase; otherwise StartOffset is.
	AutoOffset  bool
	StartOffset time.Duration
	// From and Until select the conversations whose first turn is between them, both ends included; nil is open.
	From, Until *time.Duration
}

// Users are simulated users who each send a turn every Count ÷ Rate seconds. One that has sent all its turns is
// replaced. The phase begins in a steady state, as if users had been coming for long.
type Users struct {
	Count int
	// Rate is that of all users together, in requests per second.
	Rate float64
	// MeanTurns is the mean number of turns of the conversations.
	MeanTurns float64
}

// Cancellation simulates clients that go away. It does nothing in a warm-up.
type Cancellation struct {
	// Percent of the requests, 0 to 100.
	Percent float64
	// Delay from the request written in full to the cancellation.
	Delay time.Duration
}

// profilingIndex counts the profiling phases before a profiling phase; nil for a warm-up.
func (p Plan) profilingIndex(index int) *int {
	if p.Phases[index].Kind != Profiling {
		return nil
	}
	n := 0
	for _, before := range p.Phases[:index] {
		if before.Kind == Profiling {
			n++
		}
	}
	return &n
}

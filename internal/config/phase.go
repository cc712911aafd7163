package config

import (
	"math"
	"time"

	"aiperf/internal/config/option"
	"aiperf/internal/load"
)

// PhaseKind distinguishes warm-up from profiling.
type PhaseKind string

// The kinds of phase.
const (
	WarmupPhase    PhaseKind = "warmup"
	ProfilingPhase PhaseKind = "profiling"
)

// Mode is how a phase decides when to send.
type Mode string

// The timing modes.
const (
	// Burst sends as soon as a slot is free.
	Burst Mode = option.ArrivalBurst
	// Rate sends by an arrival process.
	Rate Mode = "request_rate"
	// UserCentric gives every user a rate of its own.
	UserCentric Mode = "user_centric"
	// AgenticReplay plays recorded agents, one whole tree of sessions per slot of the concurrency.
	AgenticReplay Mode = "agentic_replay"
	// FixedSchedule replays recorded timestamps.
	FixedSchedule Mode = "fixed_schedule"
)

// About returns a sentence on the mode for lists.
func (m Mode) About() string {
	return map[Mode]string{
		Burst:         "A request is sent as soon as the concurrency allows.",
		Rate:          "Requests are sent at a rate, by an arrival pattern.",
		UserCentric:   "Each of a number of users sends at a pace of its own.",
		AgenticReplay: "Recorded agents are replayed, a whole tree of sessions for each slot of the concurrency.",
		FixedSchedule: "Requests are sent at their recorded times.",
	}[m]
}

// Modes lists the timing modes.
func Modes() []Mode { return []Mode{Burst, Rate, UserCentric, AgenticReplay, FixedSchedule} }

// The arrival patterns of Rate.
const (
	PatternConstant = option.ArrivalConstant
	PatternPoisson  = option.ArrivalPoisson
	PatternGamma    = option.ArrivalGamma
)

// Unlimited is a wait without end.
const Unlimited = load.Infinite

// Phase is one stretch of load. It ends with the first of its stop conditions.
type Phase struct {
	Name string
	Kind PhaseKind
	Mode Mode
	// Rate is requests per second; Rate mode only. Of an infinite one every arrival is due at the start: see
	// [Phase.AtOnce].
	Rate float64
	// Pattern is "constant", "poisson" or "gamma"; Rate mode only.
	Pattern string
	// Smoothness is the gamma shape; above 0 with PatternGamma, else 0.
	Smoothness float64
	// Concurrency caps sessions in flight; nil is no cap.
	Concurrency *int
	// Simultaneous lets the first requests leave together; Burst mode with a concurrency only.
	Simultaneous bool
	// Prefill caps requests before their first content; nil is no cap.
	Prefill *int
	// Requests, Sessions and Duration are the stop conditions; at least one is set, but with a Schedule.
	Requests *int64
	Sessions *int64
	Duration *time.Duration
	// Whole phases end when each conversation was played as often as the dataset asks for: Requests follows once the
	// dataset is known.
	Whole bool
	// Grace is the wait for responses after Duration; Unlimited possible; meaningless without Duration.
	Grace time.Duration
	// Series is a rate that changes instead of Rate; Rate mode only.
	Series []RatePoint
	// Lanes is set in AgenticReplay mode.
	Lanes *Lanes
	// Schedule is set in FixedSchedule mode, which ends with the recording.
	Schedule *Schedule
	// Users is their number; UserCentric mode only, where Rate is that of all of them together.
	Users int
	// The ramps let a limit or the rate grow to its value; 0 is no ramp.
	ConcurrencyRamp, PrefillRamp, RateRamp time.Duration
	// Cancellation is nil when no request is cancelled on purpose.
	Cancellation *load.Cancellation
	// Seamless starts the phase when the one before has sent its last request; never set on the first one.
	Seamless bool
	// The shapes of the ramps above are "linear", "exponential" or "poisson"; empty is linear.
	ConcurrencyRampShape, PrefillRampShape, RateRampShape string
	// FailedRequestThreshold is that of the phase; nil leaves it to that of the run.
	FailedRequestThreshold *float64
	// Adaptive is nil where no load is searched.
	Adaptive *load.Adaptive
}

// AtOnce reports whether an infinite rate leaves it to the limits when requests are sent.
func (ph *Phase) AtOnce() bool { return ph.Mode == Rate && math.IsInf(ph.Rate, 1) }

// PlannedRate is requests per second; 0 where replies and limits decide.
func (ph *Phase) PlannedRate() float64 {
	if ph.AtOnce() {
		return 0
	}
	return ph.Rate
}

// YAMLType is the phase's type in a configuration file.
func (ph *Phase) YAMLType() string {
	switch ph.Mode {
	case Rate:
		return ph.Pattern
	case Burst, AgenticReplay:
		return "concurrency"
	default:
		return string(ph.Mode)
	}
}

// RatePoint is the rate at an instant of a phase.
type RatePoint struct {
	Seconds float64
	Rate    float64
}

// Schedule says which part of a recording is replayed and where its time begins.
type Schedule struct {
	// AutoOffset makes the first recorded time the start of the phase.
	AutoOffset bool
	// StartMS and EndMS are the window of recorded time, both included; nil is open. StartMS is also
	// the start of the phase.
	StartMS, EndMS *int64
	// Rows of the file that are not blank.
	Rows int64
}

// Lanes says how recorded sessions are replayed; the concurrency is the number of lanes.
type Lanes struct {
	load.Lanes
	// Wrap lets a recording be in several lanes at once.
	Wrap bool
}

// Seeding reports whether a phase only brings its lanes to where they begin; l may be nil.
func (l *Lanes) Seeding() bool { return l != nil && l.Stage == load.SeedLanes }

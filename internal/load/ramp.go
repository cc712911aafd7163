package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	"aiperf/internal/base/random"
)

// Strategy is the form of a ramp.
type Strategy uint8

// The strategies. Exponential ramps grow as a power of time; RandomSteps are equal steps at random times.
const (
	Linear Strategy = iota
	Exponential
	RandomSteps
)

// String returns the strategy as users write it.
func (s Strategy) String() string { return [...]string{"linear", "exponential", "poisson"}[s] }

// Strategies lists the strategies.
func Strategies() []Strategy { return []Strategy{Linear, Exponential, RandomSteps} }

// About returns a sentence on the strategy for lists.
func (s Strategy) About() string {
	return [...]string{"Equal steps at equal distances.", "Small steps first, larger ones later.",
		"Equal steps at random times."}[s]
}

// Ramp is a growth from the start of a phase on. With a Duration of 0 there is no ramp.
type Ramp struct {
	Duration time.Duration
	Strategy Strategy
	// Exponent is the power of Exponential, above 1; 0 means 2.
	Exponent float64
}

// RateRamp is the ramp of a rate. With an Interval it begins at target × Interval ÷ Duration, at most the target;
// without one at 0.
type RateRamp struct {
	Ramp
	Interval time.Duration
}

func (r Ramp) validate() error {
	switch {
	case r.Duration < 0:
		return fmt.Errorf("a ramp takes at least 0 s, got %v", r.Duration)
	case r.Strategy > RandomSteps:
		return errors.New("unknown ramp strategy")
	case r.Exponent != 0 && !(r.Exponent > 1 && !math.IsInf(r.Exponent, 0)):
		return fmt.Errorf("the exponent of a ramp must be above 1, got %v", r.Exponent)
	}
	return nil
}

func (r Ramp) exponent() float64 {
	switch {
	case r.Strategy != Exponential:
		return 1
	case r.Exponent == 0:
		return 2
	}
	return r.Exponent
}

// The indices of the ramps in their stream of draws.
const (
	concurrencyDraws = iota
	prefillDraws
	rateDraws
)

func rampDraws(seed random.Seed, index uint64) random.Rand {
	return seed.Stream("timing.ramp.poisson").At(index)
}

// randomFractions returns the instants of equal steps, as fractions of the ramp: intervals of the given mean are drawn
// until they fill it and scaled so that the last one ends it.
func randomFractions(mean float64, draw random.Rand) []float64 {
	var fractions []float64
	sum := 0.0
	for sum <= 1 {
		sum += mean * draw.Exponential()
		fractions = append(fractions, sum)
	}
	for i := range fractions {
		fractions[i] /= sum
	}
	return fractions
}

// limitStep sets a limit at an instant from the start of the phase.
type limitStep struct {
	atNS  int64
	limit int
}

// steps returns those of a ramp from 1 to target; none for a limit that is not set or not ramped.
func (r Ramp) steps(target int, draw random.Rand) []limitStep {
	if r.Duration == 0 || target == 0 {
		return nil
	}
	steps := []limitStep{{0, 1}}
	growth := float64(target - 1)
	at := func(fraction float64) int64 { return int64(math.Round(fraction * float64(r.Duration))) }
	switch {
	case target == 1:
	case r.Strategy == RandomSteps:
		fractions := randomFractions(1/growth, draw)
		for i, fraction := range fractions {
			grown := math.Round(growth * float64(i+1) / float64(len(fractions)))
			steps = append(steps, limitStep{at(fraction), 1 + int(grown)})
		}
	default:
		for v := 2; v <= target; v++ {
			steps = append(steps, limitStep{at(math.Pow(float64(v-1)/growth, 1/r.exponent())), v})
		}
	}
	return steps
}

// limitRamp is the [control] that applies the steps of a ramp to slots that belong to a share.
type limitRamp struct {
	slots *slots
	share Share
	steps []limitStep
	// startNS is the start of the phase.
	startNS int64
}

func (l *limitRamp) dueNS() int64 {
	if len(l.steps) == 0 {
		return 0
	}
	return l.startNS + l.steps[0].atNS
}

func (l *limitRamp) apply(nowNS int64) {
	for len(l.steps) > 0 && l.steps[0].atNS <= nowNS-l.startNS {
		l.slots.limit = int(l.share.Part(int64(l.steps[0].limit)))
		l.steps = l.steps[1:]
	}
}

func (*limitRamp) end(int64) {}

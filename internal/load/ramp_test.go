package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/random"
)

func stepsText(steps []limitStep) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%d@%v ", s.limit, time.Duration(s.atNS).Round(ms))
	}
	return strings.TrimSpace(b.String())
}

func TestTrapConcurrencyRampSteps(t *testing.T) {
	linear := func(d time.Duration, n int) []limitStep { return Ramp{Duration: d}.steps(n, random.Rand{}) }
	same(t, "5 in 8 s", stepsText(linear(8*time.Second, 5)), "1@0s 2@2s 3@4s 4@6s 5@8s")
	same(t, "3 in 10 s", stepsText(linear(10*time.Second, 3)), "1@0s 2@5s 3@10s")
	same(t, "100 in 30 s", stepsText(linear(30*time.Second, 100)[:2]), "1@0s 2@303ms")
	same(t, "to 1", stepsText(linear(time.Second, 1)), "1@0s")
	same(t, "of no limit", len(linear(time.Second, 0)), 0)
	exponential := Ramp{Duration: 8 * time.Second, Strategy: Exponential}
	same(t, "exponential", stepsText(exponential.steps(5, random.Rand{})), "1@0s 2@4s 3@5.657s 4@6.928s 5@8s")
}

func TestRandomStepsEndAtTheTarget(t *testing.T) {
	r := Ramp{Duration: 10 * time.Second, Strategy: RandomSteps}
	steps := r.steps(50, rampDraws(random.Root(1), concurrencyDraws))
	last := steps[len(steps)-1]
	same(t, "last", stepsText([]limitStep{last}), "50@10s")
	same(t, "ascending", slices.IsSortedFunc(steps, func(a, b limitStep) int {
		return max(int(a.atNS-b.atNS), a.limit-b.limit)
	}), true)
	if len(steps) < 25 || len(steps) > 90 {
		t.Errorf("%d steps, want about 50", len(steps))
	}
	same(t, "the same again", r.steps(50, rampDraws(random.Root(1), concurrencyDraws)), steps)
}

func TestConcurrencyRampOpensSlots(t *testing.T) {
	phase := Phase{Concurrency: 5, ConcurrencyRamp: Ramp{Duration: 8 * time.Second}, Duration: 10 * time.Second,
		Prefill: 4, PrefillRamp: Ramp{Duration: 9 * time.Second}}
	p := scenario{plan: one(phase),
		serve: func(Credit) answer { return answer{content: ms, after: time.Minute} }}.run(t)
	same(t, "sends", p.sends(0), "0s 2s 4s 6s 8s")
	phase.Concurrency, phase.ConcurrencyRamp, phase.Requests = 10, Ramp{}, 10
	p = scenario{plan: one(phase), serve: within(time.Minute)}.run(t)
	same(t, "sends by prefill", p.sends(0), "0s 3s 6s 9s")

	// The time of a ramp runs from the start of its phase.
	late := Phase{Kind: Profiling, Concurrency: 3, ConcurrencyRamp: Ramp{Duration: 4 * time.Second}, Requests: 3}
	p = scenario{plan: Plan{Phases: []Phase{{Concurrency: 1, Requests: 2}, late}}, serve: within(time.Minute)}.run(t)
	same(t, "sends of a later phase", p.sends(1), "0s 2s 4s")
}

func TestTrapRateRampIsPacedByTheIntegral(t *testing.T) {
	start := RateRamp{Ramp: Ramp{Duration: time.Minute}, Interval: 100 * ms}.startRate(100)
	same(t, "start rate", fmt.Sprintf("%.4f", start), "0.1667")
	same(t, "start rate of a short ramp", RateRamp{Ramp: Ramp{Duration: 50 * ms}, Interval: 100 * ms}.startRate(10), 10)

	arrivals := constantly(10)
	arrivals.Ramp.Duration = 10 * time.Second
	p := scenario{plan: one(Phase{Arrivals: arrivals, Duration: 10*time.Second + ms})}.run(t)
	for i, c := range p.sent {
		want := time.Duration(math.Sqrt(2*float64(i+1)) * 1e9)
		got := time.Duration(c.IntendedNS - p.result.Phases[0].StartNS)
		if d := got - want; d < -time.Microsecond || d > time.Microsecond {
			t.Errorf("arrival %d at %v, want %v", i, got, want)
		}
	}
	same(t, "by 10 s", len(p.sent), 50)
	same(t, "mean rate", math.Round(p.result.Phases[0].TargetRate*100)/100, 5)
}

func TestRateRampOffersTheAreaUnderItsCurve(t *testing.T) {
	for _, test := range []struct {
		ramp RateRamp
		want float64
	}{
		{RateRamp{Ramp: Ramp{Duration: 10 * time.Second}}, 500 + 500},
		{RateRamp{Ramp: Ramp{Duration: 10 * time.Second}, Interval: time.Second}, 550 + 500},
		{RateRamp{Ramp: Ramp{Duration: 10 * time.Second, Strategy: Exponential}}, 1000/3. + 500},
		{RateRamp{Ramp: Ramp{Duration: 10 * time.Second, Strategy: Exponential, Exponent: 3}}, 250 + 500},
		{RateRamp{Ramp: Ramp{Duration: 10 * time.Second, Strategy: RandomSteps}}, 500 + 500},
	} {
		a := Arrivals{Pattern: Poisson, Rate: 100, Ramp: test.ramp}
		paced := newRateIntegral(a, random.Root(3))
		tolerance := 1e-6
		if test.ramp.Strategy == RandomSteps {
			tolerance = 80
		}
		if got := paced.units(15e9); math.Abs(got-test.want) > tolerance {
			t.Errorf("%+v: %.3f arrivals in 15 s, want %.3f", test.ramp, got, test.want)
		}
		for u := 0.5; u < test.want; u += 7.3 {
			if back := paced.units(paced.instant(u)); math.Abs(back-u) > 1e-5*u {
				t.Fatalf("%+v: arrival %v comes at %v, where there are %v", test.ramp, u, paced.instant(u), back)
			}
		}
	}
}

func TestRateSeriesIsPacedByTheIntegral(t *testing.T) {
	a := Arrivals{Pattern: Constant, Series: []RatePoint{{time.Second, 4}, {3 * time.Second, 8}, {4 * time.Second, 2}}}
	paced := newRateIntegral(a, random.Root(1))
	for at, want := range map[time.Duration]float64{
		0: 0, 500 * ms: 2, time.Second: 4, 2 * time.Second: 9, 3 * time.Second: 16, 4 * time.Second: 21,
		6 * time.Second: 25,
	} {
		same(t, at.String(), paced.units(float64(at)), want)
		same(t, "back", time.Duration(math.Round(paced.instant(want))), at)
	}
	p := scenario{plan: one(Phase{Arrivals: a, Requests: 25})}.run(t)
	same(t, "took", p.took.Round(ms), 6*time.Second)
}

func TestRateChangesWithinAnInterval(t *testing.T) {
	s := constantly(1).pacer(rateSegments{}.then(0, 1, 0), random.Root(1), 1, Share{})
	s.setRate(1+int64(500*ms), 10)
	same(t, "half the interval was over", s.dueNS(), 1+int64(550*ms))
	s.advance()
	same(t, "next", s.dueNS(), 1+int64(650*ms))
}

func TestStallInARampDropsOrCatchesUp(t *testing.T) {
	a := constantly(100)
	a.Ramp.Duration = 10 * time.Second
	s := a.pacer(newRateIntegral(a, random.Root(1)), random.Root(1), 1, Share{})
	dropped := s.catchUp(1+int64(2*time.Second), 0)
	same(t, "dropped of the 20 due, one is late", dropped, 19)
	same(t, "due", s.dueNS(), 1+int64(2*time.Second))
}

func TestPlansOfModesThatCannotRun(t *testing.T) {
	series := func(points ...RatePoint) Phase {
		return Phase{Arrivals: Arrivals{Pattern: Constant, Series: points}, Requests: 1}
	}
	for want, phase := range map[string]Phase{
		"give one of":          {Users: &Users{}, Schedule: &Schedule{}, Requests: 1},
		"number of users":      {Users: &Users{Rate: 1, MeanTurns: 2}, Requests: 1},
		"users need a rate":    {Users: &Users{Count: 1, MeanTurns: 2}, Requests: 1},
		"at least 1 turn":      {Users: &Users{Count: 1, Rate: 1}, Requests: 1},
		"offset":               {Schedule: &Schedule{AutoOffset: true, StartOffset: 1}},
		"at least 2 points":    series(RatePoint{0, 1}),
		"rate must be above 0": series(RatePoint{0, 1}, RatePoint{1, 0}),
		"times must increase":  series(RatePoint{1, 1}, RatePoint{1, 1}),
		"excludes a rate": {Arrivals: Arrivals{Pattern: Constant, Rate: 1,
			Series: []RatePoint{{0, 1}, {1, 1}}}, Requests: 1},
		"needs an arrival pattern": {Arrivals: Arrivals{Ramp: RateRamp{Ramp: Ramp{Duration: 1}}}, Concurrency: 1,
			Requests: 1},
		"exponent":                   {ConcurrencyRamp: Ramp{Duration: 1, Exponent: 1}, Concurrency: 1, Requests: 1},
		"ramp takes at least":        {ConcurrencyRamp: Ramp{Duration: -1}, Concurrency: 1, Requests: 1},
		"cannot be seamless":         {Seamless: true, Concurrency: 1, Requests: 1},
		"barrier needs":              {Barrier: true, Arrivals: constantly(1), Requests: 1},
		"barrier needs a concurrenc": {Barrier: true, Prefill: 1, Requests: 1},
	} {
		if err := one(phase).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

package fleet

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// samplesOf makes probes of a clock with an offset and a drift over a time, some of which are delayed on one way.
func samplesOf(n int, over time.Duration, offsetNS int64, drift float64, rng *rand.Rand) (list []sample) {
	for i := range n {
		at := int64(over) * int64(i) / int64(n)
		there, back := int64(50_000)+rng.Int64N(30_000), int64(50_000)+rng.Int64N(30_000)
		if rng.IntN(4) == 0 {
			there += rng.Int64N(20_000_000)
		}
		theirs := at + there + offsetNS + int64(drift*float64(at+there))
		if s, ok := newSample(at, at+there+back, theirs, clockRules().SlowestAnswer); ok {
			list = append(list, s)
		}
	}
	return list
}

func TestOffsetsStayWithinTheirBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		offsetNS, drift := rng.Int64N(2e9)-1e9, (rng.Float64()-0.5)*1e-4
		var o offset
		over := time.Duration(rng.Int64N(int64(5 * time.Minute)))
		for _, s := range samplesOf(20, over, offsetNS, drift, rng) {
			o.add(s)
		}
		for _, after := range []time.Duration{0, time.Second, 10 * time.Second} {
			at := int64(over + after)
			want := offsetNS + int64(drift*float64(at))
			r := o.report(at)
			if got := o.at(at); math.Abs(float64(got-want)) > float64(r.Bound)+float64(drift*drift)*1e9+20_000 {
				t.Fatalf("offset %d drift %g over %s, %s later: %d is off by %d, the bound is %s", offsetNS, drift, over, after,
					got, got-want, r.Bound)
			}
		}
	}
}

func TestSlowAnswersAreLeftOut(t *testing.T) {
	t.Parallel()
	if _, ok := newSample(0, int64(clockRules().SlowestAnswer)+1, 0, clockRules().SlowestAnswer); ok {
		t.Error("an answer that took longer than the limit counts")
	}
	if _, ok := newSample(5, 4, 0, clockRules().SlowestAnswer); ok {
		t.Error("an answer before its question counts")
	}
}

func TestOutliersAreLeftOut(t *testing.T) {
	t.Parallel()
	var o offset
	for i := range int64(9) {
		o.add(sample{atNS: i, offsetNS: 1000 + i, rttNS: 100_000})
	}
	o.add(sample{atNS: 10, offsetNS: int64(time.Second), rttNS: 10}) // the fastest, and wrong
	if o.offsetNS > 2000 {
		t.Errorf("the offset is %d", o.offsetNS)
	}
}

func TestInstantsComeBackFromTheOtherClock(t *testing.T) {
	t.Parallel()
	o := offset{samples: make([]sample, 1), atNS: 1e18, offsetNS: -123_456_789, drift: 3e-5}
	for _, ns := range []int64{1e18, 1e18 + 3.6e12, 1e18 - 1e9} {
		if back := o.ours(o.theirs(ns)); back-ns > 10 || ns-back > 10 {
			t.Errorf("%d comes back as %d", ns, back)
		}
	}
	if o.ours(0) != 0 {
		t.Error("no instant became one")
	}
}

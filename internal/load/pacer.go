package load

import (
	"math"

	"aiperf/internal/base/random"
)

// pacer says when the arrivals of a rate are due, in closed form: it waits for nothing and reads no clock, so that
// arrivals do not drift with the lateness of the loop. Arrival 0 comes one inter-arrival time after the start.
type pacer struct {
	process process
	// step is the distance of the arrivals that are taken: 1 for all of them, else that of those of a share.
	step uint64
	// rate, unless nil, turns the even time of the process, where one arrival a second is the mean, into real time.
	rate    rateIntegral
	startNS int64
	k       uint64
	// at is the awaited arrival from the start of the phase, in the time of the process; due is its instant. lost is
	// what rounding has added to at: without it a day of 7,000 arrivals a second ends 0.6 ms early.
	at, lost float64
	due      int64
}

// pacer returns the pacer of a share of a phase, nil for Burst. changing, unless nil, takes the place of the constant
// rate.
func (a Arrivals) pacer(changing rateIntegral, seed random.Seed, startNS int64, share Share) *pacer {
	if changing != nil {
		a.Rate = 1
	}
	process := newProcess(a, seed)
	if process == nil {
		return nil
	}
	return newPacer(process, changing, startNS, share)
}

func newPacer(process process, rate rateIntegral, startNS int64, share Share) *pacer {
	p := &pacer{process: process, step: 1, rate: rate, startNS: startNS, at: process.gap(0)}
	for range share.Index {
		p.next()
	}
	p.step = uint64(max(1, share.Of))
	p.updateDue()
	return p
}

// second is the time in which the process of a changing rate has one arrival on average.
const second = 1e9

// dueNS returns the instant of the arrival that is awaited.
func (p *pacer) dueNS() int64 { return p.due }

// updateDue computes the instant of the awaited arrival.
func (p *pacer) updateDue() {
	at := p.at
	if p.rate != nil {
		at = p.rate.instant(at / second)
	}
	p.due = p.startNS + int64(min(at, math.MaxInt64/2))
}

// processTime turns an instant into the time of the process.
func (p *pacer) processTime(ns int64) float64 {
	if p.rate != nil {
		return p.rate.units(float64(ns-p.startNS)) * second
	}
	return float64(ns - p.startNS)
}

// meanRate returns the mean number of arrivals per second up to an instant, if the rate changes; otherwise false.
func (p *pacer) meanRate(nowNS int64) (perSecond float64, changes bool) {
	if p.rate == nil || nowNS <= p.startNS {
		return 0, false
	}
	elapsed := float64(nowNS - p.startNS)
	return p.rate.units(elapsed) / elapsed * second, true
}

// setRate changes the rate of a pacer that has a changing one from an instant on; what has passed of the awaited
// inter-arrival time counts.
func (p *pacer) setRate(nowNS int64, perSecond float64) {
	units := p.processTime(nowNS) / second
	p.rate = rateSegments{{fromNS: float64(nowNS - p.startNS), fromUnits: units, rate: perSecond * perNS}}
	p.updateDue()
}

// advance goes on to the next arrival.
func (p *pacer) advance() {
	p.next()
	p.updateDue()
}

// next goes on by one step. The arrivals between are drawn, as the time of an arrival depends on the one before.
func (p *pacer) next() {
	for range p.step {
		p.k++
		gap := p.process.gap(p.k) - p.lost
		at := p.at + gap
		p.at, p.lost = at, (at-p.at)-gap
	}
}

// maxWalk bounds the missed arrivals that are counted one by one.
const maxWalk = 1 << 16

// catchUp is called before the next wait. A lag of up to maxNS is kept and made good by sending at once. Beyond it the
// awaited arrival moves to now, the others missed meanwhile are dropped and the pacer goes on from now. It returns the
// number dropped; they use up their indices.
func (p *pacer) catchUp(nowNS, maxNS int64) (dropped int64) {
	if p.dueNS() >= nowNS-maxNS {
		return 0
	}
	now := p.processTime(nowNS)
	missed := *p
	for missed.next(); missed.at <= now; missed.next() {
		dropped++
		if dropped == maxWalk {
			// A rate far beyond what can be sent: the rest is as dense as what was counted.
			dropped = int64(maxWalk * (now - p.at) / (missed.at - p.at))
			break
		}
	}
	p.k += uint64(dropped) * p.step
	p.at, p.lost = now, 0
	p.updateDue()
	return dropped
}

package load

import (
	"math"

	"aiperf/internal/base/random"
)

// process is an arrival process. It is a pure function: next gives the instant of arrival k when the one
// before it came at after, both in nanoseconds from the start of the phase.
type process interface {
	next(k uint64, after float64) float64
}

// newProcess makes the process of a phase, nil for Burst. Each phase draws from the start of its stream.
func newProcess(a Arrivals, seed random.Seed) process {
	switch a.Pattern {
	case Constant:
		return constant{gapNS: second / a.Rate}
	case Poisson:
		return poisson{gapNS: second / a.Rate, stream: seed.Stream("timing.request.poisson_interval")}
	case Gamma:
		shape := a.Smoothness
		if shape == 0 {
			shape = 1
		}
		return gamma{shape: shape, scaleNS: second / (a.Rate * shape),
			stream: seed.Stream("timing.request.gamma_interval")}
	}
	return nil
}

type constant struct{ gapNS float64 }

func (c constant) next(_ uint64, after float64) float64 { return after + c.gapNS }

type poisson struct {
	gapNS  float64
	stream random.Stream
}

func (p poisson) next(k uint64, after float64) float64 {
	draw := p.stream.At(k)
	return after + p.gapNS*draw.Exponential()
}

type gamma struct {
	shape, scaleNS float64
	stream         random.Stream
}

func (g gamma) next(k uint64, after float64) float64 {
	draw := g.stream.At(k)
	return after + g.scaleNS*draw.Gamma(g.shape)
}

// schedule walks through the arrivals of a phase. Arrival 0 comes one interval after the start.
type schedule struct {
	process process
	// pace, unless nil, turns the even time of the process, where one arrival a second is the mean, into real time.
	pace    pace
	startNS int64
	k       uint64
	// at is the awaited arrival from the start of the phase, in the time of the process; due is its instant.
	at  float64
	due int64
}

// newArrivals makes the schedule of a phase, nil for Burst. Without a pace the rate is that of the process.
func newArrivals(a Arrivals, changing pace, seed random.Seed, startNS int64) *schedule {
	if changing != nil {
		a.Rate = 1
	}
	process := newProcess(a, seed)
	if process == nil {
		return nil
	}
	s := newSchedule(process, startNS)
	s.pace = changing
	s.settle()
	return s
}

func newSchedule(p process, startNS int64) *schedule {
	s := &schedule{process: p, startNS: startNS, at: p.next(0, 0)}
	s.settle()
	return s
}

// second is one unit of a pace in the time of its process.
const second = 1e9

// dueNS returns the instant of the arrival that is awaited.
func (s *schedule) dueNS() int64 { return s.due }

// settle works out the instant of the awaited arrival.
func (s *schedule) settle() {
	at := s.at
	if s.pace != nil {
		at = s.pace.instant(at / second)
	}
	s.due = s.startNS + int64(min(at, math.MaxInt64/2))
}

// processTime turns an instant into the time of the process.
func (s *schedule) processTime(ns int64) float64 {
	if s.pace != nil {
		return s.pace.units(float64(ns-s.startNS)) * second
	}
	return float64(ns - s.startNS)
}

// setRate changes the rate of a schedule that has a pace from an instant on; what has passed of the awaited
// interval counts.
func (s *schedule) setRate(nowNS int64, perSecond float64) {
	units := s.processTime(nowNS) / second
	s.pace = stretches{{fromNS: float64(nowNS - s.startNS), fromUnits: units, rate: perSecond * perNS}}
	s.settle()
}

func (s *schedule) advance() {
	s.step()
	s.settle()
}

func (s *schedule) step() {
	s.k++
	s.at = s.process.next(s.k, s.at)
}

// maxWalk bounds the missed arrivals that are counted one by one.
const maxWalk = 1 << 16

// catchUp is asked before the schedule is waited for. A lag of up to maxNS is kept and made good by sending at once.
// Beyond it the awaited arrival moves to now, the others missed meanwhile are dropped and the schedule
// goes on from now. It returns the number dropped; they use up their indices.
func (s *schedule) catchUp(nowNS, maxNS int64) (dropped int64) {
	if s.dueNS() >= nowNS-maxNS {
		return 0
	}
	now := s.processTime(nowNS)
	missed := *s
	for missed.step(); missed.at <= now; missed.step() {
		dropped++
		if dropped == maxWalk {
			// A rate far beyond what can be sent: the rest is as dense as what was counted.
			dropped = int64(maxWalk * (now - s.at) / (missed.at - s.at))
			break
		}
	}
	s.k += uint64(dropped)
	s.at = now
	s.settle()
	return dropped
}

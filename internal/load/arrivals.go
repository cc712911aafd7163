package load

import "aiperf/internal/random"

// process is an arrival process. It is a pure function: next gives the instant of arrival k when the one
// before it came at after, both in nanoseconds from the start of the phase.
type process interface {
	next(k uint64, after float64) float64
}

// newProcess makes the process of a phase, nil for Burst. Each phase draws from the start of its stream.
func newProcess(a Arrivals, seed random.Seed) process {
	const second = 1e9
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
		return gamma{shape: shape, scaleNS: second / (a.Rate * shape), stream: seed.Stream("timing.request.gamma_interval")}
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
	startNS int64
	k       uint64
	at      float64
}

func newSchedule(p process, startNS int64) *schedule {
	return &schedule{process: p, startNS: startNS, at: p.next(0, 0)}
}

// dueNS is the instant of the arrival that is awaited.
func (s *schedule) dueNS() int64 { return s.startNS + int64(s.at) }

func (s *schedule) advance() {
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
	now := float64(nowNS - s.startNS)
	missed := *s
	for missed.advance(); missed.at <= now; missed.advance() {
		dropped++
		if dropped == maxWalk {
			// A rate far beyond what can be sent: the rest is as dense as what was counted.
			dropped = int64(maxWalk * (now - s.at) / (missed.at - s.at))
			break
		}
	}
	s.k += uint64(dropped)
	s.at = now
	return dropped
}

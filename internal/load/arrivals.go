package load

import "aiperf/internal/base/random"

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

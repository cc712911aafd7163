package load

import "aiperf/internal/base/random"

// process is an arrival process. gap returns the inter-arrival time before arrival k in nanoseconds; arrival 0 comes
// one such time after the start of the phase. It is a pure function, so that a share can draw the arrivals of the
// others and a plan can be computed without a run.
type process interface {
	gap(k uint64) float64
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

func (c constant) gap(uint64) float64 { return c.gapNS }

type poisson struct {
	gapNS  float64
	stream random.Stream
}

func (p poisson) gap(k uint64) float64 {
	draw := p.stream.At(k)
	return p.gapNS * draw.Exponential()
}

type gamma struct {
	shape, scaleNS float64
	stream         random.Stream
}

func (g gamma) gap(k uint64) float64 {
	draw := g.stream.At(k)
	return g.scaleNS * draw.Gamma(g.shape)
}

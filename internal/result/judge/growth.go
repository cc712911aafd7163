package judge

import (
	"math"

	"aiperf/internal/measure/metrics"
)

// growth is whether the requests in flight grew as long as an open load went on.
type growth struct {
	// known is false for other loads, and for too few requests to say.
	known, grows bool
	// from and to are the requests in flight at the end of the first and of the last quarter of sending; sent and
	// completed are rates after the first quarter; early and late are the waits of the requests sent in the first and
	// in the last quarter, in milliseconds.
	from, to        int64
	sent, completed float64
	early, late     float64
}

// The thresholds of growth.
const (
	// fewestSent requests are too few to judge.
	fewestSent = 40
	// leastGrowth is the least share of the requests sent that stays in flight. deviations of a random walk are its
	// least size: that of a server that is busy all the time but keeps up.
	leastGrowth, deviations = 0.1, 3
	// notSlower is the least part of the growth that falls into the second half: what only settles grows less.
	notSlower = 0.35
	// rises is the least ratio of the waits. It tells a queue from long replies, which take no longer when many are in
	// flight.
	rises = 1.5
)

// growthOf judges the trend of a run with one phase at one rate.
func growthOf(f *Facts) growth {
	t := f.Trend
	if t == nil || f.TargetRate <= 0 || f.SeveralPhases {
		return growth{}
	}
	var all, later, ended int64
	for i := range metrics.Quarters {
		all += t.Sent[i]
		if i > 0 {
			later, ended = later+t.Sent[i], ended+t.Ended[i]
		}
	}
	last := metrics.Quarters - 1
	seconds := float64(t.SendingNS) / 1e9 * (metrics.Quarters - 1) / metrics.Quarters
	g := growth{from: t.InFlight[0], to: t.InFlight[last], early: t.Wait[0], late: t.Wait[last],
		sent: float64(later) / seconds, completed: float64(ended) / seconds}
	g.known = all >= fewestSent && !math.IsNaN(g.early) && !math.IsNaN(g.late)
	grown := float64(g.to - g.from)
	g.grows = g.known && g.to >= 2*g.from && grown >= leastGrowth*float64(later) &&
		grown >= deviations*math.Sqrt(2*float64(later)) &&
		float64(g.to-t.InFlight[1]) >= notSlower*grown && g.late >= rises*g.early
	return g
}

package run

import (
	"slices"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/result/summary"
)

// countsOf returns the counts of the profiling phases together, without the outcomes of their requests. Rates are means
// over the time in which was sent; there is a target only if all phases have one.
func countsOf(phases []load.Stats, nowNS int64) summary.Counts {
	var sum summary.Counts
	var sending time.Duration
	planned, targeted, count := 0.0, true, 0
	for i := range phases {
		p := &phases[i]
		if p.Kind != load.Profiling || p.State == load.Created {
			continue
		}
		took := p.SendingTime(nowNS)
		c := phaseCounts(p, nowNS)
		count++
		sending += took
		planned += c.TargetRate * took.Seconds()
		targeted = targeted && c.TargetRate > 0
		if count == 1 {
			sum = c
			continue
		}
		sum.Sent += c.Sent
		sum.CutOff += c.CutOff
		sum.SkippedArrivals += c.SkippedArrivals
		sum.DroppedByCatchup += c.DroppedByCatchup
		sum.TargetRate, sum.DeliveredRate = 0, 0
		if seconds := sending.Seconds(); seconds > 0 {
			sum.DeliveredRate = float64(sum.Sent) / seconds
			if targeted {
				sum.TargetRate = planned / seconds
			}
		}
	}
	return sum
}

// phaseCounts returns the counts of one phase.
func phaseCounts(p *load.Stats, nowNS int64) summary.Counts {
	return summary.Counts{
		Sent: p.RequestsSent, CutOff: p.RequestsCancelled,
		SkippedArrivals: p.SkippedArrivals, DroppedByCatchup: p.DroppedByCatchup,
		TargetRate: p.TargetRate, DeliveredRate: p.DeliveredRate(nowNS),
	}
}

// together returns the barrier of the profiling phase whose first requests left furthest apart.
func together(phases []load.Stats) load.Barrier {
	var worst load.Barrier
	for i := range phases {
		if p := &phases[i]; p.Kind == load.Profiling && p.Barrier.Released > 0 &&
			(worst.Released == 0 || p.Barrier.Spread() > worst.Spread()) {
			worst = p.Barrier
		}
	}
	return worst
}

// phaseOf returns the first phase of a kind that has begun; nil if there is none.
func phaseOf(phases []load.Stats, kind load.Kind) *load.Stats {
	for i := range phases {
		if phases[i].Kind == kind && phases[i].State != load.Created {
			return &phases[i]
		}
	}
	return nil
}

func cancelled(phases []load.Stats) bool {
	return slices.ContainsFunc(phases, func(p load.Stats) bool { return p.WasCancelled })
}

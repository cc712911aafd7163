package fleet

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/config/env"
	"aiperf/internal/measure/record"
)

// clockRules are the rules of clock comparison where nothing else is asked for: those of an empty environment.
var clockRules = sync.OnceValue(func() *env.WorkerClock {
	values, _, err := env.Read(func(string) (string, bool) { return "", false })
	if err != nil {
		panic(err) // the defaults are not valid
	}
	return &values.Worker.Clock
})

const (
	// minDriftSpan is the time that samples must span for a drift: with offsets known to 0.1 ms, it is then wrong by 3
	// ppm.
	minDriftSpan = 30 * time.Second
	// driftAllowance is how far two monotonic clocks part at most where their drift is not known yet, as a ratio: 50
	// ppm, the usual tolerance of a quartz. Once the drift is measured, a fifth of it is left.
	driftAllowance = 50e-6
)

// sample is one comparison of clocks: the offset is the agent's clock less the coordinator's, in the middle between
// question and answer (Cristian, "Probabilistic clock synchronization", 1989). It is wrong by half the round trip at
// most.
type sample struct{ atNS, offsetNS, rttNS int64 }

// newSample returns what an answer says; false if it took longer than the slowest that counts, and says too little.
func newSample(askedNS, answeredNS, theirsNS int64, slowest time.Duration) (sample, bool) {
	s := sample{atNS: askedNS + (answeredNS-askedNS)/2, rttNS: answeredNS - askedNS}
	s.offsetNS = theirsNS - s.atNS
	return s, s.rttNS >= 0 && s.rttNS <= int64(slowest)
}

// offset converts instants between two clocks: the difference at an instant, and how it changes with time.
type offset struct {
	// rules are those of comparison; nil for the usual ones.
	rules   *env.WorkerClock
	samples []sample
	// rejects are the newest samples that were left out in a row.
	rejects int

	atNS, offsetNS int64
	drift          float64
	boundNS        int64
}

// Offset reports how the clock of an agent compares with that of the coordinator.
type Offset struct {
	// Offset is the agent's clock less the coordinator's, Bound the most by which it may be wrong.
	Offset, Bound time.Duration
	// Drift is by how much the offset grows in a second, in seconds.
	Drift  float64
	Probes int
}

// add takes further samples into account. The fastest answers say most: their offset is off by half their time at most.
func (o *offset) add(list ...sample) {
	rules := cmp.Or(o.rules, clockRules())
	var good []sample
	for _, s := range list {
		o.samples = append(o.samples, s)
		if extra := len(o.samples) - rules.Window; extra > 0 {
			o.samples = slices.Delete(o.samples, 0, extra)
		}
		good = withoutOutliers(o.samples, rules)
		if o.rejects++; slices.Contains(good, s) {
			o.rejects = 0
		}
		if o.rejects >= rules.ResetAfter { // the clock is another one now
			o.samples, o.rejects = slices.Delete(o.samples, 0, max(0, len(o.samples)-o.rejects)), 0
			good = withoutOutliers(o.samples, rules)
		}
	}
	if len(good) == 0 {
		return
	}
	best := slices.MinFunc(good, func(a, b sample) int { return cmp.Compare(a.rttNS, b.rttNS) })
	o.atNS, o.offsetNS, o.boundNS = best.atNS, best.offsetNS, best.rttNS/2
	o.drift = driftOf(good, best.rttNS)
}

// withoutOutliers leaves out samples whose offset is far from the median, by multiples of the median absolute
// deviation.
func withoutOutliers(list []sample, rules *env.WorkerClock) []sample {
	if len(list) < 3 {
		return list
	}
	var offsets []int64
	for _, s := range list {
		offsets = append(offsets, s.offsetNS)
	}
	median := medianOf(offsets)
	deviations := make([]int64, len(offsets))
	for i, n := range offsets {
		deviations[i] = max(n-median, median-n)
	}
	limit := max(int64(rules.OutlierFloor), int64(rules.OutlierFactor*float64(medianOf(slices.Clone(deviations)))))
	var good []sample
	for i, s := range list {
		if deviations[i] <= limit {
			good = append(good, s)
		}
	}
	return good
}

// medianOf returns the upper median. It sorts the list.
func medianOf(list []int64) int64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// driftOf is the least-squares slope of the offsets of fast answers, those within twice the fastest round trip; 0 as
// long as they span too little time for the error of their offsets. Instants are taken from the first one: as
// nanoseconds of the epoch they would lose digits in a float64.
func driftOf(list []sample, fastestNS int64) float64 {
	var fast []sample
	for _, s := range list {
		if s.rttNS <= 2*fastestNS {
			fast = append(fast, s)
		}
	}
	if len(fast) < 2 || fast[len(fast)-1].atNS-fast[0].atNS < int64(minDriftSpan) {
		return 0
	}
	var meanT, meanO float64
	for _, s := range fast {
		meanT += float64(s.atNS-fast[0].atNS) / float64(len(fast))
		meanO += float64(s.offsetNS-fast[0].offsetNS) / float64(len(fast))
	}
	var tt, to float64
	for _, s := range fast {
		t, o := float64(s.atNS-fast[0].atNS)-meanT, float64(s.offsetNS-fast[0].offsetNS)-meanO
		tt, to = tt+t*t, to+t*o
	}
	return to / tt
}

// known reports whether there were enough answers.
func (o *offset) known() bool {
	rules := cmp.Or(o.rules, clockRules())
	return len(o.samples) >= min(rules.MinSamples, rules.Window)
}

// slowest returns how long the slowest of the newest answers took.
func (o *offset) slowest() (rtt time.Duration) {
	for _, s := range o.samples {
		rtt = max(rtt, time.Duration(s.rttNS))
	}
	return rtt
}

// at returns the offset at an instant of the coordinator's clock.
func (o *offset) at(ns int64) int64 {
	return o.offsetNS + int64(math.Round(o.drift*float64(ns-o.atNS)))
}

// theirs converts an instant of the coordinator's clock to the agent's.
func (o *offset) theirs(ns int64) int64 { return ns + o.at(ns) }

// ours converts an instant of the agent's clock to the coordinator's. 0 stands for no instant and stays.
func (o *offset) ours(ns int64) int64 {
	if ns == 0 {
		return 0
	}
	return ns - o.at(ns-o.at(ns-o.offsetNS)) // the second time the drift is almost that of the instant itself
}

// report returns the offset at an instant, with its bound.
func (o *offset) report(nowNS int64) Offset {
	since := time.Duration(max(0, nowNS-o.atNS))
	apart := time.Duration(driftAllowance * float64(since))
	if o.drift != 0 {
		apart /= 5
	}
	return Offset{Offset: time.Duration(o.at(nowNS)), Drift: o.drift, Bound: time.Duration(o.boundNS) + apart,
		Probes: len(o.samples)}
}

// toOurClock converts the instants of a record to the coordinator's clock. All others are durations.
func toOurClock(x *record.Record, by *offset) {
	at, ok := x.Get(record.StartWall)
	if !ok {
		return
	}
	x.Facts[record.StartWall] = by.ours(at)
	t := x.Trace
	if t == nil {
		return
	}
	d := at - x.Facts[record.StartWall]
	for _, ns := range []*int64{&t.RequestSendStartNS, &t.RequestHeadersSentNS, &t.RequestSendEndNS,
		&t.ResponseHeadersReceivedNS, &t.ResponseReceiveStartNS, &t.ResponseReceiveEndNS, &t.ErrorNS, &t.PoolWaitStartNS,
		&t.PoolWaitEndNS, &t.DNSStartNS, &t.DNSEndNS, &t.DNSCacheHitNS, &t.DNSCacheMissNS, &t.ConnectStartNS,
		&t.ConnectEndNS, &t.ConnectionReusedNS} {
		if *ns != 0 {
			*ns -= d
		}
	}
	for _, list := range [][]record.Chunk{t.RequestChunks, t.ResponseChunks} {
		for i := range list {
			list[i].AtNS -= d
		}
	}
}

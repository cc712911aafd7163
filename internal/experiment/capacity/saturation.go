package capacity

import (
	"fmt"
	"math"
	"slices"
)

// saturation watches the work in the system of an open loop: requests in flight, and arrivals that found no slot.
//
// The test: from the instant t0 on, by which the first requests have come and gone twice, the work has grown by more
// than a random walk without drift would at any look (a normal mixture over the drift: Robbins, 1970; two-sided, as a
// queue is reflected at zero). A server that is just busy enough has no drift, so that it passes. What only settles is
// told apart by its growth becoming slower, and the latency of requests must rise with the time at which they were
// sent.
type saturation struct {
	// points are the work at instants, in seconds since the start of the phase; every stride-th is kept.
	points       []workPoint
	stride, seen int
	// first are the latencies of the first requests that came back, in seconds.
	first []float64
	// bins are the latencies by the time of sending; width is that of one in seconds, originNS when the first was sent.
	bins     []latencyBin
	width    float64
	originNS int64
}

type workPoint struct{ at, work, sent float64 }

type latencyBin struct{ n, sum float64 }

// Bounds of what is kept, and of the test.
const (
	maxPoints, maxBins = 512, 64
	// baselineRequests is the number of requests whose median is the latency of the system while it is not full yet.
	baselineRequests = 20
	// settleLatencies is when the test begins, minGrowthLatencies how long it lasts at least, in multiples of that
	// latency: a system that only fills has as many requests in flight as arrive within one.
	settleLatencies, minGrowthLatencies = 2, 6
	// varianceBlocks is the number of increments from which the variance of the walk is estimated. varianceAllowance is
	// the factor for that being few: the variance is larger with a probability of 14 % (χ² with 15 degrees of freedom).
	// minVariancePerRequest is the least variance for each request sent, of arrivals and servers that are more regular
	// than the estimate can tell: a tenth of that of Poisson arrivals.
	varianceBlocks, varianceAllowance, minVariancePerRequest = 16, 1.6, 0.1
	// minGrowthShare is the least share of the requests sent that stay: an overload of less is not called saturation.
	// minLateGrowth is the least share of the growth in the second half of the time: steady growth has half of it
	// there, a queue that settles with a time constant of a third of the time less than a fifth. minLatencyRatio is the
	// least ratio of the latencies of the last and the first third, above what a busy server shows by chance.
	// docs/probes.md has how often the test is right.
	minGrowthShare, minLateGrowth, minLatencyRatio = 0.05, 0.35, 1.2
)

// observe adds the state of the phase at an instant.
func (s *saturation) observe(at, work, sent float64) {
	s.stride = max(1, s.stride)
	if s.seen++; s.seen%s.stride != 0 {
		return
	}
	s.points = append(s.points, workPoint{at, work, sent})
	if len(s.points) == maxPoints {
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i+1]
		}
		s.points = s.points[:maxPoints/2]
		s.stride *= 2
	}
}

// returned adds the latency of a request by the wall time at which it was sent.
func (s *saturation) returned(sentNS int64, seconds float64) {
	if len(s.first) < baselineRequests {
		s.first = append(s.first, seconds)
	}
	if s.originNS == 0 {
		s.originNS, s.width = sentNS, 0.1
	}
	at := max(0, float64(sentNS-s.originNS)/1e9)
	for at >= s.width*maxBins {
		s.width *= 2
		for i := range s.bins {
			b := s.bins[i]
			s.bins[i] = latencyBin{}
			s.bins[i/2].n += b.n
			s.bins[i/2].sum += b.sum
		}
		s.bins = s.bins[:(len(s.bins)+1)/2]
	}
	i := int(at / s.width)
	for len(s.bins) <= i {
		s.bins = append(s.bins, latencyBin{})
	}
	s.bins[i].n++
	s.bins[i].sum += seconds
}

// judge reports whether the work grows without bound, with an error probability of alpha, and the evidence for people.
func (s *saturation) judge(alpha float64) (evidence string, saturated bool) {
	if len(s.first) < baselineRequests || len(s.points) < 2*varianceBlocks {
		return "", false
	}
	unit := s.unloaded()
	from := slices.IndexFunc(s.points, func(p workPoint) bool { return p.at >= settleLatencies*unit })
	if from < 0 || len(s.points)-from < 2*varianceBlocks {
		return "", false
	}
	points := s.points[from:]
	begin, end := points[0], points[len(points)-1]
	length, growth, sent := end.at-begin.at, end.work-begin.work, end.sent-begin.sent
	middle := points[slices.IndexFunc(points, func(p workPoint) bool { return p.at >= begin.at+length/2 })]
	if length < minGrowthLatencies*unit || end.work < 2*begin.work+5 || growth < minGrowthShare*sent ||
		end.work-middle.work < minLateGrowth*growth {
		return "", false
	}
	// The boundary of the normal mixture, √((v+m)·ln((v+m)/(m·α²))) for a walk of variance v; it is narrowest for walks
	// of some times m, so that m is that of the shortest verdict.
	variance := max(varianceAllowance*walkVariance(points), minVariancePerRequest*sent/length)
	v, mixed := variance*length, variance*minGrowthLatencies*unit
	bound := math.Sqrt((v + mixed) * math.Log((v+mixed)/(mixed*alpha*alpha)))
	early, late, known := s.trend()
	if growth <= bound || !known || late < minLatencyRatio*early {
		return "", false
	}
	return fmt.Sprintf("the work in the system grew from %.0f to %.0f requests within %.1f s (%.3g requests/s, at least "+
		"%.3g): %.3g requests/s arrived and %.3g were completed; the latency of requests rose from %.0f to %.0f ms with "+
		"the time at which they were sent",
		begin.work, end.work, length, growth/length, (growth-bound)/length, sent/length, (sent-growth)/length,
		1e3*early, 1e3*late), true
}

// unloaded returns the median latency of the first requests, in seconds.
func (s *saturation) unloaded() float64 {
	sorted := slices.Sorted(slices.Values(s.first))
	return sorted[len(sorted)/2]
}

// walkVariance estimates the variance per second of the work about its drift, from increments over equal numbers of
// points, each scaled by the root of its own time: looks are not evenly spaced.
func walkVariance(points []workPoint) float64 {
	var rates []float64
	step := float64(len(points)-1) / varianceBlocks
	for i := range varianceBlocks {
		a, b := points[int(float64(i)*step)], points[int(float64(i+1)*step)]
		if b.at > a.at {
			rates = append(rates, (b.work-a.work)/math.Sqrt(b.at-a.at))
		}
	}
	mean, squares := 0.0, 0.0
	for _, r := range rates {
		mean += r / float64(len(rates))
	}
	for _, r := range rates {
		squares += (r - mean) * (r - mean)
	}
	return squares / math.Max(1, float64(len(rates)-1))
}

// trend returns the mean latency of the requests that were sent in the first and in the last third of the time whose
// requests have come back.
func (s *saturation) trend() (early, late float64, known bool) {
	third := (len(s.bins) + 2) / 3
	a, b := latencyBin{}, latencyBin{}
	for i := range third {
		a.n, a.sum = a.n+s.bins[i].n, a.sum+s.bins[i].sum
		l := s.bins[len(s.bins)-1-i]
		b.n, b.sum = b.n+l.n, b.sum+l.sum
	}
	if len(s.bins) < 3 || a.n == 0 || b.n == 0 {
		return 0, 0, false
	}
	return a.sum / a.n, b.sum / b.n, true
}

// rising reports that the work has grown by a fifth and more in the second half of the time, and faster than a share of
// the arrivals.
func (s *saturation) rising() bool {
	if len(s.points) < 4 {
		return true
	}
	end := s.points[len(s.points)-1]
	middle := s.points[slices.IndexFunc(s.points, func(p workPoint) bool { return p.at >= end.at/2 })]
	growth := end.work - middle.work
	return growth > 0.2*middle.work+2 && growth > minGrowthShare*(end.sent-middle.sent)
}

package trust

// Interval is what the process did in an interval of time that ends at AtNS.
type Interval struct {
	AtNS int64 `json:"at_ns"`
	// CPUShare is the part of the quota that was used; LateNS is by how much a timer fired late at most, PauseNS how
	// long the garbage collector stopped the process, RSS the memory in bytes, 0 where it is not known.
	CPUShare float64 `json:"cpu_share"`
	LateNS   int64   `json:"timer_late_ns"`
	PauseNS  int64   `json:"gc_pause_ns"`
	RSS      int64   `json:"rss_bytes,omitempty"`
}

// maxIntervals bounds what is kept of a run, however long it is.
const maxIntervals = 512

// intervals are one for each probe, later one for two of them, and so on.
type intervals struct {
	list []Interval
	// each is how many probes make an interval, at least 1; open are those of the last one so far.
	each, open int
}

// add adds what happened between two readings. The list is halved when it is full, by joining neighbours, so that any
// run has between half of the bound and the bound; each is the number of readings in an interval.
func (l *intervals) add(from, to *reading, lateNS int64) {
	next := Interval{AtNS: to.atNS, CPUShare: orZero(cpuShare(from, to)), LateNS: lateNS,
		PauseNS: int64(to.pauses.since(&from.pauses).total()), RSS: to.rss}
	if l.open > 0 && l.open < l.each {
		last := &l.list[len(l.list)-1]
		*last = last.with(next, float64(l.open))
		l.open++
		return
	}
	if len(l.list) == maxIntervals {
		for i := range maxIntervals / 2 {
			l.list[i] = l.list[2*i].with(l.list[2*i+1], 1)
		}
		l.list = l.list[:maxIntervals/2]
		l.each *= 2
	}
	l.each = max(l.each, 1)
	l.list = append(l.list, next)
	l.open = 1
}

// with returns an interval, n times as long as the next one, extended by the next one.
func (i Interval) with(next Interval, n float64) Interval {
	return Interval{
		AtNS: next.AtNS, CPUShare: (i.CPUShare*n + next.CPUShare) / (n + 1), LateNS: max(i.LateNS, next.LateNS),
		PauseNS: i.PauseNS + next.PauseNS, RSS: max(i.RSS, next.RSS),
	}
}

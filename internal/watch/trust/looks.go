package trust

// Look is what the process did in a stretch of time that ends at an instant.
type Look struct {
	AtNS int64 `json:"at_ns"`
	// CPUShare is the part of the quota that was used; LateNS is by how much a timer fired late at most, PauseNS how
	// long the garbage collector stopped the process, RSS the memory in bytes, 0 where it is not known.
	CPUShare float64 `json:"cpu_share"`
	LateNS   int64   `json:"timer_late_ns"`
	PauseNS  int64   `json:"gc_pause_ns"`
	RSS      int64   `json:"rss_bytes,omitempty"`
}

// maxLooks bounds what is kept of a run, however long it is.
const maxLooks = 512

// looks are one for each probe, later one for two of them, and so on.
type looks struct {
	list []Look
	// each is how many probes make a look, 1 at least; open are those of the last one so far.
	each, open int
}

func (l *looks) add(from, to *reading, lateNS int64) {
	look := Look{AtNS: to.atNS, CPUShare: orZero(cpuShare(from, to)), LateNS: lateNS,
		PauseNS: int64(to.pauses.since(&from.pauses).total()), RSS: to.rss}
	if l.open > 0 && l.open < l.each {
		last := &l.list[len(l.list)-1]
		*last = last.with(look, float64(l.open))
		l.open++
		return
	}
	if len(l.list) == maxLooks {
		for i := range maxLooks / 2 {
			l.list[i] = l.list[2*i].with(l.list[2*i+1], 1)
		}
		l.list = l.list[:maxLooks/2]
		l.each *= 2
	}
	l.each = max(l.each, 1)
	l.list = append(l.list, look)
	l.open = 1
}

// with joins a stretch that is n times as long as the next one to it.
func (l Look) with(next Look, n float64) Look {
	return Look{
		AtNS: next.AtNS, CPUShare: (l.CPUShare*n + next.CPUShare) / (n + 1), LateNS: max(l.LateNS, next.LateNS),
		PauseNS: l.PauseNS + next.PauseNS, RSS: max(l.RSS, next.RSS),
	}
}

package metrics

import (
	"slices"

	"aiperf/internal/measure/record"
)

// jobFigures are the numbers of jobs of a phase, and their rates in the window of jobs.
type jobFigures struct {
	// any is false where no request belongs to a job that began in the phase.
	any                                 bool
	completed, failed, unfinished, good int64
	// windowNS is the length of the window, in which so many jobs completed, and met the objectives. On average users
	// jobs were under way in it. steady is false where it is the whole time from the first begin to the last end.
	windowNS       int64
	steady         bool
	inside, goodIn int64
	users          float64
	gpus           int
}

// stretch is when a job was under way, wall epoch ns; an unfinished one has its last end so far.
type stretch struct {
	beginNS, endNS       int64
	ended, credits, good bool
	// part: the job began before the phase.
	part bool
}

// figures computes the figures of the jobs so far, of a copy that has those under way as running.
func (j *jobs) figures(gpus int) jobFigures {
	f := jobFigures{gpus: gpus}
	var all []stretch
	for _, b := range j.rows.blocks {
		b.each(func(stored *storedRow) {
			row := (*record.Facts)(stored[:record.NumFields])
			x := stretch{beginNS: row[record.StartWall], ended: true, credits: !row.IsError(),
				good: row[record.Good] == 1}
			x.endNS = x.beginNS + row[record.End]
			all = append(all, x)
			if row[record.JobRequests] < 0 {
				return
			}
			f.completed += count(x.credits)
			f.failed += count(!x.credits)
			f.good += count(x.good)
		})
	}
	all = append(all, j.running...)
	for _, x := range j.running {
		f.unfinished += count(!x.part)
	}
	f.completed += j.beyond.completed
	f.failed += j.beyond.failed
	f.good += j.beyond.good
	if f.any = f.completed+f.failed+f.unfinished > 0; f.any {
		f.window(all, &j.beyond)
	}
	return f
}

// window finds the window of the jobs, and counts what is in it.
//
// The steady window begins when as many jobs have ended as had begun before the first one ended: the first generation,
// which began at once or at random points, is over. It ends when the last job begins: from then on fewer and fewer are
// under way. Both ends are instants just after a job has taken the place of another, so that a whole number of
// generations lies between them where all jobs are alike. It must hold as many ends as the first generation has jobs.
func (f *jobFigures) window(all []stretch, beyond *jobTotals) {
	first, last := all[0].beginNS, max(all[0].beginNS, beyond.lastBeginNS)
	var ends []int64
	for _, x := range all {
		first, last = min(first, x.beginNS), max(last, x.beginNS)
		if x.ended {
			ends = append(ends, x.endNS)
		}
	}
	if len(ends) == 0 {
		return
	}
	slices.Sort(ends)
	generation := 0
	for _, x := range all {
		generation += int(count(x.beginNS < ends[0]))
	}
	from, to := first, max(ends[len(ends)-1], beyond.lastEndNS)
	if generation <= len(ends) {
		inside := 0
		begin := ends[generation-1]
		for _, end := range ends {
			inside += int(count(end > begin && end <= last))
		}
		if inside >= generation {
			from, to, f.steady = begin, last, true
		}
	}
	f.count(all, beyond, from, to)
}

// count counts what completed after one instant and up to another. Jobs without a row, which are among the last of a
// very large run, count as if all had.
func (f *jobFigures) count(all []stretch, beyond *jobTotals, from, to int64) {
	busy := float64(beyond.busyNS)
	f.inside, f.goodIn = beyond.completed, beyond.good
	for _, x := range all {
		inside := x.ended && x.endNS > from && x.endNS <= to
		f.inside += count(inside && x.credits)
		f.goodIn += count(inside && x.good)
		busy += float64(max(0, min(x.endNS, to)-max(x.beginNS, from)))
	}
	if f.windowNS = to - from; f.windowNS > 0 {
		f.users = busy / float64(f.windowNS)
	}
}

// perHour returns a count in the window as a rate per hour.
func (f *jobFigures) perHour(n int64) (float64, bool) {
	if f.windowNS <= 0 {
		return 0, false
	}
	return float64(n) / (float64(f.windowNS) * nsToSeconds) * secondsPerHour, true
}

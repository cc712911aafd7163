package metrics

import (
	"cmp"
	"slices"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// A job is a session with all sessions that grow out of it. It is followed until all of its requests have ended and
// then leaves one row of facts in a store of its own. What these mean in the row of a job:
//
//   - StartWall is when the job began: the first of its requests was due by the plan, or sent where none is due;
//   - End is its latency: from there to the end of its last reply;
//   - JobModel and JobDelay are the parts of the critical path in which the model worked, and in which a planned delay
//     passed; the rest of End is waiting;
//   - JobRequests, JobAgents and the token counts are sums over the whole job;
//   - Good and Failed are as for a request. A job with a failed request has failed.
//
// A job that an earlier phase, or nobody, began has a negative JobRequests and no latency; it only counts.
//
// The critical path ends with the last reply. It goes back from each request to the one whose end that request waited
// for ([record.After]), so that parallel branches count only where something waited for them.

// jobRequest is what an open job keeps of a request.
type jobRequest struct {
	number, after int64 // after is record.Absent for none
	// Wall epoch ns.
	startNS, endNS int64
	delayNS        int64
}

// openJob is a job that still has requests to come.
type openJob struct {
	row record.Facts
	// beginNS and endNS are wall epoch ns.
	beginNS, endNS int64
	requests       []jobRequest
}

// jobKey identifies an open job. Numbers of requests, by which they name one another, hold within a phase.
type jobKey struct {
	phase int
	job   int64
}

// jobs are those of a phase, or of all profiling phases.
type jobs struct {
	open map[jobKey]*openJob
	rows store
	// overflow is by slot of the job metrics; nil below the limit.
	overflow []stats.Histogram
	// beyond counts the jobs that have no row.
	beyond jobTotals
	// running are the open jobs of a copy that has nothing else of them.
	running []stretch
}

// jobTotals are sums over jobs.
type jobTotals struct {
	// completed are those without a failed request, good those that met every objective.
	completed, good, failed int64
	// busyNS is the time that they took together.
	busyNS int64
	// lastBeginNS and lastEndNS are the wall instants of the last begin and the last end.
	lastBeginNS, lastEndNS int64
}

func (t *jobTotals) merge(o *jobTotals) {
	t.completed += o.completed
	t.good += o.good
	t.failed += o.failed
	t.busyNS += o.busyNS
	t.lastBeginNS = max(t.lastBeginNS, o.lastBeginNS)
	t.lastEndNS = max(t.lastEndNS, o.lastEndNS)
}

func (t *jobTotals) add(row *record.Facts) {
	t.completed += count(!row.IsError())
	t.failed += count(row.IsError())
	t.good += count(row[record.Good] == 1)
	t.busyNS += row[record.End]
	t.lastBeginNS = max(t.lastBeginNS, row[record.StartWall])
	t.lastEndNS = max(t.lastEndNS, row[record.StartWall]+row[record.End])
}

// addJob takes a request of a job.
func (e *Engine) addJob(rec *record.Record) {
	n, ok := rec.Get(record.JobRequests)
	start, started := rec.Get(record.StartWall)
	if !ok || !started || n == 0 {
		return
	}
	id := jobKey{rec.PhaseIndex, rec.Facts[record.Job]}
	j := e.jobs.open[id]
	if j == nil {
		j = newOpenJob(n)
		if e.jobs.open == nil {
			e.jobs.open = map[jobKey]*openJob{}
		}
		e.jobs.open[id] = j
	}
	j.add(rec, start)
	e.closeJob(id, j)
}

// closeJob makes a row of a job all of whose requests have ended.
func (e *Engine) closeJob(id jobKey, j *openJob) {
	n := j.row[record.JobRequests]
	if int64(len(j.requests)) < max(n, -n) {
		return
	}
	delete(e.jobs.open, id)
	e.addJobRow(j.close(e.set))
}

func (e *Engine) addJobRow(row *record.Facts) {
	if e.jobs.rows.rows() < e.set.cfg.MaxRecords {
		e.jobs.rows.add(row, 0)
		return
	}
	e.jobs.beyond.add(row)
	if e.jobs.overflow == nil {
		e.jobs.overflow = make([]stats.Histogram, len(e.set.jobMetrics))
	}
	if row.IsError() {
		return
	}
	for _, m := range e.set.jobMetrics {
		if v, ok := m.value(row); ok {
			e.jobs.overflow[m.slot].Add(v)
		}
	}
}

func newOpenJob(requests int64) *openJob {
	j := &openJob{row: record.NewFacts()}
	j.row[record.JobRequests] = requests
	return j
}

func (j *openJob) add(rec *record.Record, startNS int64) {
	f := &rec.Facts
	r := jobRequest{number: rec.SessionNum, after: f[record.After], startNS: startNS, endNS: startNS + rec.Ended()}
	r.delayNS = max(0, f[record.JobDelay])
	j.requests = append(j.requests, r)
	begin := startNS
	if due, ok := f.Get(record.IntendedSend); ok && r.after == record.Absent {
		begin = min(begin, startNS+due)
	}
	j.spans(begin, r.endNS)
	if rec.IsError() {
		j.row[record.Failed] = 1
	}
	addFact(&j.row, record.InputTokens, f[record.InputTokens])
	addFact(&j.row, record.OutputTokens, f[record.OutputTokens])
	addFact(&j.row, record.ReasoningTokens, f[record.ReasoningTokens])
	addFact(&j.row, record.JobAgents, f[record.JobAgents])
}

func addFact(row *record.Facts, field record.Field, v int64) {
	switch {
	case v == record.Absent:
	case row[field] == record.Absent:
		row[field] = v
	default:
		row[field] += v
	}
}

func (j *openJob) spans(beginNS, endNS int64) {
	if j.beginNS == 0 || beginNS < j.beginNS {
		j.beginNS = beginNS
	}
	j.endNS = max(j.endNS, endNS)
}

// merge adds the requests of o, which are other ones of the same job.
func (j *openJob) merge(o *openJob) {
	j.requests = append(j.requests, o.requests...)
	j.spans(o.beginNS, o.endNS)
	if o.row.IsError() {
		j.row[record.Failed] = 1
	}
	for _, field := range []record.Field{record.InputTokens, record.OutputTokens, record.ReasoningTokens,
		record.JobAgents} {
		addFact(&j.row, field, o.row[field])
	}
}

func (j *openJob) clone() *openJob {
	c := *j
	c.requests = slices.Clone(j.requests)
	return &c
}

// close returns the row of the job.
func (j *openJob) close(s *Set) *record.Facts {
	row := &j.row
	row[record.StartWall], row[record.End] = j.beginNS, j.endNS-j.beginNS
	if row[record.JobRequests] < 0 {
		return row
	}
	row[record.JobAgents] = max(0, row[record.JobAgents])
	row[record.JobModel], row[record.JobDelay] = j.path()
	if !row.IsError() && len(s.jobObjectives) > 0 {
		row[record.Good] = count(meets(s.jobObjectives, row))
	}
	return row
}

// path returns how long the model worked on the critical path, and how long planned delays took there.
func (j *openJob) path() (modelNS, delayNS int64) {
	byNumber := func(a, b jobRequest) int { return cmp.Compare(a.number, b.number) }
	slices.SortFunc(j.requests, byNumber)
	at := 0
	for i := range j.requests {
		if j.requests[i].endNS > j.requests[at].endNS {
			at = i
		}
	}
	for range j.requests { // each is on the path once at most
		r := &j.requests[at]
		modelNS += r.endNS - r.startNS
		before, found := slices.BinarySearchFunc(j.requests, jobRequest{number: r.after}, byNumber)
		readyNS := j.beginNS
		if found {
			readyNS = j.requests[before].endNS
		}
		delayNS += min(r.delayNS, max(0, r.startNS-readyNS))
		if !found {
			break
		}
		at = before
	}
	return modelNS, delayNS
}

// clone copies what changes with the next request; of open jobs only when they were under way, unless whole.
func (j *jobs) clone(whole bool) jobs {
	c := jobs{rows: store{blocks: j.rows.snapshot()}, beyond: j.beyond}
	if whole {
		c.open = make(map[jobKey]*openJob, len(j.open))
	}
	for id, o := range j.open {
		if whole {
			c.open[id] = o.clone()
		} else {
			c.running = append(c.running, stretch{beginNS: o.beginNS, endNS: o.endNS,
				part: o.row[record.JobRequests] < 0})
		}
	}
	if j.overflow != nil {
		c.overflow = make([]stats.Histogram, len(j.overflow))
		for i := range j.overflow {
			c.overflow[i].Merge(&j.overflow[i])
		}
	}
	return c
}

// mergeJobs adds the jobs of another engine. One that has requests in both ends here when it is whole.
func (e *Engine) mergeJobs(o *jobs) {
	for _, b := range o.rows.blocks {
		b.each(func(row *storedRow) { e.addJobRow((*record.Facts)(row[:record.NumFields])) })
	}
	e.jobs.beyond.merge(&o.beyond)
	if o.overflow != nil {
		if e.jobs.overflow == nil {
			e.jobs.overflow = make([]stats.Histogram, len(e.set.jobMetrics))
		}
		for i := range o.overflow {
			e.jobs.overflow[i].Merge(&o.overflow[i])
		}
	}
	for id, other := range o.open {
		j := e.jobs.open[id]
		if j == nil {
			if e.jobs.open == nil {
				e.jobs.open = map[jobKey]*openJob{}
			}
			e.jobs.open[id] = other
			continue
		}
		j.merge(other)
		e.closeJob(id, j)
	}
}

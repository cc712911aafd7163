package metrics

import (
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// Engine takes the records of one phase and yields its results. It is safe for concurrent use;
// results can be asked for while records arrive.
//
// Rows of facts and chunk gaps are kept exactly up to the limits of the configuration. Requests
// beyond them go into one histogram per metric and into bins of time, so that memory stays bounded. Time
// slices add one state per slice and nothing per request.
type Engine struct {
	set *Set

	mu         sync.Mutex
	rows       store
	gaps       gapStore
	overflow   []stats.Histogram // by slot of the record metrics; nil below the limit
	gapsBeyond *stats.Histogram
	aggregates []folded // by slot of the aggregates
	errors     errorTally
	watch      phaseWatch
	acceptance acceptance
	jobs       jobs
	slices     *sliceStore // nil when slices are off
	// What timelines and the lag of a replay keep of the requests beyond the limit; nil below it.
	bins    *timeBins
	offsets *offsetBins
	facts   RunFacts
	// seen is what the aggregates see of the request that is being added.
	seen occurrence
}

// folded is the state of an aggregate.
type folded struct {
	value   int64
	present bool
}

func (a *folded) add(f fold, v int64) {
	if a.present {
		v = f.apply(a.value, v)
	}
	*a = folded{v, true}
}

// NewEngine makes an empty engine; every phase has its own.
func (s *Set) NewEngine() *Engine {
	return &Engine{set: s, aggregates: make([]folded, len(s.aggregates)), slices: newSliceStore(s)}
}

// SliceFrom has the time slices start at an instant, wall epoch ns: the start of the phase. It is called
// before the first record; without it slices start at multiples of their length since the epoch.
func (e *Engine) SliceFrom(wallNS int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.slices != nil {
		e.slices.originNS = wallNS
	}
}

// Add adds one finished request. It keeps nothing of rec but its error.
func (e *Engine) Add(rec *record.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	failed, skipped := rec.IsError(), e.set.Skips(rec)
	part := e.slices.count(&rec.Facts)
	e.seen = occurrence{&rec.Facts, rec.Err, e.set}
	for _, m := range e.set.of(failed).aggregates {
		if skipped && !m.ofSkipped {
			continue
		}
		if v, ok := m.increment(&e.seen); ok {
			e.aggregates[m.slot].add(m.fold, v)
			if part != nil {
				part.aggregates[m.slot].add(m.fold, v)
			}
		}
	}
	e.seen = occurrence{}
	e.watch.add(e.set, rec, skipped)
	e.addJob(rec)
	if skipped {
		return
	}
	if failed && rec.Err != nil {
		e.errors.add(rec.Err, errorTime{rec.Facts[record.StartWall] + rec.Ended(), rec.RequestID}, 1)
	}
	if rec.SpecDecode != nil && !failed {
		e.acceptance.add(rec.SpecDecode.Histogram)
	}
	var gaps []int64
	if !failed && usable(rec.GapsNS) {
		gaps = rec.GapsNS
	}
	e.keep(&rec.Facts, gaps, part)
}

// keep stores the facts and gaps of a request of a time slice, which may be nil.
func (e *Engine) keep(f *record.Facts, gaps []int64, part *slicePart) {
	kept := e.addGaps(gaps)
	isRow := e.addRow(f, kept, part)
	if part != nil && !(isRow && kept == len(gaps)) {
		part.addGaps(e.set, gaps)
	}
}

// addRow keeps the facts of a request, or what is left of them beyond the limit; it reports which.
func (e *Engine) addRow(f *record.Facts, gaps int, part *slicePart) bool {
	if e.rows.rows() < e.set.cfg.MaxRecords {
		e.rows.add(f, gaps)
		return true
	}
	if e.overflow == nil {
		e.overflow = make([]stats.Histogram, e.set.recordMetrics)
		e.bins, e.offsets = newTimeBins(), newOffsetBins()
	}
	e.addBeyond(f)
	for _, m := range e.set.of(f.IsError()).records {
		if len(m.reads) == 1 && f[m.reads[0]] == record.Absent {
			continue // most facts are absent: a look is cheaper than the formula
		}
		if v, ok := m.value(f); ok {
			e.overflow[m.slot].Add(v)
			if part != nil {
				part.sketch(e.set, m.slot).Add(v)
			}
		}
	}
	return false
}

// addBeyond adds a request to the bins.
func (e *Engine) addBeyond(f *record.Facts) {
	if r, ok := newInterval(f); ok {
		e.bins.add(&r)
	}
	if offset, ok := scheduleOffset(f); ok && !f.IsError() {
		e.offsets.add(offset)
	}
}

// addGaps returns how many of the gaps went into the exact store: all or none.
func (e *Engine) addGaps(gaps []int64) int {
	if e.gaps.count+int64(len(gaps)) <= e.set.cfg.MaxGaps {
		for _, ns := range gaps {
			e.gaps.add(ns)
		}
		return len(gaps)
	}
	if e.gapsBeyond == nil {
		e.gapsBeyond = new(stats.Histogram)
	}
	for _, ns := range gaps {
		e.gapsBeyond.Add(float64(ns))
	}
	return 0
}

// Merge adds everything that o, an engine of the same set and with the same start of slices, has taken. The results are
// those of one engine that took the records of both.
func (e *Engine) Merge(o *Engine) {
	other := o.freezeSliced()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.set.aggregates {
		if a := other.aggregates[m.slot]; a.present {
			e.aggregates[m.slot].add(m.fold, a.value)
		}
	}
	e.errors.merge(&other.errors)
	e.watch.merge(&other.watch)
	e.acceptance.add(other.acceptance.list())
	e.slices.merge(other.slices)
	e.mergeRows(other)
	e.mergeJobs(&other.jobs)
	e.facts.merge(&other.facts)
	if other.overflow != nil {
		if e.overflow == nil {
			e.overflow = make([]stats.Histogram, e.set.recordMetrics)
			e.bins, e.offsets = newTimeBins(), newOffsetBins()
		}
		e.bins.Merge(&other.bins.Bins)
		e.offsets.Merge(&other.offsets.Bins)
	}
	for i := range other.overflow {
		e.overflow[i].Merge(&other.overflow[i])
	}
	if other.gapsBeyond != nil {
		if e.gapsBeyond == nil {
			e.gapsBeyond = new(stats.Histogram)
		}
		e.gapsBeyond.Merge(other.gapsBeyond)
	}
}

// mergeRows adds the rows of other, each followed by its gaps, then the gaps of requests whose rows
// were not kept: their time slices know those already.
func (e *Engine) mergeRows(other *frozen) {
	cursor := other.gaps.cursor()
	var list []int64
	for _, b := range other.blocks {
		b.each(func(row *storedRow) {
			list = list[:0]
			for range row[gapCount] {
				ns, _ := cursor.next()
				list = append(list, ns)
			}
			f := (*record.Facts)(row[:record.NumFields])
			e.keep(f, list, e.slices.find(f))
		})
	}
	for ns, ok := cursor.next(); ok; ns, ok = cursor.next() {
		e.addGaps([]int64{ns})
	}
}

// frozen is the state of an engine at one instant, apart from it.
type frozen struct {
	blocks     []*block
	rows       int64
	gaps       gapStore
	overflow   []stats.Histogram
	gapsBeyond *stats.Histogram
	aggregates []folded
	errors     errorTally
	watch      phaseWatch
	acceptance acceptance
	jobs       jobs
	bins       *timeBins
	offsets    *offsetBins
	facts      RunFacts
	// slices is set by freezeSliced; outside counts the requests in no slice.
	slices  *sliceStore
	outside int64
}

func (e *Engine) freeze() *frozen {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state()
}

func (e *Engine) freezeSliced() *frozen {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.state()
	f.slices = e.slices.clone()
	f.jobs = e.jobs.clone(true)
	return f
}

// state copies what changes with the next request, and shares what no longer does: full blocks of rows. The engine is
// locked meanwhile, so that nothing is computed here.
func (e *Engine) state() *frozen {
	f := &frozen{
		blocks:     e.rows.snapshot(),
		rows:       e.rows.rows(),
		gaps:       e.gaps.snapshot(),
		aggregates: append([]folded(nil), e.aggregates...),
		bins:       e.bins.clone(),
		offsets:    e.offsets.clone(),
		jobs:       e.jobs.clone(false),
		facts:      e.facts,
	}
	f.errors.merge(&e.errors)
	f.watch.merge(&e.watch)
	f.acceptance.add(e.acceptance.list())
	if e.slices != nil {
		f.outside = e.slices.outside
	}
	if e.overflow != nil {
		f.overflow = make([]stats.Histogram, len(e.overflow))
		for i := range e.overflow {
			f.overflow[i].Merge(&e.overflow[i])
		}
	}
	if e.gapsBeyond != nil {
		f.gapsBeyond = new(stats.Histogram)
		f.gapsBeyond.Merge(e.gapsBeyond)
	}
	return f
}

// Snapshot are the figures that cost nothing to ask for.
type Snapshot struct {
	Successes, Errors int64
	// Skipped requests are neither: their context was too long, see [Config.SkipContextOverflow].
	Skipped int64
	// StartNS is the wall instant of the first send, EndNS that of the last response, error or
	// cancellation, failed requests included; 0 before the first record.
	StartNS, EndNS int64
	// UsageReported and CacheReported tell whether any response carried usage, and a cache field in it,
	// where the endpoint generates tokens.
	UsageReported, CacheReported bool
	Recoded                      Recoded
}

// Requests returns the number of all requests that were taken.
func (s *Snapshot) Requests() int64 { return s.Successes + s.Errors + s.Skipped }

// Snapshot returns the counts so far.
func (e *Engine) Snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.watch.snapshot()
	s.UsageReported = s.UsageReported && e.set.cfg.ProducesTokens
	s.CacheReported = s.CacheReported && e.set.cfg.ProducesTokens
	return s
}

// Errors returns the groups of equal errors, in order of first occurrence, which is when a request failed.
func (e *Engine) Errors() []ErrorCount {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.errors.list()
}

package metrics

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"aiperf/internal/measure/stats"
)

// Results computes the results of all records so far, in table order. It uses up to maxDescribers cores,
// memory for a copy of one column on each and up to 150 bytes a request for the timelines, and does not hold up Add
// meanwhile.
func (e *Engine) Results() []Metric {
	return e.results(func(*metric) bool { return true }, runtime.GOMAXPROCS(0), true)
}

// ResultsOf computes the results of some metrics only, on one core: what a live view needs.
func (e *Engine) ResultsOf(tags ...string) []Metric {
	return e.results(func(m *metric) bool { return slices.Contains(tags, m.Tag) }, 1, false)
}

func (e *Engine) results(wanted func(*metric) bool, workers int, bounds bool) []Metric {
	f := e.freeze()
	needed := e.set.closure(func(m *metric) bool { return m.shown && wanted(m) })
	distributions := e.set.distributions(f, needed, workers, bounds)
	scalars := e.set.evaluate(f.aggregates, distributions, e.set.wholeRun(f, needed))
	shown := func(m *metric) bool { return m.shown && wanted(m) }
	return e.set.assemble(shown, distributions, scalars, f.method)
}

// assemble lists the results of the metrics wanted that have a value, in table order.
func (s *Set) assemble(wanted func(*metric) bool, distributions map[string]stats.Summary, scalars *scalars,
	method func(*metric) Method) []Metric {
	var out []Metric
	ranks := s.ranks
	for _, m := range s.metrics {
		if !wanted(m) {
			continue
		}
		if m.hasDistribution() {
			if s, ok := distributions[m.Tag]; ok {
				out = append(out, m.distribution(&s, method(m), ranks))
			}
			continue
		}
		if v, ok := scalars.get(m.Tag); ok {
			exact, _ := scalars.exact(m.Tag)
			r := m.scalar(v, exact)
			if p := m.parts; p != nil {
				r.Stats.Sum = scalars.orZero(p.sum)
				r.Stats.Count, _ = scalars.exact(p.count)
			}
			if m.flat {
				r.spread(ranks)
			}
			out = append(out, r)
		}
	}
	return out
}

// closure selects metrics and everything that they depend on.
func (s *Set) closure(selected func(*metric) bool) map[string]bool {
	need := map[string]bool{}
	byTag := make(map[string]*metric, len(s.metrics))
	for _, m := range s.metrics {
		byTag[m.Tag] = m
	}
	var visit func(m *metric)
	visit = func(m *metric) {
		if m == nil || need[m.Tag] {
			return
		}
		need[m.Tag] = true
		// The others compute themselves from facts; they need no result.
		if m.Kind != KindDerived && m.Kind != KindAdjusted {
			return
		}
		for _, tag := range slices.Concat(m.Requires, m.Uses) {
			visit(byTag[tag])
		}
	}
	for _, m := range s.metrics {
		if selected(m) {
			visit(m)
		}
	}
	return need
}

// maxDescribers bounds the metrics that are computed at the same time, each of which takes memory for
// a number of each row.
const maxDescribers = 8

// distributions computes the statistics of record metrics, adjusted ones and timelines in their
// internal units, on request with the bounds of percentiles.
func (s *Set) distributions(f *frozen, needed map[string]bool, workers int, bounds bool) map[string]stats.Summary {
	var mu sync.Mutex
	out := map[string]stats.Summary{}
	put := func(m *metric, sum stats.Summary) {
		if !needed[m.Tag] {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		out[m.Tag] = sum
	}
	jobs := make(chan *metric)
	var group sync.WaitGroup
	for i := range min(workers, maxDescribers) {
		group.Go(func() {
			if i == 0 {
				s.timelines(f, needed, put)
			}
			d := describer{frozen: f, ranks: s.ranks, bounds: bounds}
			for m := range jobs {
				if sum := d.describe(m); sum.Count > 0 {
					put(m, sum)
					d.adjustments(m, sum, s.adjusted[m.Tag], put)
				}
			}
		})
	}
	for _, m := range s.metrics {
		if m.Kind.HasRows() && needed[m.Tag] {
			jobs <- m
		}
	}
	close(jobs)
	group.Wait()
	return out
}

// timelines computes those that are needed, one after the other: each takes as much memory as all rows.
func (s *Set) timelines(f *frozen, needed map[string]bool, put func(*metric, stats.Summary)) {
	var curve timeDistribution
	s.describeTimelines(&curve, f.curvesFor(s, needed), needed, put)
}

// describeTimelines computes those that are needed of the curves in some window.
func (s *Set) describeTimelines(curve *timeDistribution, curves segments, needed map[string]bool,
	put func(*metric, stats.Summary)) {
	for _, m := range s.metrics {
		if m.Kind != KindTimeline || !needed[m.Tag] {
			continue
		}
		if m.Flags.Has(SupportsImageOnly) && curves.noImages {
			continue // without the sweep that would show it
		}
		// Images that never were there make no curve.
		if sum, ok := curve.describe(curves, m.curve, m.during); ok &&
			(sum.Max > 0 || !m.Flags.Has(SupportsImageOnly)) {
			put(m, sum)
		}
	}
}

// hasDistribution reports whether the metric has more than one number.
func (m *metric) hasDistribution() bool {
	return m.Kind.HasRows() || m.Kind == KindAdjusted || m.Kind == KindTimeline
}

// describer computes one metric after the other with the same buffers.
type describer struct {
	*frozen
	ranks  []float64
	bounds bool
	reader blockReader
	values []float64
	// sides are the bounds of so many values: most metrics have one for each request.
	sides map[int64]stats.Sides
}

// describe leaves the values of an exact metric in d.values, reordered.
func (d *describer) describe(m *metric) stats.Summary {
	switch {
	case m.list && d.gapsBeyond == nil:
		var places []int64
		if d.bounds {
			places = d.sidesOf(d.gaps.count).Places()
		}
		s, found := d.gaps.describeWith(d.ranks, places)
		if d.bounds && s.Count > 0 {
			s.Bounds = d.sidesOf(s.Count).Bounds(func(place int64) float64 { return found[place] })
		}
		return s
	case m.list || d.beyond(m) != nil:
		h := d.histogram(m)
		s := h.Summary(d.ranks)
		d.bound(&s, h.At)
		return s
	}
	blocks, rows := d.rowsOf(m)
	d.values = slices.Grow(d.values[:0], int(rows))
	for _, b := range blocks {
		d.values = d.reader.collect(d.values, b, m)
	}
	s := stats.Describe(d.values, d.ranks)
	d.bound(&s, func(places []int64) []float64 { return stats.Select(d.values, places) })
	return s
}

// bound adds the bounds of the percentiles, if they are wanted, from the values at ascending places.
func (d *describer) bound(s *stats.Summary, at func(places []int64) []float64) {
	if !d.bounds || s.Count == 0 {
		return
	}
	sides := d.sidesOf(s.Count)
	places := sides.Places()
	s.Bounds = sides.Bounds(stats.Lookup(places, at(places)))
}

func (d *describer) sidesOf(n int64) stats.Sides {
	sides, known := d.sides[n]
	if !known {
		if d.sides == nil {
			d.sides = map[int64]stats.Sides{}
		}
		sides = stats.SidesOf(d.ranks, n, BoundsConfidence)
		d.sides[n] = sides
	}
	return sides
}

// histogram holds all values of a metric of which not all were kept.
func (d *describer) histogram(m *metric) *stats.Histogram {
	h := new(stats.Histogram)
	if m.list {
		h.Merge(d.gapsBeyond)
		cursor := d.gaps.cursor()
		for ns, ok := cursor.next(); ok; ns, ok = cursor.next() {
			h.Add(float64(ns))
		}
		return h
	}
	h.Merge(&d.beyond(m)[m.slot])
	blocks, _ := d.rowsOf(m)
	for _, b := range blocks {
		d.values = d.reader.collect(d.values[:0], b, m)
		for _, v := range d.values {
			h.Add(v)
		}
	}
	return h
}

// rowsOf returns the rows that a metric is computed from: those of requests, or of jobs.
func (f *frozen) rowsOf(m *metric) (blocks []*block, rows int64) {
	if m.Kind != KindJob {
		return f.blocks, f.rows
	}
	for _, b := range f.jobs.rows.blocks {
		rows += int64(b.rows)
	}
	return f.jobs.rows.blocks, rows
}

// beyond returns the histograms of what has no rows of those that the metric is computed from; nil while all has.
func (f *frozen) beyond(m *metric) []stats.Histogram {
	if m.Kind == KindJob {
		return f.jobs.overflow
	}
	return f.overflow
}

func (f *frozen) method(m *metric) Method {
	if m.Kind == KindTimeline {
		if f.bins != nil {
			return MethodTimeBins
		}
		return MethodExact
	}
	if m.list && f.gapsBeyond != nil || !m.list && f.beyond(m) != nil {
		return MethodHistogram
	}
	return MethodExact
}

// scalars are the values that derived metrics read: sums of record metrics, aggregates, and what was
// derived before.
type scalars struct {
	values   map[string]float64
	integers map[string]int64
	scope
}

// scope is what derived metrics depend on besides the results of others.
type scope struct {
	// windowNS is the length of a time slice, which rates divide by; 0 = benchmark_duration.
	windowNS int64
	// The others exist for the whole run only.
	networkRTT  *time.Duration
	serverStart *time.Duration
	replay      replayLag
	jobs        jobFigures
	// pricePerHour is that of all GPUs together, 0 if it is not known.
	pricePerHour float64
}

// wholeRun returns the scope of a run.
func (s *Set) wholeRun(f *frozen, needed map[string]bool) scope {
	of := scope{networkRTT: f.facts.NetworkRTT, serverStart: f.facts.ServerStart,
		pricePerHour: s.cfg.PricePerGPUHour * float64(f.facts.GPUs)}
	if s.needsAny(FixedScheduleOnly, needed) {
		of.replay = f.replayLag()
	}
	if s.needsAny(JobsOnly, needed) {
		of.jobs = f.jobs.figures(f.facts.GPUs)
	}
	return of
}

// needsAny reports whether a derived metric with a flag is needed.
func (s *Set) needsAny(flag Flags, needed map[string]bool) bool {
	return slices.ContainsFunc(s.derived, func(m *metric) bool {
		return m.Flags.Has(flag) && needed[m.Tag]
	})
}

// rateDuration returns the time in ns that rates divide by.
func (s *scalars) rateDuration() (float64, bool) {
	if s.windowNS > 0 {
		return float64(s.windowNS), true
	}
	return s.get("benchmark_duration")
}

func (s *scalars) get(tag string) (float64, bool) {
	v, ok := s.values[tag]
	return v, ok
}

// exact returns the integer of an aggregate, which a float may not hold.
func (s *scalars) exact(tag string) (int64, bool) {
	v, ok := s.integers[tag]
	return v, ok
}

func (s *scalars) orZero(tag string) float64 { return s.values[tag] }

func (s *scalars) quotient(numerator, denominator string) (float64, bool) {
	n, ok := s.values[numerator]
	d := s.values[denominator]
	if !ok || d == 0 {
		return 0, false
	}
	return n / d, true
}

// evaluate folds in the aggregates and computes the derived metrics.
func (s *Set) evaluate(aggregates []folded, distributions map[string]stats.Summary, within scope) *scalars {
	out := &scalars{values: map[string]float64{}, integers: map[string]int64{}, scope: within}
	for tag, sum := range distributions {
		out.values[tag] = sum.Sum
	}
	for _, m := range s.aggregates {
		if a := aggregates[m.slot]; a.present {
			out.values[m.Tag], out.integers[m.Tag] = float64(a.value), a.value
		}
	}
	for _, m := range s.derived {
		if v, ok := m.derive(out); ok {
			out.values[m.Tag] = v
		}
	}
	return out
}

// result returns the part of a Result that the definition gives.
func (m *metric) result() Metric {
	return Metric{
		Tag: m.Tag, Header: m.Header, Short: m.Short, ShortHidesUnit: m.ShortHidesUnit,
		Unit: string(m.Display), Group: m.Group, Order: m.Order, Flags: m.Flags,
	}
}

// distribution converts statistics to the display unit.
func (m *metric) distribution(s *stats.Summary, method Method, ranks []float64) Metric {
	r := m.result()
	r.Distribution, r.Method = true, method
	r.Stats = Stats{
		Avg: s.Avg * m.ratio, Min: s.Min * m.ratio, Max: s.Max * m.ratio,
		Sum: s.Sum * m.ratio, Std: s.Std * m.ratio, Count: s.Count,
	}
	for i, p := range s.Percentiles {
		if i < len(PercentileRanks) {
			r.Stats.Percentiles[i] = p * m.ratio
		} else {
			r.Further = append(r.Further, Percentile{ranks[i], p * m.ratio})
		}
	}
	for i, b := range s.Bounds {
		r.Bounds = append(r.Bounds, Bound{ranks[i], b.Low * m.ratio, b.High * m.ratio})
	}
	return r
}

func (m *metric) scalar(v float64, exact int64) Metric {
	r := m.result()
	r.Stats.Avg = v * m.ratio
	if m.Display == Nanoseconds {
		r.EpochNS = exact
	}
	return r
}

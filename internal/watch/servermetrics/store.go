package servermetrics

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/watch/prom"
)

// Options shape a Store.
type Options struct {
	// Warn hears of samples that cannot be kept, once per cause; nil ignores them. It must not call the store.
	Warn func(message string)
}

// Store holds everything that the endpoints of one run delivered.
type Store struct {
	warn func(message string)

	mu        sync.Mutex
	endpoints []*EndpointStore // in order of their first mention
	delivered []*EndpointStore // in order of their first scrape
}

// NewStore returns an empty store.
func NewStore(o Options) *Store {
	s := &Store{warn: o.Warn}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	return s
}

// Endpoint returns the part of the store for an endpoint and makes it on first mention. The URL is the one
// that exports show: normalised and redacted. The order of first mention is that of the configuration: it
// decides which of two endpoints names the type of a family that they disagree about.
func (s *Store) Endpoint(url string) *EndpointStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.endpoints {
		if e.url == url {
			return e
		}
	}
	e := &EndpointStore{
		store: s, url: url, inOrder: true,
		families: map[string]*prom.Family{}, byKey: map[string]*Series{}, sources: map[*prom.Series]source{},
	}
	s.endpoints = append(s.endpoints, e)
	return e
}

// Endpoints returns the endpoints that delivered a scrape, in order of first mention.
func (s *Store) Endpoints() []*EndpointStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.endpoints), func(e *EndpointStore) bool {
		return !slices.Contains(s.delivered, e)
	})
}

// ByFirstScrape returns the endpoints that delivered a scrape, in order of the first one.
func (s *Store) ByFirstScrape() []*EndpointStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.delivered)
}

// LastScrape returns the instant of the last scrape up to another instant; 0 without one. It wants the collection to be
// over.
func (s *Store) LastScrape(untilNS int64) int64 {
	last := int64(0)
	for _, e := range s.Endpoints() {
		for _, ns := range e.times {
			if ns <= untilNS {
				last = max(last, ns)
			}
		}
	}
	return last
}

func (s *Store) deliveredFirst(e *EndpointStore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered = append(s.delivered, e)
}

// Scrape is one successful, non-empty response of an endpoint.
type Scrape struct {
	// TimestampNS is the instant of the samples, Unix nanoseconds.
	TimestampNS int64
	// LatencyNS is the time from sending to the end of the body; 0 is unknown.
	LatencyNS int64
	// RequestSentNS and FirstByteNS are kept for recordings; the store does not use them.
	RequestSentNS, FirstByteNS int64
	// Duplicate reports that the body equals the one before it from this endpoint.
	Duplicate bool
	// Samples are what the body held, all values finite. Those of a duplicate may be nil: as in the scrape
	// added before.
	Samples []prom.Sample
	// Summaries are kept apart; empty where they are not requested.
	Summaries []prom.Sample
	// Phase is that of the run in which the page was asked for, for a recording; nil is between two of them.
	Phase *PhaseID
}

// PhaseID identifies a phase of a run.
type PhaseID struct {
	Index int
	// Profiling counts the profiling phases from 0; -1 is a warm-up.
	Profiling  int
	Name, Kind string
}

// EndpointStore holds the scrapes of one endpoint. Add is safe for concurrent use; everything that reads
// wants the collection to be over.
//
// Scrapes are numbered by arrival, a number is called a slot. Late ones are not inserted: the slots are put
// into order of time when they are read.
type EndpointStore struct {
	store *Store
	url   string

	mu        sync.Mutex
	times     []int64   // of each slot
	inOrder   bool      // times ascend
	order     []int32   // the slots by time, while they are not in order; nil until asked for
	updates   []int64   // times of the scrapes that were no duplicates
	latencies []int64   // of each slot; 0 is unknown
	series    []*Series // in order of first appearance
	summaries []*Series // likewise
	families  map[string]*prom.Family
	byKey     map[string]*Series
	sources   map[*prom.Series]source

	// turns is whether several servers answered in turn by so many pages, some of which came late.
	turns struct {
		pages, servers int
		answered       bool
	}

	resolved []source // scratch of Add
	row      []float64
}

// source is what a series of a parser is called here.
type source struct {
	// series is nil when its samples cannot be kept.
	series *Series
	// places are, for each bucket kept, its place in the parser's, or -1; nil when they are the same.
	places []int
}

// URL returns the endpoint's address as exports show it.
func (e *EndpointStore) URL() string { return e.url }

// Series returns the endpoint's series in order of first appearance.
func (e *EndpointStore) Series() []*Series { return e.series }

// Add stores a scrape. Nothing of it is referred to afterwards but the descriptions of its series, which must
// not change. Of two samples of one series the last counts. A scrape without samples is ignored.
func (e *EndpointStore) Add(sc Scrape) {
	e.mu.Lock()
	defer e.mu.Unlock()
	slot := int32(len(e.times))
	repeat := sc.Duplicate && sc.Samples == nil && slot > 0
	if len(sc.Samples) == 0 && !repeat {
		return
	}
	if slot == 0 {
		e.store.deliveredFirst(e)
	} else if sc.TimestampNS < e.times[slot-1] {
		e.inOrder = false
	}
	e.order = nil
	e.times = append(e.times, sc.TimestampNS)
	if !sc.Duplicate {
		e.updates = append(e.updates, sc.TimestampNS)
	}
	e.latencies = append(e.latencies, max(sc.LatencyNS, 0))
	if repeat {
		for _, s := range slices.Concat(e.series, e.summaries) {
			if s.values.lastSlot == slot-1 {
				s.course.before = s.values.last[len(s.values.last)-1]
				s.values.repeat(slot)
			}
		}
		return
	}
	e.keep(slot, sc.Samples)
	e.keep(slot, sc.Summaries)
}

func (e *EndpointStore) keep(slot int32, samples []prom.Sample) {
	e.resolved = e.resolved[:0]
	for i := range samples {
		src := e.resolve(samples[i].Series)
		if src.series != nil {
			src.series.counts = i
		}
		e.resolved = append(e.resolved, src)
	}
	for i, src := range e.resolved {
		if src.series == nil || src.series.counts != i {
			continue
		}
		row := e.rowOf(src, &samples[i])
		src.series.follow(slot, row)
		src.series.values.push(slot, row)
	}
}

// rowOf returns a sample as a column keeps it.
func (e *EndpointStore) rowOf(src source, sample *prom.Sample) []float64 {
	e.row = e.row[:0]
	if !src.series.Family.Type.Bucketed() {
		e.row = append(e.row, sample.Value)
		return e.row
	}
	if src.places == nil {
		e.row = append(e.row, sample.Buckets...)
	} else {
		for _, place := range src.places {
			v := 0.0
			if place >= 0 {
				v = sample.Buckets[place]
			}
			e.row = append(e.row, v)
		}
	}
	e.row = append(e.row, sample.Sum, sample.Count)
	return e.row
}

// resolve returns the series that a parser's series stands for.
func (e *EndpointStore) resolve(p *prom.Series) source {
	if src, known := e.sources[p]; known {
		return src
	}
	src := e.introduce(p)
	e.sources[p] = src
	return src
}

// introduce returns the series that a description belongs to, and makes it if it is new. It is called once for each
// description, not for each sample. A family keeps its first type: a server that is replaced may describe it otherwise,
// and a histogram and a number have no history in common.
func (e *EndpointStore) introduce(p *prom.Series) source {
	name := p.Family.Name
	if p.Family.Type == prom.Summary {
		name = "\xff" + name // which takes no name from other families
	}
	family, known := e.families[name]
	if !known {
		copied := *p.Family
		family = &copied
		e.families[name] = family
	}
	if (family.Type == prom.Histogram) != (p.Family.Type == prom.Histogram) {
		e.store.warn(fmt.Sprintf("Server metrics: %s at %s was a %s and became a %s; what came after is dropped",
			family.Name, e.url, family.Type, p.Family.Type))
		return source{}
	}
	key := seriesKey(name, p.Labels)
	s, known := e.byKey[key]
	if !known {
		s = &Series{Family: family, Labels: p.Labels, Bounds: p.Bounds, Upper: p.Upper, endpoint: e}
		s.values = newColumn(1)
		if family.Type.Bucketed() {
			s.values = newColumn(len(p.Bounds) + 2)
		}
		e.byKey[key] = s
		if family.Type == prom.Summary {
			e.summaries = append(e.summaries, s)
		} else {
			e.series = append(e.series, s)
		}
		return source{series: s}
	}
	return source{series: s, places: e.bucketPlaces(s, p)}
}

// bucketPlaces relates the buckets of a later description of a histogram to those of its first.
func (e *EndpointStore) bucketPlaces(s *Series, p *prom.Series) []int {
	if slices.Equal(s.Upper, p.Upper) {
		return nil
	}
	places := make([]int, len(s.Upper))
	found := 0
	for i, upper := range s.Upper {
		places[i] = slices.Index(p.Upper, upper)
		if places[i] >= 0 {
			found++
		}
	}
	if found < len(p.Upper) {
		e.store.warn(fmt.Sprintf(
			"Server metrics: %s at %s changed its buckets; those it did not have at first are ignored",
			s.describe(), e.url))
	}
	return places
}

// seriesKey identifies a series among those of its endpoint.
func seriesKey(name string, labels []prom.Label) string {
	var b strings.Builder
	b.WriteString(name)
	for _, l := range labels {
		b.WriteByte(0xff) // occurs in no UTF-8 text
		b.WriteString(l.Name)
		b.WriteByte(0xff)
		b.WriteString(l.Value)
	}
	return b.String()
}

// slotsByTime returns the slots in order of time, or nil when that is their own order.
func (e *EndpointStore) slotsByTime() []int32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inOrder || e.order != nil {
		return e.order
	}
	e.order = make([]int32, len(e.times))
	for i := range e.order {
		e.order[i] = int32(i)
	}
	slices.SortStableFunc(e.order, func(a, b int32) int {
		switch {
		case e.times[a] < e.times[b]:
			return -1
		case e.times[a] > e.times[b]:
			return 1
		}
		return 0
	})
	return e.order
}

// HasFamily reports whether a page has a metric whose name begins with a prefix.
func (s *Store) HasFamily(prefix string) bool {
	return slices.ContainsFunc(s.Endpoints(), func(e *EndpointStore) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.ContainsFunc(e.series, func(series *Series) bool { return strings.HasPrefix(series.Family.Name, prefix) })
	})
}

// LabelValues returns the values that a label has on all pages, each once.
func (s *Store) LabelValues(label string) (values []string) {
	for _, e := range s.Endpoints() {
		e.mu.Lock()
		for _, series := range e.series {
			for _, l := range series.Labels {
				if l.Name == label && !slices.Contains(values, l.Value) {
					values = append(values, l.Value)
				}
			}
		}
		e.mu.Unlock()
	}
	return values
}

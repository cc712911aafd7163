package recompute

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// endpoint makes samples of an endpoint's lines: the descriptions of its series are made once, found again by
// the text of their labels.
type endpoint struct {
	described *export.Endpoint
	types     map[string]prom.Type
	families  map[familyKey]*prom.Family
	names     map[string]map[string]*series // by name, then by the text of the labels
	info      []infoSeries
	number    int    // of the scrape, from 1
	metrics   []byte // of the last line, as text
	dup       int    // the first stretch of duplicates that is not over
	order     places

	last   []prom.Sample // of the last line, without info series
	places []int         // of last
	values []float64     // their buckets
	out    []prom.Sample
	outAt  []int
	fresh  []int // of these, those that may be new
}

type familyKey struct {
	name      string
	histogram bool
}

// series is what lines call by a name and labels.
type series struct {
	place   int
	labels  []prom.Label
	layouts []*layout // for histograms, the last one used first
	scalar  *prom.Series
}

// layout is a histogram with certain buckets.
type layout struct {
	keys   []string // the bounds as in the line
	at     []int    // the place of each in ascending order; nil when they ascend
	series *prom.Series
}

type infoSeries struct {
	export.InfoSeries
	series *prom.Series
	next   int // the first of Values that is not over
}

// places yields the places at which series appeared first.
type places struct {
	ranges export.Ranges
	at     int
	offset int
	beyond int
}

func (p *places) next() int {
	for p.at < len(p.ranges) {
		r := p.ranges[p.at]
		if n := r[0] + p.offset; n <= r[1] {
			p.offset++
			return n
		}
		p.at++
		p.offset = 0
	}
	p.beyond++
	return math.MaxInt32 + p.beyond
}

func newEndpoint(described *export.Endpoint, types map[string]prom.Type) *endpoint {
	e := &endpoint{
		described: described, types: types,
		families: map[familyKey]*prom.Family{}, names: map[string]map[string]*series{},
		order: places{ranges: described.SeriesOrder},
	}
	for i := range described.Families {
		f := described.Families[i]
		if t, given := types[f.Name]; given && f.Type != prom.Histogram {
			f.Type = t
		}
		e.families[familyKey{f.Name, f.Type == prom.Histogram}] = &f
	}
	for _, s := range described.Info {
		e.info = append(e.info, infoSeries{InfoSeries: s,
			series: &prom.Series{Family: e.family(s.Name, false), Labels: s.Labels}})
	}
	return e
}

// family is that of a name; what nobody described gets its type from its shape or its name.
func (e *endpoint) family(name string, histogram bool) *prom.Family {
	key := familyKey{name, histogram}
	f := e.families[key]
	if f != nil {
		return f
	}
	f = &prom.Family{Name: name}
	if histogram {
		f.Type = prom.Histogram
	} else if t, given := e.types[name]; given {
		f.Type = t
	} else if e.families[familyKey{name, true}] == nil {
		f.Type = typeByName(name)
	}
	e.families[key] = f
	return f
}

// scrape reads the metrics of a line and completes its scrape.
func (e *endpoint) scrape(s *scanner, metrics []byte, scrape *servermetrics.Scrape) error {
	e.number++
	same := e.number > 1 && bytes.Equal(metrics, e.metrics)
	e.fresh = e.fresh[:0]
	if !same {
		e.metrics = append(e.metrics[:0], metrics...)
		e.last, e.places, e.values = e.last[:0], e.places[:0], e.values[:0]
		e.read(s)
		if err := s.fault(); err != nil {
			return err
		}
	}
	scrape.Duplicate = e.duplicate(same)
	scrape.Samples = e.last
	if len(e.info) > 0 || len(e.fresh) > 1 {
		e.out, e.outAt = append(e.out[:0], e.last...), append(e.outAt[:0], e.places...)
		e.addInfo()
		e.arrange()
		scrape.Samples = e.out
	}
	return nil
}

// arrange brings the samples of series that are new into the order in which they appeared: the store keeps it.
func (e *endpoint) arrange() {
	byPlace := func(a, b int) int { return cmp.Compare(e.outAt[a], e.outAt[b]) }
	if slices.IsSortedFunc(e.fresh, byPlace) {
		return
	}
	sorted := slices.SortedStableFunc(slices.Values(e.fresh), byPlace)
	samples := slices.Clone(e.out)
	for i, to := range e.fresh {
		e.out[to] = samples[sorted[i]]
	}
}

// duplicate reports whether the body of the scrape equals that of the previous one. Where the recording does not say
// so, equal metrics count as equal bodies.
func (e *endpoint) duplicate(same bool) bool {
	if e.number > e.described.Scrapes {
		return same
	}
	d := e.described.Duplicates
	for e.dup < len(d) && d[e.dup][1] < e.number {
		e.dup++
	}
	return e.dup < len(d) && d[e.dup][0] <= e.number
}

// addInfo adds the info series of the scrape. Beyond what is written down they stay as they were.
func (e *endpoint) addInfo() {
	for i := range e.info {
		s := &e.info[i]
		for s.next < len(s.Values) && s.Values[s.next].Last < min(e.number, e.described.Scrapes) {
			s.next++
		}
		if s.next == len(s.Values) || s.Values[s.next].First > e.number {
			continue
		}
		if s.Values[s.next].First == e.number {
			e.fresh = append(e.fresh, len(e.out)) // perhaps
		}
		e.out = append(e.out, prom.Sample{Series: s.series, Value: s.Values[s.next].Value})
		e.outAt = append(e.outAt, s.Position)
	}
}

// read reads the samples of all families of a line.
func (e *endpoint) read(s *scanner) {
	for key := range s.Members() {
		name := string(key)
		named := e.names[name]
		if named == nil {
			named = map[string]*series{}
			e.names[name] = named
		}
		for range s.Elements() {
			e.sample(s, name, named)
		}
	}
}

// sample reads one sample.
func (e *endpoint) sample(s *scanner, name string, named map[string]*series) {
	var labels []byte
	sample := prom.Sample{}
	buckets := -1 // where they begin
	bucketsAt := 0
	value := false
	for key := range s.Members() {
		switch string(key) {
		case "labels":
			labels = s.skip()
		case "value":
			sample.Value, value = s.number(), true
		case "sum":
			sample.Sum = s.number()
		case "count":
			sample.Count = s.number()
		case "buckets":
			s.Peek()
			bucketsAt, buckets = s.At, len(e.values)
			s.skip()
		default:
			s.skip()
		}
	}
	if s.At < 0 {
		return
	}
	if !value && buckets < 0 {
		s.fail("a sample of %s has neither value nor buckets", name)
		return
	}
	of := named[string(labels)]
	if of == nil {
		if of = e.introduce(s, labels); of == nil {
			return
		}
		named[string(labels)] = of
	}
	if buckets < 0 {
		if of.scalar == nil {
			of.scalar = &prom.Series{Family: e.family(name, false), Labels: of.labels}
		}
		sample.Series = of.scalar
	} else {
		b := newScanner(s.Text, bucketsAt)
		l := e.layout(&b, of, name)
		if err := b.fault(); err != nil {
			s.fail("%v", err)
			return
		}
		sample.Series = l.series
		sample.Buckets = e.values[buckets:len(e.values):len(e.values)]
	}
	e.last, e.places = append(e.last, sample), append(e.places, of.place)
}

// introduce makes a series that a line brings for the first time.
func (e *endpoint) introduce(s *scanner, labels []byte) *series {
	of := &series{}
	if len(labels) > 0 && string(labels) != "null" {
		l := newScanner(labels, 0)
		for key := range l.Members() {
			of.labels = append(of.labels, prom.Label{Name: string(key), Value: string(l.str())})
		}
		if err := l.fault(); err != nil {
			s.fail("labels %s: %v", labels, err)
			return nil
		}
		slices.SortStableFunc(of.labels, func(a, b prom.Label) int { return strings.Compare(a.Name, b.Name) })
	}
	of.place = e.order.next()
	e.fresh = append(e.fresh, len(e.last))
	return of
}

// layout reads buckets into the values and finds the description of a histogram with such bounds.
func (e *endpoint) layout(s *scanner, of *series, name string) *layout {
	start := len(e.values)
	var l *layout
	if len(of.layouts) > 0 {
		l = of.layouts[0]
	}
	n := 0
	var keys []string // from the first one on that differs
	for key := range s.Members() {
		if l != nil && keys == nil && n < len(l.keys) && l.keys[n] == string(key) {
			n++
		} else {
			if keys == nil && l != nil {
				keys = slices.Clone(l.keys[:n])
			}
			keys = append(keys, string(key))
		}
		e.values = append(e.values, s.number())
	}
	if s.At < 0 {
		return nil
	}
	if l == nil || keys != nil || n != len(l.keys) {
		if keys == nil && l != nil {
			keys = slices.Clone(l.keys[:n])
		}
		l = e.otherLayout(s, of, name, keys)
		if l == nil {
			return nil
		}
	}
	if l.at != nil {
		read := slices.Clone(e.values[start:])
		for i, at := range l.at {
			e.values[start+at] = read[i]
		}
	}
	return l
}

// otherLayout finds or makes a layout and puts it first.
func (e *endpoint) otherLayout(s *scanner, of *series, name string, keys []string) *layout {
	i := slices.IndexFunc(of.layouts, func(l *layout) bool { return slices.Equal(l.keys, keys) })
	if i < 0 {
		l := e.newLayout(s, of, name, keys)
		if l == nil {
			return nil
		}
		of.layouts = append(of.layouts, l)
		i = len(of.layouts) - 1
	}
	of.layouts[0], of.layouts[i] = of.layouts[i], of.layouts[0]
	return of.layouts[0]
}

func (e *endpoint) newLayout(s *scanner, of *series, name string, keys []string) *layout {
	upper := make([]float64, len(keys))
	order := make([]int, len(keys))
	for i, key := range keys {
		v, err := strconv.ParseFloat(key, 64)
		if err != nil || math.IsNaN(v) {
			s.fail("bucket %q of %s is not a number", key, name)
			return nil
		}
		upper[i], order[i] = v, i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case upper[a] < upper[b]:
			return -1
		case upper[a] > upper[b]:
			return 1
		}
		return 0
	})
	l := &layout{keys: keys, series: &prom.Series{Family: e.family(name, true), Labels: of.labels}}
	if !slices.IsSorted(order) {
		l.at = make([]int, len(keys))
	}
	for place, i := range order {
		l.series.Bounds = append(l.series.Bounds, keys[i])
		l.series.Upper = append(l.series.Upper, upper[i])
		if l.at != nil {
			l.at[i] = place
		}
	}
	return l
}

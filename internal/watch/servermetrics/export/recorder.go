package export

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// Recorder writes the recording of a run: one line for each scrape as it comes, and next to them the sidecar, which
// holds what the lines lack. The sidecar is written at the start, whenever a family appears, and complete at
// the end, so that a killed run leaves a recording that can be read.
type Recorder struct {
	sidecar string
	lines   *artifact.Lines

	mu        sync.Mutex
	info      Info
	endpoints []*recordedEndpoint
	byURL     map[string]*recordedEndpoint
	members   artifact.Members // the line being made
	order     []int            // scratch: the samples of a scrape, by family
	number    int              // of the current line
	err       error            // the sidecar's first
}

// RecorderOptions shape a Recorder.
type RecorderOptions struct {
	// OnError hears of the first error, once; the lines after it are lost.
	OnError func(error)
}

// recordedEndpoint is what the sidecar says about an endpoint, and the texts that its lines repeat.
type recordedEndpoint struct {
	Endpoint
	series   map[*prom.Series]*recordedSeries
	byKey    map[string]*recordedSeries
	families map[string]*recordedFamily
	appeared bool   // a family or an info series is new in the current scrape
	metrics  []byte // of the last line
}

type recordedFamily struct {
	name string
	info bool
	line int // the last line with it
}

// recordedSeries is a series and what its samples begin with.
type recordedSeries struct {
	family   *recordedFamily
	position int
	prefix   string   // up to the value, or to the first bucket
	bounds   []string // the keys of the buckets
	info     int      // its place among the endpoint's info series
	met      bool     // its position is in the series order
}

// NewRecorder creates both files. What info lacks may be given at the end.
func NewRecorder(path, sidecar string, info Info, o RecorderOptions) (*Recorder, error) {
	lines, err := artifact.CreateLines(path, artifact.LinesOptions{OnError: o.OnError})
	if err != nil {
		return nil, err
	}
	r := &Recorder{sidecar: sidecar, lines: lines, info: info, byURL: map[string]*recordedEndpoint{}}
	if err := r.writeSidecar(false); err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	return r, nil
}

// Scraped writes a scrape down. It wants the scrapes of an endpoint in the order in which the store gets them.
func (r *Recorder) Scraped(url string, s servermetrics.Scrape) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byURL[url]
	repeat := s.Duplicate && e != nil && e.Scrapes > 0
	if len(s.Samples) == 0 && !repeat { // the store ignores it, too
		return
	}
	if e == nil {
		e = r.introduce(url)
	}
	r.number++
	e.Scrapes++
	if s.Duplicate {
		e.Duplicates = e.Duplicates.add(e.Scrapes)
	}
	if repeat {
		e.repeatInfo()
	} else {
		e.metrics = r.metrics(e, s.Samples, e.metrics[:0])
	}
	m := &r.members
	m.Dst = m.Dst[:0]
	m.Open()
	m.String("endpoint_url", url)
	m.Int("timestamp_ns", s.TimestampNS)
	known(m, "endpoint_latency_ns", s.LatencyNS)
	m.Key("metrics")
	m.Dst = append(m.Dst, e.metrics...)
	known(m, "request_sent_ns", s.RequestSentNS)
	known(m, "first_byte_ns", s.FirstByteNS)
	if p := s.Phase; p != nil {
		m.String("benchmark_phase", p.Kind)
		m.Int("phase_index", int64(p.Index))
		if p.Profiling >= 0 {
			m.Int("profiling_index", int64(p.Profiling))
		}
		m.String("phase_name", p.Name)
		m.String("phase_kind", p.Kind)
	}
	m.Close()
	_ = r.lines.Add(m.Dst) // kept by the file
	if e.appeared {
		e.appeared = false
		r.keep(r.writeSidecar(false))
	}
}

// known writes a member unless it is 0.
func known(m *artifact.Members, key string, v int64) {
	if v != 0 {
		m.Int(key, v)
	}
}

func (r *Recorder) introduce(url string) *recordedEndpoint {
	e := &recordedEndpoint{
		Endpoint: Endpoint{URL: url},
		series:   map[*prom.Series]*recordedSeries{}, byKey: map[string]*recordedSeries{},
		families: map[string]*recordedFamily{},
	}
	r.endpoints = append(r.endpoints, e)
	r.byURL[url] = e
	return e
}

// metrics appends the samples of a scrape, those of a family together, families in order of their first sample.
func (r *Recorder) metrics(e *recordedEndpoint, samples []prom.Sample, dst []byte) []byte {
	r.order = r.order[:0]
	together := true
	var last *recordedFamily
	for i := range samples {
		s := e.of(&samples[i])
		if s.family.info {
			e.Info[s.info].Values = e.Info[s.info].Values.add(e.Scrapes, samples[i].Value)
			continue
		}
		if s.family != last && s.family.line == r.number {
			together = false
		}
		last = s.family
		last.line = r.number
		r.order = append(r.order, i)
	}
	if !together {
		r.gather(e, samples)
	}
	dst = append(dst, '{')
	last = nil
	for _, i := range r.order {
		s := e.series[samples[i].Series]
		switch {
		case s.family == last:
			dst = append(dst, ',')
		case last != nil:
			dst = append(dst, ']', ',')
			fallthrough
		default:
			last = s.family
			dst = append(artifact.AppendString(dst, last.name), ':', '[')
		}
		dst = s.append(dst, &samples[i])
		if !s.met {
			s.met = true
			e.SeriesOrder = e.SeriesOrder.add(s.position)
		}
	}
	if last != nil {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// gather puts the samples of a family together that stand apart in the body.
func (r *Recorder) gather(e *recordedEndpoint, samples []prom.Sample) {
	first := map[*recordedFamily]int{}
	for i := range samples {
		f := e.series[samples[i].Series].family
		if _, known := first[f]; !known {
			first[f] = i
		}
	}
	slices.SortStableFunc(r.order, func(a, b int) int {
		return first[e.series[samples[a].Series].family] - first[e.series[samples[b].Series].family]
	})
}

// append appends a sample.
func (s *recordedSeries) append(dst []byte, sample *prom.Sample) []byte {
	dst = append(dst, s.prefix...)
	if sample.Series.Family.Type != prom.Histogram {
		return append(artifact.AppendFloat(dst, sample.Value), '}')
	}
	for i, v := range sample.Buckets {
		dst = artifact.AppendFloat(append(dst, s.bounds[i]...), v)
	}
	dst = artifact.AppendFloat(append(dst, `},"sum":`...), sample.Sum)
	dst = artifact.AppendFloat(append(dst, `,"count":`...), sample.Count)
	return append(dst, '}')
}

// of finds the series of a sample, and writes down what the lines will lack about a new one.
func (e *recordedEndpoint) of(sample *prom.Sample) *recordedSeries {
	p := sample.Series
	if s := e.series[p]; s != nil {
		return s
	}
	f := e.families[p.Family.Name]
	if f == nil {
		f = &recordedFamily{name: p.Family.Name, info: isInfo(p.Family)}
		e.families[f.name] = f
		e.Families = append(e.Families, *p.Family)
		e.appeared = true
	}
	key := f.name + servermetrics.LabelText(p.Labels)
	known := e.byKey[key]
	if known == nil {
		known = &recordedSeries{position: len(e.byKey), met: f.info}
		if f.info {
			known.info = len(e.Info)
			e.Info = append(e.Info, InfoSeries{Name: f.name, Labels: p.Labels, Position: known.position})
			e.appeared = true
		}
		e.byKey[key] = known
	}
	// Another parser may describe the same series again, with other buckets.
	s := known
	if known.family != nil {
		copied := *known
		s = &copied
	}
	s.family = f
	s.describe(p)
	e.series[p] = s
	return s
}

// describe makes the texts that all samples share.
func (s *recordedSeries) describe(p *prom.Series) {
	b := []byte{'{'}
	if len(p.Labels) > 0 {
		b = append(b, `"labels":{`...)
		for i, l := range p.Labels {
			if i > 0 {
				b = append(b, ',')
			}
			b = artifact.AppendString(append(artifact.AppendString(b, l.Name), ':'), l.Value)
		}
		b = append(b, '}', ',')
	}
	if p.Family.Type != prom.Histogram {
		s.prefix = string(append(b, `"value":`...))
		return
	}
	s.prefix = string(append(b, `"buckets":{`...))
	s.bounds = nil
	for i, bound := range p.Bounds {
		key := append(artifact.AppendString(nil, bound), ':')
		if i > 0 {
			key = slices.Insert(key, 0, ',')
		}
		s.bounds = append(s.bounds, string(key))
	}
}

// repeatInfo records that a scrape had the info samples of the one before.
func (e *recordedEndpoint) repeatInfo() {
	for i := range e.Info {
		v := e.Info[i].Values
		if n := len(v); n > 0 && v[n-1].Last == e.Scrapes-1 {
			v[n-1].Last++
		}
	}
}

func (r *Recorder) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Finish writes the rest and the whole sidecar. A recording without lines is removed, its sidecar too. It
// returns the first error of the recording's whole life.
func (r *Recorder) Finish(info Info, store *servermetrics.Store) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.lines.Close()
	if r.number == 0 {
		return errors.Join(err, artifact.RemoveStale(r.sidecar))
	}
	r.info = info
	r.inOrderOf(store)
	return errors.Join(err, r.err, r.writeSidecar(true))
}

// inOrderOf puts the endpoints into the order of the store, which decides about the types of families.
func (r *Recorder) inOrderOf(store *servermetrics.Store) {
	place := map[string]int{}
	for i, e := range store.Endpoints() {
		place[e.URL()] = i
	}
	slices.SortStableFunc(r.endpoints, func(a, b *recordedEndpoint) int { return place[a.URL] - place[b.URL] })
}

func (r *Recorder) writeSidecar(complete bool) error {
	s := Sidecar{Info: r.info, Complete: complete}
	for _, e := range r.endpoints {
		s.Endpoints = append(s.Endpoints, e.Endpoint)
	}
	return artifact.WriteStream(r.sidecar, func(w *bufio.Writer) error { return s.Write(w) })
}

// SidecarPath returns where the sidecar of a recording stands.
func SidecarPath(recording string) string {
	for _, names := range [...][2]string{
		{"server_metrics_export.jsonl", "server_metrics_recording.json"},
		{"_server_metrics.jsonl", "_server_metrics_recording.json"},
	} {
		if stem, ok := strings.CutSuffix(recording, names[0]); ok {
			return stem + names[1]
		}
	}
	return strings.TrimSuffix(recording, ".jsonl") + "_recording.json"
}

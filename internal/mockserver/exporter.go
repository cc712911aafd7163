package mockserver

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
)

const (
	classicType     = "text/plain; version=0.0.4; charset=utf-8"
	openMetricsType = "application/openmetrics-text"
	openMetricsFull = openMetricsType + "; version=1.0.0; charset=utf-8"
	// rateWindow is the least time over which the throughput is taken.
	rateWindow = 500 * time.Millisecond
	// paddingFamily is how many series of the padding share a name.
	paddingFamily = 50
)

// exporter makes the metrics pages out of the tally.
type exporter struct {
	clock   *clock.Clock
	tally   *tally
	pages   []page
	bounds  *[quantities][]int64
	backend *backend
	apart   bool // the backend's page is only on a port of its own
	fault   metricsFault
	open    bool // OpenMetrics whatever the client accepts
	model   string
	padding int
	gpus    *gpuPages

	mu              sync.Mutex
	compiled        map[pageKey]*compiledPage
	frozen          map[pageKey][]byte
	scrapes         uint64
	restart         *totals // what was counted when the counters restarted
	earlier, latest mark
}

// mark is how many tokens had been generated at an instant.
type mark struct{ ns, tokens int64 }

// target is what a path shows.
type target struct {
	page int
	own  bool // the server's own families follow
	json bool // statistics in JSON instead of a page
	gpu  int  // 1 + index of gpuPaths; 0 = none
}

// pageKey tells the forms of a page apart.
type pageKey struct {
	target
	open, relaid, retyped bool
}

// compiledPage is a page with only the numbers to fill in.
type compiledPage struct {
	*writer
	size int // of the page when it was written last
}

func newExporter(o *Options, c *clock.Clock) (*exporter, error) {
	fault, err := parseMetricsFault(o.MetricsFault)
	if err != nil {
		return nil, fmt.Errorf("--metrics-fault: %w", err)
	}
	b := backendNamed(cmp.Or(o.Backend, backends[0].name))
	if b == nil {
		return nil, fmt.Errorf("--backend: %w", errBackend(o.Backend))
	}
	model := strings.Trim(defaultModel, `"`)
	if len(o.Models) > 0 {
		model = o.Models[0]
	}
	gpus, err := newGPUPages(o.GPU, c)
	if err != nil {
		return nil, err
	}
	pages := newPages()
	if o.SpecTokens > 0 {
		speculating(pages, o.SpecTokens)
	}
	bounds := boundsOf(pages)
	return &exporter{
		clock: c, tally: newTally(bounds), pages: pages, bounds: bounds, backend: b, apart: b.apart &&
			len(o.MetricsPorts) > 0,
		fault: fault, open: o.OpenMetrics, model: model, padding: o.MetricsSeries, gpus: gpus,
		compiled: map[pageKey]*compiledPage{}, frozen: map[pageKey][]byte{},
	}, nil
}

// find reports what a path shows; port names the page of a port of its own, "" where inference is.
func (e *exporter) find(path []byte, port string) (target, bool) {
	if port != "" {
		return target{page: e.pageNamed(port)}, string(path) == metricsPath
	}
	json := e.backend.name == "trtllm"
	switch string(path) {
	case metricsPath:
		return target{page: e.pageNamed(e.backend.page), own: !json, json: json}, !e.apart
	case prometheusPath:
		return target{page: e.pageNamed("trtllm")}, json
	}
	for i := range e.pages {
		if e.pages[i].path == string(path) {
			return target{page: i}, true
		}
	}
	for i := range gpuPaths {
		if gpuPaths[i] == string(path) {
			return target{gpu: i + 1}, true
		}
	}
	return target{}, false
}

// faultOf is what spoils a page.
func (e *exporter) faultOf(at target) *metricsFault {
	if at.gpu > 0 {
		return &e.gpus.fault
	}
	return &e.fault
}

func (e *exporter) pageNamed(name string) int {
	return slices.IndexFunc(e.pages, func(p page) bool { return p.name == name })
}

// spoilt reports whether the fault hits the next scrape.
func (e *exporter) spoilt(f *metricsFault, draw func(uint64) float64) bool {
	e.mu.Lock()
	e.scrapes++
	n := e.scrapes
	e.mu.Unlock()
	return f.spec != "" && (f.rate >= 1 || draw(n) < f.rate)
}

// body is what a target shows now. f is the fault of this scrape.
func (e *exporter) body(dst []byte, at target, open bool, f *metricsFault) (body []byte, contentType string) {
	if at.gpu > 0 {
		return e.gpus.body(dst, at.gpu-1, e.tally.collect().count[cGenerated], f), classicType
	}
	since := time.Duration(e.clock.NowNS())
	key := pageKey{target: at, open: open && !at.json, relaid: f.relayoutAfter.passed(since),
		retyped: f.retypeAfter.passed(since)}
	contentType = classicType
	switch {
	case at.json:
		contentType = jsonType
	case key.open:
		contentType = openMetricsFull
	}
	if !f.constant {
		return e.write(dst, key, f), contentType
	}
	e.mu.Lock()
	frozen := e.frozen[key]
	e.mu.Unlock()
	if frozen == nil {
		frozen = bytes.Clone(e.write(dst, key, f))
		e.mu.Lock()
		e.frozen[key] = frozen
		e.mu.Unlock()
	}
	return append(dst, frozen...), contentType
}

func (e *exporter) write(dst []byte, key pageKey, f *metricsFault) []byte {
	t := e.totals(f)
	if key.json {
		return appendIterations(dst, t)
	}
	e.mu.Lock()
	p := e.compiled[key]
	if p == nil {
		p = e.compile(key, f)
		e.compiled[key] = p
	}
	dst = slices.Grow(dst, p.size)
	e.mu.Unlock()
	dst = p.render(dst, p.pieces, t)
	e.mu.Lock()
	p.size = max(p.size, len(dst)+len(dst)/8)
	e.mu.Unlock()
	return dst
}

// totals are the books as this scrape is to see them.
func (e *exporter) totals(f *metricsFault) *totals {
	now := e.clock.NowNS()
	t := e.tally.collect()
	t.elapsedNS = now
	t.startedAt = float64(e.clock.WallNS(1)/int64(time.Millisecond)) / 1e3
	e.mu.Lock()
	defer e.mu.Unlock()
	t.throughput = e.rate(mark{now, t.count[cGenerated]})
	if f.resetAfter.passed(time.Duration(now)) {
		if e.restart == nil {
			e.restart = e.tally.collect()
			e.restart.startedAt = float64(e.clock.WallNS(now)/int64(time.Millisecond)) / 1e3
			e.restart.elapsedNS = now
			*t = *e.tally.collect()
		}
		t.since(e.restart)
	}
	t.uptime = float64(t.elapsedNS) / 1e9
	return t
}

// rate is the throughput up to now, since a scrape that is at least the window ago.
func (e *exporter) rate(now mark) float64 {
	if now.ns-e.latest.ns >= int64(rateWindow) {
		e.earlier, e.latest = e.latest, now
	}
	if now.ns == e.earlier.ns {
		return 0
	}
	return float64(now.tokens-e.earlier.tokens) / (float64(now.ns-e.earlier.ns) / 1e9)
}

// compile writes down all of a page that stays.
func (e *exporter) compile(key pageKey, f *metricsFault) *compiledPage {
	p := &e.pages[key.page]
	families := slices.Clone(p.families)
	f.vary(families, e.bounds, key)
	w := &writer{style: p.style, open: key.open, model: e.model, bounds: e.bounds}
	for i := range families {
		w.family(&families[i], p.labels)
		if f.duplicate && i == 0 {
			w.headless = true
			w.family(&families[i], p.labels)
			w.headless = false
		}
	}
	if key.own {
		for i := range e.pages[0].families {
			w.family(&e.pages[0].families[i], nil)
		}
	}
	w.undated = true
	for _, padding := range padding(e.padding) {
		w.family(&padding, p.labels)
	}
	w.finish()
	return &compiledPage{writer: w}
}

// padding makes n series of gauges and counters, one in five of which moves.
func padding(n int) []family {
	var families []family
	for at := 0; at < n; at += paddingFamily {
		number := at / paddingFamily
		f := family{kind: kGauge, help: "Series to fill the page.", name: "aiperf_mock_padding_" + strconv.Itoa(number)}
		if number%2 == 1 {
			f.kind = kCounter
		}
		for i := at; i < min(at+paddingFamily, n); i++ {
			f.series = append(f.series, where("series", strconv.Itoa(i), paddingValue(f.kind, i, number%5 == 0)))
		}
		families = append(families, f)
	}
	return families
}

func paddingValue(k kind, i int, moves bool) func(*totals) float64 {
	switch {
	case !moves:
		return constant(float64(i))
	case k == kCounter:
		return func(t *totals) float64 { return float64(t.elapsedNS/int64(time.Millisecond) + int64(i)) }
	}
	return func(t *totals) float64 { return float64((t.elapsedNS/int64(time.Millisecond) + int64(i)) % 1000) }
}

// compressed is body in gzip.
func compressed(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil // a buffer takes everything
	}
	return b.Bytes()
}

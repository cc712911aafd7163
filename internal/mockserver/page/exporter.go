package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
)

const (
	// ClassicType and OpenMetricsType are the media types of a page.
	ClassicType     = "text/plain; version=0.0.4; charset=utf-8"
	OpenMetricsType = "application/openmetrics-text"
	openMetricsFull = OpenMetricsType + "; version=1.0.0; charset=utf-8"
	// rateWindow is the least time over which the throughput is taken.
	rateWindow = 500 * time.Millisecond
	// paddingFamily is how many series of the padding share a name.
	paddingFamily = 50
)

// Exporter writes the metrics pages.
type Exporter struct {
	clock       *clock.Clock
	tally       *Tally
	pages       []page
	bounds      *[quantities][]int64
	backend     *backend
	apart       bool // the backend's page is only on a port of its own
	fault       httpd.PageFault
	open        bool // OpenMetrics whatever the client accepts
	model       string
	padding     int
	cachedShare float64
	kvBlocks    int
	usedBlocks  func() int // nil = by the tokens of the running requests
	gpus        *gpuPages

	mu              sync.Mutex
	compiled        map[pageKey]*compiledPage
	frozen          map[pageKey][]byte
	scrapes         uint64
	restart         *totals // what was counted when the counters restarted
	earlier, latest reading
}

// reading is how many tokens had been generated at an instant.
type reading struct{ ns, tokens int64 }

// Target is what a path shows.
type Target struct {
	page int
	own  bool // the server's own families follow
	json bool // statistics in JSON instead of a page
	gpu  int  // 1 + index of gpuPaths; 0 = none
}

// pageKey identifies a form of a page.
type pageKey struct {
	Target
	open, relaid, retyped bool
}

// compiledPage is a page with only the numbers to fill in.
type compiledPage struct {
	*writer
	size int // of the page when it was written last
}

// Options configures an [Exporter].
type Options struct {
	Backend    string // whose metrics /metrics shows; "" = vllm
	Model      string // "" = that of requests which name none
	SpecTokens int    // tokens that each step drafts
	KVBlocks   int    // of the KV cache; 0 = KVBlocks
	// PrefixCaching is what the pages say of it; a CachedShare says so too.
	PrefixCaching bool
	CachedShare   float64 // of the prompt tokens, served by the prefix cache
	Series        int     // further series on each page
	OpenMetrics   bool    // whatever the client accepts
	Ports         bool    // pages that the backend has on ports of their own are on such ports
	Fault         string
	GPU           GPUOptions
}

// NewExporter returns an exporter with an empty tally.
func NewExporter(o Options, c *clock.Clock) (*Exporter, error) {
	fault, err := httpd.ParsePageFault(o.Fault)
	if err != nil {
		return nil, fmt.Errorf("--metrics-fault: %w", err)
	}
	b := backendNamed(cmp.Or(o.Backend, backends[0].name))
	if b == nil {
		return nil, fmt.Errorf("--backend: %w", CheckBackend(o.Backend))
	}
	gpus, err := newGPUPages(o.GPU, c)
	if err != nil {
		return nil, err
	}
	kv := memory{blocks: cmp.Or(o.KVBlocks, KVBlocks), caches: o.PrefixCaching || o.CachedShare > 0}
	pages := newPages(kv)
	if o.SpecTokens > 0 {
		speculating(pages, o.SpecTokens)
	}
	bounds := boundsOf(pages)
	return &Exporter{
		clock: c, tally: newTally(bounds), pages: pages, bounds: bounds, backend: b, apart: b.apart && o.Ports,
		fault: fault, open: o.OpenMetrics, model: cmp.Or(o.Model, api.DefaultModel), padding: o.Series, gpus: gpus,
		cachedShare: o.CachedShare, kvBlocks: kv.blocks,
		compiled: map[pageKey]*compiledPage{}, frozen: map[pageKey][]byte{},
	}, nil
}

// Tally returns what the pages show.
func (e *Exporter) Tally() *Tally { return e.tally }

// FollowBlocks makes the pages show the blocks of the KV cache that are in use by a count of the caller's. It must be
// called before the first page is read.
func (e *Exporter) FollowBlocks(used func() int) { e.usedBlocks = used }

// Ports returns the pages that the backend has on ports of their own.
func (e *Exporter) Ports() []string { return e.backend.ports }

// Find returns what a path shows; port is the page of a port of its own, "" where inference is.
func (e *Exporter) Find(path []byte, port string) (Target, bool) {
	if port != "" {
		return Target{page: e.pageNamed(port)}, string(path) == Path
	}
	json := e.backend.name == "trtllm"
	switch string(path) {
	case Path:
		return Target{page: e.pageNamed(e.backend.page), own: !json, json: json}, !e.apart
	case prometheusPath:
		return Target{page: e.pageNamed("trtllm")}, json
	}
	for i := range e.pages {
		if e.pages[i].path == string(path) {
			return Target{page: i}, true
		}
	}
	for i := range gpuPaths {
		if gpuPaths[i] == string(path) {
			return Target{gpu: i + 1}, true
		}
	}
	return Target{}, false
}

func (e *Exporter) pageNamed(name string) int {
	return slices.IndexFunc(e.pages, func(p page) bool { return p.name == name })
}

// Fault returns the fault of the next scrape of a target. draw returns a number from 0 to 1 for the number of a scrape.
func (e *Exporter) Fault(at Target, draw func(uint64) float64) httpd.PageFault {
	f := &e.fault
	if at.gpu > 0 {
		f = &e.gpus.fault
	}
	e.mu.Lock()
	e.scrapes++
	n := e.scrapes
	e.mu.Unlock()
	if f.Spec == "" || f.Rate < 1 && draw(n) >= f.Rate {
		return httpd.NoPageFault()
	}
	return *f
}

// Append appends what a target shows now and returns its media type and encoding. open asks for OpenMetrics, f is the
// fault of this scrape.
func (e *Exporter) Append(b []byte, at Target, open bool, f *httpd.PageFault) (body []byte, contentType, encoding string) {
	body, contentType = e.body(b, at, open || e.open, f)
	if f.Instead != "" {
		body, contentType = insteadOf(f.Instead)
	}
	if f.Truncated {
		body = truncated(body)
	}
	if f.Gzip {
		return compressed(body), contentType, "gzip"
	}
	return body, contentType, ""
}

// body returns what a target shows now. f is the fault of this scrape.
func (e *Exporter) body(dst []byte, at Target, open bool, f *httpd.PageFault) (body []byte, contentType string) {
	if at.gpu > 0 {
		return e.gpus.body(dst, at.gpu-1, e.tally.collect().count[cGenerated], f), ClassicType
	}
	since := time.Duration(e.clock.NowNS())
	key := pageKey{Target: at, open: open && !at.json, relaid: f.RelayoutAfter.Passed(since),
		retyped: f.RetypeAfter.Passed(since)}
	contentType = ClassicType
	switch {
	case at.json:
		contentType = api.JSONType
	case key.open:
		contentType = openMetricsFull
	}
	if !f.Constant {
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

func (e *Exporter) write(dst []byte, key pageKey, f *httpd.PageFault) []byte {
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
	dst = p.render(dst, t)
	e.mu.Lock()
	p.size = max(p.size, len(dst)+len(dst)/8)
	e.mu.Unlock()
	return dst
}

// totals returns the tally as this scrape is to see it.
func (e *Exporter) totals(f *httpd.PageFault) *totals {
	now := e.clock.NowNS()
	t := e.tally.collect()
	t.elapsedNS = now
	t.cachedShare, t.kvBlocks = e.cachedShare, e.kvBlocks
	if e.usedBlocks != nil {
		t.followed, t.usedBlocks = true, e.usedBlocks()
	}
	t.startedAt = float64(e.clock.WallNS(1)/int64(time.Millisecond)) / 1e3
	e.mu.Lock()
	defer e.mu.Unlock()
	t.throughput = e.rate(reading{now, t.count[cGenerated]})
	if f.ResetAfter.Passed(time.Duration(now)) {
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

// rate returns the throughput up to now, since a scrape that is at least the window ago.
func (e *Exporter) rate(now reading) float64 {
	if now.ns-e.latest.ns >= int64(rateWindow) {
		e.earlier, e.latest = e.latest, now
	}
	if now.ns == e.earlier.ns {
		return 0
	}
	return float64(now.tokens-e.earlier.tokens) / (float64(now.ns-e.earlier.ns) / 1e9)
}

// compile writes down all of a page that stays.
func (e *Exporter) compile(key pageKey, f *httpd.PageFault) *compiledPage {
	p := &e.pages[key.page]
	families := slices.Clone(p.families)
	vary(f, families, e.bounds, key)
	w := &writer{style: p.style, open: key.open, model: e.model, bounds: e.bounds}
	for i := range families {
		w.family(&families[i], p.labels)
		if f.Duplicate && i == 0 {
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

// compressed returns body in gzip.
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

// truncated ends a body in the middle of its last third, within a line and before its value.
func truncated(body []byte) []byte {
	end := len(body) * 5 / 6
	for end > 0 && body[end-1] != ' ' {
		end--
	}
	return body[:max(end-2, 0)]
}

// EndlessLines returns valid lines of a page that are written again and again.
func EndlessLines() []byte {
	const bytes = 32 << 10
	var b []byte
	for i := 0; len(b) < bytes; i++ {
		b = append(b, `aiperf_mock_endless{line="`...)
		b = append(strconv.AppendInt(b, int64(i), 10), "\"} 1\n"...)
	}
	return b
}

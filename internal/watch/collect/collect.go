// Package collect reads what goes on around a load: the metrics pages of the servers under test ([Collector]) and the
// GPUs ([GPUCollector]) while a run goes on, and both without a load ([Monitor]).
//
// Vocabulary of pages: an endpoint is one metrics URL; the probe finds out which endpoints answer; the baseline is the
// first scrape of each, before the warm-up; the schedule scrapes all of them at a fixed interval; a boundary
// scrape is one more just before the first profiling request, so that every series has a reference close to
// the phase's start; the fallback is the second path of an endpoint whose page is not Prometheus.
//
// The order of a run is Discover, Probe, Baseline, Start, Boundary, Final, Settle, Finish, Close. Each step has a
// bound, and any of them may be left out: what a missing step would have done is not done, no more. Nothing
// that an endpoint does is an error of a step: failures are counted, logged once, and never delay the run
// longer than the step's bound.
//
// The invariant: scrapes reach the store and the sink one at a time, those of an endpoint in the order in which
// they were asked for, the same scrapes to both; after Finish there are none, unless the sink hung for so long
// that it was given up. Scrapes of one endpoint never overlap, so that its pages are those of successive instants; the
// page of a scrape that hangs when a step needs the endpoint is dropped.
//
// GPUs are read from exporters over HTTP, and from the drivers of this machine through a program of its own, so that
// what happens in a driver's library never touches the run. Their order is Probe, Baseline, Start, Boundary, Finish,
// Close, each with a bound. Nothing that an exporter or a driver does is an error of a step; failures are counted and
// logged once. The invariant: readings reach the sink one at a time; after Finish there are none.
package collect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// Modes of discovery.
const (
	// Auto looks for pods when the program runs inside a Kubernetes cluster.
	Auto = "auto"
	// Kubernetes is Auto with a warning outside a cluster.
	Kubernetes = "kubernetes"
	// Disabled uses only the endpoints that were given.
	Disabled = "disabled"
)

// defaultInterval is the documented period of the schedule.
const defaultInterval = 333 * time.Millisecond

// Discovery says where to look for endpoints beyond those that were given.
type Discovery struct {
	// Mode is Auto, Kubernetes or Disabled; "" is Auto.
	Mode string
	// LabelSelector selects pods by label, and makes all it selects eligible.
	LabelSelector string
	// Namespace is where to look; "*" is everywhere, "" is the program's own.
	Namespace string
	// ServiceAccountDir holds token, ca.crt and namespace; "" is where Kubernetes mounts them.
	ServiceAccountDir string
}

// Options shape a Collector. URLs and addresses are taken as users give them: what they were before
// normalisation matters to the probe.
type Options struct {
	// URLs are those of the inference servers; each has a metrics page next to it.
	URLs []string
	// Models are those of the run.
	Models []string
	// IsTriton reports whether the inference server at a URL calls itself Triton, whose page is on another port; nil =
	// never. It is called where a server answered and no page is next to its URL.
	IsTriton func(ctx context.Context, url string) bool
	// Extra are further metrics endpoints.
	Extra     []string
	Discovery Discovery
	// Interval is the period of the schedule; 0 is 333 ms.
	Interval time.Duration
	// ScrapeTimeout bounds the scrapes that something waits for: the first, that at the boundary, the last; 0 is the
	// usual bound of each.
	ScrapeTimeout time.Duration
	// FlushPeriod is how long after the last request servers may still count; 0 is not at all.
	FlushPeriod time.Duration
	// Fetch says how pages are fetched, with the timeouts of the probe and of gaps in an answer.
	Fetch prom.FetchOptions
	// Sink gets every scrape that is kept; nil = none.
	Sink Sink
	// Summaries has the store keep summaries.
	Summaries bool
	// SinkOnly leaves the store empty.
	SinkOnly bool
	// Exporters says that the pages are those of exporters, which have one path each and may be restarted during the
	// load: a malformed page is a failed scrape, and only JSON ends the collection. What the probe found is logged by
	// the caller.
	Exporters bool
	// Words name the collection in log lines; the zero value speaks of server metrics.
	Words Words
	// Log takes the lines for the user; nil discards them.
	Log *slog.Logger
	// Env reads the environment that a cluster injects; nil is os.LookupEnv.
	Env func(name string) (value string, set bool)
}

// Words name a collection in log lines.
type Words struct {
	Title   string // "Server Metrics"
	Subject string // "Server metrics"
	Flag    string // that switches the collection off
}

// Scrape is a successful, non-empty page of an endpoint.
type Scrape struct {
	URL string // as exports show it
	// Step reports that a step of the run asked for it, not the schedule.
	Step bool
	// Scrape holds the samples also where the page was a duplicate.
	servermetrics.Scrape
}

// Sink takes scrapes, baseline, warm-up, final and unchanged ones included. Calls come one at a time and in
// order; the samples are valid during the call. A slow sink delays scrapes, never the load.
type Sink interface {
	Scraped(Scrape)
}

// pages gets metrics pages.
type pages interface {
	Probe(ctx context.Context, url string) error
	Fetch(ctx context.Context, url string, buf []byte) (prom.Body, error)
	Close()
}

// Collector collects the server metrics of one run. Its methods are safe for concurrent use, but the steps of a
// run are meant to be called one after the other.
type Collector struct {
	options Options
	log     *slog.Logger
	pages   pages
	store   *servermetrics.Store
	buffers sync.Pool // of *[]byte, for pages

	life     context.Context // ends every scrape
	end      context.CancelFunc
	running  sync.WaitGroup // scrapes
	schedule schedule

	// work holds a token while a page is parsed, stored and handed to the sink.
	work chan struct{}

	mu        sync.Mutex // guards what follows, and the endpoints where they say so
	endpoints []*endpoint
	final     bool // the final scrape was made
	over      bool // nothing is stored any more
	failures  failures
	notices   notices
}

// New returns a collector for the given endpoints, normalised, each once. It fails on a value that is no
// endpoint and on discovery options that contradict each other.
func New(o Options) (*Collector, error) {
	f, err := prom.NewFetcher(o.Fetch)
	if err != nil {
		return nil, fmt.Errorf("server metrics: %w", err)
	}
	c, err := newCollector(o, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

func newCollector(o Options, p pages) (*Collector, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	c := &Collector{options: o, log: o.Log, pages: p, work: make(chan struct{}, 1)}
	c.buffers.New = func() any { return new([]byte) }
	c.store = servermetrics.NewStore(servermetrics.Options{Warn: func(message string) { c.log.Warn(message) }})
	c.life, c.end = context.WithCancel(context.Background())
	var err error
	if c.endpoints, err = o.endpoints(); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// complete fills in defaults.
func (o *Options) complete() error {
	o.Discovery.Mode = cmp.Or(o.Discovery.Mode, Auto)
	o.Discovery.ServiceAccountDir = cmp.Or(o.Discovery.ServiceAccountDir, serviceAccountDir)
	switch d := o.Discovery; {
	case !slices.Contains([]string{Auto, Kubernetes, Disabled}, d.Mode):
		return fmt.Errorf("server metrics discovery mode %q: choose %s, %s or %s", d.Mode, Auto, Kubernetes, Disabled)
	case d.Mode == Disabled && d.LabelSelector != "":
		return fmt.Errorf("server metrics discovery is disabled: remove its label_selector %q", d.LabelSelector)
	case d.Mode == Disabled && d.Namespace != "":
		return fmt.Errorf("server metrics discovery is disabled: remove its namespace %q", d.Namespace)
	}
	if o.Words == (Words{}) {
		o.Words = Words{"Server Metrics", "Server metrics", "--no-server-metrics"}
	}
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	o.Fetch.ReachabilityTimeout = cmp.Or(o.Fetch.ReachabilityTimeout, 10*time.Second)
	o.Fetch.ReadTimeout = cmp.Or(o.Fetch.ReadTimeout, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	return nil
}

// Configured returns all endpoints in configured order, as exports show them. The address of an endpoint may
// change during the probe; the fallback path does not change it.
func (c *Collector) Configured() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var shown []string
	for _, e := range c.endpoints {
		shown = append(shown, prom.RedactURL(e.configured))
	}
	return shown
}

// Refusal returns why an endpoint, as exports show it, was not reachable; "" if it was.
func (c *Collector) Refusal(shown string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.endpoints {
		if e.shown == shown {
			return e.refusal
		}
	}
	return ""
}

// Answered reports whether the probe met a server that is there and has no page at the address: it answered with a
// status.
func (c *Collector) Answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.endpoints, func(e *endpoint) bool { return e.answered })
}

// Successful returns the endpoints that were reachable and not disabled before they said anything, in
// configured order, those on their fallback path with that path.
func (c *Collector) Successful() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var shown []string
	for _, e := range c.endpoints {
		if e.active || e.delivered {
			shown = append(shown, e.shown)
		}
	}
	return shown
}

// Store holds what was collected. Read it after Finish.
func (c *Collector) Store() *servermetrics.Store { return c.store }

// Errors returns the failed scrapes, equal ones counted, in order of the first.
func (c *Collector) Errors() []ErrorCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failures.counts)
}

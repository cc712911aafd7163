package collect

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// MonitorOptions configure a monitor.
type MonitorOptions struct {
	// URLs are those of the servers, or of their metrics pages.
	URLs []string
	// Interval is the time between two scrapes of a page; 0 is a second.
	Interval time.Duration
	// Stretch is over how much time rates and latencies are taken; 0 is ten seconds, at least four intervals.
	Stretch time.Duration
	Fetch   prom.FetchOptions
	// GPUs are collectors to try in turn, each with the sink that it gets; the first that finds GPUs is used.
	GPUs    []func(GPUSink) (GPUCollector, error)
	Catalog *gpu.Catalog
	// Log takes lines for the user; nil discards them.
	Log *slog.Logger
}

// MonitoredServer is what a watched server said last.
type MonitoredServer struct {
	// URL is where its page is, without secrets.
	URL string
	// Error is why there is no page, "" while there is one.
	Error string
	// Now is zero before the first page, and while the server is lost.
	Now servermetrics.Now
	// AtNS is the instant of the newest page; 0 without one.
	AtNS int64
	// Kept are the times that the pages in memory span: those that Now is of, then those that will take their place.
	// All of them together are a few stretches, however long the monitor runs.
	Kept []time.Duration
}

const (
	monitorInterval = time.Second
	monitorStretch  = 10 * time.Second
	leastIntervals  = 4
	// retryPause is the time between two looks for a server that is not there.
	retryPause = 2 * time.Second
	// lostAfter is how many intervals without a page make a server lost, and leastLost the least time.
	lostAfter = 3
	leastLost = 3 * time.Second
	// reachable bounds a look for a page.
	reachable = 2 * time.Second
	// stretches is how many stretches are kept before what is older is forgotten.
	stretches = 6
)

// Monitor watches servers and GPUs without a load, for as long as somebody looks.
//
// A watched server is one metrics page; it is connected once its page was found, and lost when no page has come for a
// while; the stretch is the newest time over which rates and latencies are taken. Memory is bounded however long it
// goes on: what is older than a few stretches is forgotten. A server that is lost is looked for again, until the
// monitor is closed.
//
// Its methods are safe for concurrent use.
type Monitor struct {
	options MonitorOptions
	servers []*monitoredServer
	gpus    *monitoredGPUs
	stop    context.CancelFunc
	running sync.WaitGroup
}

// NewMonitor returns a monitor that watches until it is closed. It fails on a URL that is none.
func NewMonitor(o MonitorOptions) (*Monitor, error) {
	o.Interval = cmp.Or(o.Interval, monitorInterval)
	o.Stretch = max(cmp.Or(o.Stretch, monitorStretch), leastIntervals*o.Interval)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Catalog == nil {
		o.Catalog = gpu.NewCatalog(nil, false)
	}
	m := &Monitor{options: o, gpus: &monitoredGPUs{catalog: o.Catalog, keep: stretches * o.Stretch}}
	for _, url := range o.URLs {
		s := &monitoredServer{monitor: m, url: url}
		c, err := s.collector()
		if err != nil {
			return nil, err
		}
		s.shown = c.Configured()[0]
		_ = c.Close() // it has not begun
		m.servers = append(m.servers, s)
	}
	var ctx context.Context
	ctx, m.stop = context.WithCancel(context.Background())
	for _, s := range m.servers {
		m.running.Go(func() { s.watch(ctx) })
	}
	m.running.Go(func() { m.gpus.watch(ctx, o.GPUs, o.Log) })
	return m, nil
}

// Servers returns what the servers said last, in the order of their URLs.
func (m *Monitor) Servers() (list []MonitoredServer) {
	for _, s := range m.servers {
		list = append(list, s.newest())
	}
	return list
}

// GPUs returns what the GPUs said last, with figures since a few stretches ago. Searched reports that all collectors
// were tried.
func (m *Monitor) GPUs() (list []gpu.DeviceNewest, searched bool) { return m.gpus.newest() }

// Close ends the watch.
func (m *Monitor) Close() {
	m.stop()
	m.running.Wait()
}

// monitoredServer is a watched server.
type monitoredServer struct {
	monitor *Monitor
	url     string

	mu    sync.Mutex
	shown string
	// kept are stores of pages, the one with the most of them first: the next one takes its place once it spans a stretch.
	kept []keptPages
	last int64 // the instant of the newest page
	// arrived is when the newest page came.
	arrived time.Time
	problem string
}

// collector returns a collector of the server's page.
func (s *monitoredServer) collector() (*Collector, error) {
	o := &s.monitor.options
	fetch := o.Fetch
	fetch.ReachabilityTimeout = reachable
	// A page that hangs is lost, and the next one is asked for.
	fetch.ReadTimeout = max(leastLost, lostAfter*o.Interval)
	return New(Options{
		URLs: []string{s.url}, Discovery: Discovery{Mode: Disabled}, Interval: o.Interval, Fetch: fetch,
		Sink: s, SinkOnly: true, ScrapeTimeout: reachable,
	})
}

// watch looks for the server's page, and follows it until it is lost, again and again.
func (s *monitoredServer) watch(ctx context.Context) {
	log := s.monitor.options.Log
	for told := ""; ctx.Err() == nil; {
		c, err := s.collector()
		if err != nil {
			s.fail(err.Error())
			return
		}
		if !c.Probe(ctx) {
			reason := c.Refusal(c.Configured()[0])
			if reason = s.fail(reason); ctx.Err() == nil && reason != told {
				log.Warn(s.name() + ": " + reason)
				told = reason
			}
			_ = c.Close()
			clock.Wait(ctx, retryPause)
			continue
		}
		told = ""
		s.connected(c.Configured()[0])
		log.Info("Watching " + s.name())
		c.Start()
		s.follow(ctx, c)
		_ = c.Close()
	}
}

// follow returns when no page has come for a while.
func (s *monitoredServer) follow(ctx context.Context, c *Collector) {
	lost := max(leastLost, lostAfter*s.monitor.options.Interval)
	for clock.Wait(ctx, s.monitor.options.Interval) {
		s.mu.Lock()
		silent := time.Since(s.arrived) > lost
		s.mu.Unlock()
		if !silent {
			continue
		}
		reason := "no page has come for " + lost.String()
		if list := c.Errors(); len(list) > 0 {
			reason = list[len(list)-1].Message
		}
		s.monitor.options.Log.Warn(s.name() + ": " + s.fail(reason))
		return
	}
}

// name is the address of the server's page.
func (s *monitoredServer) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// connected forgets what was: the server may have been restarted meanwhile.
func (s *monitoredServer) connected(shown string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.kept, s.problem, s.arrived = shown, nil, "", time.Now()
}

// fail notes why there is no page, and returns it.
func (s *monitoredServer) fail(reason string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = cmp.Or(reason, "there is no metrics page")
	return s.problem
}

// keptPages are the pages since an instant.
type keptPages struct {
	begun int64
	store *servermetrics.Store
}

// Scraped implements [Sink].
func (s *monitoredServer) Scraped(page Scrape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stretch, now := int64(s.monitor.options.Stretch), page.TimestampNS
	if n := len(s.kept); n == 0 || now-s.kept[n-1].begun > stretches*stretch {
		s.kept = append(s.kept, keptPages{now, servermetrics.NewStore(servermetrics.Options{})})
	}
	for _, k := range s.kept {
		own := page.Scrape
		own.Duplicate = own.Duplicate && k.begun < now
		k.store.Endpoint(page.URL).Add(own)
	}
	if len(s.kept) > 1 && now-s.kept[1].begun > stretch {
		s.kept = s.kept[1:]
	}
	s.last, s.arrived = now, time.Now()
}

func (s *monitoredServer) newest() MonitoredServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := MonitoredServer{URL: s.shown, Error: s.problem, AtNS: s.last}
	for _, k := range s.kept {
		out.Kept = append(out.Kept, time.Duration(s.last-k.begun))
	}
	if s.problem == "" && len(s.kept) > 0 {
		out.Now = s.kept[0].store.Now(int64(s.monitor.options.Stretch))
	}
	return out
}

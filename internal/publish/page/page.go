// Package page serves the metrics of a run while it goes on, as a page that Prometheus scrapes.
//
// A [Page] listens from before the first run of the process until after the last one. Each run has series of its own,
// with the label "run" where there are several. The current run and the previous one are shown, so that the final
// metrics of a run can still be scraped after the next one has begun. Records go into histograms and counters as they
// are finished; the metrics of the load and the client come from snapshots.
//
// The invariant: all metrics of a finished request appear on the page together, and after the end of a run they equal
// its summary. Requests sent and in flight are up to a tenth of a second older. Taking a record costs some 50 ns per
// chunk under one lock, which a scrape holds for about a millisecond; it is not on the path of a request.
//
// The package must never know the configuration, the load generator or the verdict's rules.
package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// Path is the path of the page.
const Path = "/metrics"

// scrapesAtATime bounds the scrapes that are answered at a time; further ones are refused.
const scrapesAtATime = 4

// Page serves the metrics of runs, one after the other. It implements [progress.RecordObserver].
type Page struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}

	mu   sync.Mutex
	runs []*runFigures // the previous one, if any, and the current one
	scrapers
}

// Listen opens the page at HOST:PORT, or :PORT for all addresses of the machine.
func Listen(address string) (*Page, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another port, or 0 for any that is free", address,
			cause(err))
	}
	p := &Page{listener: listener, served: make(chan struct{})}
	page := promhttp.HandlerFor(p, promhttp.HandlerOpts{
		DisableCompression:  true, // the load needs the processor
		MaxRequestsInFlight: scrapesAtATime, EnableOpenMetrics: false,
	})
	routes := http.NewServeMux()
	routes.Handle("GET "+Path, p.scraped(page))
	routes.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "aiperf: the metrics of the current run are at "+Path)
	})
	p.server = &http.Server{
		Handler: routes, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener)
	}()
	return p, nil
}

// cause returns the system's error without the operation and the address, which the caller names.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// URL returns the page's address on this machine.
func (p *Page) URL() string {
	a := p.listener.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(a.Port)) + Path
}

// Begin implements progress.Observer. The run replaces the one before the previous one.
func (p *Page) Begin(run *progress.Run) progress.Needs {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := newRunFigures(run)
	if n := len(p.runs); n > 0 && p.runs[n-1].run.Label != run.Label {
		p.runs = []*runFigures{p.runs[n-1], r}
	} else {
		p.runs = []*runFigures{r}
	}
	return progress.Needs{Client: true}
}

// newest returns the current run; the page is locked.
func (p *Page) newest() *runFigures { return p.runs[len(p.runs)-1] }

// Record implements progress.RecordObserver.
func (p *Page) Record(r *record.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest().phase(r.Phase).add(r)
}

// Show implements progress.Observer.
func (p *Page) Show(s *progress.Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest().snapshot = s
}

// End implements progress.Observer.
func (p *Page) End(e *progress.Ending) { p.Show(e.Last) }

// Gather implements prometheus.Gatherer: all metrics at one instant.
func (p *Page) Gather() ([]*dto.MetricFamily, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all prometheus.Gatherers
	for _, r := range p.runs {
		all = append(all, r.registry)
	}
	return all.Gather()
}

// closeTimeout bounds the wait for running scrapes.
const closeTimeout = time.Second

// Close stops the server.
func (p *Page) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		p.server.Close()
	}
	<-p.served
}

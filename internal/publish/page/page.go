// Package page serves the figures of a run while it is under way, as a page that Prometheus scrapes.
//
// A Page listens from before the first run of the process until after the last one. Each Run on it has series of its
// own, told apart by the label "run" where there are several; the run under way and the one before it are shown, so
// that the last figures of a run can still be scraped when the next one has begun. Records go into histograms and
// counters as they are finished; what the load and the client do is taken from snapshots.
//
// The invariant: all figures of a finished request appear on a page together, and after the end of a run they equal
// its summary; what was sent and is in flight is up to a tenth of a second older. Taking a record costs some 50 ns per
// chunk under one lock that a scrape holds for about a millisecond, and nothing here is on the path of a request.
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

// Path is where the page lies.
const Path = "/metrics"

// scrapesAtATime bounds the scrapes that are answered together; further ones are turned away.
const scrapesAtATime = 4

// Page is a server of the figures of one run after the other.
type Page struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}

	mu   sync.Mutex
	runs []*runFigures // the one under way and the one before it
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
		DisableCompression:  true, // the processor is the load's
		MaxRequestsInFlight: scrapesAtATime, EnableOpenMetrics: false,
	})
	routes := http.NewServeMux()
	routes.Handle("GET "+Path, p.scraped(page))
	routes.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "aiperf: the figures of the run under way are at "+Path)
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

// cause is what the system says, without the operation and the address that the caller names.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// URL is where the page can be read on this machine.
func (p *Page) URL() string {
	a := p.listener.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(a.Port)) + Path
}

// Begin implements progress.Observer. The run takes the place of the one before the last.
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

// newest returns the run under way; the page is locked.
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

// Gather implements prometheus.Gatherer: all figures at one instant.
func (p *Page) Gather() ([]*dto.MetricFamily, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all prometheus.Gatherers
	for _, r := range p.runs {
		all = append(all, r.registry)
	}
	return all.Gather()
}

// closeTimeout bounds the wait for scrapes that are being answered.
const closeTimeout = time.Second

// Close ends the page.
func (p *Page) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		p.server.Close()
	}
	<-p.served
}

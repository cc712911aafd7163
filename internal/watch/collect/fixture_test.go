package collect

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/watch/prom"
)

// logbook keeps log lines, each with its level in front.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logbook) WithGroup(string) slog.Handler            { return l }
func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Level.String()+" "+r.Message)
	return nil
}

// with returns the lines that contain a text.
func (l *logbook) with(part string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.lines {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

func (l *logbook) warnings() []string { return l.with("WARN ") }

// scraped is a sink that remembers.
type scraped struct {
	mu   sync.Mutex
	list []Scrape
}

func (s *scraped) Scraped(sc Scrape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc.Samples = slices.Clone(sc.Samples)
	s.list = append(s.list, sc)
}

func (s *scraped) all() []Scrape {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// rig is a collector and what it said.
type rig struct {
	*Collector
	log  *logbook
	sink *scraped
}

func newRig(t *testing.T, o Options, p pages) *rig {
	t.Helper()
	r := &rig{log: &logbook{}, sink: &scraped{}}
	o.Log = slog.New(r.log)
	if o.Sink == nil {
		o.Sink = r.sink
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	var err error
	if p == nil {
		r.Collector, err = New(o)
	} else {
		r.Collector, err = newCollector(o, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// scrapeOnce lets every endpoint be scraped once.
func (r *rig) scrapeOnce() { r.Boundary(context.Background()) }

// values returns the values of the first series of an endpoint, in order.
func (r *rig) values(url string) []float64 {
	var values []float64
	for _, sc := range r.sink.all() {
		if sc.URL == url {
			values = append(values, sc.Samples[0].Value)
		}
	}
	return values
}

// site is a server whose pages are functions, and which counts its requests.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked map[string]int
}

func newSite(t *testing.T, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{pages: pages, asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.RequestURI()]++
		page := s.pages[r.URL.Path]
		s.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) set(path string, page http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page
}

// requests returns how often each path was asked for and starts over.
func (s *site) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = map[string]int{}
	return asked
}

// text returns a page of plain text.
func text(body string) http.HandlerFunc { return typed("text/plain; version=0.0.4", body) }

func typed(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

var jsonPage = typed("application/json", "[]")

// scripted are pages in fake time: play is called for each request with its number at its URL.
type scripted struct {
	play func(ctx context.Context, url string, n int) (string, error)

	mu    sync.Mutex
	start time.Time
	log   []string // time since the start and URL of each request
	asked map[string]int
}

func newScripted(play func(ctx context.Context, url string, n int) (string, error)) *scripted {
	return &scripted{play: play, start: time.Now(), asked: map[string]int{}}
}

func (s *scripted) Probe(context.Context, string) error { return nil }
func (s *scripted) Close()                              {}
func (s *scripted) Fetch(ctx context.Context, url string, buf []byte) (prom.Body, error) {
	start := time.Now()
	s.mu.Lock()
	n := s.asked[url]
	s.asked[url]++
	s.log = append(s.log, start.Sub(s.start).String())
	s.mu.Unlock()
	text, err := s.play(ctx, url, n)
	b := prom.Body{RequestSentNS: start.UnixNano(), LatencyNS: int64(time.Since(start)), ContentType: "text/plain"}
	if err != nil {
		return b, err
	}
	b.FirstByteNS = time.Now().UnixNano()
	b.Text = append(buf[:0], text...)
	return b, nil
}

func (s *scripted) times() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// pause waits in a page, as long as its request lasts.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return &prom.Error{Type: "CancelledError", Message: "cancelled"}
	}
}

// counting returns a page with a counter that says how often it was asked for.
func counting(_ context.Context, _ string, n int) (string, error) {
	return fmt.Sprintf("# TYPE a counter\na %d\n", n), nil
}

package collect

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// inFlight is how many scrapes of an endpoint may be under way: one, and that of a step next to one that hangs, whose
// page is dropped then.
const inFlight = 2

// endpoint is one metrics URL and what is known of it.
type endpoint struct {
	// configured is the normalised URL; others are those to try instead, in order, if no metrics are found there.
	configured string
	others     []string
	// inference is the URL for requests that the page was looked for beside, "" where the page was named.
	inference string
	// guessed: nobody named the page, it may be that of a Triton.
	guessed bool
	slots   chan struct{} // one for each scrape under way
	step    chan struct{} // holds a token while a step has the endpoint to itself: ticks leave it out

	// Guarded by the collector's mu.
	url, shown  string // what is scraped, and how exports show it
	active      bool   // reachable and not disabled
	refusal     string // why it was not reachable
	answered    bool   // with a status that is an error
	delivered   bool   // something was stored
	diverting   bool   // the fallback is being tried
	diverted    bool   // it was tried
	unreadable  int    // pages in a row that could not be read to their end
	skip        int    // ticks to leave out because of them
	late        bool   // it was logged that ticks are skipped
	told        map[prom.ErrorKey]bool
	asked       int64                        // pages asked for
	givenUp     int64                        // pages asked for up to this one are not waited for any more
	destination *servermetrics.EndpointStore // nil until the first scrape

	// Guarded by the collector's work; the parser is replaced with mu held as well.
	parser     *prom.Parser
	counts     bool    // requests, on that page
	counted    float64 // requests, on the last page that a step asked for and that was kept
	duplicates *prom.Duplicates
	samples    []prom.Sample // of the last page kept
}

func newEndpoint(configured string) *endpoint {
	e := &endpoint{
		configured: configured, slots: make(chan struct{}, inFlight), step: make(chan struct{}, 1), active: true,
		told: map[prom.ErrorKey]bool{}, duplicates: prom.NewDuplicates(),
	}
	e.move(configured)
	return e
}

// move makes the endpoint scrape another URL from now on.
func (e *endpoint) move(to string) {
	e.url, e.shown, e.destination = to, prom.RedactURL(to), nil
}

// endpoints returns those that the options name.
func (o *Options) endpoints() ([]*endpoint, error) {
	var list []*endpoint
	for _, raw := range o.URLs {
		if callPort(raw) {
			if e := newCallEndpoint(raw); e != nil {
				list, _ = appendNew(list, e)
			}
			continue
		}
		normal, err := prom.NormalizeURL(raw)
		if err != nil {
			return nil, fmt.Errorf("no metrics endpoint can be made of the URL %q: %w", prom.RedactURL(raw), err)
		}
		e := newEndpoint(normal)
		e.others, e.inference = originOf(normal), raw
		list, _ = appendNew(list, e)
	}
	for _, raw := range o.Extra {
		e, err := extraEndpoint(raw)
		if err != nil {
			//lint:ignore ST1005 the documented text
			return nil, fmt.Errorf("Invalid server metrics endpoint: %s: %w", prom.RedactURL(raw), err)
		}
		list, _ = appendNew(list, e)
	}
	return list, nil
}

func extraEndpoint(raw string) (*endpoint, error) {
	raw = strings.TrimSpace(raw)
	if !strings.HasPrefix(strings.ToLower(raw), "http") && !strings.Contains(raw, ":") {
		return nil, errors.New("give HOST:PORT or a URL")
	}
	normal, err := prom.NormalizeURL(raw)
	if err != nil {
		return nil, err
	}
	e := newEndpoint(normal)
	if given := asGiven(raw, normal); given != "" {
		e.others = []string{given}
	}
	return e, nil
}

// asGiven returns the address as the user wrote it, for a user who named a page: one with a path of its own that
// does not end in /metrics. Scheme and host are those of the normalised URL.
func asGiven(raw, normal string) string {
	rest := raw
	if i := strings.Index(raw, "://"); i >= 0 {
		rest = raw[i+3:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	start := strings.IndexAny(rest, "/?")
	if start < 0 {
		return ""
	}
	path, _, _ := strings.Cut(rest[start:], "?")
	if path = strings.TrimRight(path, "/"); path == "" || strings.HasSuffix(path, metricsPath) {
		return ""
	}
	scheme, authority, _ := strings.Cut(normal, "://")
	authority, _, _ = strings.Cut(authority, "/")
	return scheme + "://" + authority + rest[start:]
}

// originOf returns the metrics page of the origin, for an inference URL that has a path: that of an API, such as /v1,
// or of the whole endpoint.
func originOf(normal string) []string {
	scheme, rest, _ := strings.Cut(normal, "://")
	page, query, asked := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(page, "/")
	if "/"+path == metricsPath {
		return nil
	}
	at := scheme + "://" + authority + metricsPath
	if asked {
		at += "?" + query
	}
	return []string{at}
}

// appendNew appends an endpoint unless there is one that exports could not tell from it.
func appendNew(list []*endpoint, e *endpoint) ([]*endpoint, bool) {
	for _, other := range list {
		if other.shown == e.shown {
			if len(other.others) == 0 {
				other.others = e.others
			}
			return list, false
		}
	}
	return append(list, e), true
}

// Paths of metrics pages.
const (
	metricsPath  = "/metrics"
	fallbackPath = "/prometheus/metrics"
)

// fallbackOf returns the URL to try when a page is not Prometheus: TensorRT-LLM has JSON at /metrics. It is "" for
// URLs that have no such sibling.
func fallbackOf(endpoint string) string {
	page, query, asked := strings.Cut(endpoint, "?")
	if !strings.HasSuffix(page, metricsPath) || strings.HasSuffix(page, fallbackPath) {
		return ""
	}
	page = strings.TrimSuffix(page, metricsPath) + fallbackPath
	if asked {
		page += "?" + query
	}
	return page
}

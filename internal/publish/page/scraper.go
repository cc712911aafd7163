package page

import (
	"net/http"
	"time"
)

// timeoutHeader is sent by Prometheus and compatible scrapers, not by browsers.
const timeoutHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// scrapers keeps how often the page is scraped. The page's lock guards it.
type scrapers struct {
	last     time.Time
	interval time.Duration // the longest between two scrapes
	// ended reports that the metrics are final; current is closed by the first scrape that began after that.
	ended   bool
	current chan struct{}
}

// scraped wraps a handler and records its scrapes.
func (p *Page) scraped(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		p.mu.Lock()
		final := p.ended
		p.mu.Unlock()
		page.ServeHTTP(w, r)
		if r.Header.Get(timeoutHeader) == "" {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.last.IsZero() {
			p.interval = max(p.interval, began.Sub(p.last))
		}
		p.last = began
		if final && p.current != nil {
			close(p.current)
			p.current = nil
		}
	})
}

// lastScrape returns how long to wait for a scrape of the final metrics, and a channel that is closed by it. There is
// no wait unless the page was scraped at least twice.
func (p *Page) lastScrape(limit time.Duration) (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.interval == 0 {
		return 0, nil
	}
	p.ended, p.current = true, make(chan struct{})
	due := p.interval + p.interval/2 - time.Since(p.last)
	return min(max(due, 0), limit), p.current
}

// Linger waits until a scraper that comes regularly has read the final metrics: at most one and a half of its
// intervals, at most the limit, and until stop is closed. It calls announce with the longest wait before it waits.
func (p *Page) Linger(limit time.Duration, stop <-chan struct{}, announce func(time.Duration)) {
	wait, done := p.lastScrape(limit)
	if wait <= 0 {
		return
	}
	select {
	case <-stop:
		return
	default:
	}
	announce(wait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-stop:
	}
}

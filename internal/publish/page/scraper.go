package page

import (
	"net/http"
	"time"
)

// timeoutHeader is sent by Prometheus and the programs that scrape in its stead, and by no browser.
const timeoutHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// scrapers know how often the page is read by programs that come again. The page's lock guards them.
type scrapers struct {
	last     time.Time
	interval time.Duration // the longest between two scrapes
	// ended is when the figures became final; current is closed by the first scrape after that.
	ended   bool
	current chan struct{}
}

// scraped notes the scrapes of a handler.
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

// lastScrape begins to wait for a scrape of the final figures: it returns for how long one is to be waited for, and
// what is closed when it has come. Nobody is waited for who has not come twice.
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

// Linger waits until a scraper that comes regularly has read the final figures: one and a half of its intervals and
// the limit at most, and not if stop is closed. Before it waits it says for how long.
func (p *Page) Linger(limit time.Duration, stop <-chan struct{}, say func(time.Duration)) {
	wait, done := p.lastScrape(limit)
	if wait <= 0 {
		return
	}
	select {
	case <-stop:
		return
	default:
	}
	say(wait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-stop:
	}
}

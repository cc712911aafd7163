package collect

import (
	"fmt"
	"slices"

	"aiperf/internal/watch/prom"
)

// ErrorCount is how often scrapes failed in the same way.
type ErrorCount struct {
	prom.ErrorKey
	Count int64
}

// maxFailures bounds how many failures are distinguished: a message may hold what changes from scrape to scrape.
const maxFailures = 1000

// failures counts failed scrapes.
type failures struct {
	counts []ErrorCount
}

func (f *failures) count(key prom.ErrorKey) {
	at := f.find(key)
	if at < 0 && len(f.counts) >= maxFailures {
		key = prom.ErrorKey{Type: key.Type, Message: "other errors"}
		at = f.find(key)
	}
	if at < 0 {
		at = len(f.counts)
		f.counts = append(f.counts, ErrorCount{ErrorKey: key})
	}
	f.counts[at].Count++
}

func (f *failures) find(key prom.ErrorKey) int {
	return slices.IndexFunc(f.counts, func(c ErrorCount) bool { return c.ErrorKey == key })
}

// unreadablePage is the type of pages that began but could not be read to their end: too large, truncated,
// wrongly compressed. Asking for them again at once could cost as much as the load itself.
const unreadablePage = "ClientPayloadError"

// maxSkip is the largest number of ticks left out between two attempts at an unreadable page.
const maxSkip = 31

// fail counts a failed scrape and logs the first of each kind.
func (c *Collector) fail(e *endpoint, err error) {
	key := prom.KeyOf(err)
	kind := prom.ErrorKey{Code: key.Code, Type: key.Type}
	c.mu.Lock()
	told := e.told[kind]
	e.told[kind] = true
	c.failures.count(key)
	if key.Type == unreadablePage {
		e.skip = min(1<<e.unreadable-1, maxSkip)
		e.unreadable = min(e.unreadable+1, 10)
	}
	shown := e.shown
	c.mu.Unlock()
	if !told {
		c.log.Warn(fmt.Sprintf("%s: scraping %s failed: %s. It is tried again; further failures of this kind are "+
			"only counted.", c.options.Words.Subject, shown, key.Message))
	}
}

// readable records that a page could be read.
func (c *Collector) readable(e *endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.unreadable, e.skip = 0, 0
}

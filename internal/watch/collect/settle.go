package collect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/watch/prom"
)

// settleFirst is how long after the final scrape the pages are looked at again. Each look waits twice as long as the
// one before.
const settleFirst = 250 * time.Millisecond

// Settle waits for what servers count of requests only after their replies have left, some only once a second. It ends
// once caughtUp, which may read the store, reports that all is counted, and at the latest when the flush period after
// the last request is over: the pages are scraped again meanwhile. Pages that count no requests have nothing to wait
// for. A page that counts no more requests than the one that was kept before is dropped, so that the window of a server
// that is done does not grow. Call it between Final and Finish.
func (c *Collector) Settle(ctx context.Context, lastRequestEnd time.Time, caughtUp func() bool) {
	ctx, cancel := context.WithDeadline(ctx, lastRequestEnd.Add(c.options.FlushPeriod))
	defer cancel()
	done := func() bool {
		c.work <- struct{}{} // a page that comes late is not stored meanwhile
		defer func() { <-c.work }()
		return caughtUp()
	}
	if !c.countsRequests() || ctx.Err() != nil || done() {
		return
	}
	until, _ := ctx.Deadline()
	c.log.Info(fmt.Sprintf("%s: waiting up to %.1f s for the servers to count the last requests "+
		"(AIPERF_SERVER_METRICS_COLLECTION_FLUSH_PERIOD)", c.options.Words.Title, time.Until(until).Seconds()))
	for gap := settleFirst; clock.Wait(ctx, gap); gap *= 2 {
		var looks sync.WaitGroup
		for _, e := range c.actives() {
			looks.Go(func() { c.scrapeAlone(ctx, e, settling, gap, func() {}) })
		}
		looks.Wait()
		if done() {
			return
		}
	}
}

// countsRequests reports whether a page that a step asked for counts requests.
func (c *Collector) countsRequests() bool {
	c.work <- struct{}{}
	defer func() { <-c.work }()
	for _, e := range c.actives() {
		if e.counts {
			return true
		}
	}
	return false
}

// requestsCounted returns a number that grows with each request, or token of one, that a page counts, and whether it
// counts any.
func requestsCounted(samples []prom.Sample) (sum float64, counts bool) {
	for i := range samples {
		s := &samples[i]
		v := s.Value
		switch {
		case !countsRequests(s.Series):
			continue
		case s.Series.Family.Type.Bucketed():
			v = s.Count
		}
		counts = true
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += v
		}
	}
	return sum, counts
}

// countsRequests reports whether a series counts requests that a load sends. The counters of a web server take in
// those for the page itself, unless their labels name the path.
func countsRequests(s *prom.Series) bool {
	name := s.Family.Name
	grows := s.Family.Type == prom.Counter || s.Family.Type == prom.Histogram ||
		s.Family.Type == prom.Unknown && strings.HasSuffix(name, "_total")
	if !grows || !strings.Contains(name, "request") && !strings.Contains(name, "token") {
		return false
	}
	if slices.ContainsFunc(s.Labels, func(l prom.Label) bool { return strings.Contains(l.Value, "metrics") }) {
		return false
	}
	if !strings.HasPrefix(name, "http") && !strings.HasPrefix(name, "promhttp") {
		return true
	}
	return slices.ContainsFunc(s.Labels, func(l prom.Label) bool { return strings.HasPrefix(l.Value, "/") })
}

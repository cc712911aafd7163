package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/watch/prom"
)

// Bounds of the steps.
const (
	baselineBudget = 10 * time.Second
	// boundaryBudget is short: the first profiling request waits for it.
	boundaryBudget = 5 * time.Second
	finalBudget    = 10 * time.Second
	// sinkBudget is for a scrape that is being handed on at the end.
	sinkBudget = time.Second
	// closeBudget is for a sink that hangs; all else ends by itself.
	closeBudget = 10 * time.Second
)

// longGap is how many intervals a gap in an answer may last before it is remarked on.
const longGap = 100

// schedule is the goroutine that scrapes at every tick.
type schedule struct {
	mu      sync.Mutex
	started bool
	stop    chan struct{} // closed to stop
	stopped chan struct{} // closed when it did
}

// Baseline scrapes each endpoint once and waits for it, 10 s at most. Whatever is not Prometheus shows here.
func (c *Collector) Baseline(ctx context.Context) {
	if len(c.actives()) == 0 {
		return
	}
	c.log.Info(c.options.Words.Title + ": Capturing baseline metrics...")
	c.scrapeAll(ctx, "baseline", cmp.Or(c.options.ScrapeTimeout, baselineBudget))
}

// Start begins the schedule: each endpoint is scraped at every interval, however long that takes, and the endpoints
// take turns evenly within the interval, the first of them at once: all of them together would hold up the load.
// Scrapes of one endpoint never overlap: a turn leaves out an endpoint that has not answered yet.
func (c *Collector) Start() {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	endpoints := c.actives()
	if c.schedule.started || len(endpoints) == 0 {
		return
	}
	c.schedule.started = true
	c.schedule.stop, c.schedule.stopped = make(chan struct{}), make(chan struct{})
	if gap := c.options.Fetch.ReadTimeout; gap > longGap*c.options.Interval {
		c.log.Warn(fmt.Sprintf("%s: a scrape may pause for %s, more than %d times the interval of %s; an endpoint "+
			"that hangs is noticed late",
			c.options.Words.Subject, gap, longGap, c.options.Interval))
	}
	go c.tick(endpoints, c.schedule.stop, c.schedule.stopped)
	c.log.Info(fmt.Sprintf("%s: Started %d collector(s) successfully", c.options.Words.Title, len(endpoints)))
}

// tick runs the schedule on its own goroutine. Turns stay on the grid of its start; those that are late by an interval
// or more are left out.
func (c *Collector) tick(endpoints []*endpoint, stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	start, interval := time.Now(), c.options.Interval
	timer := time.NewTimer(0)
	defer timer.Stop()
	for round := time.Duration(0); ; {
		for i, e := range endpoints {
			offset := round*interval + interval*time.Duration(i)/time.Duration(len(endpoints))
			timer.Reset(offset - time.Since(start))
			select {
			case <-timer.C:
			case <-stop:
				return
			}
			if time.Since(start)-offset < interval {
				c.tickEndpoint(e)
			}
		}
		round = max(round+1, time.Since(start)/interval)
	}
}

// tickEndpoint starts a scrape if the endpoint is up to it.
func (c *Collector) tickEndpoint(e *endpoint) {
	c.mu.Lock()
	skip := !e.active || e.diverting || e.skip > 0 || e.unreadable > 0 && len(e.slots) > 0
	e.skip = max(e.skip-1, 0)
	c.mu.Unlock()
	if skip || len(e.step) > 0 {
		return
	}
	if len(e.slots) > 0 {
		c.warnLate(e)
		return
	}
	select {
	case e.slots <- struct{}{}:
	default: // steps have come in between
		return
	}
	// Looked at with the slot held: a step that begins from now on waits for the slot.
	if len(e.step) > 0 {
		<-e.slots
		return
	}
	c.begin(e, scheduled, func() {})
}

// warnLate logs once that an endpoint is slow.
func (c *Collector) warnLate(e *endpoint) {
	c.mu.Lock()
	told, shown := e.late, e.shown
	e.late = true
	c.mu.Unlock()
	if !told {
		c.log.Warn(fmt.Sprintf("%s: %s takes longer to answer than the interval of %s; it is scraped less often",
			c.options.Words.Subject, shown, c.options.Interval))
	}
}

// begin scrapes an endpoint in a goroutine; the slot that the caller holds is given back at its end.
func (c *Collector) begin(e *endpoint, r reason, done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over { // Close may be waiting already
		<-e.slots
		done()
		return
	}
	c.running.Go(func() {
		defer done()
		defer func() { <-e.slots }()
		c.scrape(e, r)
	})
}

// Boundary scrapes each endpoint once more and waits for it, 5 s at most. Call it just before the first request of a
// phase is released, and after the last one of a phase that another follows.
func (c *Collector) Boundary(ctx context.Context) {
	c.scrapeAll(ctx, "boundary", cmp.Or(c.options.ScrapeTimeout, boundaryBudget))
}

// Final stops the schedule, scrapes each endpoint a last time and waits for it, 10 s at most. Once is enough; further
// calls do nothing.
func (c *Collector) Final(ctx context.Context) {
	c.stopSchedule()
	c.mu.Lock()
	done := c.over || c.final
	c.final = true
	c.mu.Unlock()
	if !done && len(c.actives()) > 0 {
		c.log.Info(c.options.Words.Title + ": Profiling complete, capturing final metrics...")
		c.scrapeAll(ctx, "final", cmp.Or(c.options.ScrapeTimeout, finalBudget))
	}
}

// Finish does what Final does, and ends whatever is still under way. Call it also when the run is interrupted, with a
// context that the interruption did not end. Afterwards the store does not change any more, and the sink hears of
// nothing, unless it hangs.
func (c *Collector) Finish(ctx context.Context) {
	c.Final(ctx)
	timer := time.NewTimer(sinkBudget)
	defer timer.Stop()
	select {
	case c.work <- struct{}{}: // no scrape is being handed on
		defer func() { <-c.work }()
	case <-timer.C:
	}
	c.finish()
}

// finish ends the collection; scrapes under way are dropped.
func (c *Collector) finish() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.end()
}

func (c *Collector) stopSchedule() {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	if c.schedule.stop != nil {
		close(c.schedule.stop)
		<-c.schedule.stopped // it never waits but for a tick
		c.schedule.stop = nil
	}
	c.schedule.started = true // it does not start any more
}

// Close ends everything that is still under way and waits for it. It fails if the sink does not return.
func (c *Collector) Close() error {
	c.stopSchedule()
	c.finish()
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
		close(ended)
	}()
	timer := time.NewTimer(closeBudget)
	defer timer.Stop()
	defer c.pages.Close()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s: a scrape could not be written within %s", strings.ToLower(c.options.Words.Title),
			closeBudget)
	}
}

// scrapeAll scrapes each endpoint once and waits for it within a budget. What takes longer goes on.
func (c *Collector) scrapeAll(ctx context.Context, what string, budget time.Duration) {
	bounded, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	endpoints := c.actives()
	done := make(chan *endpoint, len(endpoints))
	var steps sync.WaitGroup
	defer steps.Wait()
	for _, e := range endpoints {
		steps.Go(func() { c.scrapeAlone(bounded, e, asked, budget/2, func() { done <- e }) })
	}
	pending := slices.Clone(endpoints)
	for len(pending) > 0 {
		select {
		case e := <-done:
			pending = slices.DeleteFunc(pending, func(other *endpoint) bool { return other == e })
		case <-bounded.Done():
			if ctx.Err() == nil {
				c.log.Warn(fmt.Sprintf("%s: no %s scrape within %s from %s", c.options.Words.Subject, what, budget,
					strings.Join(c.shown(pending), ", ")))
			}
			return
		}
	}
}

// scrapeAlone scrapes an endpoint when no other scrape of it is under way, and lets no other begin before it
// is complete or ctx is over. Scrapes that are under way have a while to end: if one of them hangs, what it brings
// later is dropped. It returns after done was called or when ctx is over.
func (c *Collector) scrapeAlone(ctx context.Context, e *endpoint, r reason, while time.Duration, done func()) {
	select {
	case e.step <- struct{}{}:
		defer func() { <-e.step }()
	case <-ctx.Done():
		return
	}
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	quiet, cancel := context.WithTimeout(ctx, while)
	defer cancel()
	select {
	case e.slots <- struct{}{}: // both: nothing else is under way
		<-e.slots
	case <-quiet.Done():
		c.mu.Lock()
		e.givenUp = e.asked
		c.mu.Unlock()
	}
	complete := make(chan struct{})
	c.begin(e, r, func() {
		close(complete)
		done()
	})
	select {
	case <-complete:
	case <-ctx.Done():
	}
}

// shown returns endpoints as exports show them.
func (c *Collector) shown(endpoints []*endpoint) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, e := range endpoints {
		list = append(list, e.shown)
	}
	return list
}

// actives returns the endpoints that are scraped.
func (c *Collector) actives() []*endpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*endpoint
	for _, e := range c.endpoints {
		if e.active && !c.over {
			c.prepare(e) // here, so that the store hears of them in configured order
			list = append(list, e)
		}
	}
	return list
}

// prepare sets the store entry and the parser of an endpoint; the caller holds mu.
func (c *Collector) prepare(e *endpoint) {
	if e.destination == nil {
		e.destination = c.store.Endpoint(e.shown)
	}
	if e.parser == nil {
		e.parser = prom.NewParser(prom.Options{Summaries: c.options.Summaries,
			Notice: func(kind prom.NoticeKind, name, message string) {
				c.notice(e, kind, name, message)
			}})
	}
}

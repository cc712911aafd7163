package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/prom"
)

// finding is what the probe learned of an endpoint.
type finding struct {
	reachable bool
	useGiven  bool // the address as given has metrics where the normalised one has none
	err       error
}

// Probe finds out which endpoints answer and says whether there is any to collect from. It takes no longer than
// the reachability timeout, twice that where an address has to be tried as it was given. Endpoints that
// do not answer are left alone for the rest of the run.
func (c *Collector) Probe(ctx context.Context) (enabled bool) {
	c.mu.Lock()
	endpoints := slices.Clone(c.endpoints)
	c.mu.Unlock()
	if len(endpoints) == 0 {
		return false
	}
	c.announce(fmt.Sprintf("Server Metrics: Discovered %d endpoints: [%s]", len(endpoints), strings.Join(c.Configured(), ", ")))
	found := make([]finding, len(endpoints))
	var probes sync.WaitGroup
	for i, e := range endpoints {
		probes.Go(func() { found[i] = c.probe(ctx, e) })
	}
	probes.Wait()
	return c.conclude(endpoints, found)
}

// announce tells what the probe found, unless the caller does.
func (c *Collector) announce(line string) {
	if !c.options.Exporters {
		c.log.Info(line)
	}
}

func (c *Collector) probe(ctx context.Context, e *endpoint) finding {
	if e.given == "" {
		err := c.pages.Probe(ctx, e.configured)
		return finding{reachable: err == nil, err: err}
	}
	text, err := c.look(ctx, e.configured)
	var content *prom.ContentTypeError
	reachable := err == nil || errors.As(err, &content)
	if err == nil {
		_, err = prom.NewParser(prom.Options{}).Parse(text, false)
	}
	if err == nil {
		return finding{reachable: true}
	}
	if text, err := c.look(ctx, e.given); err == nil && declaresType(text) {
		return finding{reachable: true, useGiven: true}
	}
	return finding{reachable: reachable, err: err}
}

// look gets a page within the reachability timeout.
func (c *Collector) look(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Fetch.ReachabilityTimeout)
	defer cancel()
	body, err := c.pages.FetchInto(ctx, url, nil)
	return body.Text, err
}

// declaresType tells whether a page has a TYPE line.
func declaresType(text []byte) bool {
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) > 3 && string(words[0]) == "#" && string(words[1]) == "TYPE" {
			return true
		}
	}
	return false
}

// conclude keeps what the probes found and tells it.
func (c *Collector) conclude(endpoints []*endpoint, found []finding) (enabled bool) {
	var lines, unreachable []string
	c.mu.Lock()
	kept := c.endpoints[:0:0]
	for i, e := range endpoints {
		if found[i].useGiven {
			before := e.shown
			e.configured = e.given
			e.move(e.given)
			lines = append(lines, fmt.Sprintf("%s: no metrics at '%s'; using '%s' as it was given.", c.options.Words.Title, before, e.shown))
		}
		e.active = found[i].reachable
		if err := found[i].err; err != nil && !e.active {
			e.refusal = prom.KeyOf(err).Message
		}
		var fresh bool
		if kept, fresh = appendNew(kept, e); fresh && !e.active {
			unreachable = append(unreachable, e.shown)
		}
	}
	c.endpoints = kept
	c.mu.Unlock()

	for _, line := range lines {
		c.log.Info(line)
	}
	reachable := len(kept) - len(unreachable)
	if reachable == 0 {
		c.announce("Server metrics disabled - no Prometheus endpoints reachable")
		return false
	}
	c.announce(fmt.Sprintf("Server metrics enabled - %d/%d endpoint(s) reachable.", reachable, len(kept)))
	if len(unreachable) > 0 && !c.options.Exporters {
		c.log.Warn("Unreachable endpoints: " + strings.Join(unreachable, ", "))
	}
	return true
}

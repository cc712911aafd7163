package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/watch/prom"
)

// probeResult is what the probe found out about an endpoint.
type probeResult struct {
	reachable bool
	at        string // the address that has metrics where the first one has none; "" where it stays
	err       error
}

// Probe finds out which endpoints answer and reports whether there is any to collect from. It takes no longer than
// the reachability timeout, twice that where a second address has to be tried; endpoints that fail at once are asked
// three times within a second. Endpoints that do not answer are left alone for the rest of the run.
func (c *Collector) Probe(ctx context.Context) (enabled bool) {
	c.mu.Lock()
	endpoints := slices.Clone(c.endpoints)
	c.mu.Unlock()
	if len(endpoints) == 0 {
		return false
	}
	kind := "endpoints"
	if len(endpoints) == 1 {
		kind = "endpoint"
	}
	c.announce(fmt.Sprintf("Server Metrics: Discovered %d %s: [%s]", len(endpoints), kind,
		strings.Join(c.Configured(), ", ")))
	found := make([]probeResult, len(endpoints))
	var probes sync.WaitGroup
	for i, e := range endpoints {
		probes.Go(func() { found[i] = c.probe(ctx, e) })
	}
	probes.Wait()
	return c.conclude(endpoints, found)
}

// announce reports what the probe found, unless the caller does.
func (c *Collector) announce(line string) {
	if !c.options.Exporters {
		c.log.Info(line)
	}
}

// retries are the pauses before an endpoint is asked again that may be about to come up.
var retries = [...]time.Duration{250 * time.Millisecond, 750 * time.Millisecond}

// probe asks an endpoint, several times where it did not answer or says that it is not ready. Exporters are asked once:
// they run or they do not, and where none runs, which is usual, no run should wait for them.
func (c *Collector) probe(ctx context.Context, e *endpoint) probeResult {
	f := c.probeOnce(ctx, e)
	if c.options.Exporters || e.guessed {
		return f
	}
	for _, pause := range retries {
		if f.reachable || !mayBecomeReady(f.err) {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return f
		}
		f = c.probeOnce(ctx, e)
	}
	return f
}

// mayBecomeReady reports whether what went wrong may pass within a second: a server error, or a connection that was not
// taken. A timeout was long enough.
func mayBecomeReady(err error) bool {
	key := prom.KeyOf(err)
	if key.Code != 0 {
		return key.Code >= 500
	}
	return key.Type == neterr.Connector || key.Type == neterr.ServerDisconnected || key.Type == neterr.OS
}

func (c *Collector) probeOnce(ctx context.Context, e *endpoint) probeResult {
	if e.guessed {
		at, err := c.probeTriton(ctx, append([]string{e.configured}, e.others...))
		return probeResult{reachable: at != "", at: at, err: err}
	}
	f := c.probePage(ctx, e)
	if f.reachable || e.inference == "" || prom.KeyOf(f.err).Code == 0 || c.options.IsTriton == nil ||
		!c.options.IsTriton(ctx, e.inference) {
		return f
	}
	if at, _ := c.probeTriton(ctx, tritonPages(e.inference)); at != "" {
		return probeResult{reachable: true, at: at}
	}
	return f
}

func (c *Collector) probePage(ctx context.Context, e *endpoint) probeResult {
	if len(e.others) == 0 {
		err := c.pages.Probe(ctx, e.configured)
		return probeResult{reachable: err == nil, err: err}
	}
	text, err := c.look(ctx, e.configured)
	var content *prom.ContentTypeError
	reachable := err == nil || errors.As(err, &content)
	if err == nil {
		_, err = prom.NewParser(prom.Options{}).Parse(text, false)
	}
	if err == nil {
		return probeResult{reachable: true}
	}
	for _, other := range e.others {
		if text, err := c.look(ctx, other); err == nil && declaresType(text) {
			return probeResult{reachable: true, at: other}
		}
	}
	return probeResult{reachable: reachable, err: err}
}

// look gets a page within the reachability timeout.
func (c *Collector) look(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Fetch.ReachabilityTimeout)
	defer cancel()
	body, err := c.pages.Fetch(ctx, url, nil)
	return body.Text, err
}

// declaresType reports whether a page has a TYPE line.
func declaresType(text []byte) bool {
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) > 3 && string(words[0]) == "#" && string(words[1]) == "TYPE" {
			return true
		}
	}
	return false
}

// conclude keeps what the probes found and logs it.
func (c *Collector) conclude(endpoints []*endpoint, found []probeResult) (enabled bool) {
	var lines, unreachable []string // the latter with the reasons
	c.mu.Lock()
	kept := c.endpoints[:0:0]
	for i, e := range endpoints {
		if e.guessed && !found[i].reachable {
			continue
		}
		if to := found[i].at; to != "" && to != e.configured {
			before := e.shown
			e.configured = to
			e.move(to)
			lines = append(lines, fmt.Sprintf("%s: no metrics at '%s'; using '%s'.", c.options.Words.Title, before,
				e.shown))
		}
		e.active = found[i].reachable
		if err := found[i].err; err != nil && !e.active {
			key := prom.KeyOf(err)
			e.refusal, e.answered = key.Message, key.Code != 0
		}
		var fresh bool
		if kept, fresh = appendNew(kept, e); fresh && !e.active {
			unreachable = append(unreachable, fmt.Sprintf("%s (%s)", e.shown, e.refusal))
		}
	}
	c.endpoints = kept
	c.mu.Unlock()

	for _, line := range lines {
		c.log.Info(line)
	}
	reachable := len(kept) - len(unreachable)
	if reachable == 0 {
		if len(kept) == 0 {
			unreachable = append(unreachable, "a port for gRPC has none; name the page with "+pageFlag)
		}
		c.announce("Server metrics disabled - no Prometheus endpoints reachable: " + strings.Join(unreachable, ", "))
		return false
	}
	c.announce(fmt.Sprintf("Server metrics enabled - %d/%d endpoint(s) reachable.", reachable, len(kept)))
	if len(unreachable) > 0 && !c.options.Exporters {
		c.log.Warn("Unreachable endpoints: " + strings.Join(unreachable, ", "))
	}
	return true
}

package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/watch/prom"
)

// divert decides what becomes of an endpoint whose page is not Prometheus: it goes on at its fallback path if
// there are metrics, else it is disabled.
func (c *Collector) divert(e *endpoint, f *notPrometheus) {
	to := ""
	c.mu.Lock()
	if !e.diverted && !c.options.Exporters {
		to = fallbackOf(f.url)
	}
	e.diverted = true
	taken := to != "" && c.collects(to)
	from, shown := e.shown, prom.RedactURL(to)
	c.mu.Unlock()
	switch {
	case to == "":
		c.disable(e, f, f.reason)
		return
	case taken:
		c.leave(e, fmt.Sprintf(
			"Endpoint '%s' returned non-Prometheus content; its metrics are collected from '%s' already.", from, shown))
		return
	}
	c.log.Info(fmt.Sprintf("Endpoint '%s' returned non-Prometheus content; probing fallback '%s' (TRT-LLM "+
		"compatibility path).", from, shown))
	ctx, cancel := context.WithTimeout(c.life, c.options.Fetch.ReachabilityTimeout)
	defer cancel()
	got, release := c.get(ctx, e, to)
	defer release()
	c.settle(e, f, got)
}

// collects reports whether another endpoint has that URL; the caller holds mu.
func (c *Collector) collects(url string) bool {
	for _, e := range c.endpoints {
		if e.active && e.url == url {
			return true
		}
	}
	return false
}

// settle ends a diversion with the page of the fallback.
func (c *Collector) settle(e *endpoint, f *notPrometheus, got page) {
	c.work <- struct{}{}
	defer func() { <-c.work }()
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over {
		return
	}
	var content *prom.ContentTypeError
	if got.err != nil {
		reason := f.reason
		if !errors.As(got.err, &content) {
			reason = fmt.Sprintf("%s; the fallback '%s' failed (%s); for TensorRT-LLM set return_perf_metrics: true "+
				"in extra_llm_api_options.yaml",
				f.reason, prom.RedactURL(got.url), got.err)
		}
		c.disable(e, f, reason)
		return
	}
	c.relocate(e, got.url)
	if again := c.read(e, got); again != nil {
		c.relocate(e, f.url)
		c.disable(e, f, f.reason)
		return
	}
	c.mu.Lock()
	e.diverting = false
	c.mu.Unlock()
	c.log.Info(fmt.Sprintf("Prometheus fallback succeeded; collector swapped to '%s'.", prom.RedactURL(got.url)))
}

// relocate makes an endpoint go on at another URL, as if it had said nothing yet; the caller holds work.
func (c *Collector) relocate(e *endpoint, to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.move(to)
	e.parser = nil
	c.prepare(e)
	e.duplicates.Reset()
	e.samples = nil
}

// lowerFirst returns a subject within a sentence; what is spelled in capitals stays.
func lowerFirst(subject string) string {
	if len(subject) > 1 && subject[1] >= 'a' {
		return strings.ToLower(subject[:1]) + subject[1:]
	}
	return subject
}

// disable ends the collection from an endpoint with one warning and one counted error.
func (c *Collector) disable(e *endpoint, f *notPrometheus, reason string) {
	key := prom.KeyOf(f.err)
	key.Message = reason
	c.mu.Lock()
	e.active, e.diverting = false, false
	shown := e.shown
	c.failures.count(key)
	c.mu.Unlock()
	c.log.Warn(fmt.Sprintf("Disabling %s collection for %s: %s. To suppress this warning, pass %s.",
		lowerFirst(c.options.Words.Subject), shown, reason, c.options.Words.Flag))
}

// leave ends the collection from an endpoint that is not a loss.
func (c *Collector) leave(e *endpoint, message string) {
	c.mu.Lock()
	e.active, e.diverting = false, false
	c.mu.Unlock()
	c.log.Info(message)
}

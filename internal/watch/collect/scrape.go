package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// page is an answer of an endpoint.
type page struct {
	url    string // that it was asked at
	reason reason
	number int64 // among those of its endpoint
	body   prom.Body
	err    error
}

// reason is why a page is asked for.
type reason uint8

const (
	scheduled reason = iota
	asked            // a step of the run asked
	settling         // a server may count more requests after their replies have left; see [Collector.Settle]
)

// notPrometheus is a page that is not Prometheus text.
type notPrometheus struct {
	url    string
	reason string // for the user
	err    error
}

// scrape gets a page of an endpoint and keeps what it says; the caller holds a slot of the endpoint.
func (c *Collector) scrape(e *endpoint, r reason) {
	url, ok := c.address(e)
	if !ok {
		return
	}
	got, release := c.get(c.life, e, url)
	defer release()
	got.reason = r
	if f := c.take(e, got); f != nil {
		c.divert(e, f)
	}
}

// address returns where an endpoint is scraped, if it is.
func (c *Collector) address(e *endpoint) (url string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return e.url, e.active && !e.diverting && !c.over
}

// get fetches a page into a buffer that release gives back.
func (c *Collector) get(ctx context.Context, e *endpoint, url string) (got page, release func()) {
	buffer := c.buffers.Get().(*[]byte)
	got.url = url
	c.mu.Lock()
	e.asked++
	got.number = e.asked
	c.mu.Unlock()
	got.body, got.err = c.pages.Fetch(ctx, url, *buffer)
	return got, func() {
		if got.body.Text != nil {
			*buffer = got.body.Text[:0]
		}
		c.buffers.Put(buffer)
	}
}

// take keeps a page, or counts its failure. A page that is not Prometheus is returned if it is the endpoint's
// first: later ones, which were under way at the same time, are of no interest.
func (c *Collector) take(e *endpoint, got page) *notPrometheus {
	c.work <- struct{}{}
	defer func() { <-c.work }()
	c.mu.Lock()
	stale := c.over || !e.active || e.diverting || e.url != got.url || got.number <= e.givenUp
	c.mu.Unlock()
	if stale {
		return nil
	}
	f := c.read(e, got)
	if f != nil {
		c.mu.Lock()
		e.diverting = true
		c.mu.Unlock()
	}
	return f
}

// read does what take does, for a page that is still wanted; the caller holds work.
func (c *Collector) read(e *endpoint, got page) *notPrometheus {
	var content *prom.ContentTypeError
	switch {
	case errors.As(got.err, &content):
		return &notPrometheus{url: got.url, reason: content.Error(), err: got.err}
	case got.err != nil:
		c.fail(e, got.err)
		return nil
	}
	c.readable(e)
	if len(bytes.TrimSpace(got.body.Text)) == 0 {
		return nil
	}
	duplicate := e.duplicates.Same(got.body.Text) && e.samples != nil
	if !duplicate {
		samples, err := e.parser.Parse(got.body.Text, got.body.OpenMetrics())
		if err != nil {
			e.samples = nil
			if c.options.Exporters {
				c.fail(e, err)
				return nil
			}
			return &notPrometheus{url: got.url, reason: syntaxReason(err, got.body.Text), err: err}
		}
		e.samples = samples
	}
	if len(e.samples) == 0 {
		e.samples = nil
		return nil
	}
	if got.reason != scheduled {
		counted, counts := requestsCounted(e.samples)
		if got.reason == settling && counted <= e.counted {
			return nil
		}
		e.counted, e.counts = counted, counts
	}
	c.keep(e, &got, duplicate)
	return nil
}

func (c *Collector) wallNS(t time.Time) int64 {
	if wall := c.options.Fetch.WallNS; wall != nil {
		return wall(t)
	}
	return t.UnixNano()
}

// keep stores the samples of a page and passes them on.
func (c *Collector) keep(e *endpoint, got *page, duplicate bool) {
	body := &got.body
	sc := servermetrics.Scrape{
		TimestampNS: body.FirstByteNS, LatencyNS: body.LatencyNS,
		RequestSentNS: body.RequestSentNS, FirstByteNS: body.FirstByteNS,
		Duplicate: duplicate, Samples: e.samples, Summaries: e.parser.Summaries(),
	}
	if sc.TimestampNS == 0 {
		sc.TimestampNS = c.wallNS(time.Now())
	}
	shown, stored := c.add(e, sc)
	if stored && c.options.Sink != nil {
		c.options.Sink.Scraped(Scrape{URL: shown, Step: got.reason != scheduled, Scrape: sc})
	}
}

// add stores a scrape unless the collection is over.
func (c *Collector) add(e *endpoint, sc servermetrics.Scrape) (shown string, stored bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return "", false
	}
	c.prepare(e)
	e.delivered = true
	if sc.Duplicate {
		sc.Samples = nil // as in the scrape before; the store repeats it at no cost
	}
	if !c.options.SinkOnly {
		e.destination.Add(sc)
	}
	return e.shown, true
}

// sampleLength is how much of a body that is not Prometheus is shown, in characters.
const sampleLength = 200

func syntaxReason(err error, text []byte) string {
	return fmt.Sprintf("endpoint did not return valid Prometheus exposition format (%s); body sample: '%s'", err,
		excerpt(text))
}

// excerpt returns the start of a body on one line.
func excerpt(text []byte) string {
	text = text[:min(len(text), 4*sampleLength)] // a character has at most four bytes
	runes := []rune(strings.ToValidUTF8(string(text), "\uFFFD"))
	runes = runes[:min(len(runes), sampleLength)]
	var b strings.Builder
	for _, r := range runes {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r):
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

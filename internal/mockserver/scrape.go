package mockserver

import (
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
	"net/http"
	"time"
)

// scrape answers a request for metrics, with the fault that the options ask for.
func (h *handler) scrape(at page.Target) error {
	e, c := h.srv.exporter, h.conn
	f := e.Fault(at, func(n uint64) float64 { draw := h.srv.scrapeFaults.At(n); return draw.Float64() })
	if now := time.Duration(h.srv.clock.NowNS()); f.DieAfter.Passed(now) && !f.BackAfter.Passed(now) {
		return httpd.ErrCut
	}
	if err := c.Wait(h.srv.clock.NowNS() + int64(f.Delay)); err != nil {
		return err
	}
	if f.Never {
		return c.Hang()
	}
	c.DropAfter, c.ContentType = f.DropAfterBytes, f.ContentType
	if f.Status != 0 {
		return h.refuse(injected(f.Status))
	}
	if f.HugeMiB != 0 {
		return h.endless(f.HugeMiB)
	}
	body, contentType, encoding := e.Append(h.text[:0], at, h.fields.openMetrics, &f)
	h.text, c.Encoding = body, encoding
	if f.Slow > 0 {
		return h.trickle(contentType, body, f.Slow)
	}
	return h.send(http.StatusOK, contentType, body)
}

// trickle sends a body byte by byte.
func (h *handler) trickle(contentType string, body []byte, pause time.Duration) error {
	c := h.conn
	c.BeginHead(http.StatusOK, contentType, len(body))
	if string(c.Head.Method) == http.MethodHead {
		return c.Flush()
	}
	due := h.srv.clock.NowNS()
	for i := range body {
		if err := c.Flush(); err != nil {
			return err
		}
		due += int64(pause)
		if err := c.Wait(due); err != nil {
			return err
		}
		if h.srv.http.Draining() {
			return httpd.ErrCut
		}
		c.Out = append(c.Out, body[i])
	}
	return c.Flush()
}

// endless sends lines until the page has so many MiB; -1 is for as long as the client reads them.
func (h *handler) endless(mib int) error {
	length := -1
	if mib > 0 {
		length = mib << 20
	}
	c := h.conn
	c.BeginHead(http.StatusOK, page.ClassicType, length)
	if string(c.Head.Method) == http.MethodHead {
		return c.Flush()
	}
	lines := page.EndlessLines()
	for sent := 0; length < 0 || sent < length; sent += len(lines) {
		if h.srv.http.Draining() {
			return httpd.ErrCut
		}
		part := lines
		if length >= 0 {
			part = lines[:min(len(lines), length-sent)]
		}
		if length < 0 {
			c.BeginChunk()
		}
		c.Out = append(c.Out, part...)
		c.EndChunk()
		if err := c.Flush(); err != nil {
			return err
		}
	}
	return nil
}

package mockserver

import (
	"net/http"
	"strconv"
	"time"
)

// scrape answers a request for metrics, spoilt as the options say.
func (c *conn) scrape(at target) error {
	e := c.srv.exporter
	f := noMetricsFault()
	if e.spoilt(e.faultOf(at), func(n uint64) float64 { draw := c.srv.scrapeFaults.At(n); return draw.Float64() }) {
		f = *e.faultOf(at)
	}
	if now := time.Duration(c.srv.clock.NowNS()); f.dieAfter.passed(now) && !f.backAfter.passed(now) {
		return errCut
	}
	if err := c.wait(c.srv.clock.NowNS() + int64(f.delay)); err != nil {
		return err
	}
	if f.never {
		return c.hang()
	}
	c.x.fault.dropAfterBytes, c.x.fault.contentType = f.dropAfterBytes, f.contentType
	if f.status != 0 {
		return c.refuse(&httpError{f.status, "injected fault: status " + strconv.Itoa(f.status)})
	}
	if f.hugeMiB != 0 {
		return c.endless(f.hugeMiB)
	}
	body, contentType := e.body(c.text[:0], at, e.open || c.head.openMetrics, &f)
	c.text = body
	if f.instead != "" {
		body, contentType = insteadOf(f.instead)
	}
	if f.truncated {
		body = truncated(body)
	}
	if f.gzip {
		body = compressed(body)
		c.x.encoding = "gzip"
	}
	if f.slow > 0 {
		return c.trickle(contentType, body, f.slow)
	}
	return c.send(http.StatusOK, contentType, body)
}

// truncated ends a body in the middle of its last third, within a line and before its value.
func truncated(body []byte) []byte {
	end := len(body) * 5 / 6
	for end > 0 && body[end-1] != ' ' {
		end--
	}
	return body[:max(end-2, 0)]
}

// trickle sends a body byte by byte.
func (c *conn) trickle(contentType string, body []byte, pause time.Duration) error {
	c.beginHead(http.StatusOK, contentType, len(body))
	if string(c.head.method) == http.MethodHead {
		return c.flush()
	}
	due := c.srv.clock.NowNS()
	for i := range body {
		if err := c.flush(); err != nil {
			return err
		}
		due += int64(pause)
		if err := c.wait(due); err != nil {
			return err
		}
		if c.srv.draining.Load() {
			return errCut
		}
		c.out = append(c.out, body[i])
	}
	return c.flush()
}

// endless sends lines until the page has so many MiB; -1 is for as long as the client reads them.
func (c *conn) endless(mib int) error {
	length := -1
	if mib > 0 {
		length = mib << 20
	}
	c.beginHead(http.StatusOK, classicType, length)
	if string(c.head.method) == http.MethodHead {
		return c.flush()
	}
	lines := endlessLines()
	for sent := 0; length < 0 || sent < length; sent += len(lines) {
		if c.srv.draining.Load() {
			return errCut
		}
		part := lines
		if length >= 0 {
			part = lines[:min(len(lines), length-sent)]
		}
		chunked := length < 0 && !c.head.http10
		if chunked {
			c.out = append(strconv.AppendInt(c.out, int64(len(part)), 16), "\r\n"...)
		}
		c.out = append(c.out, part...)
		if chunked {
			c.out = append(c.out, "\r\n"...)
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/client/eventstream"
	"aiperf/internal/client/sse"
	"aiperf/internal/neterr"
	"aiperf/internal/record"
)

// follow carries the exchange through its redirects to its reply.
func (x *exchange) follow(h *hop) error {
	for redirects := 0; ; redirects++ {
		if err := x.send(h); err != nil {
			return err
		}
		if x.writing == nil {
			x.client.release(h)
		}
		resp, err := x.readHead(h)
		if err != nil {
			return err
		}
		again, err := x.redirected(h, resp)
		if err != nil {
			return err
		}
		if !again {
			return x.receive(h, resp)
		}
		if redirects == maxRedirects {
			return &wireError{origin: h.target.origin, typ: neterr.Redirects, what: "following redirects",
				err: fmt.Errorf("more than %d redirects", maxRedirects)}
		}
		if x.drain() {
			x.recycle(false)
		} else {
			x.discard()
		}
	}
}

// readHead reads the reply's head; interim replies are skipped.
func (x *exchange) readHead(h *hop) (*http.Response, error) {
	w := x.conn.wire
	w.head = maxHead // interim replies included
	defer func() { w.head = -1 }()
	for {
		resp, err := http.ReadResponse(x.conn.br, x.client.methodOf(h.method))
		if err != nil {
			return nil, x.broken(h, typeResponse, "reading the response headers", err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			if x.req.KeepTrace || x.req.KeepRaw {
				x.response = resp
			}
			x.t.headersReceived = w.readNS
			if x.writing == nil {
				x.t.answered()
			}
			x.body = newBody(x.conn.br, resp, h)
			x.conn.idleLimit = keepAliveLimit(resp.Header)
			return resp, nil
		}
	}
}

// keepAliveLimit is how long a connection may be idle before its server closes it, if the reply says so,
// less what a request needs to get there: one that meets the server's close on the way is lost.
func keepAliveLimit(h http.Header) int64 {
	for _, value := range h["Keep-Alive"] {
		for item := range strings.SplitSeq(value, ",") {
			name, number, _ := strings.Cut(strings.TrimSpace(item), "=")
			if !strings.EqualFold(name, "timeout") {
				continue
			}
			if seconds, err := strconv.ParseUint(strings.Trim(number, `"`), 10, 31); err == nil {
				limit := time.Duration(seconds) * time.Second
				return max(1, int64(max(limit-time.Second, limit/2)))
			}
		}
	}
	return 0
}

func (c *Client) methodOf(method string) *http.Request {
	switch method {
	case http.MethodPost:
		return c.post
	case http.MethodGet:
		return c.get
	}
	return &http.Request{Method: method}
}

// broken is the error of a connection that failed while it was read.
func (x *exchange) broken(h *hop, typ, what string, err error) error {
	if x.ended() {
		return errEnded
	}
	// What the socket said comes before what a parser made of it.
	if readErr := x.conn.wire.readErr; readErr != nil && (typ == typeResponse || readErr != io.EOF) {
		err = readErr
	}
	if typ == typeResponse && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		typ = neterr.ServerDisconnected
	}
	return &wireError{origin: h.target.origin, typ: typ, what: what, err: err}
}

func isSuccess(status int) bool { return status >= 200 && status <= 299 }

// receive reads the reply and hands it over.
func (x *exchange) receive(h *hop, resp *http.Response) error {
	x.out.Status = resp.StatusCode
	mediaType, charset := contentType(resp.Header.Get("Content-Type"))
	if err := x.decodeBody(resp); err != nil {
		return &wireError{origin: h.target.origin, typ: neterr.Payload, what: "reading the response body", err: err}
	}
	if !isSuccess(resp.StatusCode) {
		return x.receiveRefusal(h, resp, mediaType, charset)
	}
	x.out.AckNS = x.t.headersReceived
	switch {
	case mediaType == "text/event-stream" && h.method == http.MethodPost:
		return x.receiveStream(h, x.readBody)
	case mediaType == eventstream.MediaType:
		return x.receiveStream(h, (&frames{x: x}).read)
	}
	pooled := x.client.bodies.Get().(*[]byte)
	text, err := x.readAll((*pooled)[:0])
	defer func() {
		if cap(text) <= maxPooled {
			*pooled = text[:0]
			x.client.bodies.Put(pooled)
		}
	}()
	binary := isBinary(mediaType)
	if err != nil {
		x.keep(mediaType, binary, text)
		return x.broken(h, neterr.Payload, "reading the response body", err)
	}
	lag := x.conn.wire.lagNS
	if !x.conclude() {
		x.keep(mediaType, binary, text)
		return errEnded
	}
	body := text
	if !binary {
		body = decode(text, charset)
	}
	x.keep(mediaType, binary, body)
	x.out.Responses, x.out.LastResponseNS = 1, x.out.EndNS
	x.out.FirstReadLagNS = lag
	x.sink.Body(mediaType, binary, body, x.out.EndNS)
	return nil
}

// receiveRefusal makes an error of a reply that is not 2xx; what could be read of its body is the message.
func (x *exchange) receiveRefusal(h *hop, resp *http.Response, mediaType, charset string) error {
	text, more, err := x.readRefusal()
	if x.ended() || err == nil && !x.conclude() {
		x.keep(mediaType, false, text)
		return errEnded
	}
	body := decode(text, charset)
	x.keep(mediaType, false, body)
	return &statusError{code: resp.StatusCode, reason: reason(resp), body: string(body), more: more}
}

// reason is the reason phrase that the server sent, else the usual one.
func reason(resp *http.Response) string {
	_, phrase, _ := strings.Cut(resp.Status, " ")
	if phrase = strings.TrimSpace(phrase); phrase != "" {
		return phrase
	}
	return http.StatusText(resp.StatusCode)
}

// streamRoom is the least room of a read from a stream: some two events of a token each. Thousands of
// streams may be open, so the scanner's buffer only grows with an event that does not fit.
const streamRoom = 512

// maxStreamed is how many times the largest body a stream may bring in all.
const maxStreamed = 4

// receiveStream hands over the events of a stream as they come.
func (x *exchange) receiveStream(h *hop, read func([]byte) (int, error)) error {
	sc := x.client.scanners.Get().(*sse.Scanner)
	defer func() {
		sc.Reset(4 * readBuffer)
		x.client.scanners.Put(sc)
	}()
	limit := x.client.opts.MaxBody
	for total := int64(0); ; {
		n, err := read(sc.Space(streamRoom))
		at := x.conn.wire.readNS
		sc.Filled(n)
		total += int64(n)
		for ev := sc.Next(); ev != nil; ev = sc.Next() {
			if err := x.event(ev, at); err != nil {
				return err
			}
		}
		switch {
		case err == nil && int64(sc.Pending()) <= limit && total/maxStreamed <= limit:
			continue
		case err == nil && total/maxStreamed > limit:
			err = tooLarge(maxStreamed * limit)
		case err == nil:
			err = tooLarge(limit)
		case err == io.EOF:
			return x.endStream(sc, at)
		}
		if ev := sc.End(); ev != nil {
			x.keepEvent(ev, x.client.clock.NowNS())
		}
		var exception *streamException
		if errors.As(err, &exception) {
			return err
		}
		return x.broken(h, neterr.Payload, "reading the event stream", err)
	}
}

func (x *exchange) endStream(sc *sse.Scanner, at int64) error {
	if ev := sc.End(); ev != nil {
		if err := x.event(ev, at); err != nil {
			return err
		}
	}
	if !x.conclude() {
		return errEnded
	}
	return nil
}

// event hands one event over, unless it is the server's word that the request failed.
func (x *exchange) event(ev *sse.Event, at int64) error {
	x.keepEvent(ev, at)
	x.out.LastResponseNS = at
	if ev.Name != nil && bytes.EqualFold(ev.Name, []byte("error")) {
		return newEventError(ev)
	}
	x.arrived(ev, at)
	x.out.Responses++
	x.sink.Event(ev.Name, ev.Data, at)
	return nil
}

// keep stores a whole body for the raw export.
func (x *exchange) keep(mediaType string, binary bool, body []byte) {
	if !x.req.KeepRaw {
		return
	}
	at := x.out.EndNS
	if at == 0 {
		at = x.client.clock.NowNS() // the body is not whole
	}
	x.responses = append(x.responses, record.RawResponse{PerfNS: at, IsBinary: binary, ContentType: mediaType, Bytes: bytes.Clone(body)})
}

func (x *exchange) keepEvent(ev *sse.Event, at int64) {
	if x.req.KeepRaw {
		x.responses = append(x.responses, record.RawResponse{PerfNS: at, IsEvent: true,
			ContentType: "text/event-stream", Bytes: bytes.Clone(ev.Text)})
	}
}

// contentType splits a Content-Type header into media type and charset, both in lower case.
func contentType(header string) (mediaType, charset string) {
	switch header {
	case "application/json", "text/event-stream":
		return header, ""
	case "text/event-stream; charset=utf-8":
		return "text/event-stream", "utf-8"
	}
	mediaType, rest, _ := strings.Cut(header, ";")
	if strings.Contains(rest, "=") {
		if _, params, err := mime.ParseMediaType(header); err == nil {
			charset = strings.ToLower(params["charset"])
		}
	}
	return strings.ToLower(strings.TrimSpace(mediaType)), charset
}

func isBinary(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	return kind == "video" || kind == "image" || kind == "audio" || mediaType == "application/octet-stream"
}

// decode makes text of a body. Beyond UTF-8 and Latin-1 a charset is taken for UTF-8, whose ill-formed
// parts become U+FFFD.
func decode(body []byte, charset string) []byte {
	switch charset {
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin-1", "latin1", "l1":
		out := make([]byte, 0, len(body)+len(body)/8)
		for _, b := range body {
			out = append(out, string(rune(b))...)
		}
		return out
	}
	return sse.ToValid(body)
}

package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/sse"
)

// follow carries the exchange through its redirects to its reply.
func (x *exchange) follow(h *hop) error {
	for redirects := 0; ; redirects++ {
		resp, err := x.try(h)
		if x.wasLost(err) {
			if err = x.sendAgain(h, redirects == 0); err == nil {
				resp, err = x.try(h)
			}
			x.resending = false
		}
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

// try sends the hop and reads the head of its reply.
func (x *exchange) try(h *hop) (*http.Response, error) {
	if err := x.send(h); err != nil {
		return nil, err
	}
	if x.writing == nil {
		x.client.release(h)
	}
	return x.readHead(h)
}

// readHead reads the reply's head; interim replies are skipped.
func (x *exchange) readHead(h *hop) (*http.Response, error) {
	w := x.conn.wire
	w.head = maxHead // interim replies included
	defer func() { w.head = -1 }()
	if err := x.awaitReply(h); err != nil {
		return nil, err
	}
	for {
		resp, err := x.nextHead(h)
		if err != nil {
			return nil, x.broken(h, typeResponse, readingHeaders, err, false)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			if x.req.KeepTrace || x.req.KeepRaw {
				x.response = resp
			}
			x.t.HeadersReceived = w.readNS
			if x.writing == nil {
				x.t.answered()
			}
			x.body = newBody(&x.conn.in, resp, h)
			x.conn.idleLimit = keepAliveLimit(resp.Header)
			x.keepHead(h, resp)
			return resp, nil
		}
	}
}

// keepHead gives the head of a reply to the one who keeps it.
func (x *exchange) keepHead(h *hop, resp *http.Response) {
	if k := x.req.Keeper; k != nil {
		k.Keep(PlaceOf(h.target.url, h.given), resp.Header.Values)
	}
}

// nextHead reads one head. A trace, the raw exchange and who keeps heads need all of it.
func (x *exchange) nextHead(h *hop) (*http.Response, error) {
	if h.method == http.MethodPost && !x.req.KeepTrace && !x.req.KeepRaw && x.req.Keeper == nil {
		if x.usual == nil {
			x.usual = x.client.usual.Get().(*usualHead)
		}
		if resp := x.usual.read(&x.conn.in); resp != nil {
			return resp, nil
		}
	}
	return x.client.readHead(&x.conn.in, h.method)
}

// readHead reads any head by net/http.
func (c *Client) readHead(in *inbox, method string) (*http.Response, error) {
	// The parser's buffer is shorter than the inbox, which therefore can take back what follows the head.
	parser := c.parsers.Get().(*bufio.Reader)
	parser.Reset(in)
	resp, err := http.ReadResponse(parser, c.methodOf(method))
	in.Unread(parser.Buffered())
	parser.Reset(nil)
	c.parsers.Put(parser)
	return resp, err
}

// headIsRead lets the next exchange have what a usual head is read into: a stream may take long.
func (x *exchange) headIsRead() {
	if x.usual != nil {
		x.client.usual.Put(x.usual)
		x.usual = nil
	}
}

// awaitReply waits for the first byte of the reply.
func (x *exchange) awaitReply(h *hop) error {
	first, err := x.conn.in.Peek(1)
	switch {
	case err != nil:
		return x.broken(h, typeResponse, readingHeaders, err, true)
	case isTLS(first[0]) && x.conn.top == net.Conn(x.conn.wire):
		return x.broken(h, typeResponse, readingHeaders,
			fmt.Errorf("the server answered in TLS: use https://%s", h.target.origin.hostPort()), false)
	}
	return nil
}

const readingHeaders = "reading the response headers"

// isTLS reports whether a record of TLS begins with b, an alert or a handshake; no reply of HTTP does.
func isTLS(b byte) bool { return b == 21 || b == 22 }

// keepAliveLimit is how long a connection may be idle before its server closes it, if the reply has that limit,
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

// broken is the error of a connection that failed while it was read; unanswered reports that nothing was read of a
// reply.
func (x *exchange) broken(h *hop, typ, what string, err error, unanswered bool) error {
	if x.Ended() {
		return ErrEnded
	}
	// The error of the socket comes before that of a parser.
	if readErr := x.conn.wire.readErr; readErr != nil && (typ == typeResponse || readErr != io.EOF) {
		err = readErr
	}
	if typ == typeResponse && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		typ = neterr.ServerDisconnected
	}
	return &wireError{origin: h.target.origin, typ: typ, what: what, err: err, unanswered: unanswered}
}

func isSuccess(status int) bool { return status >= 200 && status <= 299 }

// receive reads the reply and passes it to the sink.
func (x *exchange) receive(h *hop, resp *http.Response) error {
	x.out.Status = resp.StatusCode
	header := resp.Header.Get("Content-Type")
	mediaType, charset := contentType(header)
	streamed := mediaType == "text/event-stream" && h.method == http.MethodPost || mediaType == MediaType
	switch x.codedLimit = x.opts.MaxBody; {
	case !isSuccess(resp.StatusCode):
		x.codedLimit = maxRefusal + maxSkipped
	case streamed:
		x.codedLimit = min(x.codedLimit, math.MaxInt64/maxStreamed) * maxStreamed
	}
	if err := x.decodeBody(resp); err != nil {
		return &wireError{origin: h.target.origin, typ: neterr.Payload, what: "reading the response body", err: err}
	}
	if !isSuccess(resp.StatusCode) {
		return x.receiveRefusal(resp, mediaType, charset)
	}
	x.headIsRead()
	x.out.AckNS = x.t.HeadersReceived
	switch {
	case mediaType == MediaType:
		return x.receiveStream(h, &frames{x: x}, nil)
	case streamed:
		return x.receiveStream(h, nil, nil)
	case h.method == http.MethodPost && !isBinary(mediaType):
		return x.receiveText(h, mediaType, charset, beginning{}, 0)
	}
	return x.receiveBody(h, header, mediaType, charset)
}

// receiveBody reads a reply that can only be a whole body. It is apart from receive, whose frame lies below every open
// stream.
func (x *exchange) receiveBody(h *hop, header, mediaType, charset string) error {
	pooled := x.client.bodies.Get().(*[]byte)
	text, err := x.readUntil((*pooled)[:0], func(b []byte) bool {
		if h.method == http.MethodPost {
			x.tell(header, b)
		}
		return false
	})
	defer func() {
		if cap(text) <= maxPooled {
			*pooled = text[:0]
			x.client.bodies.Put(pooled)
		}
	}()
	if err != nil && err != io.EOF {
		x.keep(mediaType, isBinary(mediaType), text)
		return x.broken(h, neterr.Payload, "reading the response body", err, false)
	}
	return x.concludeBody(mediaType, charset, isBinary(mediaType), text)
}

// tell passes what has come of a body to a sink that listens.
func (x *exchange) tell(header string, body []byte) {
	l, ok := x.sink.(Listener)
	if !ok {
		return
	}
	if !x.heard {
		x.heard, x.out.FirstReadLagNS = true, x.conn.wire.lagNS
	}
	l.Coming(header, body, x.conn.wire.readNS)
}

// receiveRefusal makes an error of a reply that is not 2xx; what could be read of its body is the message.
func (x *exchange) receiveRefusal(resp *http.Response, mediaType, charset string) error {
	text, more, err := x.readRefusal()
	if x.Ended() || err == nil && !x.conclude() {
		x.keep(mediaType, false, text)
		return ErrEnded
	}
	body := decode(text, charset)
	x.keep(mediaType, false, body)
	return &statusError{code: resp.StatusCode, reason: kindOf(resp, body), body: string(body), more: more,
		retryAfter: retryAfter(resp)}
}

// maxRetryAfter is the longest value of the header that is taken: a date has 29 characters.
const maxRetryAfter = 40

func retryAfter(resp *http.Response) string {
	v := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if len(v) > maxRetryAfter {
		return ""
	}
	return v
}

// kindOf is the type of the error that a refusal becomes: its reason phrase, else what its body says, else its number.
func kindOf(resp *http.Response, body []byte) string {
	if phrase := reason(resp); phrase != "" {
		return phrase
	}
	if jsonscan.Valid(body) {
		for _, object := range [][]byte{jsonscan.Find(body, "error"), body} {
			if kind := jsonscan.FindText(object, "type"); kind != "" && len(kind) <= maxKind {
				return kind
			}
		}
	}
	return "HTTP " + strconv.Itoa(resp.StatusCode)
}

// maxKind is the longest type of an error that is taken from a body.
const maxKind = 60

// reason is the reason phrase that the server sent, else the usual one; "" if the status has none. Servers that are
// made with hyper send "<none>" instead of none.
func reason(resp *http.Response) string {
	_, phrase, _ := strings.Cut(resp.Status, " ")
	if phrase = strings.TrimSpace(phrase); phrase != "" && phrase != "<none>" {
		return phrase
	}
	return http.StatusText(resp.StatusCode)
}

// streamRoom is the least room of a read from a stream: some two events of a token each. Thousands of
// streams may be open, so the scanner's buffer only grows with an event that does not fit.
const streamRoom = 512

// After a read of floodRead bytes the next one has floodRoom, which saves calls where events come faster than they are
// read.
const (
	floodRead = 2 * streamRoom
	floodRoom = 4096
)

// maxStreamed is how many times the largest body a whole stream may have.
const maxStreamed = 4

// eventsPerCheck is how many events of one read are passed to the sink before the next check whether the exchange has
// ended.
const eventsPerCheck = 1024

// receiveStream passes the events of a stream to the sink as they come; framed is what cuts the body where it is not
// server-sent events itself, begun what has just been read of it.
func (x *exchange) receiveStream(h *hop, framed *frames, begun *beginning) error {
	sc := x.client.scanners.Get().(*sse.Scanner)
	x.scanner = sc
	defer func() {
		x.waits()
		x.scanner = nil
		sc.Reset(4 * readBuffer)
		x.client.scanners.Put(sc)
	}()
	again, _ := x.sink.(sse.Repeater)
	if x.req.KeepRaw {
		again = nil
	}
	limit := x.opts.MaxBody
	room := streamRoom
	lines, lineNS := 0, int64(0) // of an open event, and when the last one came
	labelled := framed == nil && begun == nil
	for total := int64(0); ; {
		n, err := x.readStream(framed, room, begun)
		if room = streamRoom; n >= floodRead {
			room = floodRoom
		}
		at := x.conn.wire.readNS
		if labelled {
			first := sc.First()
			if first == '{' || first == '[' { // no field of an event begins so
				return x.receiveUnstreamed(h, sc, at, err)
			}
			labelled = first == 0
		}
		begun = nil
		total += int64(n)
		for i := 1; ; i++ {
			if again != nil && sc.Repeat(again, at) {
				x.out.LastResponseNS = at
				x.arrived(at)
				x.out.Responses++
			} else if ev := sc.Next(); ev == nil {
				if n := sc.Lines(); n != lines {
					lines, lineNS = n, at
				}
				break
			} else {
				when := at
				if lines > 0 && sc.Cut() {
					when = lineNS
				}
				lines = 0
				if err := x.event(ev, when); err != nil {
					return err
				}
			}
			if i%eventsPerCheck == 0 && x.Ended() {
				return ErrEnded
			}
		}
		switch {
		case sc.Err() != nil:
			err = sc.Err()
		case err == nil && int64(sc.Pending()) <= limit && total/maxStreamed <= limit:
			continue
		case err == nil && total/maxStreamed > limit:
			err = tooLarge(maxStreamed * limit)
		case err == nil:
			err = tooLarge(limit)
		case err == io.EOF:
			return x.endStream(sc, at)
		}
		x.keepRest(sc)
		if _, ok := errors.AsType[*streamException](err); ok {
			return err
		}
		return x.broken(h, neterr.Payload, "reading the event stream", err, false)
	}
}

// receiveUnstreamed reads a reply that is labelled as a stream of events and is JSON: err is what ended the read of what
// the scanner has.
func (x *exchange) receiveUnstreamed(h *hop, sc *sse.Scanner, at int64, err error) error {
	begun := bytes.Clone(sc.Unread())
	sc.End()
	if err != nil && err != io.EOF {
		x.keep("application/json", false, begun)
		return x.broken(h, neterr.Payload, "reading the response body", err, false)
	}
	return x.receiveText(h, "application/json", "", beginning{begun, err}, at)
}

// readStream reads into at least room bytes of the scanner's memory; what has begun was read before.
func (x *exchange) readStream(framed *frames, room int, begun *beginning) (n int, err error) {
	// A stream that floods hardly waits, and is read past the inbox.
	if room == streamRoom && framed == nil && begun == nil && x.decoder == nil && x.body.framing != framedNone {
		in := &x.conn.in
		in.waiting = x
		in.await()
		in.waiting = nil
	}
	if x.room == nil {
		x.room = x.client.rooms.Get().(*[]byte)
		x.scanner.Use(*x.room)
	}
	if begun != nil {
		room = max(room, len(begun.text))
	}
	space := x.scanner.Space(room)
	switch {
	case begun != nil:
		n, err = copy(space, begun.text), begun.end
	case framed != nil:
		n, err = framed.read(space)
	default:
		n, err = x.readBody(space)
	}
	x.scanner.Filled(n)
	return n, err
}

// waits lets others have the memory of a stream that waits, unless part of an event is in it.
func (x *exchange) waits() {
	if x.room == nil {
		return
	}
	buf := x.scanner.Give()
	if buf == nil {
		return
	}
	if cap(buf) <= 2*floodRoom {
		*x.room = buf
		x.client.rooms.Put(x.room)
	}
	x.room = nil
}

func (x *exchange) endStream(sc *sse.Scanner, at int64) error {
	if ev := sc.End(); ev != nil {
		if err := x.event(ev, at); err != nil {
			return err
		}
	}
	if !x.conclude() {
		return ErrEnded
	}
	return nil
}

// event passes one event to the sink, unless it reports that the request failed.
func (x *exchange) event(ev *sse.Event, at int64) error {
	x.keepEvent(ev, at)
	x.out.LastResponseNS = at
	if ev.Name != nil && bytes.EqualFold(ev.Name, []byte("error")) {
		return newEventError(ev)
	}
	if x.out.Responses == 0 {
		x.out.FirstReadLagNS = x.conn.wire.lagNS
	}
	if !bytes.Equal(ev.Data, endMark) {
		x.arrived(at)
	}
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
		at = x.clock.NowNS() // the body is not whole
	}
	x.responses = append(x.responses,
		record.RawResponse{PerfNS: at, IsBinary: binary, ContentType: mediaType, Bytes: bytes.Clone(body)})
}

func (x *exchange) keepEvent(ev *sse.Event, at int64) {
	if x.req.KeepRaw {
		x.responses = append(x.responses, record.RawResponse{PerfNS: at, IsEvent: true,
			ContentType: "text/event-stream", Bytes: bytes.Clone(ev.Text)})
	}
}

// keepRest stores what came of an event that never will be whole.
func (x *exchange) keepRest(sc *sse.Scanner) {
	if !x.req.KeepRaw {
		return
	}
	if rest := sc.Rest(); len(rest) > 0 {
		x.keepEvent(&sse.Event{Text: rest}, x.clock.NowNS())
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

package recorder

import (
	"io"
	"log"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/traffic/row"
)

var quiet = log.New(io.Discard, "", 0)

// exchange is a request and its reply while they pass. The goroutine that serves the request owns it, then a worker.
type exchange struct {
	of   *Recorder
	at   time.Time
	path string
	// mu guards what is noted of a long request: the goroutine that sends it may outlive the reply.
	mu    sync.Mutex
	ended bool
	// header is the head of the request; only the session is read from it.
	header               http.Header
	encoding             string
	request              []byte
	status               int
	contentType          string
	replyEncoding        string
	reply                []byte
	reads                []row.Read
	end                  time.Duration
	cancelled, unreached bool
	left                 bool  // the client left before its request was there
	whole                bool  // the reply was read to its end
	ending               bool  // the same, and the order of rows knows
	broken               error // what ended the reply before its end
	requestCut, replyCut bool
	reserved             int64
	work                 bool // it has a body
}

// outcome says how it ended, as far as the connection tells.
func (x *exchange) outcome() string {
	switch {
	case x.unreached:
		return "unreached"
	case x.cancelled:
		return "cancelled"
	case x.broken != nil:
		return "broken"
	case x.status < 200 || x.status > 299:
		return "error"
	}
	return "ok"
}

// keep appends bytes if neither the exchange nor all of them together hold too many.
func (x *exchange) keep(dst, p []byte, most int) (kept []byte, ok bool) {
	if len(dst)+len(p) > most {
		return dst, false
	}
	n := int64(len(p))
	if x.of.held.Add(n) > maxHeld {
		x.of.held.Add(-n)
		return dst, false
	}
	x.reserved += n
	return append(dst, p...), true
}

// forget gives the memory of the exchange back.
func (x *exchange) forget() {
	x.of.held.Add(-x.reserved)
	x.reserved = 0
}

// take notes the whole body of a request, which nobody changes any more.
func (x *exchange) take(body []byte) {
	n := int64(len(body))
	if x.of.held.Add(n) > maxHeld {
		x.of.held.Add(-n)
		x.requestCut = true
		return
	}
	x.reserved += n
	x.request = body
}

// read notes a piece of the reply, and what came after it.
func (x *exchange) read(p []byte, err error) {
	if len(p) > 0 && !x.replyCut {
		var ok bool
		x.reply, ok = x.keep(x.reply, p, row.MaxBody)
		x.replyCut = !ok
		x.reads = append(x.reads, row.Read{End: len(x.reply), At: time.Since(x.at)})
	}
	switch {
	case err == io.EOF:
		if x.whole = true; x.work && !x.ending {
			x.ending = true
			x.of.order.ending.Add(1)
		}
	case err != nil:
		x.broken = err
	}
}

// requestBody is the body of a request that is noted as it passes.
type requestBody struct {
	io.ReadCloser
	x *exchange
	// over: its end was read. The transport reads once more, which net/http refuses when the reply has begun, and the
	// connection to the server would be closed with the reply on it.
	over bool
	left atomic.Bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	if b.left.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.ReadCloser.Read(p)
	b.over = err == io.EOF
	x := b.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if n > 0 && !x.ended && !x.requestCut {
		var ok bool
		x.request, ok = x.keep(x.request, p[:n], row.MaxBody)
		x.requestCut = !ok
	}
	return n, err
}

// Close leaves the body of the client open: where the server was not reached, it would be read to its end.
func (b *requestBody) Close() error {
	b.left.Store(true)
	return nil
}

// leave ends the reading when the reply is over.
func (b *requestBody) leave() { b.left.Store(true) }

package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// errEnded says that the exchange was ended from outside; its outcome says how.
var errEnded = errors.New("exchange ended")

// An outcome is what ended an exchange before its own end, or that end.
type outcome int

const (
	running outcome = iota
	finished
	timedOut
	notSentInTime
	cancelled
	cutOff
)

// exchange is one exchange under way. Its own goroutine does the work; timers and the context only end
// it, through end.
type exchange struct {
	client        *Client
	req           *Request
	sink          Sink
	out           Exchange
	t             stamps
	conn          *connection
	hop           hop
	body          body
	decoder       io.Reader // of the body, nil if it is not compressed
	codedLimit    int64     // bounds the compressed body
	slot          bool
	writing       *writing // of the hop, where it is written beside the reading
	refused       bool     // the reply came to a request of which only a part was written
	resending     bool     // the hop is on its second connection
	wrote         atomic.Bool
	seenRead      int64 // the network read that the last body chunk came with
	eventNS       int64 // the instant of the last event
	coalesced     bool  // the last event shares its instant with one before
	response      *http.Response
	local, remote netip.AddrPort
	// Collected for the trace and raw exports only.
	requestChunks, responseChunks []record.Chunk
	responses                     []record.RawResponse

	mu          sync.Mutex
	outcome     outcome
	outcomeNS   int64
	live        *connection // to be cut
	cancelTimer *time.Timer
	cancelSetup context.CancelFunc
}

// guarded runs the exchange under the timers and the context that may end it.
func (x *exchange) guarded(ctx context.Context, h *hop) error {
	if ctx.Done() != nil {
		if ctx.Err() != nil {
			x.end(cutOff)
			return errEnded
		}
		defer context.AfterFunc(ctx, func() { x.end(cutOff) })()
	}
	if limit := x.limit(); limit > 0 {
		defer time.AfterFunc(limit, x.expire).Stop()
	}
	if x.client.streams != nil {
		return x.multiplex(h)
	}
	return x.follow(h)
}

// limit is how long the exchange may take, or its sending if nothing else bounds it; 0 = for ever.
func (x *exchange) limit() time.Duration {
	if x.req.limit > 0 {
		return x.req.limit
	}
	if x.client.opts.Timeout > 0 || x.req.CancelAfterNS < 0 {
		return x.client.opts.Timeout
	}
	return x.client.opts.CancelSendTimeout
}

func (x *exchange) expire() {
	switch {
	case x.req.CancelAfterNS >= 0 && !x.wrote.Load():
		x.end(notSentInTime)
	case x.client.opts.Timeout > 0:
		x.end(timedOut)
	}
}

// end ends the exchange from outside, once; what it waits on returns.
func (x *exchange) end(why outcome) {
	x.mu.Lock()
	if x.outcome != running {
		x.mu.Unlock()
		return
	}
	x.outcome, x.outcomeNS = why, x.client.clock.NowNS()
	live, cancelSetup := x.live, x.cancelSetup
	x.mu.Unlock()
	if cancelSetup != nil {
		cancelSetup()
	}
	if live != nil {
		live.abort()
	}
}

// finish claims the orderly end; false if the exchange was ended from outside before.
func (x *exchange) finish() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.live = nil
	if x.cancelTimer != nil {
		x.cancelTimer.Stop()
	}
	if x.outcome == running {
		x.outcome = finished
	}
	return x.outcome == finished
}

func (x *exchange) ended() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.outcome > finished
}

// setup is a context for waiting before there is a connection; done ends it.
func (x *exchange) setup() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outcome != running {
		cancel()
	}
	x.cancelSetup = cancel
	return ctx, func() {
		x.mu.Lock()
		x.cancelSetup = nil
		x.mu.Unlock()
		cancel()
	}
}

// adopt makes c the exchange's connection; false if the exchange is over.
func (x *exchange) adopt(c *connection) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outcome != running {
		return false
	}
	x.conn, x.live = c, c
	c.mark = c.received
	x.local, x.remote = c.local, c.remote
	return true
}

// discard closes the connection.
func (x *exchange) discard() {
	if x.conn == nil {
		return
	}
	x.mu.Lock()
	x.live = nil
	x.mu.Unlock()
	x.conn.close()
	x.endWriting()
	x.t.bytesReceived += x.conn.taken()
	x.conn = nil
}

// recycle gives the connection of a reply that was read to its end to the next exchange, if it can
// carry one.
func (x *exchange) recycle(failed bool) {
	c := x.conn
	x.mu.Lock()
	x.live = nil
	beingCut := x.outcome > finished
	x.mu.Unlock()
	if beingCut || x.body.closes || x.refused || c.br.Buffered() > 0 || c.wire.readErr != nil || !x.written() {
		x.discard()
		return
	}
	x.t.bytesReceived += c.taken()
	x.conn = nil
	x.client.pool.put(c, x.req.Session, x.req.FinalTurn || failed)
}

func (x *exchange) releaseSlot() {
	if x.slot {
		x.slot = false
		x.client.pool.release()
	}
}

// conclude ends an exchange whose reply was read to its end; false if it was ended from outside before.
// The connection goes back before anyone looks at the reply.
func (x *exchange) conclude() bool {
	if !x.finish() {
		return false
	}
	x.out.EndNS = x.conn.wire.readNS
	x.recycle(!isSuccess(x.out.Status))
	x.releaseSlot()
	return true
}

// settle completes the account of an exchange that ended with err.
func (x *exchange) settle(err error, h *hop) {
	c := x.client
	ok := x.finish()
	var failure *record.Error
	switch {
	case !ok:
		x.out.EndNS = x.outcomeNS
		failure = x.describeEnd()
	case err != nil:
		if x.out.EndNS == 0 {
			x.out.EndNS = c.clock.NowNS()
		}
		failure = x.failure(err)
		x.out.Shortage = neterr.ShortageOf(err)
	}
	if failure != nil {
		x.t.errorAt = x.out.EndNS
		c.opts.Publish(failure, ok && isStatus(err))
		x.out.Err = failure
	}
	x.discard()
	x.releaseSlot()
	if failure != nil || x.req.FinalTurn {
		c.pool.drop(x.req.Session)
		c.streams.drop(x.req.Session)
	}
	x.account(h)
}

// failure makes the record's error of what ended the exchange.
func (x *exchange) failure(err error) *record.Error {
	var status *statusError
	var event *eventError
	var exception *streamException
	switch {
	case errors.As(err, &status):
		return &record.Error{Code: status.code, HasCode: true, Type: status.reason, Message: status.body,
			Details: x.client.hint(status)}
	case errors.As(err, &exception):
		return &record.Error{Type: exception.typ, Message: exception.message}
	case errors.As(err, &event):
		return &record.Error{Code: 502, HasCode: true, Type: typeSSE,
			Message: typeSSE + "(" + quote(event.message) + ")"}
	}
	return describeError(err)
}

func (x *exchange) describeEnd() *record.Error {
	switch x.outcome {
	case cancelled:
		x.out.CancelledNS = x.outcomeNS
		return Cancelled(x.req.CancelAfterNS)
	case notSentInTime:
		return SendTimedOut()
	case cutOff:
		x.out.CutOff = true
		return CutOff()
	}
	e := x.client.opts.TimedOut()
	if x.req.limit > 0 {
		e.Details = "" // a bound of the request's own
	}
	return e
}

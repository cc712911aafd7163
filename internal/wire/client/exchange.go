package client

import (
	"errors"
	"io"
	"net/http"
	"net/netip"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/sse"
)

// exchange is one HTTP exchange under way.
type exchange struct {
	Lifetime
	client        *Client
	sink          Sink
	out           *Exchange
	t             Stamps
	conn          *connection
	hop           hop
	headers       []record.Header // of the first hop
	body          body
	decoder       io.Reader // of the body, nil if it is not compressed
	codedLimit    int64     // bounds the compressed body
	slot          bool
	writing       *writing // of the hop, where it is written while its reply is read
	refused       bool     // the reply came to a request of which only a part was written
	resending     bool     // the hop is on its second connection
	seenRead      int64    // the network read that the last body chunk came with
	eventNS       int64    // the instant of the last event
	heard         bool     // a Listener was told of the body
	coalesced     bool     // the last event shares its instant with one before
	response      *http.Response
	usual         *usualHead // what the head was read into, until it is not needed any more
	scanner       *sse.Scanner
	room          *[]byte // the scanner's memory, nil while it has none
	local, remote netip.AddrPort
	// Collected for the trace and raw exports only.
	requestChunks, responseChunks []record.Chunk
	responses                     []record.RawResponse
}

// retire gives the memory of an exchange that is over to the next one, unless a timer or another goroutine may still
// refer to it: that would end an exchange that is none of its business.
func (x *exchange) retire() {
	c := x.client
	x.headIsRead()
	if x.pinned {
		return
	}
	timer := x.limitTimer
	*x = exchange{}
	x.limitTimer = timer
	c.idle.Put(x)
}

// transfer sends the request and takes its reply.
func (x *exchange) transfer() error {
	if x.client.streams != nil {
		x.pinned = true
		return x.multiplex(&x.hop)
	}
	return x.follow(&x.hop)
}

// adopt makes c the exchange's connection; false if the exchange is over.
func (x *exchange) adopt(c *connection) bool {
	if !x.attach(c) {
		return false
	}
	x.conn = c
	c.mark = c.received
	x.local, x.remote = c.local, c.remote
	return true
}

// discard closes the connection.
func (x *exchange) discard() {
	if x.conn == nil {
		return
	}
	x.detach()
	x.conn.close()
	x.endWriting()
	x.t.BytesReceived += x.conn.taken()
	x.conn = nil
}

// recycle gives the connection of a reply that was read to its end to the next exchange, if it can
// carry one.
func (x *exchange) recycle(failed bool) {
	c := x.conn
	if !x.detach() || x.body.closes || x.refused || c.in.Buffered() > 0 || c.wire.readErr != nil || !x.written() {
		x.discard()
		return
	}
	x.t.BytesReceived += c.taken()
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
// The connection is returned before the reply is used.
func (x *exchange) conclude() bool {
	if !x.finish() {
		return false
	}
	x.out.EndNS = x.conn.wire.readNS
	x.recycle(!isSuccess(x.out.Status))
	x.releaseSlot()
	return true
}

// settle completes the account of an exchange whose carrying ended with err.
func (x *exchange) settle(err error, h *hop) {
	x.Settle(x.out, err, x.failure)
	failed := x.out.Err != nil
	if failed {
		x.t.ErrorAt = x.out.EndNS
	}
	x.discard()
	x.releaseSlot()
	if failed || x.req.FinalTurn {
		x.client.pool.drop(x.req.Session)
		x.client.streams.drop(x.req.Session)
	}
	x.account(h)
}

// failure makes the record's error of what ended the exchange.
func (x *exchange) failure(err error) *record.Error {
	var status *statusError
	var event *eventError
	var exception *streamException
	x.out.Shortage = neterr.ShortageOf(err)
	switch {
	case errors.As(err, &status):
		x.out.ErrIsBody = true
		return &record.Error{Code: status.code, HasCode: true, Type: status.reason, Message: status.body,
			Details: x.client.hint(status)}
	case errors.As(err, &exception):
		return &record.Error{Type: exception.typ, Message: exception.message}
	case errors.As(err, &event):
		return &record.Error{Code: 502, HasCode: true, Type: typeSSE, Message: record.Exception(typeSSE, event.message)}
	}
	return describeError(err)
}

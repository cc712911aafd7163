package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// FollowUp makes one exchange of several requests, such as polling for a result.
// One FollowUp serves one exchange.
type FollowUp interface {
	// Next decides what follows the whole reply to the last request.
	Next(url string, body []byte) Next
	// TimedOut is the error of an exchange whose later requests used up its time.
	TimedOut(limit time.Duration) *record.Error
	// Failed may replace the error of a later request; status is that of its reply, 0 for none.
	Failed(status int, err *record.Error) *record.Error
}

// Next is what follows a reply.
type Next struct {
	// URL is requested with GET after Wait; empty: the exchange is over.
	URL  string
	Wait time.Duration
	// Keep passes the reply to the sink; with Discard the reply at URL is dropped, and this one counts from its end.
	Keep, Discard bool
	// Err ends the exchange.
	Err *record.Error
}

// bodySink is a sink that keeps one whole body.
type bodySink struct {
	contentType string
	binary      bool
	body        []byte
}

func (s *bodySink) Event(_, data []byte, _ int64) { s.body = append(s.body, data...) }

func (s *bodySink) Body(contentType string, binary bool, body []byte, _ int64) {
	s.contentType, s.binary, s.body = contentType, binary, bytes.Clone(body)
}

// follower carries out an exchange of several requests.
type follower struct {
	client *Client
	req    *Request
	sink   Sink
	out    *Exchange // as it stands: the first request's, with the end of the last
	// cancelAt is the instant of a simulated cancellation; 0 = none.
	cancelAt int64
}

// sendAll sends the request and all that follow it.
func (c *Client) sendAll(ctx context.Context, req *Request, sink Sink, out *Exchange) {
	f := follower{client: c, req: req, sink: sink, out: out}
	one := *req
	one.FollowUp, one.FinalTurn = nil, false
	var reply bodySink
	c.sendOne(ctx, &one, &reply, out)
	if req.CancelAfterNS > 0 && f.out.SentNS != 0 {
		f.cancelAt = f.out.SentNS + req.CancelAfterNS
	}
	f.out.Responses = 0
	if f.out.Err == nil {
		f.follow(ctx, &reply)
	}
	if f.out.Err != nil || req.FinalTurn {
		c.pool.drop(req.Session)
	}
}

// follow goes from reply to reply until the exchange is over.
func (f *follower) follow(ctx context.Context, reply *bodySink) {
	address, kept := f.req.URL, (*bodySink)(nil)
	for {
		next := Next{}
		if kept == nil {
			next = f.req.FollowUp.Next(address, reply.body)
		}
		switch {
		case next.Err != nil:
			f.out.Err = next.Err
			return
		case next.Keep && !next.Discard:
			f.deliver(reply)
		case next.Discard:
			kept = reply
		case kept != nil:
			f.deliver(kept)
		}
		if next.URL == "" {
			return
		}
		address = absolute(address, next.URL)
		if !f.pause(ctx, next.Wait) {
			return
		}
		reply = &bodySink{}
		if !f.ask(ctx, address, reply, kept != nil) {
			return
		}
	}
}

// deliver hands a reply to the sink, as of the end of the last request.
func (f *follower) deliver(reply *bodySink) {
	f.out.Responses++
	f.out.LastResponseNS = f.out.EndNS
	f.sink.Body(reply.contentType, reply.binary, reply.body, f.out.EndNS)
}

// left is the time that the exchange may still take; 0 without a limit.
func (f *follower) left() (left time.Duration, limited bool) {
	limit := f.client.opts.Timeout
	return limit - time.Duration(f.client.clock.NowNS()-f.out.StartNS), limit > 0
}

// pause waits between two requests; false if the exchange is over.
func (f *follower) pause(ctx context.Context, wait time.Duration) bool {
	if left, limited := f.left(); limited && left <= wait {
		wait = max(left, 0)
	}
	if f.cancelAt != 0 {
		wait = min(wait, max(0, time.Duration(f.cancelAt-f.client.clock.NowNS())))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return !f.over(ctx)
}

// over ends the exchange if it was cut off, cancelled or used up its time.
func (f *follower) over(ctx context.Context) bool {
	now := f.client.clock.NowNS()
	left, limited := f.left()
	switch {
	case ctx.Err() != nil:
		f.out.CutOff = true
		f.out.Err = endedByRun()
	case f.cancelAt != 0 && now >= f.cancelAt:
		f.out.CancelledNS = now
		f.out.Err = cancelledAfter(f.req.CancelAfterNS)
	case limited && left <= 0:
		f.out.Err = f.req.FollowUp.TimedOut(f.client.opts.Timeout)
	default:
		return false
	}
	f.out.EndNS = now
	return true
}

// ask sends one of the later requests; false if the exchange is over.
func (f *follower) ask(ctx context.Context, address string, reply *bodySink, discard bool) bool {
	one := Request{
		Method: http.MethodGet, URL: address, Headers: f.headers(address), Session: f.req.Session,
		CancelAfterNS: -1, KeepRaw: f.req.KeepRaw && !discard,
	}
	if sameOrigin(f.req.URL, address) {
		one.Keeper = f.req.Keeper
	}
	if left, limited := f.left(); limited {
		one.limit = max(left, 1)
	}
	bounded := ctx
	if f.cancelAt != 0 {
		var done context.CancelFunc
		bounded, done = context.WithTimeout(ctx, max(0, time.Duration(f.cancelAt-f.client.clock.NowNS())))
		defer done()
	}
	var step Exchange
	f.client.sendOne(bounded, &one, reply, &step)
	f.out.EndNS, f.out.Status = step.EndNS, step.Status
	f.out.Resends += step.Resends
	if step.Err != nil {
		if !f.over(ctx) {
			f.out.Err, f.out.ErrIsBody = step.Err, step.ErrIsBody
			if step.Err.Type == neterr.Timeout && !step.Err.HasCode {
				f.out.Err = f.req.FollowUp.TimedOut(f.client.opts.Timeout)
			} else if err := f.req.FollowUp.Failed(step.Status, step.Err); err != nil {
				f.out.Err = err
			}
		}
		return false
	}
	if f.out.Raw != nil && step.Raw != nil {
		// Of the polls only the last one, which returned the result, is part of the record.
		f.out.Raw.Responses = append(f.out.Raw.Responses[:1:1], step.Raw.Responses...)
	}
	return true
}

// headers are those of the first request without its body's; another server gets the User-Agent only.
func (f *follower) headers(address string) []record.Header {
	foreign := !sameOrigin(f.req.URL, address)
	var list []record.Header
	for _, h := range f.req.Headers {
		switch {
		case foreign && !strings.EqualFold(h.Name, "User-Agent"), strings.EqualFold(h.Name, "Content-Type"):
		default:
			list = append(list, h)
		}
	}
	return list
}

func sameOrigin(a, b string) bool {
	one, err := url.Parse(a)
	other, otherErr := url.Parse(b)
	return err == nil && otherErr == nil && strings.EqualFold(one.Scheme, other.Scheme) &&
		strings.EqualFold(one.Host, other.Host)
}

// absolute is an address as seen from another.
func absolute(base, address string) string {
	b, err := url.Parse(base)
	if err != nil {
		return address
	}
	joined, err := b.Parse(address)
	if err != nil {
		return address
	}
	if joined.User == nil && strings.EqualFold(joined.Host, b.Host) {
		joined.User = b.User
	}
	return joined.String()
}

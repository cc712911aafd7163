package client

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// ErrEnded is the error of what an exchange waited for when it was ended from outside; its [Lifetime] has the reason.
var ErrEnded = errors.New("exchange ended")

// An outcome is what ended an exchange from outside, or its own end.
type outcome int

const (
	running outcome = iota
	finished
	timedOut
	notSentInTime
	cancelled
	cutOff
)

// Lifetime ends an exchange exactly once: by its own end, or from outside when its time is over, when its simulated
// cancellation is due or when the run cuts it off. An exchange of either carrier, HTTP or gRPC, embeds one.
//
// The goroutine of Send carries the exchange out. Timers, the context of Send and the goroutines of the connection
// only end it; what it waits for then returns.
type Lifetime struct {
	opts  *Options
	clock *clock.Clock
	req   *Request

	sent atomic.Bool // the whole request was written

	mu          sync.Mutex
	outcome     outcome
	endedNS     int64       // when it was ended from outside
	live        *connection // is aborted at the end
	cancelWait  context.CancelFunc
	cancelTimer *time.Timer

	// What follows belongs to the goroutine of Send. pinned reports that something may still refer to the exchange when
	// it is over. limitTimer calls expire; the next exchange in the same memory has it, too.
	pinned     bool
	limitTimer *time.Timer
}

// Begin prepares the lifetime of an exchange.
func (l *Lifetime) Begin(o *Options, clk *clock.Clock, req *Request) {
	l.opts, l.clock, l.req = o, clk, req
}

// Guard calls carry under the timers and the context that may end the exchange, and returns its error.
func (l *Lifetime) Guard(ctx context.Context, carry func() error) error {
	if ctx.Done() != nil {
		if ctx.Err() != nil {
			l.end(cutOff)
			return ErrEnded
		}
		stop := context.AfterFunc(ctx, func() { l.end(cutOff) })
		defer func() { l.pinned = !stop() || l.pinned }()
	}
	if limit := l.limit(); limit > 0 {
		if l.limitTimer == nil {
			l.limitTimer = time.AfterFunc(limit, l.expire)
		} else {
			l.limitTimer.Reset(limit)
		}
		defer func() { l.pinned = !l.limitTimer.Stop() || l.pinned }()
	}
	return carry()
}

// limit is how long the exchange may take, or its sending if nothing else bounds it; 0 = no limit.
func (l *Lifetime) limit() time.Duration {
	if l.req.limit > 0 {
		return l.req.limit
	}
	if l.opts.Timeout > 0 || l.req.CancelAfterNS < 0 {
		return l.opts.Timeout
	}
	return l.opts.CancelSendTimeout
}

func (l *Lifetime) expire() {
	switch {
	case l.req.CancelAfterNS >= 0 && !l.sent.Load():
		l.end(notSentInTime)
	case l.opts.Timeout > 0:
		l.end(timedOut)
	}
}

// end ends the exchange from outside, unless it has ended; what it waits for returns.
func (l *Lifetime) end(why outcome) {
	l.mu.Lock()
	if l.outcome != running {
		l.mu.Unlock()
		return
	}
	l.outcome, l.endedNS = why, l.clock.NowNS()
	live, cancelWait := l.live, l.cancelWait
	l.mu.Unlock()
	if cancelWait != nil {
		cancelWait()
	}
	if live != nil {
		live.abort()
	}
}

// finish claims the exchange's own end; false if it was ended from outside before.
func (l *Lifetime) finish() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = nil
	l.stopTimer()
	if l.outcome == running {
		l.outcome = finished
	}
	return l.outcome == finished
}

// Ended reports whether the exchange was ended from outside.
func (l *Lifetime) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outcome > finished
}

// UnlessEnded calls f unless the exchange was ended from outside, which cannot happen meanwhile.
func (l *Lifetime) UnlessEnded(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcome <= finished {
		f()
	}
}

// Wait returns a context that ends with the exchange; done releases it.
func (l *Lifetime) Wait(parent context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcome != running {
		cancel()
	}
	l.cancelWait = cancel
	return ctx, func() {
		l.mu.Lock()
		l.cancelWait = nil
		l.mu.Unlock()
		cancel()
	}
}

// attach has the end of the exchange abort c; false if it has ended.
func (l *Lifetime) attach(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcome == running {
		l.live = c
	}
	return l.outcome == running
}

// detach leaves the connection alone from now on; false if the exchange was ended from outside.
func (l *Lifetime) detach() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = nil
	return l.outcome <= finished
}

// Sent is called when the whole request was written: the time of a simulated cancellation starts.
func (l *Lifetime) Sent() {
	l.sent.Store(true)
	after := l.req.CancelAfterNS
	if after == 0 {
		l.end(cancelled)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if after > 0 && l.cancelTimer == nil && l.outcome == running {
		l.pinned = true
		l.cancelTimer = time.AfterFunc(time.Duration(after), func() { l.end(cancelled) })
	}
}

// unsend forgets that the request was written, before it is sent again; false if the exchange has ended.
func (l *Lifetime) unsend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopTimer()
	l.sent.Store(false)
	return l.outcome == running
}

func (l *Lifetime) stopTimer() {
	if l.cancelTimer != nil {
		l.cancelTimer.Stop()
		l.cancelTimer = nil
	}
}

// Settle completes the account of the exchange, which came to its own end with err unless it was ended from outside.
// describe makes the error of a record of err.
func (l *Lifetime) Settle(out *Exchange, err error, describe func(error) *record.Error) {
	switch {
	case !l.finish():
		out.EndNS = l.endedNS
		out.Err = l.failure(out)
		return
	case out.EndNS == 0:
		out.EndNS = l.clock.NowNS()
	}
	if err != nil {
		out.Err = describe(err)
	}
}

// failure is the error of an exchange that was ended from outside.
func (l *Lifetime) failure(out *Exchange) *record.Error {
	switch l.outcome {
	case cancelled:
		out.CancelledNS = l.endedNS
		return cancelledAfter(l.req.CancelAfterNS)
	case notSentInTime:
		return &record.Error{HasCode: true, Type: typeSendTimeout, Message: "Timed out waiting for request to be sent"}
	case cutOff:
		out.CutOff = true
		return endedByRun()
	}
	e := &record.Error{Type: neterr.Timeout, Message: "TimeoutError()"}
	if l.req.limit == 0 { // else the bound is not the option's
		e.Details = "the exchange took longer than --request-timeout-seconds " +
			strconv.FormatFloat(l.opts.Timeout.Seconds(), 'f', -1, 64)
	}
	return e
}

// statusCancelled is the code of exchanges that the client ended.
const statusCancelled = 499

// cancelledAfter is the error of a simulated cancellation.
func cancelledAfter(ns int64) *record.Error {
	return &record.Error{Code: statusCancelled, HasCode: true, Type: typeCancelled,
		Message: "Request cancelled " + secondsText(ns) + "s after being sent"}
}

// endedByRun is the error of an exchange that the run cut off.
func endedByRun() *record.Error {
	return &record.Error{Code: statusCancelled, HasCode: true, Type: typeCancelled,
		Message: "Request cancelled by external signal"}
}

package client

import (
	"context"
	"sync"
	"time"
)

// pool keeps the idle connections and bounds those in use.
type pool struct {
	opts  *Options
	now   func() int64
	slots chan struct{}

	mu      sync.Mutex
	closed  bool
	idle    map[*origin][]*connection // newest last
	sticky  map[string]*connection
	janitor *time.Timer
}

func newPool(opts *Options, now func() int64) *pool {
	return &pool{
		opts:   opts,
		now:    now,
		slots:  make(chan struct{}, opts.ConnectionLimit*max(1, opts.Workers)),
		idle:   map[*origin][]*connection{},
		sticky: map[string]*connection{},
	}
}

// tryAcquire takes the right to hold a connection if it is free.
func (p *pool) tryAcquire() bool {
	select {
	case p.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits for the right to hold a connection.
func (p *pool) acquire(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) release() { <-p.slots }

// take is an idle connection to o that still seems alive, nil if there is none. With the sticky
// strategy it is the session's own.
func (p *pool) take(o *origin, session string) *connection {
	for {
		c := p.pop(o, session)
		if c == nil {
			return nil
		}
		if !p.expired(c) && !c.stale() {
			c.reused = true
			return c
		}
		c.close()
	}
}

// pop takes a kept connection to an origin, nil if there is none: the one that was used last, as it is the least likely
// to have been closed by the server; with sticky reuse the session's own.
func (p *pool) pop(o *origin, session string) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opts.Reuse == ReuseSticky {
		c := p.sticky[session]
		if c == nil || c.origin != o {
			return nil
		}
		delete(p.sticky, session)
		return c
	}
	idle := p.idle[o]
	n := len(idle)
	if n == 0 {
		return nil
	}
	c := idle[n-1]
	idle[n-1] = nil
	p.idle[o] = idle[:n-1]
	return c
}

// put keeps a connection for the next exchange, or closes it when the strategy does not reuse it.
func (p *pool) put(c *connection, session string, final bool) {
	c.idleSince = p.now()
	if previous, kept := p.keep(c, session, final); !kept {
		c.close()
	} else if previous != nil {
		previous.close()
	}
}

// keep takes a connection back for the next request. It returns the session's connection before it, if any, for the
// caller to close outside of the lock, and whether the connection was kept.
func (p *pool) keep(c *connection, session string, final bool) (previous *connection, kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.opts.ForceClose || p.opts.KeepAliveTimeout <= 0 || p.opts.Reuse == ReuseNever {
		return nil, false
	}
	if p.opts.Reuse == ReuseSticky {
		if final {
			return nil, false
		}
		previous = p.sticky[session]
		p.sticky[session] = c
	} else {
		p.idle[c.origin] = append(p.idle[c.origin], c)
	}
	if p.janitor == nil {
		p.janitor = time.AfterFunc(p.opts.KeepAliveTimeout, p.sweep)
	}
	return previous, true
}

// drop closes what the sticky strategy holds for a session.
func (p *pool) drop(session string) {
	if p.opts.Reuse != ReuseSticky {
		return
	}
	p.mu.Lock()
	c := p.sticky[session]
	delete(p.sticky, session)
	p.mu.Unlock()
	if c != nil {
		c.close()
	}
}

func (p *pool) expired(c *connection) bool {
	limit := int64(p.opts.KeepAliveTimeout)
	if c.idleLimit > 0 {
		limit = min(limit, c.idleLimit)
	}
	return p.now()-c.idleSince >= limit
}

// sweep closes the connections that were idle too long, and runs again while any are left.
func (p *pool) sweep() {
	p.mu.Lock()
	var dead []*connection
	left := len(p.sticky)
	for o, idle := range p.idle {
		var alive []*connection
		for _, c := range idle {
			if p.expired(c) {
				dead = append(dead, c)
			} else {
				alive = append(alive, c)
			}
		}
		p.idle[o] = alive
		left += len(alive)
	}
	for session, c := range p.sticky {
		if p.expired(c) {
			dead = append(dead, c)
			delete(p.sticky, session)
			left--
		}
	}
	p.janitor = nil
	if left > 0 && !p.closed {
		p.janitor = time.AfterFunc(p.opts.KeepAliveTimeout, p.sweep)
	}
	p.mu.Unlock()
	for _, c := range dead {
		c.close()
	}
}

// close closes every idle connection; those in use are closed when they come back. A second call does nothing.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.janitor != nil {
		p.janitor.Stop()
		p.janitor = nil
	}
	var idle []*connection
	for _, cs := range p.idle {
		idle = append(idle, cs...)
	}
	for _, c := range p.sticky {
		idle = append(idle, c)
	}
	p.idle, p.sticky = map[*origin][]*connection{}, map[string]*connection{}
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

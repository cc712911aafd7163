package client

import (
	"context"
	"net"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// connect gets the exchange a connection to the hop's origin, a new one if the hop is sent again.
func (x *exchange) connect(o *origin) error {
	c := x.client
	moved := x.slot
	if !moved {
		if err := x.waitForSlot(); err != nil {
			return err
		}
	}
	x.t.newConnection()
	x.refused = false
	x.requestChunks, x.responseChunks = nil, nil
	if idle := x.idle(o); idle != nil {
		x.t.Reused = c.clock.NowNS()
		if !x.adopt(idle) {
			idle.close()
			return ErrEnded
		}
		return nil
	}
	x.pinned = true // the goroutine that dials has its stamps
	ctx, done := x.Wait(context.Background())
	defer done()
	if err := x.waitToDial(ctx, moved); err != nil {
		return err
	}
	fresh, err := c.dialer.dialAside(ctx, o, &x.t)
	if err != nil {
		return err
	}
	if !x.adopt(fresh) {
		fresh.close()
		return ErrEnded
	}
	return nil
}

// idle is a connection that was kept, nil if the exchange needs a new one.
func (x *exchange) idle(o *origin) *connection {
	if x.resending {
		return nil
	}
	return x.client.pool.take(o, x.req.Session)
}

func (x *exchange) waitForSlot() error {
	p := x.client.pool
	if !p.tryAcquire() {
		x.t.PoolStart = x.clock.NowNS()
		ctx, done := x.Wait(context.Background())
		defer done()
		if err := p.acquire(ctx); err != nil {
			return ErrEnded
		}
		x.t.PoolEnd = x.clock.NowNS()
	}
	x.slot = true
	return nil
}

// waitToDial waits while too many connections are being opened. Such a wait follows that for a slot and
// counts with it, as does one that follows a lost try; one before another hop counts by itself, like all
// that belongs to a connection.
func (x *exchange) waitToDial(ctx context.Context, moved bool) error {
	d := x.client.dialer
	if d.mayTry() {
		return nil
	}
	if x.t.PoolStart == 0 || moved && !x.resending {
		x.t.PoolStart, x.t.PoolEnd = x.clock.NowNS(), 0
	}
	if err := d.await(ctx); err != nil {
		return ErrEnded
	}
	x.t.PoolEnd = x.clock.NowNS()
	return nil
}

// write sends the hop and notes how many bytes of it the socket took.
func (x *exchange) write(h *hop) error {
	x.t.SendStart = x.clock.NowNS()
	n, err := x.conn.write(h)
	now := x.clock.NowNS()
	x.t.BytesSent = int64(n)
	if n >= h.headLen {
		x.t.HeadersSent = now
	}
	if sent := int64(n - h.headLen); sent > 0 {
		x.t.BodySent, x.t.ChunksSent = sent, 1
		if x.req.KeepTrace {
			x.requestChunks = []record.Chunk{{AtNS: x.clock.WallNS(now), Bytes: sent}}
		}
	}
	if err == nil {
		x.t.SendEnd = now
		x.Sent()
	}
	return err
}

func (c *connection) write(h *hop) (int, error) {
	if len(h.wire) > h.headLen || len(h.body) == 0 {
		return c.top.Write(h.wire)
	}
	if c.top == net.Conn(c.wire) {
		buffers := net.Buffers{h.wire, h.body}
		n, err := buffers.WriteTo(c.wire.Conn)
		return int(n), err
	}
	n, err := c.top.Write(h.wire)
	if err != nil {
		return n, err
	}
	m, err := c.top.Write(h.body)
	return n + m, err
}

// send gets the whole hop onto a connection. A write that broke midway is not yet the end: a server may
// refuse a body without reading it, and its reply is then waiting.
func (x *exchange) send(h *hop) error {
	if err := x.connect(h.target.origin); err != nil {
		return err
	}
	x.conn.wire.ask()
	var err error
	if x.mayBlock(h) {
		x.conn.wire.floorNS = max(x.t.Reused, x.t.ConnectEnd)
		err = x.writeConcurrently(h)
	} else {
		err = x.write(h)
		x.conn.wire.floorNS = x.t.SendStart
	}
	switch {
	case x.Ended():
		return ErrEnded
	case err == nil:
		return nil
	case x.conn.hasReply():
		x.refused = true
		return nil
	}
	return &wireError{origin: h.target.origin, typ: neterr.OS, what: "sending the request", err: err, unanswered: true}
}

// replyGrace bounds the wait for the reply of a server that refused the request midway.
const replyGrace = time.Second

// hasReply waits that long.
func (c *connection) hasReply() bool {
	_ = c.wire.SetReadDeadline(time.Now().Add(replyGrace))
	defer func() { _ = c.wire.SetReadDeadline(time.Time{}) }()
	_, err := c.in.Peek(1)
	return err == nil
}

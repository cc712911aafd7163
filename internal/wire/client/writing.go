package client

import (
	"sync"
	"time"
)

// A writing is a request that is written while its reply is read. A server may answer before it has read the whole
// body, and may never read the rest: a client that only wrote would wait forever.
type writing struct {
	done chan struct{} // closed when nothing more is written
	err  error
}

func (w *writing) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// mayBlock reports whether the hop is too long for an empty socket buffer to be sure to take it.
func (x *exchange) mayBlock(h *hop) bool {
	if len(h.body) > inlineBody {
		return true
	}
	limit := x.opts.SndBuf
	return limit > 0 && len(h.wire) > limit
}

// writeConcurrently starts the writing of the hop and returns at the first byte of the reply, or when the
// connection fails.
func (x *exchange) writeConcurrently(h *hop) error {
	x.pinned = true // the goroutine that writes may outlast the exchange
	w := &writing{done: make(chan struct{})}
	c := x.conn
	x.writing = w
	request := *h     // a redirect changes the hop, perhaps before the writer has finished
	var mu sync.Mutex // guards replied
	replied := false
	go func() {
		defer close(w.done)
		if w.err = x.write(&request); w.err == nil {
			c.wire.acknowledge() // the reply may have begun before the last write
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !replied {
			_ = c.wire.SetReadDeadline(time.Now().Add(replyGrace))
		}
	}()
	_, err := c.in.Peek(1)
	if err == nil {
		mu.Lock()
		defer mu.Unlock()
		replied = true
		_ = c.wire.SetReadDeadline(time.Time{})
		return nil
	}
	unfinished := !w.over()
	c.abort()
	<-w.done
	switch {
	case w.err == nil:
		return nil // reading the reply returns the same error
	case unfinished:
		return err
	}
	return w.err
}

// writeGrace bounds the wait for the end of a writing whose reply was read to its end: the reply to the
// last bytes may be seen before the writer is.
const writeGrace = 50 * time.Millisecond

// written reports whether the request of the hop was written to its end, or will be in a moment.
func (x *exchange) written() bool {
	w := x.writing
	if w == nil {
		return true
	}
	if !w.over() {
		grace := time.NewTimer(writeGrace)
		defer grace.Stop()
		select {
		case <-w.done:
		case <-grace.C:
			return false
		}
	}
	x.endWriting()
	return w.err == nil
}

// endWriting waits for the writer, which nothing blocks any more.
func (x *exchange) endWriting() {
	if x.writing == nil {
		return
	}
	<-x.writing.done
	x.writing = nil
	x.t.answered()
}

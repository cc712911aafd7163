package web

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mailbox is the number of messages that wait for a client; one that does not take them loses its connection.
	mailbox = 32
	// maxPages bounds the open pages.
	maxPages = 100
	// maxFarewells bounds the WebSocket clients that are being closed as those that are too many.
	maxFarewells = 16
	// maxOthers are the connections for all other requests, which pages and WebSocket clients cannot take.
	maxOthers = 512 - 2*maxPages
	// writePatience bounds each write to a client, keepAlive is the time between two signs of life.
	writePatience = 10 * time.Second
	keepAlive     = 15 * time.Second
)

// client is somebody who gets messages.
type client struct {
	messages chan []byte
	// gone is closed when the client is to be dropped.
	gone chan struct{}
	drop func()
	// wants reports whether the client wants messages of a kind; nil wants all.
	wants func(kind string) bool
}

// hub hands messages to clients and never waits for one.
type hub struct {
	mu      sync.Mutex
	clients map[*client]bool
	closed  bool
	count   atomic.Int32
	serving sync.WaitGroup
}

// join adds a client unless there are too many; greeting makes its first message while no other can be sent.
func (h *hub) join(most int, greeting func() []byte) *client {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.clients) >= most {
		return nil
	}
	c := &client{messages: make(chan []byte, mailbox), gone: make(chan struct{})}
	c.drop = sync.OnceFunc(func() { close(c.gone) })
	if greeting != nil {
		c.messages <- greeting()
	}
	if h.clients == nil {
		h.clients = map[*client]bool{}
	}
	h.clients[c] = true
	h.count.Add(1)
	h.serving.Add(1)
	return c
}

// leave ends the service of a client that joined.
func (h *hub) leave(c *client) {
	defer h.serving.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients[c] {
		delete(h.clients, c)
		h.count.Add(-1)
	}
}

// any reports whether there is a client.
func (h *hub) any() bool { return h.count.Load() > 0 }

// broadcast hands a message to all clients. A client whose mailbox is full is dropped.
func (h *hub) broadcast(message []byte) { h.send("", message) }

// send hands a message of a kind to the clients that want it.
func (h *hub) send(kind string, message []byte) {
	if !h.any() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		if c.wants != nil && !c.wants(kind) {
			continue
		}
		select {
		case c.messages <- message:
		default:
			c.drop()
			delete(h.clients, c)
			h.count.Add(-1)
		}
	}
}

// close drops all clients once they have their messages; no further ones can join.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.clients {
		close(c.messages)
		delete(h.clients, c)
		h.count.Add(-1)
	}
}

// wait waits until all clients have left, at most for a time.
func (h *hub) wait(limit time.Duration) {
	all := make(chan struct{})
	go func() {
		defer close(all)
		h.serving.Wait()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
}

// tooMany refuses a client that would keep its connection. It loses it, so that it cannot keep others out.
func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "10")
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusServiceUnavailable, why)
}

// stream sends the events of the live page.
func (v *View) stream(w http.ResponseWriter, r *http.Request) {
	// The lock of the view comes before that of the hub, as in all that is sent.
	v.mu.Lock()
	c := v.events.join(maxPages, v.hello)
	v.mu.Unlock()
	if c == nil {
		tooMany(w, "too many pages are open")
		return
	}
	defer v.events.leave(c)
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // that of the request would end the stream
	write := func(text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writePatience))
		_, err := w.Write(text)
		return err == nil && control.Flush() == nil
	}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case text, open := <-c.messages:
			if !open || !write(text) {
				return
			}
		case <-ticker.C:
			if !write([]byte(": alive\n\n")) {
				return
			}
		case <-c.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

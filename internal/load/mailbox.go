package load

import (
	"sync"
	"time"
)

// message is one thing that the sender reports, or a request to end one phase.
type message struct {
	phase   int
	id      int64
	kind    messageKind
	outcome Outcome
	startNS int64
	grace   time.Duration
}

// messageKind is what a message reports.
type messageKind uint8

const (
	returned messageKind = iota
	firstContent
	started
	endAsked
)

// stopRequest is a request to end before the plan does.
type stopRequest struct {
	// reason is nil when a user asked.
	reason error
}

// mailbox passes messages to the loop in batches. Posting takes one short lock; the loop is woken only by
// the first message of a batch.
type mailbox struct {
	wake chan struct{}

	mu       sync.Mutex
	messages []message
	spare    []message
	stop     *stopRequest
	closed   bool
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) post(msg message) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	first := len(m.messages) == 0
	m.messages = append(m.messages, msg)
	m.mu.Unlock()
	if first {
		m.wakeLoop()
	}
}

// requestStop keeps the first request.
func (m *mailbox) requestStop(s stopRequest) {
	m.mu.Lock()
	if m.stop == nil {
		m.stop = &s
	}
	m.mu.Unlock()
	m.wakeLoop()
}

func (m *mailbox) wakeLoop() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take returns what was posted since the last call, valid until the next one, and the request to stop if there is one.
func (m *mailbox) take() ([]message, *stopRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	batch := m.messages
	m.messages, m.spare = m.spare[:0], batch
	return batch, m.stop
}

func (m *mailbox) stopRequest() *stopRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop
}

// close makes the mailbox drop what is posted from now on.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.messages, m.spare = nil, nil
}

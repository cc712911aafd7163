package load

import "sync"

// message is one thing that the sender reports.
type message struct {
	phase   int
	id      int64
	what    news
	outcome Outcome
	startNS int64
}

// news is what a message tells.
type news uint8

const (
	returned news = iota
	firstContent
	started
)

// stopping is a request to end before the plan does.
type stopping struct {
	// reason is nil when a user asked.
	reason error
}

// mailbox hands messages to the loop in batches. Posting takes one short lock; the loop is woken only by
// the first message of a batch.
type mailbox struct {
	wake chan struct{}

	mu       sync.Mutex
	messages []message
	spare    []message
	stop     *stopping
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
		m.ring()
	}
}

// requestStop keeps the first request.
func (m *mailbox) requestStop(s stopping) {
	m.mu.Lock()
	if m.stop == nil {
		m.stop = &s
	}
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take gives what was posted since the last call, valid until the next, and the request to stop if there is one.
func (m *mailbox) take() ([]message, *stopping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	batch := m.messages
	m.messages, m.spare = m.spare[:0], batch
	return batch, m.stop
}

func (m *mailbox) stopRequest() *stopping {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop
}

// close drops what is posted from now on.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.messages, m.spare = nil, nil
}

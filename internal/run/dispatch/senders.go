package dispatch

import (
	"context"
	"sync"

	"aiperf/internal/load"
)

// senders is a pool of goroutines. Each carries one credit out, waits for nothing else meanwhile, and is kept for the
// next one.
type senders struct {
	// prepare makes the first request of a session, carryOut does what a credit asks and returns it.
	prepare  func(session uint64)
	carryOut func(*sending)
	// sent hears of each credit before it is carried out.
	sent func(phase int)

	mu sync.Mutex
	// exchanges of each phase end when they are to be cut off; what is sent afterwards gets another context.
	exchanges map[int]cutOff
	gathered  *gathered
	idle      []chan sending
	closed    bool
	all       sync.WaitGroup
}

// newSenders returns a pool; sent may be nil.
func newSenders(prepare func(session uint64), carryOut func(*sending), sent func(phase int)) *senders {
	if sent == nil {
		sent = func(int) {}
	}
	return &senders{prepare: prepare, carryOut: carryOut, sent: sent, exchanges: map[int]cutOff{}}
}

// cutOff is a context and what ends it.
type cutOff struct {
	ctx context.Context
	end context.CancelFunc
}

// sending is a credit on its way out, with what ends its exchange from outside.
type sending struct {
	credit load.Credit
	ctx    context.Context
	// together: load wants to hear when the exchange started.
	together bool
}

// CutOff implements load.Sender.
func (s *senders) CutOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for phase := range s.exchanges {
		s.endExchanges(phase)
	}
}

// CutOffPhase implements load.PhaseCutter.
func (s *senders) CutOffPhase(phase int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endExchanges(phase)
}

func (s *senders) endExchanges(phase int) {
	if c, any := s.exchanges[phase]; any {
		c.end()
		delete(s.exchanges, phase)
	}
}

// exchangesOf is what ends the exchanges of a phase from outside.
func (s *senders) exchangesOf(phase int) context.Context {
	c, any := s.exchanges[phase]
	if !any {
		c.ctx, c.end = context.WithCancel(context.Background())
		s.exchanges[phase] = c
	}
	return c.ctx
}

// Send implements load.Sender.
func (s *senders) Send(c load.Credit) {
	s.sent(c.Phase)
	s.mu.Lock()
	out := sending{credit: c, ctx: s.exchangesOf(c.Phase)}
	if n := len(s.idle); n > 0 {
		waiting := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		waiting <- out
		return
	}
	s.mu.Unlock()
	s.all.Go(func() {
		first := out
		s.work(&first)
	})
}

// work is one sending goroutine: it carries out a credit and waits for the next one.
func (s *senders) work(out *sending) {
	next := make(chan sending, 1)
	for more := true; more; *out, more = <-next {
		s.carryOut(out)
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return
		}
		s.idle = append(s.idle, next)
		s.mu.Unlock()
	}
}

// end ends all exchanges and lets go of the goroutines that wait; it reports whether it was the first call.
func (s *senders) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for phase := range s.exchanges {
		s.endExchanges(phase)
	}
	if s.closed {
		return false
	}
	s.closed = true
	s.gathered.release()
	for _, waiting := range s.idle {
		close(waiting)
	}
	s.idle = nil
	return true
}

// gathered are goroutines that wait to send at the same instant.
type gathered struct {
	// gate opens when the credits have been handed out; a place without one has nothing to do.
	gate   chan struct{}
	places map[uint64]*sending
}

// release lets those go that wait; nil waits for nobody.
func (g *gathered) release() {
	if g != nil {
		close(g.gate)
	}
}

// wait has the credit of a place carried out once the gate is open.
func (g *gathered) wait(s *senders, place *sending) {
	<-g.gate
	if place.credit.IssuedNS != 0 {
		s.work(place)
	}
}

// Gather implements load.Gatherer.
func (s *senders) Gather(phase int, sessions []uint64, ready func()) {
	g := &gathered{gate: make(chan struct{}), places: make(map[uint64]*sending, len(sessions))}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.gathered.release()
	ctx := s.exchangesOf(phase)
	for _, k := range sessions {
		g.places[k] = &sending{ctx: ctx, together: true}
	}
	s.gathered = g
	s.all.Go(func() {
		for _, k := range sessions {
			s.prepare(k)
		}
		for _, place := range g.places {
			s.all.Go(func() { g.wait(s, place) })
		}
		ready()
	})
}

// SendAll implements load.Gatherer.
func (s *senders) SendAll(credits []load.Credit) {
	s.mu.Lock()
	g := s.gathered
	s.gathered = nil
	s.mu.Unlock()
	var others []load.Credit
	for _, c := range credits {
		if place := g.places[c.Session]; place != nil {
			s.sent(c.Phase)
			place.credit = c
		} else {
			others = append(others, c)
		}
	}
	g.release()
	for _, c := range others {
		s.Send(c)
	}
}

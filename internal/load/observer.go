package load

import "time"

// observerTimeout bounds the wait for an observer at the end of a run.
const observerTimeout = time.Second

// observer passes phase events to a function that may be slow. Its mailbox has room for every event of a run,
// so that the loop neither waits nor drops.
type observer struct {
	events chan PhaseEvent
	done   chan struct{}
}

// newObserver returns an observer, nil for no function.
func newObserver(observe func(PhaseEvent), phases int) *observer {
	if observe == nil {
		return nil
	}
	const changesOfState = 3
	o := &observer{events: make(chan PhaseEvent, changesOfState*phases), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		for event := range o.events {
			observe(event)
		}
	}()
	return o
}

func (o *observer) send(event PhaseEvent) {
	if o != nil {
		o.events <- event
	}
}

// close waits until the function has seen everything, unless it hangs.
func (o *observer) close() {
	if o == nil {
		return
	}
	close(o.events)
	timeout := time.NewTimer(observerTimeout)
	defer timeout.Stop()
	select {
	case <-o.done:
	case <-timeout.C:
	}
}

package cli

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupts turns signals into a request to stop: the first one asks, the second one ends the program.
type interrupts struct {
	// Stop is closed by the first signal.
	Stop       chan struct{}
	terminated atomic.Bool
	signals    chan os.Signal
	done       chan struct{}
}

// watchInterrupts listens until close is called. Panels go to the terminal as they happen.
func watchInterrupts(t *terminal) *interrupts {
	i := &interrupts{Stop: make(chan struct{}), signals: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	go i.watch(t)
	return i
}

func (i *interrupts) watch(t *terminal) {
	asked := false
	for {
		select {
		case <-i.done:
			return
		case s := <-i.signals:
			if asked {
				t.panel("Force Quit", "The benchmark ends at once. Files may be incomplete.")
				os.Exit(ExitForced)
			}
			asked = true
			if s == syscall.SIGTERM {
				i.terminated.Store(true)
			}
			t.panel("Cancellation in Progress",
				"The benchmark was cancelled: no new requests, requests in flight are cut off.",
				"The results so far are being written. Press Ctrl-C again to quit at once.")
			close(i.Stop)
		}
	}
}

// close stops listening.
func (i *interrupts) close() {
	signal.Stop(i.signals)
	close(i.done)
}

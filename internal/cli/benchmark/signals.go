package benchmark

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"aiperf/internal/cli/command"
)

// interrupts turns signals into a request to stop: the first one asks, the second one ends the program. The same signal again
// right after the first is that one: GNU timeout sends it to the program, and then to the group of which it is part.
type interrupts struct {
	// Stop is closed by the first signal.
	Stop chan struct{}
	// code is the exit code of a signal that ends the run with its results; 0 for none and for Ctrl-C.
	code    atomic.Int32
	signals chan os.Signal
	quiet   chan os.Signal
	done    chan struct{}
	ended   chan struct{}
	panel   func(title string, lines ...string)
	// leave has the terminal be as it was, before anything is said about a signal.
	leave func()
	// last ends what is waited for once all files are written; nil before that.
	last atomic.Pointer[func()]
}

// nextSignal returns a channel that the next signal closes. It is for waits at the end, when there is nothing left to
// cancel: that signal does nothing else. The returned function takes that back.
func (i *interrupts) nextSignal() (stop <-chan struct{}, end func()) {
	came := make(chan struct{})
	skip := sync.OnceFunc(func() { close(came) })
	i.last.Store(&skip)
	return came, func() { i.last.Store(nil) }
}

// stopped reports whether a signal has come.
func (i *interrupts) stopped() bool {
	select {
	case <-i.Stop:
		return true
	default:
		return false
	}
}

// exitCodes are those of the signals that end a run as the first Ctrl-C does, but not as a success.
var exitCodes = map[os.Signal]int{syscall.SIGTERM: command.ExitTerminated, syscall.SIGHUP: command.ExitHungUp}

// watchInterrupts listens until close is called. Panels go to out as they happen, after leave was called. While it listens, a
// failed write is an error of that write and does not end the program: files are still to be written.
func watchInterrupts(t *command.Terminal, out io.Writer, leave func()) *interrupts {
	i := &interrupts{
		leave: leave,
		Stop:  make(chan struct{}), signals: make(chan os.Signal, 4), quiet: make(chan os.Signal, 1),
		done: make(chan struct{}), ended: make(chan struct{}),
		panel: func(title string, lines ...string) { t.PanelOn(out, title, lines...) },
	}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored: the run is to outlive its terminal
		signal.Notify(i.signals, syscall.SIGHUP)
	}
	if len(quietSignals) > 0 {
		signal.Notify(i.quiet, quietSignals...)
	}
	go i.watch()
	return i
}

// exit is the exit code of a program that would end with code: that of the signal which ended it, if that has one.
func (i *interrupts) exit(code int) int {
	if own := i.code.Load(); own != 0 {
		return int(own)
	}
	return code
}

// failed gives the error that ends a command the exit code of the signal which ended it, if that has one.
func (i *interrupts) failed(err error) error {
	if own := i.code.Load(); own != 0 && err != nil {
		return command.WithCode(int(own), err)
	}
	return err
}

// oneSignal is how long the first signal counts as the same one when it comes again.
const oneSignal = time.Second

func (i *interrupts) watch() {
	defer close(i.ended)
	var asked os.Signal // the first one, nil before it
	var said time.Time
	for {
		select {
		case <-i.done:
			return
		case s := <-i.signals:
			i.leave()
			if skip := i.last.Swap(nil); skip != nil {
				(*skip)()
				continue
			}
			if asked != nil {
				if s == asked && time.Since(said) < oneSignal {
					continue
				}
				i.say("Force Quit", "The benchmark ends at once. Files may be incomplete.")
				os.Exit(command.ExitForced)
			}
			asked = s
			i.code.Store(int32(exitCodes[s]))
			i.say("Cancellation in Progress",
				"The benchmark was cancelled: no new requests, requests in flight are cut off.",
				"The results so far are being written. Press Ctrl-C again to quit at once.")
			said = time.Now()
			close(i.Stop)
		}
	}
}

// panelPatience bounds how long a terminal that takes no output can hold a signal up.
const panelPatience = time.Second

func (i *interrupts) say(title string, lines ...string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		i.panel(title, lines...)
	}()
	select {
	case <-said:
	case <-time.After(panelPatience):
	}
}

// interrupt does what Ctrl-C does.
func (i *interrupts) interrupt() {
	select {
	case i.signals <- os.Interrupt:
	default: // enough of them wait
	}
}

// close stops listening. After a signal it goes on: one that comes while the program ends must not kill it, which would
// hide its exit code.
func (i *interrupts) close() {
	if i.stopped() {
		return
	}
	signal.Stop(i.signals)
	signal.Stop(i.quiet)
	close(i.done)
	<-i.ended
}

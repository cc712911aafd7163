// Package selftest checks this program on the machine that it runs on. It runs benchmarks, through the same packages as
// any other run, against a mock server in a process of its own, and compares the files that they write with the
// server's record of what it received and when it wrote each event.
//
// A report has two kinds of lines. Correctness (token counts, events, requests, arithmetic) has no tolerance and
// passes or fails. Timing and capacity depend on the machine and its other load: they are graded good or limited, and
// a limited line never fails the test.
//
// Invariants: what is expected is computed here or by the server, never by the code under test; every step is bounded
// in time, and the whole test by about a minute. It must never know real servers, or settings of the environment.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/trust"
)

// Options are what a test needs.
type Options struct {
	Version string
	// Quick skips the search for the number of streams and makes the other steps short.
	Quick bool
	// Streams is the number of streams whose time stamps are compared; 0 means DefaultStreams.
	Streams int
	// Stop, when closed, ends the test with the results so far: the first Ctrl-C. nil never does.
	Stop <-chan struct{}
	// Progress is called when a step begins; it may be nil.
	Progress func(step string)
}

const (
	// searchUntil is when the search for the number of streams begins its last attempt.
	searchUntil = 48 * time.Second
	// stepTimeout bounds each run of a step, testTimeout all of them on a very slow machine.
	stepTimeout, testTimeout = 25 * time.Second, 2 * time.Minute
)

// errStopped ends the test on request.
var errStopped = errors.New("the self-test was interrupted")

// step is a part of the test; sections that it returns together with an error are kept.
type step struct {
	title string
	run   func(*tester) ([]Section, error)
}

var steps = []step{
	{"token counts", (*tester).counts},
	{"arithmetic", (*tester).arithmetic},
	{"time stamps", (*tester).stamps},
	{"arrivals", (*tester).arrivals},
	{"capacity", (*tester).capacity},
}

// tester is the state of a running test.
type tester struct {
	ctx     context.Context // of all runs
	options Options
	dir     string
	began   time.Time
	report  *Report
}

// Run tests this program on this machine. With an error there is no report.
func Run(ctx context.Context, o Options) (*Report, error) {
	temporary, err := artifact.NewTemporary("selftest")
	if err != nil {
		return nil, fmt.Errorf(
			"the self-test needs a directory for its files: %w; set TMPDIR to a writable one", err)
	}
	defer temporary.Remove()
	dir := temporary.Dir
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	if o.Streams == 0 {
		o.Streams = DefaultStreams
	}
	t := &tester{ctx: ctx, options: o, dir: dir, began: time.Now()}
	t.report = &Report{Version: o.Version, Machine: trust.ThisMachine(o.Version), Started: t.began, Quick: o.Quick}
	for i, s := range steps {
		if o.Progress != nil {
			o.Progress(fmt.Sprintf("%s (%d of %d)", s.title, i+1, len(steps)))
		}
		sections, err := s.run(t)
		t.report.Sections = append(t.report.Sections, sections...)
		if errors.Is(err, errStopped) || t.stopped() {
			t.report.Interrupted = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.title, err)
		}
	}
	t.report.Duration = time.Since(t.began)
	return t.report, nil
}

func (t *tester) stopped() bool {
	select {
	case <-t.options.Stop:
		return true
	default:
		return false
	}
}

// pick returns the full or the quick value.
func pick[T any](t *tester, full, quick T) T {
	if t.options.Quick {
		return quick
	}
	return full
}

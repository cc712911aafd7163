// Package server runs the server under test as part of the cells of an experiment: a command of the user, with the
// parameters of the cell.
//
// Vocabulary: the command is a line of the system's shell; parameters are put into it; a server serves all cells in a
// row that make the same command line of it; the guard is a process of this program between the server and us, which
// ends the server when we end.
//
// Invariants: at most one server runs at a time. It stays in a process group of its own, and everything that it has
// started ends with it: when its parameters change, when the experiment ends, and when this program is killed. How a
// server proves to be ready is the caller's.
//
// On Linux processes that leave the group are found too, as descendants of the guard; on other Unix systems only the
// group is ended; on Windows a job object holds them all. A guard that is killed together with us leaves the server
// behind, except on Windows.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
)

// LogName is the name of a server's log in the folder of a cell.
const LogName = "server.log"

// DefaultGrace is how long a server may take to end before it is killed.
const DefaultGrace = 30 * time.Second

// Options configure a [Supervisor].
type Options struct {
	// Command starts the server; empty: it is not ours to start, and only Reset is run.
	Command string
	// Reset is run before a cell whose server has served an earlier one; empty: nothing is.
	Reset string
	// Timeout bounds the start up to readiness, and Reset.
	Timeout time.Duration
	// Grace bounds the end; 0 is DefaultGrace.
	Grace time.Duration
	// Redact hides secrets in what is written and reported; nil leaves them.
	Redact func(string) string
	// Log takes lines about the progress; nil drops them.
	Log func(message string)
}

// Cell is what one cell asks of the server.
type Cell struct {
	// Params are the parameters of the server, in their order; see [CommandLine].
	Params artifact.Object
	// LogPath is the file that takes what the server writes; its folder is made. A server that goes on from an earlier
	// cell writes to the log of that one, and its part of this cell is copied here at the end of the cell.
	LogPath string
	// Ready returns when the server takes requests; its error ends the cell. nil: it does at once.
	Ready func(context.Context) error
	// Addresses, as host:port, must be free before a server is started: what listens there would be measured in
	// its place.
	Addresses []string
}

// Supervisor starts, resets and ends servers. Its methods may be called by one goroutine at a time, except Died and
// Failure.
type Supervisor struct {
	options Options

	mu sync.Mutex
	// current is the server that runs, or ran last; nil before the first and after its end.
	current *process
	// written are the logs of this supervisor: a second server of a cell adds to its log.
	written map[string]bool
	// served counts the cells without a command.
	served int
}

// New returns a supervisor without a server.
func New(o Options) *Supervisor {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return &Supervisor{options: o, written: map[string]bool{}}
}

// Ensure has a server with the parameters of a cell ready. A running one with the same parameters is reset, any other
// one ended and a new one started. It returns how long the running server took from its start to readiness, 0 where it
// is not ours.
func (s *Supervisor) Ensure(ctx context.Context, c Cell) (startedIn time.Duration, err error) {
	if s.options.Command == "" {
		s.served++
		if s.served == 1 {
			return 0, nil
		}
		return 0, s.reset(ctx, c)
	}
	line, err := CommandLine(s.options.Command, c.Params)
	if err != nil {
		return 0, err
	}
	if p := s.running(); p != nil && p.line == line {
		p.copyLog()
		if err := s.reset(ctx, c); err != nil {
			return 0, err
		}
		p.share(c.LogPath)
		return p.startedIn, nil
	}
	if err := s.Close(); err != nil {
		return 0, err
	}
	return s.start(ctx, line, c)
}

// running returns the current server if it has not ended.
func (s *Supervisor) running() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil
	}
	select {
	case <-s.current.died:
		return nil
	default:
		return s.current
	}
}

// start starts a server and waits until it is ready.
func (s *Supervisor) start(ctx context.Context, line string, c Cell) (time.Duration, error) {
	if err := free(ctx, c.Addresses); err != nil {
		return 0, err
	}
	shown := s.options.Redact(line)
	log, err := s.openLog(c.LogPath, shown)
	if err != nil {
		return 0, err
	}
	s.options.Log("Starting the server: " + shown)
	began := time.Now()
	p, err := launch(line, log, s.options.Grace)
	log.Close()
	if err != nil {
		return 0, fmt.Errorf("--serve-cmd: the server could not be started: %w", err)
	}
	p.logPath, p.redact = c.LogPath, s.options.Redact
	s.mu.Lock()
	s.current = p
	s.mu.Unlock()
	err = s.await(ctx, p, c.Ready)
	p.startedIn = time.Since(began)
	if err != nil {
		return 0, errors.Join(err, s.Close())
	}
	s.options.Log(fmt.Sprintf("The server was ready after %.1f s", p.startedIn.Seconds()))
	return p.startedIn, nil
}

// await waits for readiness, or for what prevents it.
func (s *Supervisor) await(ctx context.Context, p *process, ready func(context.Context) error) error {
	late := errors.New("late")
	bounded, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, late)
	defer cancel()
	bounded, stop := p.during(bounded)
	defer stop()
	var err error
	if ready != nil {
		err = ready(bounded)
	}
	var died *DiedError
	cause := context.Cause(bounded)
	switch {
	case errors.As(cause, &died):
		died.Starting = true
		return died
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(cause, late):
		return fmt.Errorf("--serve-cmd: the server was not ready within %s; raise --serve-timeout or see what it "+
			"wrote%s", s.options.Timeout, s.tail(p.logPath))
	}
	return fmt.Errorf("--serve-cmd: %w%s", err, s.tail(p.logPath))
}

// Died returns a channel that is closed when the current server has ended by itself; nil if there is none.
func (s *Supervisor) Died() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil
	}
	return s.current.died
}

// Failure returns how the current server ended by itself, nil while it runs.
func (s *Supervisor) Failure() error {
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.died:
		return p.failure()
	default:
		return nil
	}
}

// Watch returns a context that ends when the current server dies, with a [DiedError] as its cause. The returned
// function releases it.
func (s *Supervisor) Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	if p := s.running(); p != nil {
		return p.during(ctx)
	}
	if err := s.Failure(); err != nil {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(err)
		return ctx, func() {}
	}
	return context.WithCancel(ctx)
}

// Close ends the server and everything that it has started. Its error says what did not end.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	p := s.current
	s.current = nil
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	err := p.end(s.options.Grace)
	p.copyLog()
	if err != nil {
		return fmt.Errorf("the server could not be ended: %w", err)
	}
	return nil
}

// openLog opens the log of a server and writes its command line.
func (s *Supervisor) openLog(path, line string) (*os.File, error) {
	how := os.O_TRUNC
	if s.written[path] {
		how = os.O_APPEND
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|how, 0o644)
	}
	if err == nil {
		_, err = f.WriteString(logHead(line))
	}
	if err != nil {
		return nil, fmt.Errorf("the log of the server: %w", err)
	}
	s.written[path] = true
	return f, nil
}

// exitedWell is how a command ends that has succeeded.
const exitedWell = "exit status 0"

// DiedError reports a server that ended by itself.
type DiedError struct {
	// How it ended, such as "exit status 1"; After is the time since its start.
	How   string
	After time.Duration
	// Starting reports that it was not ready yet.
	Starting bool
	// Tail are the last lines of its log, Path the log.
	Tail []string
	Path string
}

func (e *DiedError) Error() string {
	what, way := "the server died", ""
	if e.Starting {
		what = "the server ended before it was ready"
		if e.How == exitedWell {
			way = "; the command must stay in the foreground as long as the server runs"
		}
	}
	return fmt.Sprintf("--serve-cmd: %s: %s after %.1f s%s%s", what, e.How, e.After.Seconds(), way,
		tailText(e.Path, e.Tail))
}

func (s *Supervisor) tail(path string) string {
	return tailText(path, LastLines(path, s.options.Redact))
}

func tailText(path string, lines []string) string {
	if len(lines) == 0 {
		return "; " + path + " is empty"
	}
	return "\nThe end of " + path + ":\n  " + strings.Join(lines, "\n  ")
}

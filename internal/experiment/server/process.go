package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"aiperf/internal/base/self"
)

// process is one life of a server, behind its guard.
type process struct {
	line    string
	guard   *self.Process
	pid     int
	began   time.Time
	redact  func(string) string
	logPath string

	startedIn time.Duration
	// shared is the log of the present cell where that is not logPath; from is where its part begins.
	shared string
	from   int64

	// died is closed when the server has ended by itself; how it did is set before. silent is closed when the guard says
	// nothing more.
	died, silent chan struct{}
	how          string
	// ending reports that the end was ordered.
	ending atomic.Bool
}

// guardPatience is the time of a guard beyond the grace of its server.
const guardPatience = 15 * time.Second

// launch starts a command line behind a guard.
func launch(line string, log *os.File, grace time.Duration) (*process, error) {
	guard, err := self.Start(self.Options{Args: []string{GuardCommand, grace.String(), line}, Stderr: log, Detached: true})
	if err != nil {
		return nil, err
	}
	p := &process{line: line, guard: guard, began: time.Now(), died: make(chan struct{}), silent: make(chan struct{})}
	said := bufio.NewReader(guard.Out)
	first, _ := said.ReadString('\n') // what it lacks at its end shows below
	word, rest, _ := strings.Cut(strings.TrimSpace(first), " ")
	if p.pid, err = strconv.Atoi(rest); word != saysStarted || err != nil {
		_ = guard.Stop(guardPatience)
		if word == saysFailed {
			return nil, errors.New(rest)
		}
		return nil, fmt.Errorf("its guard ended at once, after %q", first)
	}
	go p.listen(said)
	return p, nil
}

// listen waits for the end of the server, or of its guard.
func (p *process) listen(said *bufio.Reader) {
	defer close(p.silent)
	line, err := said.ReadString('\n')
	if how, ended := strings.CutPrefix(strings.TrimSpace(line), saysEnded+" "); err == nil && ended {
		p.how = how
		close(p.died)
		_, _ = io.Copy(io.Discard, said) // the guard ends what the server has left
		return
	}
	if p.ending.Load() {
		return
	}
	kill(p.pid) // the guard is gone: it may have left the server behind
	p.how = "the process that guards it was killed"
	close(p.died)
}

// during returns a context that ends with the server.
func (p *process) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	over, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-p.died:
			cancel(p.failure())
		case <-over:
		}
	}()
	return ctx, func() {
		select {
		case <-over:
		default:
			close(over)
		}
		<-left
		cancel(nil)
	}
}

// failure returns how the server ended by itself.
func (p *process) failure() *DiedError {
	return &DiedError{How: p.how, After: time.Since(p.began), Path: p.logPath, Tail: LastLines(p.logPath, p.redact)}
}

// end ends the server and all that it has started.
func (p *process) end(grace time.Duration) error {
	p.ending.Store(true)
	err := p.guard.Stop(grace + guardPatience)
	<-p.silent
	var exit *exec.ExitError
	switch {
	case errors.Is(err, self.ErrKilled):
		kill(p.pid)
		return err
	case errors.As(err, &exit) && exit.ExitCode() == exitLeftovers:
		return fmt.Errorf("processes of it do not end though they were killed; see %s", p.logPath)
	}
	return nil
}

package mockserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"aiperf/internal/base/self"
)

// StopWithStdin is set for a mock server that ends with the program that started it: it stops when its
// standard input closes, however that program ends, and leaves a Ctrl-C to it.
const StopWithStdin = "AIPERF_STOP_WITH_STDIN"

// errNotStarted means that the process did not start to listen.
var errNotStarted = errors.New("the mock server did not start")

// ProcessOptions are what a server is started with.
type ProcessOptions struct {
	// Args are options of "aiperf mock-server"; the port is chosen by the system.
	Args []string
	// Env is the environment; nil = this process's.
	Env []string
	// Log takes the server's own lines; nil = nowhere.
	Log io.Writer
}

// Process is a running mock server.
type Process struct {
	// URL is its base URL, on loopback.
	URL string

	process *self.Process
}

// A server that fails says so by its end; only one that hangs, on a machine however busy, reaches startTimeout.
const startTimeout, timeout = time.Minute, 10 * time.Second

// StartProcess starts this executable as a mock server and waits until it listens.
func StartProcess(o ProcessOptions) (*Process, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	p, err := self.Start(self.Options{
		Args: append([]string{"mock-server", "--port", "0"}, o.Args...),
		Env:  append(o.Env[:len(o.Env):len(o.Env)], StopWithStdin+"=1"), Stderr: o.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	s := &Process{process: p}
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.Out).ReadString('\n')
		first <- line
	}()
	select {
	case line := <-first:
		if at := strings.Index(line, "http://"); at >= 0 {
			s.URL = strings.TrimSpace(line[at:])
			return s, nil
		}
	case <-time.After(startTimeout):
	}
	return nil, errors.Join(errNotStarted, s.Stop())
}

// Stop ends the server, which finishes its record first; one that does not end within 10 s is killed.
func (s *Process) Stop() error {
	if err := s.process.Stop(timeout); err != nil {
		return fmt.Errorf("the mock server: %w", err)
	}
	return nil
}

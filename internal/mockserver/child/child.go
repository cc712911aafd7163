// Package child runs the mock server of this program as a process of its own, so that a server and the client
// that measures it share no scheduler, heap or clock.
package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// StopWithStdin is set for a mock server that ends with the program that started it: it stops when its
// standard input closes, however that program ends, and leaves a Ctrl-C to it.
const StopWithStdin = "AIPERF_STOP_WITH_STDIN"

// ErrNotStarted means that the process did not start to listen.
var ErrNotStarted = errors.New("the mock server did not start")

// Options are what a server is started with.
type Options struct {
	// Args are options of "aiperf mock-server"; the port is chosen by the system.
	Args []string
	// Env is the environment; nil = this process's.
	Env []string
	// Log takes the server's own lines; nil = nowhere.
	Log io.Writer
}

// Server is a running mock server.
type Server struct {
	// URL is its base URL, on loopback.
	URL string

	cmd   *exec.Cmd
	alive *os.File
}

const timeout = 10 * time.Second

// Start starts this executable as a mock server and waits until it listens.
func Start(o Options) (*Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer stdin.Close()
	cmd := exec.Command(self, append([]string{"mock-server", "--port", "0"}, o.Args...)...)
	if o.Env == nil {
		o.Env = os.Environ()
	}
	cmd.Env = append(o.Env[:len(o.Env):len(o.Env)], StopWithStdin+"=1")
	cmd.Stdin, cmd.Stderr = stdin, o.Log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		alive.Close()
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	s := &Server{cmd: cmd, alive: alive}
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		first <- line
	}()
	select {
	case line := <-first:
		if at := strings.Index(line, "http://"); at >= 0 {
			s.URL = strings.TrimSpace(line[at:])
			return s, nil
		}
	case <-time.After(timeout):
	}
	return nil, errors.Join(ErrNotStarted, s.Stop())
}

// Stop ends the server, which finishes its record first; one that does not end within 10 s is killed.
func (s *Server) Stop() error {
	s.alive.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("the mock server ended with an error: %w", err)
		}
		return nil
	case <-time.After(timeout):
		s.cmd.Process.Kill()
		<-ended
		return fmt.Errorf("the mock server did not end within %s and was killed", timeout)
	}
}

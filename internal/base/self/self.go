// Package self runs this executable as a process of its own that ends with the program that started it: the process
// reads the end of its standard input as the order to end, however that program ends.
package self

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Options configure a process.
type Options struct {
	Args []string
	// Env is the environment; nil = this process's.
	Env []string
	// Stderr takes the standard error; a file is handed over as it is; nil = nowhere.
	Stderr io.Writer
	// Detached keeps the signals of the terminal, such as Ctrl-C, from the process.
	Detached bool
}

// Process is a running process. Its standard output is to be read up to its end.
type Process struct {
	// Out is its standard output.
	Out *os.File

	cmd   *exec.Cmd
	alive *os.File
	once  sync.Once
	ended chan struct{}
	err   error
}

// ErrKilled means that a process did not end in time and was killed.
var ErrKilled = errors.New("it did not end in time and was killed")

// Start starts this executable.
func Start(o Options) (*Process, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	if err != nil {
		alive.Close()
		return nil, err
	}
	defer stdout.Close()
	cmd := exec.Command(name, o.Args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Env, stdin, stdout, o.Stderr
	if o.Detached {
		detach(cmd)
	}
	if err := cmd.Start(); err != nil {
		alive.Close()
		out.Close()
		return nil, err
	}
	p := &Process{Out: out, cmd: cmd, alive: alive, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Stop orders the process to end and waits for that; one that does not end in time is killed, which the error says
// ([ErrKilled]). Else the error is how the process ended, nil for exit status 0.
func (p *Process) Stop(timeout time.Duration) error {
	p.once.Do(func() { p.alive.Close() })
	defer p.Out.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("%w after %s", ErrKilled, timeout)
	}
}

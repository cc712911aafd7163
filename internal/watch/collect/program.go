package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// findProgram finds a program next to this one, else on PATH.
func findProgram(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	return exec.LookPath(name)
}

// Bounds of what a program may say.
const (
	maxProgramLine = 1 << 20
	maxComplaint   = 300
)

// process is a program whose standard output is read line by line.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	done  chan struct{} // closed when its output has ended
	end   error         // why, after done
	err   tail
}

// startProcess runs a program. Its lines go to take, on one goroutine, until it ends.
func startProcess(path string, args []string, take func(line []byte)) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stderr = &p.err
	p.cmd.WaitDelay = time.Second
	ownProcessGroup(p.cmd)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, maxProgramLine)
		for lines.Scan() {
			take(lines.Bytes())
		}
		_ = p.cmd.Process.Kill() // it has nothing more to say
		p.end = p.describe(p.cmd.Wait())
		close(p.done)
	}()
	return p, nil
}

// describe returns how a program ended, with its own last words.
func (p *process) describe(err error) error {
	text := "it ended"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		text = "it ended: " + exit.String()
	}
	if words := p.err.String(); words != "" {
		text += " (" + words + ")"
	}
	return errors.New(text)
}

// killBudget is how long a killed program is waited for; one that hangs in the kernel is left alone.
const killBudget = 2 * time.Second

// kill ends the program.
func (p *process) kill() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill()
	timer := time.NewTimer(killBudget)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
}

// tail keeps the first line of what a program complains of.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxComplaint - len(t.text); room > 0 {
		t.text = append(t.text, b[:min(len(b), room)]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(t.text), "?")), "\n")
	return first
}

// output runs a program to its end and returns what it said.
func output(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	ownProcessGroup(cmd)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		first, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return out, fmt.Errorf("it ended: %s (%s)", exit.String(), first[:min(len(first), maxComplaint)])
	}
	return out, err
}

// held is the program of a source while it runs.
type held struct {
	mu      sync.Mutex
	process *process
}

func (h *held) running() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process != nil
}

func (h *held) close() {
	h.mu.Lock()
	p := h.process
	h.process = nil
	h.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

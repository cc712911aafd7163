//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/artifact"
)

// order is what the inside of the sandbox gets, over descriptor 3.
type order struct {
	Python  python
	Root    string
	Program string
	// Mapped reports that the sandbox has a second user, for the program.
	Mapped bool
}

// Run runs a Python program with an input, alone in a sandbox of its own, for the time of one test at most.
func (b *Box) Run(ctx context.Context, program, input string) (r Result) {
	ctx, cancel := context.WithTimeout(ctx, b.TestTime)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	folder, err := artifact.NewTemporary("sandbox")
	if err != nil {
		return Result{Err: err}
	}
	defer folder.Remove() // the mounts on it end with their namespace
	root := folder.Dir
	mapped := b.second
	text, err := json.Marshal(order{*b.python, root, program, mapped})
	if err != nil {
		return Result{Err: err}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return Result{Err: err}
	}
	defer reader.Close()
	var errs tailBuffer
	out := boundedBuffer{full: cancel}
	// The executable may be replaced while it runs; this names the one that runs.
	cmd := exec.CommandContext(ctx, "/proc/self/exe", Command)
	cmd.Args[0] = "aiperf"
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	cmd.ExtraFiles = []*os.File{reader}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Setsid:      true,
		Pdeathsig:   syscall.SIGKILL,
	}
	if mapped {
		// Each program has a user of its own, so that one does not count with another.
		id := secondID + rand.IntN(secondIDs)
		for _, m := range [...]*[]syscall.SysProcIDMap{&cmd.SysProcAttr.UidMappings, &cmd.SysProcAttr.GidMappings} {
			*m = append(*m, syscall.SysProcIDMap{ContainerID: programID, HostID: id, Size: 1})
		}
	}
	// A child is bound to the life of the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		writer.Close()
		return Result{Err: err}
	}
	go func() {
		_, _ = writer.Write(text) // a child that has ended does not read it
		writer.Close()
	}()
	err = cmd.Wait()
	r = Result{Out: string(out.text), Errors: string(errs.text), Err: err}
	switch {
	case out.over.Load():
		r.Err = errTooMuch
	case ctx.Err() != nil:
		r.Err, r.Late = ctx.Err(), true
	case r.Err == nil && cmd.ProcessState.ExitCode() != 0:
		r.Err = errors.New("it ended with an error")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && !r.Late && !out.over.Load() {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			r.Late = status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL && ctx.Err() != nil
			if !r.Late {
				r.Err = errors.New("it was ended by " + unix.SignalName(status.Signal()))
			}
		}
	}
	return r
}

// The users of the machine that run programs where root runs aiperf: nobody has these numbers.
const secondID, secondIDs = 1_900_000_000, 1_000_000

// mayMap reports whether this process may make a second user in a sandbox: root may, unless its own numbers are mapped to
// few others.
func mayMap() bool {
	if os.Geteuid() != 0 {
		return false
	}
	text, err := os.ReadFile("/proc/self/uid_map")
	var inside, outside, size int64
	if err != nil {
		return false
	}
	_, err = fmt.Sscan(string(text), &inside, &outside, &size)
	return err == nil && inside == 0 && size >= secondID+secondIDs
}

// maxOutput bounds what a test may print.
const maxOutput = 4 << 20

// tailBuffer keeps the end of what is written.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	const keep = 2048
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - keep; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// boundedBuffer keeps the beginning of what is written, and ends the process at the bound. It has no method but Write:
// io.Copy would prefer ReadFrom, which knows no bound.
type boundedBuffer struct {
	text []byte
	full func()
	over atomic.Bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxOutput {
		b.over.Store(true)
		b.full()
		return 0, errTooMuch
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

//go:build unix

package server

import (
	"os/exec"
	"syscall"
	"time"
)

// shell returns a command line as a command.
func shell(line string) *exec.Cmd { return exec.Command("/bin/sh", "-c", line) }

// group is a server with what it has started.
type group struct{}

func newGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adopt(cmd.SysProcAttr)
	return &group{}, nil
}

// killPatience bounds the wait for processes that were killed.
const killPatience = 5 * time.Second

// end has all processes end, kills those that do not within grace, and reports whether none is left.
func (g *group) end(cmd *exec.Cmd, ended <-chan struct{}, grace time.Duration) bool {
	pid := cmd.Process.Pid
	gone := func() bool { return isClosed(ended) && noneLeft(pid) }
	signalAll(pid, syscall.SIGTERM)
	return within(grace, gone) || within(killPatience, func() bool {
		signalAll(pid, syscall.SIGKILL)
		return gone()
	})
}

// signalAll sends a signal to the group of a server and to the descendants of this process outside of it.
func signalAll(pid int, s syscall.Signal) {
	_ = syscall.Kill(-pid, s)
	for _, other := range descendants() {
		if of, err := syscall.Getpgid(other); err == nil && of != pid {
			_ = syscall.Kill(other, s)
		}
	}
}

// kill kills the group of a server whose guard is gone.
func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

//go:build unix && !linux

package server

import (
	"errors"
	"syscall"
)

func adopt(*syscall.SysProcAttr) {}

func noneLeft(pid int) bool { return noGroup(pid) }

func descendants() []int { return nil }

// noGroup reports whether a process group has no member.
func noGroup(pid int) bool { return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) }

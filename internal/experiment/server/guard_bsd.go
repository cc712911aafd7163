//go:build unix && !linux

package server

import "syscall"

func adopt(*syscall.SysProcAttr) {}

func noneLeft(pid int) bool { return noGroup(pid) }

func descendants() []int { return nil }

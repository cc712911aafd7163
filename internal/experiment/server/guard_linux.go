package server

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt has orphaned descendants become children of this process, and the server die with it.
func adopt(a *syscall.SysProcAttr) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	a.Pdeathsig = syscall.SIGKILL
}

// noneLeft collects ended orphans and reports whether this process has no child, once the server itself was waited
// for: every descendant would be one in the end.
func noneLeft(int) bool {
	for {
		switch pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // no child
			return true
		case pid == 0:
			return false
		}
	}
}

// descendants returns the ids of all processes below this one.
func descendants() (list []int) {
	entries, _ := os.ReadDir("/proc")
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// pid (name) state ppid …, where the name may have spaces and parentheses.
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if err != nil || len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], pid)
	}
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		own := children[queue[0]]
		queue = append(queue[1:], own...)
		list = append(list, own...)
	}
	return list
}

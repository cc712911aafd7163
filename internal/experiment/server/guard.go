package server

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// GuardCommand is the name of the command of this program that calls [Guard]. It is not for people.
const GuardCommand = "server-guard"

// What a guard says on its standard output, followed by the process id, the error, and how the server ended.
const (
	saysStarted = "started"
	saysFailed  = "failed"
	saysEnded   = "ended"
)

// exitLeftovers is the exit code of a guard whose server has left processes that cannot be killed.
const exitLeftovers = 3

// Guard runs a server until that ends or the standard input does, then ends everything that it has started, and returns
// the exit code. The arguments are the grace of the server and its command line; the server writes to the standard error
// of the guard.
func Guard(args []string) int {
	if len(args) != 2 {
		fmt.Println(saysFailed, "a guard takes a time and a command line")
		return 1
	}
	grace, err := time.ParseDuration(args[0])
	if err != nil {
		fmt.Println(saysFailed, err)
		return 1
	}
	// A child may be bound to the life of the thread that started it.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cmd := shell(args[1])
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	g, err := newGroup(cmd)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Println(saysFailed, err)
		return 1
	}
	fmt.Println(saysStarted, cmd.Process.Pid)
	orders, ended := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(orders)
	}()
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		fmt.Println(saysEnded, cmd.ProcessState)
	case <-orders:
	case <-signals:
	}
	if !g.end(cmd, ended, grace) {
		return exitLeftovers
	}
	return 0
}

// pollPause is the pause between two looks at what still runs.
const pollPause = 20 * time.Millisecond

// within calls done until it returns true or the time is over.
func within(limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(pollPause) {
		if done() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

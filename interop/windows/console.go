//go:build ignore

// Runs a program in a console of its own, presses Ctrl-C when a file has a line, and prints the exit code:
//
//	console KEYS FILE OUTPUT PROGRAM ARGUMENT...
//
// KEYS are "c" or "cc", Ctrl-C twice: the second one when OUTPUT says that the first one was seen. OUTPUT gets the program's
// standard output and error. It waits 120 seconds for each thing. (Wine 8 refuses to send Ctrl-Break.)
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"golang.org/x/sys/windows"
)

const patience = 120 * time.Second

func main() {
	if len(os.Args) < 5 {
		fail(errors.New("usage: console KEYS FILE OUTPUT PROGRAM ARGUMENT..."))
	}
	code, err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:])
	if err != nil {
		fail(err)
	}
	fmt.Println(code)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "console:", err)
	os.Exit(1)
}

func run(keys, file, output string, command []string) (int, error) {
	kernel32 := windows.NewLazySystemDLL("kernel32.dll")
	kernel32.NewProc("FreeConsole").Call()
	if ok, _, err := kernel32.NewProc("AllocConsole").Call(); ok == 0 {
		return 0, fmt.Errorf("AllocConsole: %w", err)
	}
	signal.Notify(make(chan os.Signal, 9), os.Interrupt) // the keys are for everybody in the console
	out, err := os.Create(output)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Process.Kill() // nothing is left behind
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the state has the code
		close(ended)
	}()
	press := func(file, text string, after time.Duration) error {
		for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			data, _ := os.ReadFile(file)
			select {
			case <-ended:
				return fmt.Errorf("the program ended before %s had %q: %s", file, text, cmd.ProcessState)
			default:
			}
			switch {
			case bytes.Contains(data, []byte(text)):
				time.Sleep(after)
				return windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0)
			case time.Now().After(end):
				return fmt.Errorf("%s has no %q", file, text)
			}
		}
	}
	if err := press(file, "\n", 0); err != nil {
		return 0, err
	}
	if keys == "cc" {
		const another = 1500 * time.Millisecond // sooner it would be the same one
		if err := press(output, "Cancellation in Progress", another); err != nil {
			return 0, err
		}
	}
	select {
	case <-ended:
	case <-time.After(patience):
		return 0, errors.New("the program does not end")
	}
	return cmd.ProcessState.ExitCode(), nil
}

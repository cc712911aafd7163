//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// recorder is aiperf record in front of a server.
type recorder struct {
	cmd    *exec.Cmd
	url    string
	dir    string
	output bytes.Buffer
	ended  chan struct{}
}

// before starts a recorder in front of a server.
func before(program, under, url string, more ...string) *recorder {
	dir, err := os.MkdirTemp(under, "recording")
	if err != nil {
		panic(err)
	}
	r := &recorder{dir: dir, ended: make(chan struct{})}
	r.cmd = exec.Command(program, append([]string{"record", "--upstream", url, "--listen", "127.0.0.1:0", "--out", dir,
		"--ui", "none"}, more...)...)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	r.cmd.Stderr = r.cmd.Stdout
	if err := r.cmd.Start(); err != nil {
		panic(err)
	}
	listening := make(chan string, 1)
	go func() {
		defer close(r.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.output.WriteString(lines.Text() + "\n")
			if _, rest, ok := strings.Cut(lines.Text(), "clients use "); ok {
				address, _, _ := strings.Cut(rest, " ")
				listening <- address
			}
		}
	}()
	select {
	case r.url = <-listening:
	case <-time.After(30 * time.Second):
		panic("the recorder does not start")
	}
	return r
}

// The bounds of a recorder: of the time from the interruption to its end, while servers may still send, and of its memory.
const (
	recorderPatience = 75 * time.Second
	recorderMB       = 1400
)

// faults ends a recorder and returns what is wrong with it and its rows.
func (r *recorder) faults() (faults []string) {
	defer os.RemoveAll(r.dir)
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	r.cmd.Process.Signal(os.Interrupt)
	select {
	case <-r.ended:
	case <-time.After(recorderPatience):
		wrong("the recorder does not end")
		r.cmd.Process.Kill()
		<-r.ended
	}
	r.cmd.Wait()
	text := r.output.String()
	for _, dump := range []string{"goroutine ", "panic:", "fatal error", "runtime error", "\x1b"} {
		if strings.Contains(text, dump) {
			wrong("the output of the recorder has %q", dump)
		}
	}
	if mb := r.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; mb > recorderMB {
		wrong("the recorder took %d MB", mb)
	}
	rows := 0
	files, _ := filepath.Glob(filepath.Join(r.dir, "traffic*.jsonl"))
	for _, name := range files {
		lines, _ := os.ReadFile(name)
		for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
			var row struct{ Outcome string }
			if err := json.Unmarshal([]byte(line), &row); err != nil || (i > 0) != (row.Outcome != "") {
				wrong("%s:%d: no row: %v", filepath.Base(name), i+1, err)
			} else if i > 0 {
				rows++
			}
		}
	}
	if !strings.Contains(text, fmt.Sprintf(" in flight, %d rows", rows)) {
		wrong("%d rows are in the files", rows)
	}
	if len(faults) > 0 {
		faults = append(faults, "output: …"+text[max(0, len(text)-600):])
	}
	return faults
}

// Package driver reads GPUs through the libraries of their drivers: NVML and AMD SMI. It is for a program of its
// own, aiperf-gpu: what happens in such a library, a hang or a crash, ends that program and nothing else.
//
// Symbols are resolved one by one, so that an older library lacks single readings only. A reading that a GPU does not
// support is left out. The package must never know the run: it answers requests for readings.
package driver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/watch/gpu"
)

// Reader reads all GPUs of a driver.
type Reader interface {
	Ready() gpu.HelperReady
	// Warnings are GPUs that cannot be read.
	Warnings() []string
	// Read returns one line for each GPU that said anything.
	Read() []gpu.HelperLine
}

// Open opens the driver of a vendor, "nvml" or "amdsmi".
func Open(vendor string) (Reader, error) {
	switch vendor {
	case "nvml":
		return openNVML()
	case "amdsmi":
		return openAMDSMI()
	}
	return nil, fmt.Errorf("%q is not a driver: choose nvml or amdsmi", vendor)
}

// Exit codes of Main.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

const usage = `Usage: aiperf-gpu nvml|amdsmi [--once]

Reads the GPUs of this machine for aiperf: one JSON line per GPU for each line "read NUMBER" on its input, until
that ends. With --once it reads them once.
`

// Main returns the program.
func Main(args []string, in io.Reader, out, complaints io.Writer) int {
	if len(args) == 0 || len(args) > 2 || len(args) == 2 && args[1] != "--once" || strings.HasPrefix(args[0], "-") {
		fmt.Fprint(complaints, usage)
		return exitUsage
	}
	w := &writer{out: bufio.NewWriter(out)}
	r, err := Open(args[0])
	if err != nil {
		w.line(gpu.HelperLine{Failed: err.Error()})
		return exitFailed
	}
	for _, text := range r.Warnings() {
		w.line(gpu.HelperLine{Warning: text})
	}
	ready := r.Ready()
	w.line(gpu.HelperLine{Ready: &ready})
	if len(args) == 2 {
		w.round(r, 1)
		return exitOK
	}
	return serve(r, in, w)
}

// serve answers "read NUMBER" until the input ends. A library that hangs does not keep it from ending.
func serve(r Reader, in io.Reader, w *writer) int {
	asked := make(chan int64, 16)
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			text, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "read ")
			if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil && n > 0 {
				asked <- n
			}
		}
		os.Exit(exitOK)
	}()
	for n := range asked {
		if err := w.round(r, n); err != nil {
			return exitFailed
		}
	}
	return exitOK
}

// writer writes whole lines.
type writer struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func (w *writer) line(l gpu.HelperLine) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	return errors.Join(err, w.out.Flush())
}

func (w *writer) round(r Reader, n int64) error {
	for _, l := range r.Read() {
		if err := w.line(l); err != nil {
			return err
		}
	}
	return w.line(gpu.HelperLine{Round: n})
}

// cstring returns the text of a buffer up to its first NUL.
func cstring(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(text, "?"))
}

package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/watch/gpu"
)

// gpuHelperName is the program that loads the drivers' libraries.
const gpuHelperName = "aiperf-gpu"

// gpuHelper is that program: it reads the GPUs on request.
type gpuHelper struct {
	owner  *localGPUs
	vendor string

	held
	ready   chan error
	rounds  chan int64
	number  int64
	pending []gpu.Reading
}

func newGPUHelper(owner *localGPUs, vendor string) gpuSource {
	return &gpuHelper{owner: owner, vendor: vendor}
}

func (h *gpuHelper) name() string          { return gpuHelperName }
func (h *gpuHelper) period() time.Duration { return 0 }

// open starts the program and waits until it has found GPUs, or ended, or hangs. The drivers' libraries are loaded in a
// process of their own, since they may block for ever or end it. What it said is looked for once more when it has
// ended: its last line and its end come at the same time.
func (h *gpuHelper) open(ctx context.Context) error {
	path, err := h.owner.options.LookPath(gpuHelperName)
	if err != nil {
		return errors.New("it is not installed")
	}
	ready := make(chan error, 1)
	rounds := make(chan int64, 16)
	h.mu.Lock()
	h.ready, h.rounds, h.pending = ready, rounds, nil
	h.mu.Unlock()
	p, err := startProcess(path, []string{h.vendor}, func(line []byte) { h.take(line, ready, rounds) })
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.process = p
	h.mu.Unlock()
	select {
	case err := <-ready:
		return err
	case <-p.done:
		select {
		case err := <-ready:
			return err
		default:
			return p.end
		}
	case <-ctx.Done():
		return errors.New("it did not start in time: the driver's library hangs")
	}
}

// take reads a line of the helper.
func (h *gpuHelper) take(text []byte, ready chan error, rounds chan int64) {
	line, err := gpu.ParseHelperLine(text)
	if err != nil {
		return // what a library prints is not a line of ours
	}
	switch {
	case line.Failed != "":
		offer(ready, errors.New(line.Failed))
	case line.Ready != nil && line.Ready.GPUs == 0:
		offer(ready, errNoGPUs)
	case line.Ready != nil:
		if h.vendor == "nvml" {
			h.owner.options.Log.Info(fmt.Sprintf("PyNVML initialized with %d GPU(s) (%d with GPM support)",
				line.Ready.GPUs, line.Ready.GPM))
		} else {
			h.owner.options.Log.Info(fmt.Sprintf("AMD SMI initialized with %d GPU(s)", line.Ready.GPUs))
		}
		offer(ready, nil)
	case line.Warning != "":
		h.owner.options.Log.Warn("GPU telemetry: " + line.Warning)
	case line.GPU != nil:
		h.pending = append(h.pending, line.Reading(h.owner.options.Catalog))
	case line.Round > 0:
		h.owner.deliver(h.pending)
		h.pending = h.pending[:0]
		select {
		case rounds <- line.Round:
		default:
		}
	}
}

func offer(c chan error, err error) {
	select {
	case c <- err:
	default:
	}
}

// read asks for one reading of all GPUs and waits for it. The requests are numbered, so that the answer to one that
// timed out is not taken for the next.
func (h *gpuHelper) read(ctx context.Context) error {
	h.mu.Lock()
	p, rounds := h.process, h.rounds
	h.number++
	number := h.number
	h.mu.Unlock()
	if p == nil {
		return errors.New("it is not running")
	}
	asked := make(chan error, 1)
	go func() { // a program that hangs does not read its input
		_, err := fmt.Fprintf(p.stdin, "read %d\n", number)
		asked <- err
	}()
	for {
		select {
		case n := <-rounds:
			if n >= number {
				return nil
			}
		case err := <-asked:
			if err != nil {
				<-p.done
				return p.end
			}
			asked = nil
		case <-p.done:
			return p.end
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

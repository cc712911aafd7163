//go:build ignore

// Adaptive lets the program search the load of its mock server, as it can be saturated, and compares what it finds with
// the capacity that a simulation of the same server has.
//
//	adaptive AIPERF DIRECTORY [RUNS]
package main

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// tolerance is how far what is found may be from the true capacity.
	tolerance = 0.10
	// limitMS bounds the median of the time to the first token. The median, and a server of slow steps, keep a busy
	// machine out of what is found.
	limitMS = 150
	step    = 20 * time.Millisecond
	// Replies have a normally distributed number of tokens.
	tokens, spread = 50, 12
	// together are the searches that run at the same time: each is idle for most of it.
	together = 4
	// patience bounds each run.
	patience = 5 * time.Minute
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: adaptive AIPERF DIRECTORY [RUNS]")
		os.Exit(2)
	}
	runs := 20
	if len(os.Args) > 3 {
		runs, _ = strconv.Atoi(os.Args[3])
	}
	fmt.Printf("%4s %6s %8s %6s %7s %8s  %s\n", "seed", "places", "capacity", "found", "off", "windows", "end")
	lines, free := make([]chan line, runs), make(chan struct{}, together)
	for i := range lines {
		lines[i] = make(chan line, 1)
		go func() {
			free <- struct{}{}
			lines[i] <- compare(os.Args[1], filepath.Join(os.Args[2], fmt.Sprint("adaptive-", i)), uint64(i))
			<-free
		}()
	}
	near := 0
	for i := range lines {
		l := <-lines[i]
		if l.near {
			near++
		}
		fmt.Println(l.text)
	}
	fmt.Printf("%d of %d searches ended within %.0f %% of the capacity\n", near, runs, 100*tolerance)
	if near < runs {
		os.Exit(1)
	}
}

// line is what is printed of one search.
type line struct {
	near bool
	text string
}

// compare lets the program search the load of a server with 32 to 63 places.
func compare(aiperf, dir string, seed uint64) line {
	places := 32 + rand.New(rand.NewPCG(seed, 1)).IntN(32)
	found, err := search(aiperf, dir, places, seed)
	if err != nil {
		return line{text: fmt.Sprintf("%4d %6d %v", seed, places, err)}
	}
	truth := capacity(places, seed)
	if found.LastPassing == nil {
		return line{text: fmt.Sprintf("%4d %6d %8d %6s %7s %8d  %s", seed, places, truth, "-", "-", len(found.Candidates),
			found.Reason)}
	}
	off := *found.LastPassing/float64(truth) - 1
	return line{math.Abs(off) <= tolerance, fmt.Sprintf("%4d %6d %8d %6g %+6.1f%% %8d  %s", seed, places, truth,
		*found.LastPassing, 100*off, len(found.Candidates), found.Reason)}
}

// summary is what is read of adaptive_scale_summary.json.
type summary struct {
	LastPassing *float64          `json:"last_passing_value"`
	Reason      string            `json:"completed_reason"`
	Candidates  []json.RawMessage `json:"candidates"`
}

const configuration = `
benchmark:
  model: mock-model
  endpoint: {url: %q, streaming: true, use_server_token_count: true, extra: {ignore_eos: true}}
  tokenizer: {name: builtin}
  datasets:
    - name: main
      type: synthetic
      entries: 500
      random_seed: %d
      prompts: {isl: 20, osl: {mean: %d, stddev: %d}}
  phases:
    - name: profiling
      type: concurrency
      concurrency: 200
      duration: 240
      grace_period: 5
      sla: {ttft: {p50: {le: %d}}}
      adaptive_scale:
        window: 3
        sustain_duration: 6
        min_concurrency: 24
        strategy: {base_step: 1}
`

// search runs the program against a server of its own and returns what it found.
func search(aiperf, dir string, places int, seed uint64) (found summary, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	server := exec.CommandContext(ctx, aiperf, "mock-server", "--port", "0", "--scheduler-enabled",
		"--scheduler-step-ms", fmt.Sprint(step.Milliseconds()), "--scheduler-max-batch-size", strconv.Itoa(places),
		"--random-seed", strconv.FormatUint(seed, 10))
	out, err := server.StdoutPipe()
	if err != nil {
		return found, err
	}
	if err := server.Start(); err != nil {
		return found, err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return found, fmt.Errorf("the mock server did not start: %w", err)
	}
	go io.Copy(io.Discard, out)
	url := line[strings.LastIndex(line, " ")+1 : len(line)-1]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return found, err
	}
	file := filepath.Join(dir, "adaptive.yaml")
	text := fmt.Sprintf(configuration, url, seed, tokens, spread, limitMS)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return found, err
	}
	results := filepath.Join(dir, "results")
	run := exec.CommandContext(ctx, aiperf, "profile", "--config", file, "--ui", "none", "--artifact-dir", results,
		"--random-seed", strconv.FormatUint(seed, 10), "--export-level", "summary", "--no-server-metrics",
		"--no-gpu-telemetry")
	if output, err := run.CombinedOutput(); err != nil {
		return found, fmt.Errorf("%w: %s", err, bytes.TrimSpace(output))
	}
	data, err := os.ReadFile(filepath.Join(results, "phases", "profiling", "adaptive_scale_summary.json"))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(data, &found)
}

// instants are a heap.
type instants []time.Duration

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(x any)        { *h = append(*h, x.(time.Duration)) }
func (h *instants) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// capacity returns the largest number of clients with which a simulated server meets the limit: in each step the
// oldest replies, as many as there are places, advance by a token, and a prompt takes a step of its own.
func capacity(places int, seed uint64) int {
	for clients := places; ; clients++ {
		if median(places, clients, seed) > limitMS {
			return clients - 1
		}
	}
}

func median(places, clients int, seed uint64) float64 {
	const requests = 20_000
	draw := rand.New(rand.NewPCG(seed, 2))
	free, idle := make(instants, places), make(instants, clients)
	var all []float64
	for i := range requests {
		at := heap.Pop(&idle).(time.Duration)
		// The step after the arrival takes the prompt, a later one makes the first token.
		start := max(at.Truncate(step)+step, heap.Pop(&free).(time.Duration))
		length := max(1, math.Round(tokens+spread*draw.NormFloat64()))
		last := start + time.Duration(length)*step
		heap.Push(&free, last)
		heap.Push(&idle, last)
		if i > requests/4 {
			all = append(all, float64(start+step-at)/1e6)
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

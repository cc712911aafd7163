//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// reference: the original beside ours, with the same arguments against the same server. Its column is that of
// the bare loop. -reference names its program.
func (b *bench) reference() error {
	if b.original == "" {
		return fmt.Errorf("give the original's program with -reference")
	}
	for _, f := range []func() error{b.bothUnary, b.bothStreaming, b.bothTruth, b.bothStart} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// both runs ours and the original.
func (b *bench) both(url string, args ...string) (ours, theirs *profiled, err error) {
	args = append([]string{"--no-server-metrics"}, args...)
	if ours, err = b.watchedOf(b.aiperf, 2, url, args...); err != nil {
		return nil, nil, err
	}
	theirs, err = b.watchedOf(b.original, 2, url, args...)
	return ours, theirs, err
}

func (b *bench) bothUnary() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	ours, theirs, err := b.both(server.url, "--concurrency", "64", "--isl", "32", "--osl", "1", "--benchmark-duration",
		strconv.Itoa(b.seconds))
	if err != nil {
		return err
	}
	row("unary requests/s, ours / original", 2, ours.value("request_throughput"), theirs.value("request_throughput"), 0,
		"%.0f")
	each := func(p *profiled) float64 { return p.cpu.Seconds() * 1e6 / p.value("request_count") }
	row("CPU µs per unary request", 2, each(ours), each(theirs), 0, "%.0f")
	row("MB resident, unary", 2, ours.rssKB/1024, theirs.rssKB/1024, 0, "%.0f")
	return nil
}

func (b *bench) bothStreaming() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	ours, theirs, err := b.both(server.url, "--streaming", "--concurrency", "32", "--isl", "32", "--osl", "200",
		"--extra-inputs", "ignore_eos:true", "--benchmark-duration", strconv.Itoa(b.seconds))
	if err != nil {
		return err
	}
	row("flooded streams: tokens/s", 2, ours.value("output_token_throughput"), theirs.value("output_token_throughput"),
		0, "%.0f")
	each := func(p *profiled) float64 { return p.cpu.Seconds() * 1e6 / p.value("total_osl") }
	row("CPU µs per token", 2, each(ours), each(theirs), 0, "%.1f")
	return nil
}

// bothTruth: the time to the first token as the tools report it, less what the server measured itself.
func (b *bench) bothTruth() error {
	for _, streams := range []int{50, 500} {
		var excess [2]float64
		for i, program := range []string{b.aiperf, b.original} {
			reported, truth, err := b.ttft(program, streams)
			if err != nil {
				return err
			}
			excess[i] = reported - truth
		}
		row(fmt.Sprintf("TTFT beyond the server's own, ms, %d streams", streams), 2, excess[0], excess[1], 0, "%.2f")
	}
	return nil
}

// ttft is the mean time to the first token in milliseconds, as a program reports it and as the server measured it.
func (b *bench) ttft(program string, streams int) (reported, truth float64, err error) {
	log := filepath.Join(b.dir, "truth.jsonl")
	server, err := b.server("--ttft", "100", "--itl", "20", "--record-requests", log, "--record-events")
	if err != nil {
		return 0, 0, err
	}
	p, err := b.watchedOf(program, 2, server.url, "--no-server-metrics", "--streaming", "--concurrency",
		strconv.Itoa(streams),
		"--request-count", strconv.Itoa(4*streams), "--isl", "32", "--osl", "50", "--extra-inputs", "ignore_eos:true")
	server.stop()
	if err != nil {
		return 0, 0, err
	}
	truth, err = meanTTFT(log)
	return p.value("time_to_first_token"), truth, err
}

func meanTTFT(path string) (float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum, n := 0.0, 0.0
	for lines := bufio.NewScanner(file); lines.Scan(); n++ {
		var r struct {
			Arrival int64   `json:"arrival_ns"`
			Events  []int64 `json:"event_ns"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || len(r.Events) == 0 {
			return 0, fmt.Errorf("request log: %s: %w", lines.Bytes(), err)
		}
		sum += float64(r.Events[0]-r.Arrival) / 1e6
	}
	return sum / n, nil
}

func (b *bench) bothStart() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	var took, help [2]time.Duration
	for i, program := range []string{b.aiperf, b.original} {
		began := time.Now()
		if _, err := b.watchedOf(program, 2, server.url, "--no-server-metrics", "--request-count", "1"); err != nil {
			return err
		}
		took[i] = time.Since(began)
		began = time.Now()
		if err := exec.Command(program, "--help").Run(); err != nil {
			return err
		}
		help[i] = time.Since(began)
	}
	row("seconds of a run of one request", 2, took[0].Seconds(), took[1].Seconds(), 0, "%.2f")
	row("ms of --help, ours / original", 2, float64(help[0].Milliseconds()), float64(help[1].Milliseconds()), 0, "%.0f")
	return nil
}

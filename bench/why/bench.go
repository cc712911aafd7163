package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bench runs situations.
type bench struct {
	aiperf, dynamo, vllm string
	root, runs           string
	first                []string // before a command that has priority
}

// bound is the longest that a run may take.
const bound = 90 * time.Second

// arranged is a situation that is there: the addresses of what the client talks to, and the pages of the servers.
type arranged struct {
	urls, pages []string
	flags       []string // of the client
	wait        func()   // until what was started has ended; nil = it ends by itself
}

// one arranges a situation, runs the client and returns what it says, with the figures that show the situation.
func (b *bench) one(ctx context.Context, s *situation) (v verdict, shown string, err error) {
	limit := 2 * bound
	if s.vllm != nil {
		limit += vllmStart
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var a arranged
	switch {
	case s.vllm != nil:
		a, err = b.startVLLM(ctx, s.vllm)
	case s.dynamo != nil:
		a, err = b.startDynamo(ctx, s.dynamo)
	default:
		a, err = b.startMocks(ctx, s)
	}
	defer func() {
		if a.wait != nil {
			cancel()
			a.wait()
		}
	}()
	if err != nil {
		return v, "", err
	}
	dir := filepath.Join(b.runs, s.name)
	if err := os.RemoveAll(dir); err != nil {
		return v, "", err
	}
	if s.before != "" {
		if err := b.profile(ctx, s, a, s.before, dir+"-before"); err != nil {
			return v, "", err
		}
	}
	w := watch(ctx, a.pages, s.figures)
	err = b.profile(ctx, s, a, s.client, dir)
	shown = w.stop()
	if err != nil {
		return v, "", err
	}
	if v, err = readVerdict(dir); err != nil {
		return v, "", err
	}
	return v, v.figures() + shown, nil
}

// profile runs the client. A run whose requests fail ends with an error of its own, which is no error here.
func (b *bench) profile(ctx context.Context, s *situation, a arranged, flags, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	args := []string{"profile", "--streaming", "--artifact-dir", dir, "--ui", "none"}
	if s.mock() {
		args = append(args, "--model", "mock-model", "--extra-inputs", "ignore_eos:true", "--tokenizer", "builtin")
	}
	for _, url := range a.urls {
		args = append(args, "--url", url)
	}
	args = append(args, a.flags...)
	if s.gpus {
		fields := filepath.Join(b.root, "gpu.csv")
		if err := os.WriteFile(fields, []byte(gpuFields), 0o600); err != nil {
			return err
		}
		args = append(args, "--gpu-telemetry", a.pages[0]+"/dcgm1/metrics", fields)
	} else {
		args = append(args, "--no-gpu-telemetry")
	}
	args = append(args, strings.Fields(flags)...)
	cmd := b.command(ctx, args, !s.limited)
	cmd.Env = append(os.Environ(), s.env...)
	text, err := cmd.CombinedOutput()
	if _, missing := os.Stat(filepath.Join(dir, "profile_export_aiperf.json")); missing != nil {
		return fmt.Errorf("%w: %.600s", errors.Join(err, missing), text)
	}
	return nil
}

// gpuFields are what the client reads beyond its own list, as in the exporter's own file.
const gpuFields = `DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)
DCGM_FI_DEV_MAX_SM_CLOCK, gauge, Highest SM clock (in MHz)
DCGM_FI_DEV_POWER_MGMT_LIMIT, gauge, Power limit (in W)
DCGM_FI_DEV_THERMAL_VIOLATION, counter, Throttling because of heat (in ns)
DCGM_FI_DEV_CLOCKS_EVENT_REASONS, gauge, Why the clocks are lower
DCGM_FI_DEV_FB_TOTAL, gauge, Framebuffer memory (in MiB)
DCGM_FI_DEV_FB_FREE, gauge, Framebuffer memory free (in MiB)
`

// startMocks starts the mock servers of a situation; they end with ctx.
func (b *bench) startMocks(ctx context.Context, s *situation) (a arranged, err error) {
	for _, flags := range s.servers {
		address, err := b.startMock(ctx, strings.Fields(flags))
		if err != nil {
			return a, err
		}
		a.pages = append(a.pages, "http://"+address)
		if s.network != nil {
			if address, err = s.network.through(ctx, address); err != nil {
				return a, err
			}
		}
		a.urls = append(a.urls, "http://"+address)
	}
	if s.network != nil {
		// The servers' pages are read where they are: a scrape is not what the network slows down.
		a.flags = append(a.flags, "--server-metrics")
		for _, page := range a.pages {
			a.flags = append(a.flags, page+"/metrics")
		}
	}
	return a, nil
}

// startMock starts a mock server and returns its address. It ends when its standard input does.
func (b *bench) startMock(ctx context.Context, flags []string) (string, error) {
	cmd := b.command(context.WithoutCancel(ctx), append([]string{"mock-server", "--port", "0"}, flags...), true)
	cmd.Env = append(os.Environ(), "AIPERF_STOP_WITH_STDIN=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	first := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		first <- line
		io.Copy(io.Discard, lines)
		cmd.Wait()
	}()
	context.AfterFunc(ctx, func() { stdin.Close() })
	select {
	case line := <-first:
		if _, address, ok := strings.Cut(line, "http://"); ok {
			return strings.TrimSpace(address), nil
		}
		return "", fmt.Errorf("the mock server did not start: %q", flags)
	case <-time.After(bound):
		stdin.Close()
		return "", errors.New("the mock server did not start in time")
	}
}

// command returns the program with arguments. First is before the other processes of the machine, whose work must not
// look like the client's or the server's limit.
func (b *bench) command(ctx context.Context, args []string, first bool) *exec.Cmd {
	if !first || len(b.first) == 0 {
		return exec.CommandContext(ctx, b.aiperf, args...)
	}
	return exec.CommandContext(ctx, b.first[0], append(append(b.first[1:len(b.first):len(b.first)], b.aiperf), args...)...)
}

// realTime returns the command that gives a command priority, where that is allowed.
func realTime() []string {
	first := []string{"chrt", "-r", "5"}
	if exec.Command(first[0], append(first[1:len(first):len(first)], "true")...).Run() != nil {
		return nil
	}
	return first
}

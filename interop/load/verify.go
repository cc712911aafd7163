//go:build ignore

// Verify runs the program in every load mode against its mock server and judges the arrivals by the server's log alone.
//
//	verify AIPERF DIRECTORY quick|full
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// patience bounds each run.
	patience = 30 * time.Second
	// attempts bounds the repetitions of a run of which the program itself says that it sent late.
	attempts = 5
	// lateMS is the send lag, in milliseconds, from which it does.
	lateMS = 1
)

func main() {
	if len(os.Args) != 4 || os.Args[3] != "quick" && os.Args[3] != "full" {
		fmt.Fprintln(os.Stderr, "usage: verify AIPERF DIRECTORY quick|full")
		os.Exit(2)
	}
	quick := os.Args[3] == "quick"
	for name, content := range map[string]string{"trace.jsonl": trace(), "series.json": series} {
		if err := os.WriteFile(filepath.Join(os.Args[2], name), []byte(content), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	failed, open, played := 0, 0, 0
	for _, m := range modes {
		if quick && slices.Contains(fullOnly, m.name) {
			continue
		}
		played++
		v := &verdict{}
		excused := false
		for attempt := range attempts {
			*v = verdict{}
			var log arrivals
			var held bool
			var err error
			delay := timerDelay(func() { log, held, err = play(os.Args[1], os.Args[2], m) })
			excused = held && delay > lateMS*time.Millisecond
			if err != nil {
				v.check(false, "%v", err)
				break
			}
			m.judge(v, log)
			if !v.failed || v.broken || !held {
				break
			}
			fmt.Printf("     %-24s the program says that the machine held it up, attempt %d: %s\n", m.name, attempt+1,
				strings.Join(v.notes, "; "))
		}
		mark := "ok  "
		switch {
		case v.failed && quick && !v.broken && excused:
			mark = "OPEN"
			v.notes = append(v.notes, "the machine delays the timers of an idle process as well")
			open++
		case v.failed:
			mark = "FAIL"
			failed++
		}
		fmt.Printf("%s %-24s %s\n", mark, m.name, strings.Join(v.notes, "; "))
	}
	if open > 0 {
		fmt.Printf("%d of %d modes were not judged by their times: the machine is busy\n", open, played)
	}
	if failed > 0 {
		fmt.Printf("%d of %d modes are not what they should be\n", failed, played)
		os.Exit(1)
	}
}

// timerDelay runs f and returns the 99th percentile of the delays of a timer meanwhile. This process has nothing else to
// do: what delays it is the machine.
func timerDelay(f func()) time.Duration {
	const step = time.Millisecond
	var delays []time.Duration
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	for {
		start := time.Now()
		select {
		case <-ended:
			if len(delays) == 0 {
				return 0
			}
			slices.Sort(delays)
			return delays[len(delays)*99/100]
		case <-time.After(step):
			delays = append(delays, time.Since(start)-step)
		}
	}
}

// verdict collects what was measured.
type verdict struct {
	notes []string
	// failed asks for another attempt where the machine may be the cause; broken does not.
	failed, broken bool
}

// check is for what no machine may change: counts, orders and limits.
func (v *verdict) check(ok bool, format string, args ...any) {
	v.broken = v.broken || !ok
	v.note(ok, format, args...)
}

func (v *verdict) note(ok bool, format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if !ok {
		v.failed = true
		note = "NOT " + note
	}
	v.notes = append(v.notes, note)
}

// within checks a time against its bounds.
func (v *verdict) within(what string, got, low, high float64) {
	v.note(got >= low && got <= high, "%s %.4g in [%.4g, %.4g]", what, got, low, high)
}

// full checks that a limit was reached and not passed.
func (v *verdict) full(what string, got, limit int) {
	v.check(got <= limit && 2*got >= limit, "%s %d of %d", what, got, limit)
}

// arrival is one request as the server saw it. The first event is the first token, the last ends the reply; both are
// stamped before they are written, so that the client cannot have seen them earlier.
type arrival struct {
	NS      int64             `json:"arrival_ns"`
	Events  []int64           `json:"event_ns"`
	LastNS  int64             `json:"last_byte_ns"`
	Headers map[string]string `json:"headers"`
}

func (a *arrival) session() string {
	for name, value := range a.Headers {
		if strings.EqualFold(name, "X-Correlation-ID") {
			return value
		}
	}
	return ""
}

// arrivals are in order of time.
type arrivals []arrival

// seconds returns the instants from the first arrival on.
func (a arrivals) seconds() []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = float64(a[i].NS-a[0].NS) / 1e9
	}
	return all
}

func (a arrivals) gaps() []float64 {
	at := a.seconds()
	var gaps []float64
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i]-at[i-1])
	}
	return gaps
}

func moments(x []float64) (mean, variation float64) {
	var sum, squares float64
	for _, v := range x {
		sum += v
	}
	mean = sum / float64(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares/float64(len(x)-1)) / mean
}

// distance returns the largest difference between the distribution of x and a given one (Kolmogorov and Smirnov).
func distance(x []float64, cumulative func(float64) float64) (d float64) {
	x = slices.Clone(x)
	slices.Sort(x)
	n := float64(len(x))
	for i, v := range x {
		c := cumulative(v)
		d = max(d, float64(i+1)/n-c, c-float64(i)/n)
	}
	return d
}

// overlap returns the most requests that were open at once, each from its arrival to an event of its reply.
func (a arrivals) overlap(end func(*arrival) int64) int {
	type edge struct {
		ns   int64
		step int
	}
	var edges []edge
	for i := range a {
		edges = append(edges, edge{a[i].NS, 1}, edge{end(&a[i]), -1})
	}
	slices.SortFunc(edges, func(x, y edge) int {
		if x.ns != y.ns {
			return int(x.ns - y.ns)
		}
		return x.step - y.step
	})
	open, most := 0, 0
	for _, e := range edges {
		open += e.step
		most = max(most, open)
	}
	return most
}

// play runs one mode and reads the server's log. held says that the client was, by its own report.
func play(program, dir string, m mode) (log arrivals, held bool, err error) {
	path := filepath.Join(dir, "requests.jsonl")
	if log, err = serve(program, dir, path, m); err == nil {
		held, err = wasHeld(filepath.Join(dir, "out", "profile_export_aiperf.json"))
	}
	return log, held, err
}

func wasHeld(summary string) (bool, error) {
	data, err := os.ReadFile(summary)
	if err != nil {
		return false, err
	}
	var s struct {
		Client struct {
			Lag struct {
				P99 float64
			} `json:"schedule_lag"`
			Tool struct {
				P99 float64
			} `json:"tool_lag"`
			Timer struct {
				Max float64
			} `json:"scheduler_delay"`
		} `json:"client_health"`
	}
	err = json.Unmarshal(data, &s)
	return s.Client.Lag.P99 > lateMS || s.Client.Tool.P99 > lateMS || s.Client.Timer.Max > lateMS, err
}

func serve(program, dir, log string, m mode) (arrivals, error) {
	os.Remove(log)
	server := exec.Command(program,
		append([]string{"mock-server", "--port", "0", "--random-seed", "1", "--record-requests", log, "--record-events",
			"--record-bodies"}, m.server...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	hung := time.AfterFunc(patience, func() { server.Process.Kill() })
	defer hung.Stop()
	url, err := listening(out)
	if err == nil {
		err = profile(program, filepath.Join(dir, "out"), url, m.flags)
	}
	server.Process.Signal(os.Interrupt)
	io.Copy(io.Discard, out)
	server.Wait()
	if err != nil {
		return nil, err
	}
	return read(log)
}

func listening(out io.Reader) (string, error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return url, nil
		}
	}
	return "", fmt.Errorf("the mock server did not start")
}

func profile(program, dir, url string, flags []string) error {
	flags = slices.Clone(flags)
	for i, f := range flags {
		if f == "trace.jsonl" || f == "series.json" {
			flags[i] = filepath.Join(filepath.Dir(dir), f)
		}
	}
	client := exec.Command(program,
		append([]string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--url", url, "--ui", "none",
			"--random-seed", "42",
			"--artifact-dir", dir, "--no-server-metrics", "--isl", "16", "--extra-inputs", "ignore_eos:true"},
			flags...)...)
	// What a stall of the machine holds up is sent late, not dropped: the plan is judged, not the machine.
	client.Env = append(os.Environ(), "AIPERF_TIMING_MAX_CATCHUP_SECONDS=1")
	var output bytes.Buffer
	client.Stdout, client.Stderr = &output, &output
	if err := client.Start(); err != nil {
		return err
	}
	hung := time.AfterFunc(patience, func() { client.Process.Kill() })
	defer hung.Stop()
	if err := client.Wait(); err != nil {
		return fmt.Errorf("aiperf %s: %w\n%s", strings.Join(flags, " "), err, output.String())
	}
	return nil
}

func read(log string) (all arrivals, err error) {
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var a arrival
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%d requests came", len(all))
	}
	slices.SortFunc(all, func(a, b arrival) int { return int(a.NS - b.NS) })
	return all, nil
}

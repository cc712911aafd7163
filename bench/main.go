//go:build unix

// Command bench prints one table: what the whole program costs beside a bare net/http loop and wrk,
// all driving the same mock server in the same run. Machines differ and are noisy: read the ratios.
//
//	go run ./bench [-seconds 8] [-only unary,flood,…]
//
// -help lists what can be measured.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		bare(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "feed" {
		feed(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "ready" {
		if err := ready(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "series" {
		series(os.Args[2:])
		return
	}
	seconds := flag.Int("seconds", 8, "seconds of each measurement")
	only := flag.String("only", "unary,flood,paced,memory,start,pacing,stamps",
		"what to measure; also: streams, scrape, telemetry, telemetrylag, dashboard, accuracy, million, ten-million, "+
			"records, growth, peers, trace, reference, fleet, fleetstart, versus, pgo, readiness")
	other := flag.String("versus", "", "the other program of -only versus")
	profileFile := flag.String("profile", "cmd/aiperf/release.pgo", "the file that -only pgo writes")
	original := flag.String("reference", "", "the original's program, for -only reference")
	others := flag.String("peers", "wrk=wrk", "the other programs of -only peers, as NAME=PATH,…: wrk, oha, vegeta, hey, "+
		"original, guidellm; tokenizer=FOLDER is that of guidellm")
	kinds := flag.String("kinds", "requests,streams,events,rows,series,cells", "what grows in -only growth")
	built := flag.String("aiperf", "", "the program to measure; the default builds it")
	bound := flag.Duration("bound", 4*time.Minute, "how long a process of -only growth and peers may take")
	flag.Parse()
	b, err := newBench(*seconds, *built)
	if err == nil {
		b.original, b.kinds, b.others, b.bound = *original, *kinds, *others, *bound
		b.other, b.profileFile = *other, *profileFile
		defer os.RemoveAll(b.dir)
		err = b.run(strings.Split(*only, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, aiperf, self string
	seconds           int
	env               []string // further variables of aiperf profile
	// original is the program of the implementation that ours is compared with.
	original string
	// kinds are what grows in the measurement of growth.
	kinds string
	// others are the programs of the comparison with peers.
	others string
	// other is the program that -only versus compares with, profileFile what -only pgo writes.
	other, profileFile string
	// bound is how long a process of a comparison of sizes or peers may take.
	bound time.Duration
	// ui is the view of runs on a terminal of their own; "" is none of both.
	ui string
}

func newBench(seconds int, built string) (*bench, error) {
	dir, err := os.MkdirTemp("", "aiperf-bench")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, aiperf: filepath.Join(dir, "aiperf"), self: self, seconds: seconds}
	if built != "" {
		b.aiperf, err = filepath.Abs(built)
		return b, err
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.aiperf, "./cmd/aiperf")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building aiperf: %w\n%s", err, out)
	}
	return b, nil
}

func (b *bench) run(parts []string) error {
	fmt.Printf("%s/%s, %d CPUs, %s, %d s a measurement\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), b.seconds)
	fmt.Printf("%-44s %-10s %12s %12s %12s %10s\n", "measurement", "GOMAXPROCS", "aiperf", "bare loop", "wrk", "ratio")
	all := map[string]func() error{
		"memory": b.memory, "start": b.start, "scrape": b.scrape,
		"telemetry": b.telemetry, "telemetrylag": b.telemetryLag, "dashboard": b.dashboard, "accuracy": b.accuracy,
		"million": b.million, "trace": b.trace,
		"pacing": b.pacing, "stamps": b.stamps, "records": b.records, "ten-million": b.tenMillion, "streams": b.streams,
		"reference": b.reference, "growth": b.growth, "peers": b.comparePeers, "fleet": b.fleet, "fleetstart": b.fleetStart,
		"versus": b.versus, "pgo": b.pgo, "readiness": b.readiness,
	}
	for _, l := range b.loads() {
		all[l.key] = func() error { return b.measure(l) }
	}
	for _, p := range parts {
		f, ok := all[p]
		if !ok {
			return fmt.Errorf("-only: no measurement %q", p)
		}
		if err := f(); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func row(name string, procs int, ours, bare, wrk float64, format string) {
	cell := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf(format, v)
	}
	ratio := "-"
	if bare != 0 {
		ratio = fmt.Sprintf("%.2f", ours/bare)
	}
	fmt.Printf("%-44s %-10d %12s %12s %12s %10s\n", name, procs, cell(ours), cell(bare), cell(wrk), ratio)
}

// memory: resident memory of a process with 1,000 open streams over one with 10, for each further stream.
func (b *bench) memory() error {
	server, err := b.server("--ttft", "20", "--itl", "20")
	if err != nil {
		return err
	}
	defer server.stop()
	tokens := strconv.Itoa(50 * b.seconds)
	resident := func(procs int, streams string) (ours, plain float64, err error) {
		o, err := b.profile(procs, server.url, "--streaming", "--concurrency", streams, "--isl", "32", "--osl", tokens,
			"--extra-inputs", "ignore_eos:true", "--request-count", streams)
		if err != nil {
			return 0, 0, err
		}
		p, err := b.bare(procs, "-url", server.url, "-concurrency", streams, "-tokens", tokens, "-stream", "-requests",
			streams)
		if err != nil {
			return 0, 0, err
		}
		return o.rssKB, p.rssKB, nil
	}
	for _, procs := range []int{1, 2} {
		few, fewBare, err := resident(procs, "10")
		if err != nil {
			return err
		}
		many, manyBare, err := resident(procs, "1000")
		if err != nil {
			return err
		}
		row("KB of resident memory per open stream", procs, (many-few)/990, (manyBare-fewBare)/990, 0, "%.1f")
	}
	return nil
}

// start: from exec to the first byte at the server, and --help.
func (b *bench) start() error {
	requests := filepath.Join(b.dir, "requests.jsonl")
	server, err := b.server("--fast", "--record-requests", requests)
	if err != nil {
		return err
	}
	defer server.stop()
	best := time.Hour
	for range 5 {
		os.Truncate(requests, 0)
		began := time.Now()
		if _, err := b.profile(2, server.url, "--streaming", "--concurrency", "1", "--request-count", "1"); err != nil {
			return err
		}
		time.Sleep(400 * time.Millisecond) // the recorder flushes five times a second
		line, err := os.ReadFile(requests)
		if err != nil {
			return err
		}
		line = bytes.TrimLeft(line, "\x00")
		var r struct {
			Arrival int64 `json:"arrival_ns"`
		}
		if err := json.Unmarshal(bytes.SplitN(line, []byte("\n"), 2)[0], &r); err != nil {
			return fmt.Errorf("request log: %w", err)
		}
		best = min(best, time.Unix(0, r.Arrival).Sub(began))
	}
	row("ms from start to first request (best of 5)", 2, float64(best.Microseconds())/1000, 0, 0, "%.0f")
	best = time.Hour
	for range 5 {
		began := time.Now()
		if err := exec.Command(b.aiperf, "--help").Run(); err != nil {
			return err
		}
		best = min(best, time.Since(began))
	}
	row("ms of --help (best of 5)", 2, float64(best.Microseconds())/1000, 0, 0, "%.0f")
	return nil
}

// million: resident memory of a run of a million requests.
func (b *bench) million() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	began := time.Now()
	ours, err := b.profile(2, server.url, "--concurrency", "64", "--isl", "32", "--osl", "1", "--request-count",
		"1000000")
	if err != nil {
		return err
	}
	row("MB resident, 1,000,000 requests", 2, ours.rssKB/1024, 0, 0, "%.0f")
	row("seconds for them, all in all", 2, time.Since(began).Seconds(), 0, 0, "%.0f")
	return nil
}

type server struct {
	cmd *exec.Cmd
	url string
}

func (b *bench) server(args ...string) (*server, error) {
	s, _, err := b.serverOf(0, args...)
	return s, err
}

// serverOf starts a mock server that has so many metrics pages on ports of their own.
func (b *bench) serverOf(pages int, args ...string) (s *server, metrics []string, err error) {
	cmd := exec.Command(b.aiperf, append([]string{"mock-server", "--port", "0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	var urls []string
	for lines := bufio.NewScanner(out); len(urls) < 1+pages && lines.Scan(); {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			urls = append(urls, lines.Text()[at:])
		}
	}
	if len(urls) < 1+pages {
		return nil, nil, fmt.Errorf("mock server did not start: %v", cmd.Wait())
	}
	return &server{cmd, urls[0]}, urls[1:], nil
}

func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait()
}

type usage struct {
	cpu   time.Duration
	rssKB float64
}

func usageOf(s *os.ProcessState) usage {
	u := usage{cpu: s.UserTime() + s.SystemTime()}
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		u.rssKB = float64(r.Maxrss)
	}
	return u
}

type profiled struct {
	usage
	dir string
	// tail is the time from the end of the last request to that of the program.
	tail    time.Duration
	summary map[string]json.RawMessage
}

func (p *profiled) value(tag string) float64 {
	var m struct {
		Avg float64 `json:"avg"`
	}
	json.Unmarshal(p.summary[tag], &m)
	return m.Avg
}

func (b *bench) profile(procs int, url string, args ...string) (*profiled, error) {
	return b.watched(procs, url, append([]string{"--no-server-metrics"}, args...)...)
}

// watched is profile with whatever the arguments say of server metrics.
func (b *bench) watched(procs int, url string, args ...string) (*profiled, error) {
	return b.watchedOf(b.aiperf, procs, url, args...)
}

// watchedOf runs one of the two programs.
func (b *bench) watchedOf(program string, procs int, url string, args ...string) (*profiled, error) {
	return b.measuredOf(program, procs, url, append([]string{"--no-gpu-telemetry"}, args...)...)
}

// measured is watched with whatever the arguments say of GPUs, too.
func (b *bench) measured(procs int, url string, args ...string) (*profiled, error) {
	return b.measuredOf(b.aiperf, procs, url, args...)
}

func (b *bench) measuredOf(program string, procs int, url string, args ...string) (*profiled, error) {
	dir := filepath.Join(b.dir, "run")
	os.RemoveAll(dir)
	args = append([]string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--url",
		url, "--random-seed", "1",
		"--endpoint-type", "chat", "--ui", cmp.Or(b.ui, "none"), "--artifact-dir", dir}, args...)
	cmd := exec.Command(program, args...)
	if b.ui != "" {
		cmd = onTerminal(program, args)
	}
	cmd.Env = append(os.Environ(), append(b.env, "GOMAXPROCS="+strconv.Itoa(procs))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("aiperf profile: %w\n%s", err, out)
	}
	ended := time.Now()
	data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		return nil, err
	}
	p := &profiled{usage: usageOf(cmd.ProcessState), dir: dir}
	if err := json.Unmarshal(data, &p.summary); err != nil {
		return nil, err
	}
	var info struct {
		EndNS int64 `json:"end_time_ns"`
	}
	err = json.Unmarshal(p.summary["run_info"], &info)
	p.tail = ended.Sub(time.Unix(0, info.EndNS))
	return p, err
}

type bareResult struct {
	usage
	Requests, Events, Seconds float64
}

// count is the number of events of a streamed load, else of requests.
func (r *bareResult) count() float64 { return max(r.Requests, r.Events) }

// cpuOfEach is the processor time in µs of each of them.
func (r *bareResult) cpuOfEach() float64 { return r.cpu.Seconds() * 1e6 / r.count() }

func (b *bench) bare(procs int, args ...string) (*bareResult, error) {
	return b.child("bare", procs, append([]string{"-seconds", strconv.Itoa(b.seconds)}, args...)...)
}

// child runs a yardstick of this program in a process of its own.
func (b *bench) child(name string, procs int, args ...string) (*bareResult, error) {
	cmd := exec.Command(b.self, append([]string{name}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &bareResult{usage: usageOf(cmd.ProcessState)}
	return r, json.Unmarshal(out, r)
}

// wrk is left out of the table where it is not installed.
func (b *bench) wrk(url string, threads int) float64 {
	script := filepath.Join(b.dir, "post.lua")
	os.WriteFile(script, wrkScript(string(body(1, false))), 0o644)
	out, err := exec.Command("wrk", "-t", strconv.Itoa(threads), "-c", "32", "-d", strconv.Itoa(b.seconds)+"s", "-s",
		script, url+"/v1/chat/completions").Output()
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(line, "Requests/sec:"); ok {
			f, _ := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return f
		}
	}
	return 0
}

// wrkScript has wrk post a body.
func wrkScript(body string) []byte {
	return []byte("wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n" +
		"wrk.body = '" + body + "'\n")
}

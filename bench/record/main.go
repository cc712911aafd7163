//go:build linux

// Command record measures what aiperf record costs the traffic that passes it.
//
//	go run ./bench/record [-only added,streams] [-aiperf PATH] [-seconds 10] [-rate 1000] [-words 32] [-stream]
//
// added: requests at a rate, to the mock server directly and through the recorder, which has one core (GOMAXPROCS=1,
// and taskset where there is one), half a second each in turn. Two yardsticks take their turns, too, in processes of
// their own on that core: relay copies the bytes of connections and understands nothing, reverse is a plain
// httputil.ReverseProxy. Added latency is the difference of quantiles to the direct requests; the processor time of each
// process is beside it, which neighbours on the machine change least.
//
// streams: that many streams at once through the recorder. Every text must be the one that the server sends directly,
// and the recording must have as many rows.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "relay" {
		relay(os.Args[2])
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "reverse" {
		reverse(os.Args[2])
		return
	}
	b := &bench{}
	only := flag.String("only", "added,streams", "what to measure")
	flag.StringVar(&b.aiperf, "aiperf", "", "the program (default: built from this folder)")
	flag.IntVar(&b.seconds, "seconds", 10, "seconds of requests on each path")
	flag.IntVar(&b.rate, "rate", 1000, "requests a second")
	flag.IntVar(&b.words, "words", 32, "words of a prompt")
	flag.BoolVar(&b.stream, "stream", false, "streams of 32 tokens: time to the first event, and to the end")
	flag.IntVar(&b.streams, "streams", 10000, "streams at once")
	flag.BoolVar(&b.http2, "http2", false, "the recorder speaks HTTP/2 to the server, which takes half as many open files")
	flag.StringVar(&b.profile, "profile", "", "file for the processor profile of the recorder")
	flag.StringVar(&b.keep, "keep", "hashes", "--keep of the recorder")
	flag.BoolVar(&b.pin, "pin", true, "the proxies have the last core, all else the others")
	flag.Parse()
	if err := b.run(strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

type bench struct {
	aiperf, dir, profile, keep    string
	seconds, rate, words, streams int
	stream, pin, http2            bool
}

func (b *bench) run(parts []string) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "aiperf-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.aiperf == "" {
		b.aiperf = filepath.Join(b.dir, "aiperf")
		build := exec.Command("go", "build", "-trimpath", "-o", b.aiperf, "./cmd/aiperf")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building aiperf: %w\n%s", err, out)
		}
	}
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		b.pin = false
	}
	if b.pin {
		pid := strconv.Itoa(os.Getpid())
		others := fmt.Sprintf("0-%d", runtime.NumCPU()-2)
		if out, err := exec.Command("taskset", "-a", "-p", "-c", others, pid).CombinedOutput(); err != nil {
			return fmt.Errorf("taskset: %w\n%s", err, out)
		}
	}
	open := files()
	if !b.http2 {
		open /= 2 // a stream has two connections
	}
	b.streams = min(b.streams, open-100)
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%s/%s, %d CPUs, %s, load before: %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		strings.Join(strings.Fields(string(load) + " - - -")[:3], " "))
	for _, part := range parts {
		switch part {
		case "added":
			err = b.added()
		case "streams":
			err = b.many()
		default:
			err = fmt.Errorf("-only: no measurement %q", part)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// files lets this process and those that it starts open many files, as far as it may, and returns how many.
func files() int {
	const want = 65536
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: want, Max: want}) == nil {
		return want
	}
	var l syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return int(l.Max)
}

// process is a server or a proxy.
type process struct {
	cmd *exec.Cmd
	url string
}

// start starts a program and waits until a line of it has mark; the address stands behind.
func (b *bench) start(proxy bool, mark string, env []string, args ...string) (*process, error) {
	if proxy && b.pin {
		args = append([]string{"taskset", "-c", strconv.Itoa(runtime.NumCPU() - 1)}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), mark); ok {
			go func() {
				for lines.Scan() {
				}
			}()
			address, _, _ := strings.Cut(rest, " ")
			return &process{cmd, strings.TrimPrefix(address, "http://")}, nil
		}
	}
	return nil, fmt.Errorf("%s did not start: %v", args, cmd.Wait())
}

// stop ends a process.
func (p *process) stop() {
	p.cmd.Process.Signal(os.Interrupt)
	p.cmd.Wait()
}

// processor is the processor time that a process has taken so far.
func (p *process) processor() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100 // the unit of Linux
}

func (b *bench) server(flags ...string) (*process, error) {
	return b.start(false, "listening on ", nil, append([]string{b.aiperf, "mock-server", "--port", "0"}, flags...)...)
}

func (b *bench) recorder(upstream, folder string, env ...string) (*process, error) {
	args := []string{b.aiperf, "record", "--upstream", "http://" + upstream, "--listen", "127.0.0.1:0", "--out", folder,
		"--keep", b.keep}
	if b.http2 {
		args = append(args, "--upstream-http2")
	}
	return b.start(true, "clients use ", append(env, "GOMAXPROCS=1"), args...)
}

// rowsOf counts the rows of a recording.
func rowsOf(folder string) (n int, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "traffic*.jsonl"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += strings.Count(string(text), "\n") - 1
	}
	return n, err
}

// request is a request of chat as bytes of HTTP/1.1. Prompts of two numbers differ.
func request(host string, number, words, tokens int, stream bool) []byte {
	text := fmt.Sprintf("Question %d:%s", number, strings.Repeat(" and then the old man looks at the sea", 1+words/8))
	body, _ := json.Marshal(map[string]any{"model": "mock-model", "stream": stream, "max_completion_tokens": tokens,
		"ignore_eos": true, "messages": []map[string]string{{"role": "user", "content": text}}})
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", host, len(body), body)
}

func dial(host string) (net.Conn, error) { return net.DialTimeout("tcp", host, 30*time.Second) }

// interrupted ends a yardstick.
func interrupted() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	<-c
	os.Exit(0)
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func micro(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/float64(time.Microsecond)) }

// resident is the largest resident memory of a process that has ended, in megabytes.
func resident(p *process) float64 {
	if r, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return float64(r.Maxrss) / 1024
	}
	return 0
}

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"
)

// faults are the ten ways in which a tenth of the replies fail, one way for each server.
var faults = []string{
	"status=503", "status=429", "error_200", "malformed_json", "content_type=text/html", "never",
	"cut_after_events=3", "cut_after_events=1;cut_mid_event", "drop_after_bytes=300;reset", "cut_after_events=2;stall",
}

// requestTimeout ends what never does, in seconds.
const requestTimeout = 5

type server struct {
	cmd      *exec.Cmd
	url, log string
}

var address = regexp.MustCompile(`http://[^\s/]+`)

func (s *soak) startServers() error {
	for i, fault := range faults {
		log := filepath.Join(s.dir, fmt.Sprintf("server%d.jsonl", i))
		cmd := exec.Command(s.aiperf, "mock-server", "--port", "0", "--ttft", "30", "--itl", "5", "--fault",
			fault+";rate=0.1", "--record-requests", log)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		s.servers = append(s.servers, &server{cmd: cmd, log: log})
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return fmt.Errorf("mock server: %w", err)
		}
		s.servers[i].url = address.FindString(line)
	}
	return nil
}

// client is a run of aiperf.
type client struct {
	name string
	cmd  *exec.Cmd
	dir  string
	// page and pprof are the addresses of its live page and of its profiles.
	page, pprof string
	pagesRead   atomic.Int64
	// done is closed when it has ended, with err.
	done chan struct{}
	err  error
}

// loads are the kinds of requests: their share of the rate and their options.
var loads = []struct {
	name  string
	share float64
	args  []string
}{
	{"streams", 0.4, []string{"--streaming"}},
	{"unary", 0.4, nil},
	{"conversations", 0.2, []string{"--streaming", "--conversation-turn-mean", "3", "--conversation-turn-stddev", "1"}},
}

func (s *soak) startClients(collector string) error {
	for _, load := range loads {
		dir := filepath.Join(s.dir, load.name)
		log, err := os.Create(dir + ".log")
		if err != nil {
			return err
		}
		args := []string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--ui", "none", "--web", "0",
			"--artifact-dir", dir, "--isl", "64", "--osl", "16", "--extra-inputs", "ignore_eos:true",
			"--request-rate", strconv.FormatFloat(load.share*s.rate, 'g', -1, 64), "--arrival-pattern", "poisson",
			"--benchmark-duration", strconv.FormatFloat(s.length.Seconds(), 'f', -1, 64),
			"--request-timeout-seconds", strconv.Itoa(requestTimeout), "--otel-url", collector, "--random-seed", "1",
			"--num-dataset-entries", "1000"}
		for _, server := range s.servers {
			args = append(args, "--url", server.url)
		}
		c := &client{name: load.name, dir: dir, done: make(chan struct{}),
			cmd: exec.Command(s.aiperf, append(args, load.args...)...)}
		if c.pprof, err = freeAddress(); err != nil {
			return err
		}
		c.cmd.Env = append(os.Environ(), "SOAK_PPROF="+c.pprof)
		c.cmd.Stdout, c.cmd.Stderr = log, log
		err = c.cmd.Start()
		log.Close()
		if err != nil {
			return err
		}
		s.clients = append(s.clients, c)
		go func() {
			c.err = c.cmd.Wait()
			close(c.done)
		}()
		if c.page, err = c.waitForPage(dir + ".log"); err != nil {
			return err
		}
	}
	return nil
}

// waitForPage returns the address of the live page as soon as the client names it.
func (c *client) waitForPage(log string) (string, error) {
	for {
		text, err := os.ReadFile(log)
		if err != nil {
			return "", err
		}
		if _, rest, ok := bytes.Cut(text, []byte("Live page: ")); ok && bytes.IndexByte(rest, '\n') > 0 {
			return address.FindString(string(rest)), nil
		}
		select {
		case <-c.done:
			return "", fmt.Errorf("%s: %w\n%s", c.name, cmp.Or(c.err, io.ErrUnexpectedEOF), text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (c *client) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// readPages holds a live page open, and reads two of the API each second, until the context ends.
func (c *client) readPages(ctx context.Context) {
	go func() { // the stream of a page that is open all the time
		for ctx.Err() == nil && !c.ended() {
			_ = fetch(ctx, c.page+"/live")
			pause(ctx)
		}
	}()
	for ctx.Err() == nil && !c.ended() {
		for _, path := range []string{"/api/metrics", "/metrics"} {
			if fetch(ctx, c.page+path) == nil {
				c.pagesRead.Add(1)
			}
		}
		pause(ctx)
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// fetch reads a page to its end.
func fetch(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// collector takes OpenTelemetry and counts it.
type collector struct {
	*httptest.Server
	pushes, bytes atomic.Int64
}

func newCollector() *collector {
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		c.pushes.Add(1)
		c.bytes.Add(n)
	}))
	return c
}

func (c *collector) url() string { return c.URL }
func (c *collector) close()      { c.Close() }

// stopAll ends all processes and waits for them; it may be called twice.
func (s *soak) stopAll() {
	for _, c := range s.clients {
		if !c.ended() {
			c.cmd.Process.Signal(os.Interrupt)
			<-c.done
		}
	}
	for _, server := range s.servers {
		if server.cmd.ProcessState == nil {
			server.cmd.Process.Signal(os.Interrupt)
			server.cmd.Wait()
		}
	}
}

//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// warmUp are the requests before those that count.
const warmUp = 100

// round is how long requests take one path before they take the next.
const round = 500 * time.Millisecond

// path is a way to the server.
type path struct {
	name    string
	host    string
	process *process
	first   []time.Duration // to the first event of streams
	whole   []time.Duration
	// p50s and p99s are those of each round.
	p50s, p99s []time.Duration
	sent       int
	before     time.Duration // processor time before the first round
}

// added compares the paths.
func (b *bench) added() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	folder := filepath.Join(b.dir, "added")
	var env []string
	if b.profile != "" {
		env = append(env, "AIPERF_PPROF="+b.profile)
	}
	recorder, err := b.recorder(server.url, folder, env...)
	if err != nil {
		return err
	}
	paths := []*path{{name: "direct", host: server.url}, {name: "recorder", host: recorder.url, process: recorder}}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, yardstick := range []string{"relay", "reverse"} {
		p, err := b.start(true, "listening on ", []string{"GOMAXPROCS=1"}, self, yardstick, server.url)
		if err != nil {
			return err
		}
		paths = append(paths, &path{name: yardstick, host: p.url, process: p})
	}
	for _, p := range paths { // connections are made, code is in memory
		if err := b.send(p, warmUp, uint64(1)); err != nil {
			return err
		}
		p.first, p.whole, p.p50s, p.p99s = nil, nil, nil, nil
		if p.process != nil {
			p.before = p.process.processor()
		}
	}
	each := int(float64(b.rate) * round.Seconds())
	for n := range int(time.Duration(b.seconds) * time.Second / round) {
		for _, p := range paths {
			if err := b.send(p, each, uint64(n)); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	b.say(paths)
	for _, p := range paths {
		if p.process != nil {
			cpu := p.process.processor() - p.before
			p.process.stop()
			fmt.Printf("%-10s %6.1f µs of processor time a request\n", p.name, cpu.Seconds()*1e6/float64(p.sent-warmUp))
		}
	}
	rows, err := rowsOf(folder)
	if err == nil && rows != paths[1].sent {
		err = fmt.Errorf("%d rows of %d requests", rows, paths[1].sent)
	}
	return err
}

// say prints the table of the paths; the first one is direct.
func (b *bench) say(paths []*path) {
	fmt.Printf("\n%d requests/s, %d words, stream %v; %d requests a path; µs\n", b.rate, b.words, b.stream, len(paths[0].whole))
	fmt.Printf("%-10s %8s %8s %8s %10s %10s   %s\n", "path", "p50", "p90", "p99", "added p50", "added p99",
		"median of the rounds: added p50, p99")
	of := func(what string, column func(*path) []time.Duration) {
		direct := slices.Sorted(slices.Values(column(paths[0])))
		if len(direct) == 0 {
			return
		}
		for _, p := range paths {
			d := slices.Sorted(slices.Values(column(p)))
			fmt.Printf("%-10s %8s %8s %8s %10s %10s   ", p.name+what, micro(quantile(d, .5)), micro(quantile(d, .9)),
				micro(quantile(d, .99)), micro(quantile(d, .5)-quantile(direct, .5)),
				micro(quantile(d, .99)-quantile(direct, .99)))
			if what == "" {
				fmt.Printf("%s, %s", micro(between(p.p50s, paths[0].p50s)), micro(between(p.p99s, paths[0].p99s)))
			}
			fmt.Println()
		}
	}
	of("", func(p *path) []time.Duration { return p.whole })
	of(" TTFT", func(p *path) []time.Duration { return p.first })
}

// between is the median of the differences of two columns.
func between(a, b []time.Duration) time.Duration {
	var d []time.Duration
	for i := range a {
		d = append(d, a[i]-b[i])
	}
	slices.Sort(d)
	return quantile(d, .5)
}

// lane is a connection, which has one request at a time.
type lane struct {
	conn net.Conn
	in   *bufio.Reader
}

// send sends requests on a path, with random gaps, the same for each path.
func (b *bench) send(p *path, requests int, seed uint64) error {
	var mu sync.Mutex
	var failed error
	var free []*lane
	var whole []time.Duration
	var under sync.WaitGroup
	jobs := make(chan []byte, requests)
	for range 64 {
		under.Go(func() {
			for text := range jobs {
				mu.Lock()
				var l *lane
				if n := len(free); n > 0 {
					l, free = free[n-1], free[:n-1]
				}
				mu.Unlock()
				if l == nil {
					conn, err := dial(p.host)
					if err != nil {
						failed = err
						return
					}
					l = &lane{conn, bufio.NewReader(conn)}
				}
				first, all, err := l.exchange(text)
				mu.Lock()
				if err != nil {
					failed = err
				}
				whole = append(whole, all)
				if first > 0 {
					p.first = append(p.first, first)
				}
				free = append(free, l)
				mu.Unlock()
			}
		})
	}
	tokens := 1
	if b.stream {
		tokens = 32
	}
	texts := make([][]byte, requests)
	for i := range texts {
		texts[i] = request(p.host, p.sent+i, b.words, tokens, b.stream)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	due := time.Now()
	for _, text := range texts {
		due = due.Add(time.Duration(random.ExpFloat64() * float64(time.Second) / float64(b.rate)))
		if wait := time.Until(due); wait > 0 { // timers of Go are up to a millisecond late
			gap := unix.NsecToTimespec(wait.Nanoseconds())
			unix.Nanosleep(&gap, nil)
		}
		jobs <- text
	}
	close(jobs)
	under.Wait()
	for _, l := range free {
		l.conn.Close()
	}
	p.sent += requests
	slices.Sort(whole)
	p.whole = append(p.whole, whole...)
	p.p50s, p.p99s = append(p.p50s, quantile(whole, .5)), append(p.p99s, quantile(whole, .99))
	return failed
}

// exchange sends a request and reads the whole reply; first is the time to the first event of a stream.
func (l *lane) exchange(text []byte) (first, whole time.Duration, err error) {
	begun := time.Now()
	if _, err := l.conn.Write(text); err != nil {
		return 0, 0, err
	}
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("status %d", resp.StatusCode)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var one [1]byte
		if _, err := io.ReadFull(resp.Body, one[:]); err != nil {
			return 0, 0, err
		}
		first = time.Since(begun)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return first, time.Since(begun), err
}

// relay copies what connections bring to connections of its own.
func relay(upstream string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("listening on", l.Addr())
	go interrupted()
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := dial(upstream)
			if err != nil {
				return
			}
			defer out.Close()
			go plainly(out, in)
			plainly(in, out)
		}()
	}
}

// plainly copies without splice, which takes a connection three system calls more.
func plainly(to io.Writer, from io.Reader) {
	io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
}

// reverse is the reverse proxy of the standard library.
func reverse(upstream string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("listening on", l.Addr())
	go interrupted()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: upstream})
	proxy.FlushInterval = -1
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}
	http.Serve(l, proxy)
}

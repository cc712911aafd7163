package run

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/mockserver"
)

const (
	wholeBody  = `{"object":"chat.completion","choices":[{"message":{"content":"a"}}]}`
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	streamBody = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
)

func wholeReply(header string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", header,
		len(wholeBody), wholeBody)
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// peer is the server's end of a connection.
type peer struct {
	*net.TCPConn
	br *bufio.Reader
	n  int // number of the connection, from 0
}

// request reads a request whole; nil at the end of the connection.
func (p *peer) request() *http.Request {
	r, err := http.ReadRequest(p.br)
	if err != nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil
	}
	return r
}

func (p *peer) say(text string) { _, _ = io.WriteString(p, text) }

// hold keeps the connection open until the client leaves.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.br) }

// reset makes the close of the connection a reset.
func (p *peer) reset() { _ = p.SetLinger(0) }

// wire serves each connection with a script; the connection is closed when the script returns.
func wire(t *testing.T, script func(*peer)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				script(&peer{c.(*net.TCPConn), bufio.NewReader(c), n})
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// deaf accepts connections in the kernel only: nobody ever looks at them.
func deaf(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// faultRun is what a run against a faulty server yielded.
type faultRun struct {
	t       *testing.T
	outcome *Outcome
	dir     string
	took    time.Duration
}

// againstFault runs a benchmark whose requests go in turn to a server that answers and to a faulty one.
func againstFault(t *testing.T, faulty string, o Options, args ...string) faultRun {
	t.Helper()
	r := faultRun{t: t, dir: t.TempDir()}
	good := serve(t, mockserver.Options{Fast: true})
	cfg := resolve(t, r.dir, good, append([]string{"--isl", "5", "--osl", "2", "--num-dataset-entries", "2"},
		args...)...)
	cfg.Endpoint.URLs = []string{good, faulty}
	// What a server does not read shall soon not be taken by the socket.
	cfg.Env.HTTP.SendBuffer, cfg.Env.HTTP.ReceiveBuffer = 4096, 4096
	begin := time.Now()
	outcome, err := execute(t, cfg, o)
	r.took = time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	r.outcome = outcome
	r.adds()
	return r
}

// adds checks that nothing is lost and nothing counted twice.
func (r faultRun) adds() {
	r.t.Helper()
	c := r.outcome.Result.Counts
	if r.outcome.Problem != nil || r.outcome.Aborted != nil {
		r.t.Errorf("problem %v, aborted %v", r.outcome.Problem, r.outcome.Aborted)
	}
	if c.Sent != c.Successes+c.Errors+c.CutOff {
		r.t.Errorf("counts do not add up: %+v", c)
	}
	p := r.outcome.Phases[len(r.outcome.Phases)-1]
	if p.RequestsSent != c.Sent || p.RequestsCompleted != c.Successes+c.Errors || p.RequestErrors != c.Errors ||
		p.RequestsCancelled != c.CutOff || p.ForcedReturns != 0 {
		r.t.Errorf("the phase has %d sent, %d completed, %d errors, %d cut off, %d forced; the records %+v",
			p.RequestsSent, p.RequestsCompleted, p.RequestErrors, p.RequestsCancelled, p.ForcedReturns, c)
	}
	if n := int64(len(records(r.t, r.dir))); n != c.Successes+c.Errors {
		r.t.Errorf("%d lines, want %d", n, c.Successes+c.Errors)
	}
	if r.took > time.Minute {
		r.t.Errorf("the run took %v", r.took)
	}
}

// failed checks the numbers of successes and errors, and that all errors are of one code and type.
func (r faultRun) failed(successes, errors int64, want string) {
	r.t.Helper()
	c := r.outcome.Result.Counts
	// On a busy machine an answer may take longer than a short timeout.
	slow := c.Errors - errors
	if want != "TimeoutError" {
		slow = 0
	}
	if c.Successes != successes-slow || c.Errors != errors+slow || slow < 0 || c.CutOff != 0 {
		r.t.Errorf("counts %+v, want %d successes and %d errors", c, successes, errors)
	}
	groups, _ := summaryOf(r.t, r.dir)["error_summary"].([]any)
	var got []string
	for _, g := range groups {
		text := fmt.Sprint(at(g, "error_details", "code"), " ", at(g, "error_details", "type"))
		if text = strings.TrimPrefix(text, "<nil> "); !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	if strings.Join(got, ", ") != want {
		r.t.Errorf("errors %q, want %q", got, want)
	}
}

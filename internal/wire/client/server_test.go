package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	serveIfAsked()
	goleak.VerifyTestMain(m)
}

// recorder is a sink that writes down what it gets.
type recorder struct {
	events []string // name=data
	stamps []int64
	body   string
	kind   string
	binary bool
	on     func() // called at each response
}

func (r *recorder) Event(name, data []byte, atNS int64) {
	r.events = append(r.events, fmt.Sprintf("%s=%s", name, data))
	r.stamps = append(r.stamps, atNS)
	if r.on != nil {
		r.on()
	}
}

func (r *recorder) Body(contentType string, binary bool, body []byte, atNS int64) {
	r.kind, r.binary, r.body = contentType, binary, string(body)
	r.stamps = append(r.stamps, atNS)
	if r.on != nil {
		r.on()
	}
}

// rawServer answers each connection with serve, which gets the connection's number from 1.
type rawServer struct {
	addr  string
	conns atomic.Int64
}

func newRawServer(t testing.TB, serve func(c net.Conn, n int64)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveRaw(t, l, serve)
}

func serveRaw(t testing.TB, l net.Listener, serve func(c net.Conn, n int64)) *rawServer {
	t.Helper()
	s := &rawServer{addr: l.Addr().String()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			n := s.conns.Add(1)
			wg.Go(func() {
				serve(c, n)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return s
}

// readRequest reads one request off a connection and returns its head and body; ok is false at the end.
func readRequest(br *bufio.Reader) (head, body string, ok bool) {
	var b strings.Builder
	length := 0
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return "", "", false
		}
		b.WriteString(line)
		if line == "\r\n" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	buf := make([]byte, length)
	if _, err := io.ReadFull(br, buf); err != nil {
		return "", "", false
	}
	return b.String(), string(buf), true
}

// answer serves every request of a connection with the same bytes.
func answer(reply string) func(net.Conn, int64) {
	return func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			if _, err := io.WriteString(c, reply); err != nil {
				return
			}
		}
	}
}

func text(status, contentType, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, contentType,
		len(body), body)
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: " +
	"chunked\r\n\r\n"

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

const lastChunk = "0\r\n\r\n"

// newTestClient makes a client that is closed with the test; set changes its options.
func newTestClient(t testing.TB, set func(*Options)) *Client {
	t.Helper()
	o := DefaultOptions()
	o.Timeout = 30 * time.Second
	if set != nil {
		set(&o)
	}
	c, err := New(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func post(url string) *Request {
	return &Request{
		Method: http.MethodPost, URL: url, Body: []byte(`{"a":1}`), CancelAfterNS: -1,
		Headers: []record.Header{{Name: "User-Agent", Value: "aiperf/test"},
			{Name: "Content-Type", Value: "application/json"}},
	}
}

func send(c *Client, r *Request) (*recorder, Exchange) {
	rec := new(recorder)
	return rec, c.Send(context.Background(), r, rec)
}

package mockserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/workload/tokenizer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testServer is a running server and a client for it.
type testServer struct {
	t      *testing.T
	srv    *Server
	url    string
	client *http.Client
	dial   func() (net.Conn, error)
	stop   func() error
	open   *atomic.Int64 // connections, nil on a real socket
	// mayFail says that the test looks at the error of stop itself.
	mayFail bool
}

// serve runs a server on a real socket until the test ends.
func serve(t *testing.T, o Options) *testServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	return serveOn(t, o, ln, func() (net.Conn, error) { return net.Dial("tcp", addr) })
}

// servePipe runs a server on in-memory connections, whose deadlines a synctest bubble governs.
func servePipe(t *testing.T, o Options) *testServer {
	t.Helper()
	ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := serveOn(t, o, ln, ln.dial)
	s.open = &ln.open
	return s
}

func serveOn(t *testing.T, o Options, ln net.Listener, dial func() (net.Conn, error)) *testServer {
	t.Helper()
	srv, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, ln) }()
	transport := &http.Transport{
		DisableCompression: true,
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return dial() },
	}
	s := &testServer{t: t, srv: srv, url: "http://mock", client: &http.Client{Transport: transport}, dial: dial}
	s.stop = sync.OnceValue(func() error {
		transport.CloseIdleConnections()
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil && !s.mayFail {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	open   atomic.Int64 // connections that the server has not closed
}

// pipeEnd is the server's end of a connection.
type pipeEnd struct {
	net.Conn
	closed func()
}

func (p pipeEnd) Close() error {
	p.closed()
	return p.Conn.Close()
}

func (l *pipeListener) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- pipeEnd{server, sync.OnceFunc(func() { l.open.Add(-1) })}:
		l.open.Add(1)
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// answer is what the client got. err is how reading the body ended, nil for a proper end.
type answer struct {
	status      int
	header      http.Header
	contentType string
	body        string
	err         error
	events      []event
}

// event is a server-sent event with the time of its arrival since the request was sent.
type event struct {
	data string
	at   time.Duration
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
}

type payload struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []struct {
		Index   int     `json:"index"`
		Text    string  `json:"text"`
		Message message `json:"message"`
		Delta   message `json:"delta"`
		Finish  *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

const (
	chatPath       = "/v1/chat/completions"
	completionPath = "/v1/completions"
)

// post sends a body and reads the whole answer. Headers come as pairs.
func (s *testServer) post(path, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.try(path, body, headers...)
	if err != nil {
		s.t.Fatalf("POST %s: %v", path, err)
	}
	return a
}

func (s *testServer) try(path, body string, headers ...string) (answer, error) {
	return s.tryFor(context.Background(), path, body, headers...)
}

// tryFor is try until the context ends.
func (s *testServer) tryFor(ctx context.Context, path, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	start := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, contentType: resp.Header.Get("Content-Type")}
	var text strings.Builder
	reader := bufio.NewReader(resp.Body)
	for {
		line, err := reader.ReadString('\n')
		text.WriteString(line)
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			a.events = append(a.events, event{strings.TrimSuffix(data, "\n"), time.Since(start)})
		}
		if err != nil {
			if err != io.EOF {
				a.err = err
			}
			a.body = text.String()
			return a, nil
		}
	}
}

func (s *testServer) get(path string) answer {
	s.t.Helper()
	resp, err := s.client.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(body), err: err}
}

func decode(t *testing.T, text string) payload {
	t.Helper()
	var p payload
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return p
}

// reply is a stream put together, or the reply that did not stream.
type reply struct {
	content, reasoning string
	finish             string
	tokens             int // events that carried text
	usage              *usage
	done               bool
}

func assemble(t *testing.T, a answer) reply {
	t.Helper()
	if a.status != 200 || a.err != nil {
		t.Fatalf("status %d, error %v, body %s", a.status, a.err, a.body)
	}
	var r reply
	if len(a.events) == 0 {
		p := decode(t, a.body)
		c := p.Choices[0]
		return reply{content: c.Message.Content + c.Text, reasoning: c.Message.Reasoning, finish: *c.Finish,
			usage: p.Usage}
	}
	for _, e := range a.events {
		if e.data == "[DONE]" {
			r.done = true
			continue
		}
		p := decode(t, e.data)
		if p.Usage != nil {
			r.usage = p.Usage
		}
		for _, c := range p.Choices {
			r.content += c.Delta.Content + c.Text
			r.reasoning += c.Delta.Reasoning
			r.tokens++
			if c.Finish != nil {
				r.finish += *c.Finish
			}
		}
	}
	return r
}

// chat returns a chat body; extra are further members.
func chat(prompt string, stream bool, extra ...string) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"model":"m","stream":%v%s}`,
		prompt, stream, strings.Join(append([]string{""}, extra...), ","))
}

func text(n int) string { return strings.TrimSpace(strings.Repeat(" word", n)) }

var o200k = tokenizer.Builtin()

// raw sends bytes on a fresh connection and returns all that comes back until the server closes it.
func (s *testServer) raw(request string) string {
	s.t.Helper()
	nc, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(nc, request); err != nil {
		s.t.Fatal(err)
	}
	got, err := io.ReadAll(nc)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		s.t.Fatalf("the server keeps the connection open after %q", got)
	}
	return string(got)
}

// load returns how many requests are in the batch, in its queue and in flight, and how many connections are open.
func (s *testServer) load() (running, queued, inFlight, conns int) {
	s.srv.batch.mu.Lock()
	defer s.srv.batch.mu.Unlock()
	return s.srv.batch.running, len(s.srv.batch.queue), int(s.srv.inFlight.Load()), int(s.open.Load())
}

package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

func wantError(t *testing.T, x Exchange, want record.Error) {
	t.Helper()
	if x.Err == nil {
		t.Fatalf("no error, want %+v", want)
	}
	if x.Err.Key() != want.Key() {
		t.Errorf("error %+v\nwant %+v", x.Err.Key(), want.Key())
	}
}

// after reads a request, writes reply and ends the connection, by a reset if asked to.
func after(reply string, reset bool) func(net.Conn, int64) {
	return func(c net.Conn, _ int64) {
		if _, _, ok := readRequest(bufio.NewReader(c)); !ok {
			return
		}
		_, _ = io.WriteString(c, reply)
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
	}
}

func TestErrorsOfTheWire(t *testing.T) {
	tests := []struct {
		name    string
		serve   func(net.Conn, int64)
		typ     string
		message string // ADDR stands for host and port
	}{
		{"closed before the headers", after("", false), "ServerDisconnectedError",
			"ServerDisconnectedError('Server disconnected')"},
		{"closed in the headers", after("HTTP/1.1 200 OK\r\nContent-Ty", false), "ServerDisconnectedError",
			"ServerDisconnectedError('Server disconnected')"},
		{"reset before the headers", after("", true), "ClientOSError",
			"ADDR: connection reset by peer while reading the response headers"},
		{"body cut short", after("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false), "ClientPayloadError",
			"ADDR: connection closed by server while reading the response body"},
		{"chunk cut short", after(sseHead+"20\r\ndata: a\n\ndata: b", false), "ClientPayloadError",
			"ADDR: connection closed by server while reading the event stream"},
		{"chunks without end", after(sseHead+chunk("data: a\n\n"), false), "ClientPayloadError",
			"ADDR: connection closed by server while reading the event stream"},
		{"size of a chunk is no number", after(sseHead+"xyz\r\n", false), "ClientPayloadError",
			"ADDR: malformed chunked encoding while reading the event stream"},
		{"chunk longer than its size", after(sseHead+"3\r\nabcdef\r\n", false), "ClientPayloadError",
			"ADDR: malformed chunked encoding while reading the event stream"},
		{"not HTTP", after("hello there\r\n\r\n", false), "ClientResponseError",
			`ADDR: malformed HTTP status code "there" while reading the response headers`},
		{"endless headers", after("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20), false), "ClientResponseError",
			"ADDR: response headers exceed 1 MiB while reading the response headers"},
		{"larger than accepted", after(text("200 OK", "text/plain", strings.Repeat("x", 5000)), false),
			"ClientPayloadError",
			"ADDR: response exceeds 4096 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES) while reading the response body"},
		{"larger than accepted, no length", after("HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 5000), false),
			"ClientPayloadError",
			"ADDR: response exceeds 4096 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES) while reading the response body"},
		{"event larger than accepted", after(sseHead+chunk("data: "+strings.Repeat("x", 9000)), false),
			"ClientPayloadError",
			"ADDR: response exceeds 4096 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES) while reading the event stream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, tt.serve)
			c := newTestClient(t, func(o *Options) { o.MaxBody = 4096 })
			message := strings.ReplaceAll(tt.message, "ADDR", s.addr)
			// Twice: the same trouble on two connections is the same error.
			for range 2 {
				rec, x := send(c, post("http://"+s.addr+"/x"))
				wantError(t, x, record.Error{Type: tt.typ, Message: message})
				if x.EndNS < x.StartNS || rec.body != "" {
					t.Errorf("end %d, body %q", x.EndNS, rec.body)
				}
			}
			if n := s.conns.Load(); n != 2 {
				t.Errorf("%d connections for 2 requests", n)
			}
		})
	}
}

func TestResetInTheBody(t *testing.T) {
	gotOne := make(chan bool, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		readRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, sseHead+chunk("data: a\n\n"))
		<-gotOne
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	c := newTestClient(t, nil)
	rec := &recorder{on: func() { gotOne <- true }}
	x := c.Send(context.Background(), post("http://"+s.addr), rec)
	wantError(t, x, record.Error{Type: "ClientOSError",
		Message: s.addr + ": connection reset by peer while reading the event stream"})
	if len(rec.events) != 1 {
		t.Errorf("events %v", rec.events)
	}
}

func TestErrorsOfConnecting(t *testing.T) {
	addr := "127.0.0.1:1"
	c := newTestClient(t, nil)
	c.dialer.resolver.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nowhere.test", Server: "10.0.0.1:53", IsNotFound: true}
	}
	_, x := send(c, post("http://"+addr+"/x"))
	wantError(t, x, record.Error{Type: "ClientConnectorError",
		Message: "Cannot connect to host " + addr + " [connection refused]"})
	if got := strings.Join(x.Err.CauseChain, " "); got != "ClientConnectorError ConnectionRefusedError" ||
		x.Err.Cause != "connection refused" {
		t.Errorf("cause %q, chain %q", x.Err.Cause, got)
	}
	if x.Timing.Connecting != record.Absent || x.Timing.Blocked != 0 || x.Timing.DNSLookup != 0 {
		t.Errorf("timing %+v", x.Timing)
	}

	_, x = send(c, post("http://nowhere.test:81/x"))
	wantError(t, x, record.Error{Type: "ClientConnectorDNSError",
		Message: "Cannot connect to host nowhere.test:81 [no such host]"})
	if x.Timing.DNSLookup != record.Absent || x.Timing.Connecting != record.Absent {
		t.Errorf("timing %+v", x.Timing)
	}
}

func TestTrapRefusalIsAnErrorWithItsBody(t *testing.T) {
	long := strings.Repeat("é", 5000)
	tests := []struct {
		name, reply string
		want        record.Error
	}{
		{"429", text("429 Too Many Requests", "text/plain", "slow down"),
			record.Error{Code: 429, Type: "Too Many Requests", Message: "slow down"}},
		{"body is not cut", text("500 Oops", "text/plain; charset=utf-8", long),
			record.Error{Code: 500, Type: "Oops", Message: long}},
		{"no reason phrase", "HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n",
			record.Error{Code: 503, Type: "Service Unavailable"}},
		{"the reason phrase of hyper for a status without one", text("529 <none>", "application/json", `{"type":"Overloaded"}`),
			record.Error{Code: 529, Type: "Overloaded", Message: `{"type":"Overloaded"}`}},
		{"a type within an error", text("529 ", "application/json", `{"type":"error","error":{"type":"overloaded_error"}}`),
			record.Error{Code: 529, Type: "overloaded_error",
				Message: `{"type":"error","error":{"type":"overloaded_error"}}`}},
		{"neither phrase nor type", text("529 <none>", "text/plain", "busy"),
			record.Error{Code: 529, Type: "HTTP 529", Message: "busy"}},
		{"event stream", strings.Replace(sseHead, "200 OK", "400 Bad Request", 1) + chunk("data: no\n\n") + lastChunk,
			record.Error{Code: 400, Type: "Bad Request", Message: "data: no\n\n"}},
		{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
			record.Error{Code: 304, Type: "Not Modified"}},
		{"redirect without goal", "HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhi",
			record.Error{Code: 302, Type: "Found", Message: "hi"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, answer(tt.reply))
			c := newTestClient(t, nil)
			for range 2 {
				r := post("http://" + s.addr)
				r.KeepRaw = true
				rec, x := send(c, r)
				tt.want.HasCode = true
				wantError(t, x, tt.want)
				if x.Status != tt.want.Code || x.AckNS != 0 || x.Responses != 0 || rec.stamps != nil || !x.ErrIsBody {
					t.Errorf("status %d, ack %d, responses %d", x.Status, x.AckNS, x.Responses)
				}
				if got := rawTexts(x.Raw); len(got) != 1 || got[0] != tt.want.Message {
					t.Errorf("raw %q", got)
				}
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("%d connections: a refusal does not cost the connection", n)
			}
		})
	}
}

func TestTrapErrorEvent(t *testing.T) {
	tests := []struct{ name, event, message string }{
		{"comment", "event: error\ndata: {\"x\":1}\n: server overloaded\n: more\n\n",
			"SSEResponseError('Error occurred in SSE response: server overloaded')"},
		{"any case", "event: ERROR\n: it's over\n\n", `SSEResponseError("Error occurred in SSE response: it's over")`},
		{"message of the data", "event: error\ndata: {\"error\":{\"message\":\"no memory\"}}\n\n",
			"SSEResponseError('Error occurred in SSE response: no memory')"},
		{"neither", "event: error\ndata: {\"x\":1}\n\n",
			`SSEResponseError('Unknown error in SSE response: event: error\ndata: {"x":1}')`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, answer(sseHead+chunk("data: content\n\n"+tt.event+"data: late\n\n")+lastChunk))
			rec, x := send(newTestClient(t, nil), post("http://"+s.addr))
			wantError(t, x, record.Error{Code: 502, HasCode: true, Type: "SSEResponseError", Message: tt.message})
			if len(rec.events) != 1 || x.Status != 200 || x.LastResponseNS == 0 {
				t.Errorf("events %v, status %d", rec.events, x.Status)
			}
		})
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Request)
		want string
	}{
		{"line break in a header", func(r *Request) { r.Headers = []record.Header{{Name: "X", Value: "a\r\nY: b"}} },
			"header X contains a line break"},
		{"header name", func(r *Request) { r.Headers = []record.Header{{Name: "X Y", Value: "a"}} },
			`header name "X Y"`},
		{"method", func(r *Request) { r.Method = "GET /" }, `method "GET /"`},
		{"scheme", func(r *Request) { r.URL = "ftp://user:pw@h/" },
			`URL "ftp://<redacted>@h/": scheme must be http or https`},
		{"host", func(r *Request) { r.URL = "http:///x" }, "has no host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post("http://127.0.0.1:1")
			tt.edit(r)
			_, x := send(newTestClient(t, nil), r)
			if x.Err == nil || x.Err.Type != "ValueError" || !strings.Contains(x.Err.Message, tt.want) {
				t.Errorf("error %+v, want %q", x.Err, tt.want)
			}
		})
	}
}

func TestReplyBeforeTheBodyWasReadIsTaken(t *testing.T) {
	s := newRawServer(t, func(c net.Conn, _ int64) {
		_, _ = io.ReadFull(c, make([]byte, 100))
		_, _ = io.WriteString(c, text("413 Content Too Large", "text/plain", "too long"))
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, io.LimitReader(c, 1<<10))
	})
	c := newTestClient(t, func(o *Options) { o.SndBuf, o.RcvBuf = 4096, 4096; o.Timeout = 20 * time.Second })
	r := post("http://" + s.addr)
	r.Body = make([]byte, 8<<20)
	_, x := send(c, r)
	// The reset that follows may overtake the reply.
	if x.Err == nil || x.Err.Code != 413 && x.Err.Type != "ClientOSError" {
		t.Errorf("error %+v", x.Err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, set := range []func(*Options){
		func(o *Options) { o.Reuse = "often" }, func(o *Options) { o.IPVersion = "5" },
		func(o *Options) { o.ConnectionLimit = 0 }, func(o *Options) { o.MaxBody = 0 },
	} {
		o := DefaultOptions()
		set(&o)
		if _, err := New(o, nil); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

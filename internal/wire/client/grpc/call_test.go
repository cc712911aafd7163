package grpc

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/neterr"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// say answers with messages.
func say(messages ...string) handler {
	return func(_ string, _ []byte, s rpc.ServerStream) error {
		for _, m := range messages {
			if err := s.SendMsg([]byte(m)); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestMessagesComeInOrderWithTheirInstants(t *testing.T) {
	var call, message string
	var md metadata.MD
	ln := serve(t, func(c string, m []byte, s rpc.ServerStream) error {
		call, message = c, string(m)
		md, _ = metadata.FromIncomingContext(s.Context())
		return say("one", "two", "")("", nil, s)
	})
	c := newClient(t, nil)
	r := request(ln, "hello")
	r.KeepTrace, r.KeepRaw = true, true
	x, h := send(c, r)
	if x.Err != nil || !slices.Equal(h.messages, []string{"one", "two", ""}) || call != "/s/Call" ||
		message != "hello" {
		t.Fatalf("%+v %v %q %q", x.Err, h.messages, call, message)
	}
	order := append([]int64{x.StartNS, x.SentNS, x.AckNS}, h.at...)
	if !slices.IsSorted(order) || x.LastResponseNS != h.at[2] || x.EndNS < h.at[2] || x.Responses != 3 ||
		x.Status != 200 || x.KernelStamps {
		t.Errorf("instants %v: %+v", order, x)
	}
	if got := md.Get("x-request-id"); !slices.Equal(got, []string{"7"}) {
		t.Errorf("x-request-id %q", got)
	}
	if got := md.Get("user-agent"); len(got) != 1 || !strings.HasPrefix(got[0], "tester/1 grpc-go/") {
		t.Errorf("user-agent %q", got)
	}
	if md.Get("accept") != nil || md.Get("grpc-timeout") != nil ||
		md.Get("content-type")[0] != "application/grpc+proto" && md.Get("content-type")[0] != "application/grpc" {
		t.Errorf("metadata %v", md)
	}
	tm := x.Timing
	sent := len(":method"+"POST"+":scheme"+"http"+":path"+call+"te"+"trailers") + 5 + len(message)
	for name, values := range md {
		sent += len(name) + len(values[0])
	}
	if tm.BytesSent != int64(sent) || tm.BytesReceived <= 3*5+6 || x.Trace.RequestBytesTotal != 5 ||
		x.Trace.ResponseBytesTotal != 6 {
		t.Errorf("sent %d of %d, received %d", tm.BytesSent, sent, tm.BytesReceived)
	}
	if tm.ChunksSent != 1 || tm.ChunksReceived != 3 || tm.Sending < 0 || tm.Waiting < 0 || tm.Receiving < 0 ||
		tm.Duration < tm.Receiving {
		t.Errorf("timing %+v", tm)
	}
	if tm.Blocked != record.Absent || tm.DNSLookup != record.Absent || tm.Connecting != record.Absent ||
		tm.Reused != record.Absent {
		t.Errorf("times of connections: %+v", tm)
	}
	if x.Trace.ResponseStatus != 200 || len(x.Trace.ResponseChunks) != 3 || x.Trace.ConnectStartNS != 0 ||
		len(x.Raw.Responses) != 3 || string(x.Raw.Responses[1].Bytes) != "two" {
		t.Errorf("trace %+v\nraw %+v", x.Trace, x.Raw)
	}
	if s := c.StampSource(); s.Source != client.TimestampUser || s.Reason == "" {
		t.Errorf("stamps are of %+v", s)
	}
}

// The headers of a reply may be known before the library says that the request is sent.
func TestReplyOvertakesTheReportOfSending(t *testing.T) {
	for _, c := range []struct{ sent, ack, want int64 }{{5, 9, 5}, {9, 5, 5}, {0, 5, 5}, {9, 0, 9}} {
		if got := sentBy(c.sent, c.ack); got != c.want {
			t.Errorf("sent at %d, headers at %d: %d, want %d", c.sent, c.ack, got, c.want)
		}
	}
}

// A message of any length is sent whole, and its buffer is not shared between calls.
func TestMessagesOfAnyLengthAreCarriedWhole(t *testing.T) {
	ln := serve(t, func(_ string, m []byte, s rpc.ServerStream) error { return s.SendMsg(m) })
	c := newClient(t, nil)
	var all sync.WaitGroup
	for i, n := range []int{0, 1, 1023, 1024, 1025, 2048, 2049, 70_000, 5 << 20} {
		for range 4 {
			all.Go(func() {
				body := strings.Repeat(string(rune('a'+i)), n)
				if x, h := send(c, request(ln, body)); x.Err != nil || len(h.messages) != 1 || h.messages[0] != body ||
					x.SentNS == 0 {
					t.Errorf("%d bytes: %v, sent at %d", n, x.Err, x.SentNS)
				}
			})
		}
	}
	all.Wait()
}

func TestTrapStatusesOfTheServerAreErrors(t *testing.T) {
	for code, want := range map[codes.Code]struct {
		code int
		name string
	}{
		codes.Canceled: {499, "CANCELLED"}, codes.InvalidArgument: {400, "INVALID_ARGUMENT"},
		codes.DeadlineExceeded: {504, "DEADLINE_EXCEEDED"},
		codes.NotFound:         {404, "NOT_FOUND"}, codes.PermissionDenied: {403, "PERMISSION_DENIED"},
		codes.ResourceExhausted: {429, "RESOURCE_EXHAUSTED"},
		codes.Unimplemented:     {501, "UNIMPLEMENTED"}, codes.Internal: {500, "INTERNAL"},
		codes.Unavailable:     {503, "UNAVAILABLE"},
		codes.Unauthenticated: {401, "UNAUTHENTICATED"}, codes.Unknown: {500, "UNKNOWN"},
		codes.Code(77): {500, "UNKNOWN"},
	} {
		for _, before := range []int{0, 2} {
			ln := serve(t, func(_ string, _ []byte, s rpc.ServerStream) error {
				say("x", "y")("", nil, s)
				return status.Error(code, "why: ä")
			})
			if before == 0 {
				ln = serve(t, func(string, []byte, rpc.ServerStream) error { return status.Error(code, "why: ä") })
			}
			x, h := send(newClient(t, nil), request(ln, "q"))
			if x.Err == nil || !x.Err.HasCode || x.Err.Code != want.code || x.Err.Type != want.name ||
				x.Err.Message != "why: ä" || x.Status != want.code || len(h.messages) != before {
				t.Errorf("%s after %d messages: %+v, status %d", code, len(h.messages), x.Err, x.Status)
			}
			if x.EndNS <= x.StartNS {
				t.Errorf("%s: no latency", code)
			}
		}
	}
}

// framed is a connection to a server that looks at the frames themselves: it tells the bytes of the data frames
// that came before the call was reset.
func framed(t *testing.T) (ln net.Listener, sent chan string) {
	t.Helper()
	ln = listen(t)
	sent = make(chan string, 1)
	done := make(chan struct{})
	t.Cleanup(func() { ln.Close(); <-done })
	go func() {
		defer close(done)
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		io.ReadFull(nc, make([]byte, len(http2.ClientPreface)))
		f := http2.NewFramer(nc, nc)
		f.WriteSettings()
		var data []byte
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					f.WriteSettingsAck()
				}
			case *http2.DataFrame:
				data = append(data, frame.Data()...)
			case *http2.RSTStreamFrame:
				sent <- string(data)
				return
			}
		}
	}()
	return ln, sent
}

func TestTrapACancelledCallIsSentFirst(t *testing.T) {
	for _, after := range []time.Duration{0, 30 * time.Millisecond} {
		for _, body := range []string{"the whole message", strings.Repeat("x", 5000)} {
			ln, sent := framed(t)
			r := request(ln, body)
			r.CancelAfterNS = int64(after)
			x, _ := send(newClient(t, nil), r)
			if x.Err == nil || x.Err.Type != "RequestCancellationError" || x.Err.Code != 499 || x.CancelledNS == 0 ||
				x.CutOff {
				t.Fatalf("after %s: %+v", after, x)
			}
			if lag := x.CancelledNS - x.SentNS; lag < int64(after) {
				t.Errorf("cancelled %d ns after it was sent, want %s", lag, after)
			}
			select {
			case m := <-sent:
				if len(m) < 5 || m[5:] != body {
					t.Errorf("after %s: the server got %q", after, m)
				}
			case <-time.After(time.Minute):
				t.Fatalf("after %s: the call is not reset", after)
			}
		}
	}
}

func TestAReplyBeforeTheCancellationWins(t *testing.T) {
	ln := serve(t, say("x"))
	r := request(ln, "q")
	r.CancelAfterNS = int64(time.Minute)
	if x, h := send(newClient(t, nil), r); x.Err != nil || len(h.messages) != 1 || x.CancelledNS != 0 {
		t.Errorf("%+v", x)
	}
}

func TestCallsEndInTime(t *testing.T) {
	hang := func(_ string, _ []byte, s rpc.ServerStream) error { <-s.Context().Done(); return nil }
	c := newClient(t, func(o *client.Options) { o.Timeout = 50 * time.Millisecond })
	if x, _ := send(c, request(serve(t, hang), "q")); x.Err == nil || x.Err.Type != "TimeoutError" || x.Err.HasCode ||
		x.CutOff {
		t.Errorf("a call that hangs: %+v", x.Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ln := serve(t, func(_ string, _ []byte, s rpc.ServerStream) error { say("x")("", nil, s); return hang("", nil, s) })
	h := &heard{on: func(int) { cancel() }}
	if x := newClient(t, nil).Send(ctx, request(ln, "q"), h); !x.CutOff || x.Responses != 1 {
		t.Errorf("a call that is cut off: %+v", x)
	}
	if x := newClient(t, nil).Send(ctx, request(ln, "q"), h); !x.CutOff || x.SentNS != 0 {
		t.Errorf("a call after the end: %+v", x)
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	for _, test := range []struct {
		name     string
		messages int
		reset    bool
		typ      []string
		says     string
	}{
		// What was on its way to a closed connection resets it.
		{"closed before the reply", 0, false, []string{"ServerDisconnectedError", "ClientOSError"}, ""},
		{"closed within the reply", 2, false, []string{"ClientPayloadError", "ClientOSError"},
			" while reading the reply"},
		// the library may hear of the end before of the reset
		{"reset before the reply", 0, true, []string{"ClientOSError", "ServerDisconnectedError"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ln *counted
			called := make(chan struct{}, 1)
			ln = serve(t, func(_ string, _ []byte, s rpc.ServerStream) error {
				for range test.messages {
					s.SendMsg([]byte("x"))
				}
				if test.messages == 0 {
					ln.breakAll(test.reset)
				}
				called <- struct{}{}
				<-s.Context().Done()
				return nil
			})
			h := &heard{}
			h.on = func(n int) {
				if n == test.messages {
					ln.breakAll(test.reset)
				}
			}
			c := newClient(t, nil)
			x := c.Send(context.Background(), request(ln, "q"), h)
			<-called
			if x.Err == nil || !slices.Contains(test.typ, x.Err.Type) || !strings.Contains(x.Err.Message, test.says) ||
				x.Err.HasCode || len(h.messages) != test.messages {
				t.Errorf("%+v after %d messages", x.Err, len(h.messages))
			}
		})
	}
}

func TestErrorsTellWhatHappenedToTheCall(t *testing.T) {
	refused := error(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	unavailable := status.Error(codes.Unavailable, "error reading from server: EOF")
	for _, c := range []struct {
		name           string
		begun, trailed bool
		err            error
		typ, says      string
	}{
		{"a connection was refused", false, false, unavailable, "", "connection refused"},
		{"the connection broke, and another was refused since", true, false, unavailable, "ServerDisconnectedError",
			""},
		{"the server's own status", true, true, status.Error(codes.ResourceExhausted, "full"), "RESOURCE_EXHAUSTED",
			"full"},
		{"a message too long for us, and the server's status behind it", true, true,
			status.Error(codes.ResourceExhausted, "grpc: received message larger than max (2 vs. 1)"),
			"ClientResponseError", "larger than max"},
	} {
		h := &channel{}
		h.refused.Store(&refused)
		x := &call{out: new(client.Exchange), channel: h, target: &callTarget{host: "h", port: "1"}}
		if c.begun {
			x.headersNS.Store(1)
		}
		x.trailers.Store(c.trailed)
		if e := x.failure(c.err); c.typ != "" && e.Type != c.typ || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestMetadataThatCannotBeSentIsNamed(t *testing.T) {
	ln := serve(t, say("x"))
	for _, h := range []record.Header{{Name: "X-Team", Value: "bl\u00fc"}, {Name: "X Team", Value: "blue"}} {
		r := request(ln, "q")
		r.Headers = append(r.Headers, h)
		x, _ := send(newClient(t, nil), r)
		if x.Err == nil || x.Err.Type != "ValueError" || !strings.Contains(x.Err.Message, strings.ToLower(h.Name)) ||
			strings.Contains(x.Err.Message, h.Value) {
			t.Errorf("%+v", x.Err)
		}
	}
}

func TestAConnectionIsOpenedAgain(t *testing.T) {
	ln := serve(t, say("x"))
	c := newClient(t, nil)
	if x, _ := send(c, request(ln, "q")); x.Err != nil {
		t.Fatal(x.Err)
	}
	ln.breakAll(false)
	deadline := time.Now().Add(10 * time.Second)
	for {
		x, _ := send(c, request(ln, "q"))
		if x.Err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", x.Err)
		}
	}
	if n := ln.n.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// nowhere is the listener of an address at which nobody listens.
type nowhere struct {
	net.Listener
	addr net.Addr
}

func (n nowhere) Addr() net.Addr { return n.addr }

func TestServersThatSpeakSomethingElse(t *testing.T) {
	plain := listen(t)
	t.Cleanup(func() { plain.Close() })
	go func() {
		for {
			nc, err := plain.Accept()
			if err != nil {
				return
			}
			nc.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
			nc.Close()
		}
	}()
	closed, err := net.ResolveTCPAddr("tcp", testkit.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, typ, says string
		ln              net.Listener
	}{
		{"nobody", "ClientConnectorError", "connection refused", nowhere{addr: closed}},
		{"HTTP/1.1", "ClientResponseError", "does not speak gRPC", plain},
		{"HTTP/2 without gRPC", "ClientResponseError", "does not speak gRPC",
			serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) })},
		{"a page in a success", "ClientResponseError", "does not speak gRPC",
			serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) })},
		{"a call that is reset", "ClientResponseError", "the server reset the call",
			serveHTTP2(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
		{"a call that is reset within its reply", "ClientPayloadError", "the server reset the call",
			serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Write([]byte{0, 0, 0, 0, 1, 'x', 0, 0, 0, 0, 9, 'p'})
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})},
		{"a message that is too long", "ClientPayloadError", "larger than max",
			serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Write(binary.BigEndian.AppendUint32([]byte{0}, maxMessage+1))
				http.NewResponseController(w).Flush()
			})},
		{"no status", "ClientPayloadError", "", serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Write([]byte{0, 0, 0, 0, 1, 'x'})
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, _ := send(newClient(t, func(o *client.Options) { o.Timeout = 10 * time.Second }), request(test.ln, "q"))
			if x.Err == nil || x.Err.Type != test.typ || !strings.Contains(x.Err.Message, test.says) || x.Err.HasCode {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}

// hangsUp ends each connection at once from a moment on, as a server does that is being killed.
type hangsUp struct {
	net.Listener
	dead atomic.Bool
}

func (l *hangsUp) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil || !l.dead.Load() {
			return nc, err
		}
		nc.Close()
	}
}

// A server that answered calls speaks gRPC: when its connections break, that is what the errors say.
func TestAServerThatAnsweredSpeaksGRPC(t *testing.T) {
	for _, reuse := range []client.Reuse{client.ReusePooled, client.ReuseNever} {
		open := listen(t)
		ln := &hangsUp{Listener: open}
		s := newServer(say("x"))
		done := make(chan struct{})
		go func() { defer close(done); s.Serve(ln) }()
		t.Cleanup(func() { s.Stop(); <-done })
		c := newClient(t, func(o *client.Options) { o.Reuse, o.Timeout = reuse, 10*time.Second })
		if x, _ := send(c, request(ln, "q")); x.Err != nil {
			t.Fatal(x.Err)
		}
		ln.dead.Store(true)
		open.breakAll(false)
		// The library may notice the loss only with the first of these.
		for range 3 {
			x, _ := send(c, request(ln, "q"))
			if x.Err == nil || x.Err.Type != neterr.ServerDisconnected && x.Err.Type != neterr.OS ||
				strings.Contains(x.Err.Message, "does not speak gRPC") {
				t.Errorf("%v: %+v", reuse, x.Err)
			}
		}
	}
}

func TestAMessageThatIsTooLongIsNotSent(t *testing.T) {
	ln := serve(t, say("x"))
	r := request(ln, "")
	r.Body = make([]byte, maxMessage+1)
	if x, _ := send(newClient(t, nil), r); x.Err == nil || x.Err.Type != "ValueError" ||
		!strings.Contains(x.Err.Message, "268435456") || ln.n.Load() != 0 {
		t.Errorf("%+v", x.Err)
	}
}

func TestTLS(t *testing.T) {
	own, trusted := certificate(t, "127.0.0.1")
	other, strangers := certificate(t, "127.0.0.1")
	elsewhere, ofElsewhere := certificate(t, "elsewhere.example")
	secure := serve(t, say("x"), withTLS(own, nil))
	mutual := serve(t, say("x"), withTLS(own, trusted))
	misnamed := serve(t, say("x"), withTLS(elsewhere, ofElsewhere))
	oldLn := listen(t)
	oldTLS := tls.NewListener(oldLn,
		&tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"http/1.1"}})
	t.Cleanup(func() { oldTLS.Close() })
	go func() {
		for {
			nc, err := oldTLS.Accept()
			if err != nil {
				return
			}
			nc.(*tls.Conn).Handshake()
			nc.Close()
		}
	}()
	for _, test := range []struct {
		name, typ, says string
		ln              net.Listener
		change          func(*client.Options)
	}{
		{"trusted", "", "", secure, func(o *client.Options) { o.RootCAs = trusted }},
		{"unverified", "", "", secure, func(o *client.Options) { o.SSLVerify = false }},
		{"another authority", "ClientConnectorCertificateError", "--tls-ca-file", secure,
			func(o *client.Options) { o.RootCAs = strangers }},
		{"another host", "ClientConnectorCertificateError", "", misnamed,
			func(o *client.Options) { o.RootCAs = ofElsewhere }},
		{"the client's own", "", "", mutual,
			func(o *client.Options) { o.RootCAs, o.Certificates = trusted, []tls.Certificate{own} }},
		{"none of the client's own", "Client", "", mutual, func(o *client.Options) { o.RootCAs = trusted }},
		{"one that the server does not trust", "Client", "", mutual,
			func(o *client.Options) { o.RootCAs, o.Certificates = trusted, []tls.Certificate{other} }},
		{"no HTTP/2", "ClientConnectorSSLError", "", oldLn, func(o *client.Options) { o.RootCAs = trusted }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request(test.ln, "q")
			r.URL = strings.Replace(r.URL, "grpc://", "grpcs://", 1)
			x, h := send(newClient(t, test.change), r)
			if test.typ == "" {
				if x.Err != nil || len(h.messages) != 1 {
					t.Errorf("%+v", x.Err)
				}
				return
			}
			if x.Err == nil || !strings.HasPrefix(x.Err.Type, test.typ) || !strings.Contains(x.Err.Message, test.says) {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}

func TestStrategiesChooseTheConnections(t *testing.T) {
	for _, test := range []struct {
		reuse client.Reuse
		want  int64
	}{{client.ReusePooled, 1}, {client.ReuseNever, 6}, {client.ReuseSticky, 2}} {
		ln := serve(t, say("x"))
		c := newClient(t, func(o *client.Options) { o.Reuse = test.reuse })
		for i := range 6 {
			r := request(ln, "q")
			r.Session, r.FinalTurn = string(rune('a'+i%2)), i >= 4
			if x, _ := send(c, r); x.Err != nil {
				t.Fatalf("%s: %+v", test.reuse, x.Err)
			}
		}
		if n := ln.n.Load(); n != test.want {
			t.Errorf("%s: %d connections, want %d", test.reuse, n, test.want)
		}
		if n := len(c.sticky); n != 0 {
			t.Errorf("%s: %d sessions are kept", test.reuse, n)
		}
	}
}

func TestUserAndHostOfAURL(t *testing.T) {
	var md metadata.MD
	ln := serve(t, func(_ string, _ []byte, s rpc.ServerStream) error {
		md, _ = metadata.FromIncomingContext(s.Context())
		return nil
	})
	r := request(ln, "q")
	r.URL = strings.Replace(r.URL, "grpc://", "grpc://joe:pw@", 1)
	r.Headers = append(r.Headers, record.Header{Name: "Host", Value: "model.example"})
	if x, _ := send(newClient(t, nil), r); x.Err != nil || x.Responses != 0 {
		t.Fatalf("%+v", x)
	}
	if !slices.Equal(md.Get("authorization"), []string{"Basic am9lOnB3"}) ||
		!slices.Equal(md.Get(":authority"), []string{"model.example"}) {
		t.Errorf("metadata %v", md)
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	o := client.DefaultOptions()
	o.TimestampSource = client.TimestampKernel
	if _, err := New(o, clock.New()); err == nil || !strings.Contains(err.Error(), "auto or user") {
		t.Errorf("kernel stamps: %v", err)
	}
	c := newClient(t, nil)
	for _, url := range []string{"http://h/s/Call", "grpc://h", "grpc:///s/Call", "%"} {
		if x, _ := send(c, &client.Request{URL: url, CancelAfterNS: -1}); x.Err == nil || x.Err.Type != "ValueError" {
			t.Errorf("%s: %+v", url, x.Err)
		}
	}
}

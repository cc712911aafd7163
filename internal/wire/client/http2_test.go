package client

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serveHTTP2 serves HTTP/2 alone and counts its connections; with a certificate over TLS.
func serveHTTP2(t *testing.T, cert *tls.Certificate, handler http.HandlerFunc) (base string, conns *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns = new(atomic.Int64)
	protocols := new(http.Protocols)
	s := &http.Server{Handler: handler, Protocols: protocols, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}}
	var wg sync.WaitGroup
	if cert != nil {
		protocols.SetHTTP2(true)
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}}
		base = "https://" + l.Addr().String()
		wg.Go(func() { _ = s.ServeTLS(l, "", "") })
	} else {
		protocols.SetUnencryptedHTTP2(true)
		base = "http://" + l.Addr().String()
		wg.Go(func() { _ = s.Serve(l) })
	}
	t.Cleanup(func() {
		s.Close()
		wg.Wait()
	})
	return base, conns
}

// api answers like a small inference server.
func api(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
		io.WriteString(w, "data: [DONE]\n\n")
	case "/echo":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "%s %s %s %d", r.Proto, r.Header.Get("User-Agent"), r.Header.Get("Accept-Encoding"), len(body))
	case "/moved":
		http.Redirect(w, r, "/echo", http.StatusTemporaryRedirect)
	case "/busy":
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case "/endless":
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			io.WriteString(w, "data: x\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond)
		}
	case "/cut":
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: x\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestHTTP2(t *testing.T) {
	cert, roots := certificate(t)
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			var server *tls.Certificate
			if scheme == "https" {
				server = &cert
			}
			came := make(chan struct{}, 4)
			base, conns := serveHTTP2(t, server, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/stream" {
					api(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for i := range 3 {
					fmt.Fprintf(w, "data: %d\n\n", i)
					w.(http.Flusher).Flush()
					select { // so that no read takes two of them
					case <-came:
					case <-r.Context().Done():
					}
					time.Sleep(2 * time.Millisecond)
				}
				io.WriteString(w, "data: [DONE]\n\n")
			})
			c := newTestClient(t, func(o *Options) { o.HTTP2, o.RootCAs = true, roots })
			rec := &recorder{on: func() { came <- struct{}{} }}
			x := c.Send(t.Context(), post(base+"/stream"), rec)
			if x.Err != nil || len(rec.events) != 4 || x.Status != 200 {
				t.Fatalf("stream: %+v %v", x.Err, rec.events)
			}
			if gap := rec.stamps[1] - rec.stamps[0]; gap < int64(2*time.Millisecond) {
				t.Errorf("events of a stream came %s apart", time.Duration(gap))
			}
			tm := x.Timing
			if x.StartNS <= 0 || x.SentNS < x.StartNS || x.AckNS < x.SentNS || rec.stamps[0] < x.AckNS ||
				x.EndNS < rec.stamps[3] {
				t.Errorf("instants out of order: %+v, events %v", x, rec.stamps)
			}
			if tm.Reused != 0 || tm.Connecting <= 0 || tm.BytesSent <= 7 ||
				tm.BytesReceived <= int64(len("data: 0\n\n")*3) || x.KernelStamps {
				t.Errorf("timing of the first exchange %+v", tm)
			}
			keep(t, c, conns, post(base+"/echo"))
			before := conns.Load()
			r := post(base + "/echo")
			r.KeepTrace, r.KeepRaw = true, true
			rec, x = send(c, r)
			if x.Err != nil || rec.body != "HTTP/2.0 aiperf/test  7" || x.Timing.Reused != 1 ||
				x.Timing.Connecting != 0 {
				t.Errorf("body %q, %+v %+v", rec.body, x.Err, x.Timing)
			}
			if x.Trace == nil || x.Trace.RemotePort == 0 || x.Trace.ResponseStatus != 200 ||
				len(x.Trace.ResponseHeaders) == 0 || x.Raw == nil {
				t.Errorf("trace %+v", x.Trace)
			}
			big := post(base + "/echo")
			big.Body = []byte(strings.Repeat("x", 3<<20))
			if rec, x = send(c, big); x.Err != nil || !strings.HasSuffix(rec.body, " 3145728") {
				t.Errorf("large body: %q %+v", rec.body, x.Err)
			}
			if rec, x = send(c, post(base+"/moved")); x.Err != nil || !strings.HasSuffix(rec.body, " 7") {
				t.Errorf("redirect: %q %+v", rec.body, x.Err)
			}
			if _, x = send(c, post(base+"/busy")); x.Err == nil || x.Err.Code != 429 || x.Err.Message != "slow down\n" {
				t.Errorf("refusal: %+v", x.Err)
			}
			if rec, x = send(c, post(base+"/cut")); x.Err == nil || x.Err.Type != "ClientPayloadError" ||
				len(rec.events) != 1 {
				t.Errorf("cut stream: %+v %v", x.Err, rec.events)
			}
			if n := conns.Load(); n != before {
				t.Errorf("%d connections before exchanges in turn, %d after", before, n)
			}
			if s := c.StampSource(); s.Source != TimestampUser || !strings.Contains(s.Reason, "HTTP/2") {
				t.Errorf("stamps %+v", s)
			}
		})
	}
}

func TestHTTP2EndsFromOutside(t *testing.T) {
	base, _ := serveHTTP2(t, nil, api)
	// The first event must come before the time is over, on a busy machine too.
	short := newTestClient(t, func(o *Options) { o.HTTP2, o.Timeout = true, 400*time.Millisecond })
	rec, x := send(short, post(base+"/endless"))
	if x.Err == nil || x.Err.Type != "TimeoutError" || len(rec.events) == 0 {
		t.Errorf("an endless stream: %+v after %d events", x.Err, len(rec.events))
	}
	c := newTestClient(t, func(o *Options) { o.HTTP2 = true })
	r := post(base + "/endless")
	r.CancelAfterNS = int64(10 * time.Millisecond)
	if _, x = send(c, r); x.Err == nil || x.Err.Code != 499 || x.CancelledNS == 0 {
		t.Errorf("a cancelled stream: %+v", x.Err)
	}
	if _, x = send(c, post(base+"/echo")); x.Err != nil {
		t.Errorf("the connection after them: %+v", x.Err)
	}
}

// net/http may tell that a request is written only after the reply has come: the cancellation starts then, too.
func TestHTTP2CancellationAfterAFastReply(t *testing.T) {
	c := newTestClient(t, func(o *Options) { o.HTTP2 = true })
	r := post("http://127.0.0.1:1/x")
	r.CancelAfterNS = int64(time.Hour)
	x := &exchange{client: c}
	x.Begin(&c.opts, c.clock, r)
	if err := x.firstHop(c.heads.Get().(*[]byte)); err != nil {
		t.Fatal(err)
	}
	p := &progress{}
	request := x.http2Request(t.Context(), &x.hop, p)
	p.seal()
	httptrace.ContextClientTrace(request.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	if !x.sent.Load() || x.cancelTimer == nil {
		t.Fatalf("written %v, timer %v", x.sent.Load(), x.cancelTimer)
	}
	x.cancelTimer.Stop()
}

func TestHTTP2Strategies(t *testing.T) {
	for _, c := range []struct {
		reuse Reuse
		// second is whether the second session needs a connection of its own, later how many six exchanges need that
		// follow those of both sessions.
		second bool
		later  int64
	}{{ReusePooled, false, 0}, {ReuseNever, true, 6}, {ReuseSticky, true, 0}} {
		t.Run(string(c.reuse), func(t *testing.T) {
			base, conns := serveHTTP2(t, nil, api)
			client := newTestClient(t, func(o *Options) { o.HTTP2, o.Reuse = true, c.reuse })
			request := func(session string, final bool) *Request {
				r := post(base + "/echo")
				r.Session, r.FinalTurn = session, final
				return r
			}
			if c.reuse != ReuseNever {
				keep(t, client, conns, request("a", false))
				if n := keep(t, client, conns, request("b", false)); n > 0 != c.second {
					t.Errorf("%d connections for the second session", n)
				}
			}
			before := conns.Load()
			for turn := range 3 {
				for _, session := range []string{"a", "b"} {
					if _, x := send(client, request(session, turn == 2)); x.Err != nil {
						t.Fatal(x.Err)
					}
				}
			}
			if n := conns.Load() - before; n != c.later {
				t.Errorf("%d connections afterwards, want %d", n, c.later)
			}
		})
	}
}

// keep sends a request until it goes over a connection that was kept, and returns how many connections that took:
// net/http hands a connection to the exchange that asked for it before it offers it to others.
func keep(t *testing.T, c *Client, conns *atomic.Int64, r *Request) int64 {
	t.Helper()
	before := conns.Load()
	for {
		_, x := send(c, r)
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		if x.Timing.Reused != 0 {
			return conns.Load() - before
		}
	}
}

func TestHTTP2StreamsShareAConnection(t *testing.T) {
	base, conns := serveHTTP2(t, nil, api)
	c := newTestClient(t, func(o *Options) { o.HTTP2 = true })
	keep(t, c, conns, post(base+"/echo"))
	before := conns.Load()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if rec, x := send(c, post(base+"/stream")); x.Err != nil || len(rec.events) != 4 {
				t.Errorf("%+v, %d events", x.Err, len(rec.events))
			}
		})
	}
	wg.Wait()
	if n := conns.Load(); n != before {
		t.Errorf("%d connections before, %d after", before, n)
	}
}

func TestServersWithoutHTTP2(t *testing.T) {
	cert, roots := certificate(t)
	reply := answer(text("200 OK", "application/json", "{}"))
	for _, c := range []struct {
		name, scheme string
		serve        func(net.Conn, int64)
		fault        string
	}{
		{"over TLS", "https", secured(cert, reply), "does not offer HTTP/2"},
		{"in clear text", "http", answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), "HTTP/2"},
		{"nobody", "http", nil, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := "127.0.0.1:1"
			if c.serve != nil {
				addr = newRawServer(t, func(conn net.Conn, n int64) {
					if c.scheme == "http" {
						// Whatever a server of HTTP/1.1 is asked in HTTP/2, this is its answer.
						_, _ = conn.Read(make([]byte, 4096))
						_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: "+
							"close\r\n\r\n")
						return
					}
					c.serve(conn, n)
				}).addr
			}
			client := newTestClient(t, func(o *Options) { o.HTTP2, o.RootCAs = true, roots })
			_, x := send(client, post(c.scheme+"://"+addr+"/x"))
			if x.Err == nil || !strings.Contains(x.Err.Message, c.fault) {
				t.Errorf("%+v", x.Err)
			}
		})
	}
	o := DefaultOptions()
	o.HTTP2, o.TimestampSource = true, TimestampKernel
	if _, err := New(o, newTestClient(t, nil).clock); err == nil || !strings.Contains(err.Error(), "HTTP/2") {
		t.Errorf("kernel stamps with HTTP/2: %v", err)
	}
}

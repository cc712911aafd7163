package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

func TestConnectingIsBounded(t *testing.T) {
	silent := func(c net.Conn, _ int) { _, _ = io.Copy(io.Discard, c) }
	limited := func(o *Options) { o.Timeout = 0 }
	t.Run("TLS", func(t *testing.T) {
		bubble(t, limited, silent, func(t *testing.T, c *Client) {
			_, x := send(c, post("https://127.0.0.1:1/x"))
			text := "no TLS handshake within 30s (AIPERF_HTTP_CONNECT_TIMEOUT); if the server speaks plain HTTP, use " +
				"http://127.0.0.1:1"
			wantError(t, x, record.Error{Type: "TLSHandshakeTimeoutError",
				Message: "Cannot connect to host 127.0.0.1:1 [" + text + "]",
				Cause:   text, CauseChain: []string{"TLSHandshakeTimeoutError", "TimeoutError"}})
			if x.EndNS-x.StartNS != 30*second {
				t.Errorf("ended after %d", x.EndNS-x.StartNS)
			}
		})
	})
	t.Run("the request's time is shorter", func(t *testing.T) {
		bubble(t, func(o *Options) { o.Timeout = 5 * time.Second }, silent, func(t *testing.T, c *Client) {
			_, x := send(c, post("https://127.0.0.1:1/x"))
			if x.Err == nil || x.Err.Type != "TimeoutError" || x.EndNS-x.StartNS != 5*second {
				t.Errorf("%+v after %d", x.Err, x.EndNS-x.StartNS)
			}
		})
	})
	t.Run("a proxy's tunnel", func(t *testing.T) {
		proxied := func(o *Options) {
			limited(o)
			o.Proxy = http.ProxyURL(&url.URL{Scheme: "http",
				Host: "127.0.0.1:2"})
		}
		bubble(t, proxied, silent, func(t *testing.T, c *Client) {
			_, x := send(c, post("https://127.0.0.1:1/x"))
			if x.Err == nil || x.Err.Type != "ConnectionTimeoutError" || x.EndNS-x.StartNS != 30*second {
				t.Errorf("%+v after %d", x.Err, x.EndNS-x.StartNS)
			}
		})
	})
	t.Run("no limit", func(t *testing.T) {
		bubble(t, func(o *Options) { o.Timeout, o.ConnectTimeout = time.Hour, 0 }, silent,
			func(t *testing.T, c *Client) {
				if _, x := send(c, post("https://127.0.0.1:1/x")); x.Err == nil || x.Err.Type != "TimeoutError" {
					t.Errorf("%+v", x.Err)
				}
			})
	})
	t.Run("socket", func(t *testing.T) {
		c := newTestClient(t, func(o *Options) { o.ConnectTimeout = time.Nanosecond })
		_, x := send(c, post("http://127.0.0.1:1/x"))
		text := "no connection within 1ns (AIPERF_HTTP_CONNECT_TIMEOUT)"
		wantError(t, x, record.Error{Type: "ConnectionTimeoutError",
			Message: "Cannot connect to host 127.0.0.1:1 [" + text + "]",
			Cause:   text, CauseChain: []string{"ConnectionTimeoutError", "TimeoutError"}})
	})
	t.Run("HTTP/2", func(t *testing.T) {
		s := newRawServer(t, func(c net.Conn, _ int64) { _, _ = io.Copy(io.Discard, c) })
		c := newTestClient(t, func(o *Options) { o.HTTP2, o.ConnectTimeout = true, 50*time.Millisecond })
		if _, x := send(c, post("https://"+s.addr)); x.Err == nil || x.Err.Type != "TLSHandshakeTimeoutError" {
			t.Errorf("%+v", x.Err)
		}
	})
}

// A URL with the wrong one of the two schemes is named as that.
func TestOtherSchemeThanTheServers(t *testing.T) {
	plain := func(c net.Conn, _ int64) {
		_, _ = bufio.NewReader(c).Peek(1)
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
	}
	alert := answer("\x15\x03\x01\x00\x02\x02\x46")
	goTLS := answer(text("400 Bad Request", "text/plain", "Client sent an HTTP request to an HTTPS server.\n"))
	nginx := answer(text("400 Bad Request", "text/html",
		"<center>The plain HTTP request was sent to HTTPS port</center>"))
	for _, tt := range []struct {
		name, scheme string
		serve        func(net.Conn, int64)
		typ, want    string
	}{
		{"plain", "https", plain, "ClientConnectorSSLError", "the server answered in plain HTTP: use http://"},
		{"TLS", "http", alert, "ClientResponseError", "the server answered in TLS: use https://"},
		{"TLS that knows of HTTP", "http", goTLS, "Bad Request", "the server speaks TLS here: use https://"},
		{"TLS of a proxy", "http", nginx, "Bad Request", "the server speaks TLS here: use https://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, tt.serve)
			_, x := send(newTestClient(t, nil), post(tt.scheme+"://"+s.addr))
			if x.Err == nil || x.Err.Type != tt.typ || !strings.Contains(x.Err.Message+x.Err.Details, tt.want) {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}

// Bytes are counted at the other end, without any knowledge of messages.
func TestDataAreAllBytesOfTheMessages(t *testing.T) {
	cert, roots := certificate(t)
	stream := sseHead + chunk("data: a\n\n") + chunk("data: [DONE]\n\n") + lastChunk
	interim := "HTTP/1.1 100 Continue\r\n\r\n"
	for name, reply := range map[string]string{
		"stream": stream, "unary": text("200 OK", "application/json", `{"a":1}`),
		"refusal": text("503 Busy", "text/plain", "later"),
		"interim": interim + stream, "trailer": sseHead + "3;x=y\r\nabc\r\n0\r\nSome: trailer\r\n\r\n",
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" over "+scheme, func(t *testing.T) {
				sent := make(chan int64, 2)
				serve := func(c net.Conn, _ int64) {
					counted := &counter{Conn: c}
					for br := bufio.NewReader(counted); ; {
						before := counted.n
						if _, _, ok := readRequest(br); !ok {
							return
						}
						_, _ = io.WriteString(c, reply)
						sent <- counted.n - before
					}
				}
				if scheme == "https" {
					serve = secured(cert, serve)
				}
				s := newRawServer(t, serve)
				c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
				for i := range 2 {
					r := post(scheme + "://" + s.addr + "/x")
					r.Body = []byte(strings.Repeat("x", 1+i*3*inlineBody))
					r.KeepTrace = true
					_, x := send(c, r)
					if n := <-sent; x.Timing.BytesSent != n || x.Timing.BytesReceived != int64(len(reply)) ||
						x.Timing.Reused != int64(i) {
						t.Errorf("sent %d of %d, received %d of %d: %+v", x.Timing.BytesSent, n, x.Timing.BytesReceived,
							len(reply), x.Err)
					}
					if x.Trace.RequestBytesTotal != int64(len(r.Body)) {
						t.Errorf("the trace has %d bytes of a body of %d", x.Trace.RequestBytesTotal, len(r.Body))
					}
				}
			})
		}
	}
}

// counter counts what is read.
type counter struct {
	net.Conn
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n += int64(n)
	return n, err
}

// What a compressed body brings counts, whatever comes of it.
func TestCompressedBytesAreBounded(t *testing.T) {
	const limit = 4096
	whole := strings.Join(compressed("gzip", "data: a\n\n"), "")
	empty := strings.Join(compressed("gzip"), "")
	for name, c := range map[string]struct{ head, body, more, want string }{
		"bytes after the end": {"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Type: text/plain\r\n\r\n",
			strings.Join(compressed("deflate", "abc"), ""), "rubbish", "response exceeds 4096 bytes"},
		"empty members": {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/plain\r\n\r\n", whole, empty,
			"response exceeds 4096 bytes"},
		"empty members of a stream": {
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/event-stream\r\n\r\n", whole, empty,
			"response exceeds 16384 bytes"},
		"empty members of a refusal": {"HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n\r\n", whole, empty,
			"data: a\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRawServer(t, func(conn net.Conn, _ int64) {
				readRequest(bufio.NewReader(conn))
				_, err := io.WriteString(conn, c.head+c.body)
				for err == nil {
					_, err = io.WriteString(conn, strings.Repeat(c.more, 100))
				}
			})
			ctx, done := context.WithTimeout(t.Context(), time.Minute)
			defer done()
			x := newTestClient(t, func(o *Options) { o.MaxBody = limit }).Send(ctx, post("http://"+s.addr),
				new(recorder))
			if x.CutOff || x.Err == nil || !strings.Contains(x.Err.Message, c.want) {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}

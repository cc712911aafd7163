package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// replies are replies of which the client must make body, and keep the connection or not; each is
// followed by the end of the connection where the reply is framed by it.
var replies = []struct {
	name, reply, body string
	kept              bool
}{
	{"length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"chunks beat length", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: " +
		"CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", true},
	{"chunk extensions", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3 ; a=\"b;c\"\r\nabc\r\n0;z\r\n\r\n",
		"abc", true},
	{"long chunk extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=" + strings.Repeat("x", 4000) +
		"\r\nabc\r\n0\r\n\r\n", "abc", true},
	{"padded chunk sizes", "HTTP/1.1 200 OK\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n000000000000000000003\r\nabc\r\n0000\r\n\r\n", "abc", true},
	{"bare line feeds", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n", "abc", true},
	{"trailers", "HTTP/1.1 200 OK\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: 1\r\nB: 2\r\n\r\n", "abc", true},
	{"trailer longer than the buffer",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: " +
			strings.Repeat("x", 3*readBuffer) + "\r\n\r\n", "abc", true},
	{"trailer that ends with the buffer",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: " +
			strings.Repeat("x", readBuffer-3) + "\r\nB: 1\r\n\r\n", "abc", true},
	{"no chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", true},
	{"chunk of many buffers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
		chunk(strings.Repeat("x", 50000)) + "0\r\n\r\n", strings.Repeat("x", 50000), true},
	{"no reason phrase", "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"interim replies", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early " +
		"Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"folded header", "HTTP/1.1 200 OK\r\nX-Long: a\r\n  b\r\n\tc\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"many headers", "HTTP/1.1 200 OK\r\n" +
		strings.Repeat("X-Header-Of-Some-Length: some value of some length\r\n", 5000) + "Content-Length: 3\r\n\r\nabc",
		"abc", true},
	{"header longer than the buffer",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100000) + "\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "", true},
	{"no content, yet a length", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "", true},
	{"no content, yet chunked", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "", true},
	{"nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", true},
	{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
	{"close in a list, any case", "HTTP/1.1 200 OK\r\nconnection: X-Other , CLOSE\r\nContent-Length: 3\r\n\r\nabc",
		"abc", false},
	{"close in a second header", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: " +
		"3\r\n\r\nabc", "abc", false},
	{"close and chunks", "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", false},
	{"not quite close", "HTTP/1.1 200 OK\r\nConnection: closet\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"until the close", "HTTP/1.1 200 OK\r\n\r\nabc", "abc", false},
	{"HTTP/1.0 until the close", "HTTP/1.0 200 OK\r\n\r\nabc", "abc", false},
	{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
	{"HTTP/1.0 kept alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"HTTP/1.0 kept alive without a length", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nabc", "abc", false},
	{"behind the length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", "abc", false},
	{"line end behind the length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc\r\n", "abc", false},
	{"reply nobody asked for", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 408 " +
		"Timeout\r\nContent-Length: 0\r\n\r\n", "abc", false},
	{"behind the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1",
		"abc", false},
	{"body of no content", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", "", false},
}

// once answers the requests of a connection, one byte a write if slow, and ends with it where the reply does.
func once(reply string, slow, ends bool) func(net.Conn, int64) {
	return func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			if !slow {
				_, _ = io.WriteString(c, reply)
			} else {
				for i := range len(reply) {
					_, _ = io.WriteString(c, reply[i:i+1])
				}
			}
			if ends {
				return
			}
		}
	}
}

func TestReplyFraming(t *testing.T) {
	cert, roots := certificate(t)
	for _, tt := range replies {
		for _, way := range []string{"http", "https", "byte by byte"} {
			ends := strings.Contains(tt.name, "until the close") || strings.Contains(tt.name, "without a length")
			slow := way == "byte by byte" && len(tt.reply) < 10000
			serve := once(tt.reply, slow, ends)
			scheme := "http"
			if way == "https" {
				serve, scheme = secured(cert, serve), way
			}
			t.Run(tt.name+" "+way, func(t *testing.T) {
				if slow && !tt.kept && !ends && !strings.Contains(strings.ToLower(tt.name), "close") &&
					tt.name != "HTTP/1.0" {
					t.Skip("what lies behind a reply may come after the next request was sent")
				}
				s := newRawServer(t, serve)
				c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
				for i := range 2 {
					rec, x := send(c, post(scheme+"://"+s.addr))
					if x.Err != nil || rec.body != tt.body {
						t.Fatalf("error %v, body %q", x.Err, rec.body)
					}
					if reused := x.Timing.Reused == 1; reused != (i == 1 && tt.kept) {
						t.Errorf("request %d: reused %v", i, reused)
					}
				}
			})
		}
	}
}

func TestRepliesThatCannotBe(t *testing.T) {
	tests := []struct{ name, reply, typ string }{
		{"nothing", "", "ServerDisconnectedError"},
		{"half a head", "HTTP/1.1 200 OK\r\nContent-Le", "ServerDisconnectedError"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "ClientResponseError"},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", "ClientResponseError"},
		{"unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "ClientResponseError"},
		{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "ClientResponseError"},
		{"interim replies without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 40000),
			"ClientResponseError"},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "ClientPayloadError"},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", "ClientPayloadError"},
		{"half a chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3", "ClientPayloadError"},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "ClientPayloadError"},
		{"half a last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "ClientPayloadError"},
		{"no chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n",
			"ClientPayloadError"},
		{"signed chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
			"ClientPayloadError"},
		{"endless chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("3", 9000),
			"ClientPayloadError"},
		{"endless chunk extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;" +
			strings.Repeat("x", 9000) + "\r\nabc", "ClientPayloadError"},
		{"chunk size beyond all", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\nabc",
			"ClientPayloadError"},
		{"chunk longer than its size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
			"ClientPayloadError"},
		{"trailer without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
			strings.Repeat("A: b\r\n", 300000), "ClientPayloadError"},
		{"trailer line without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " +
			strings.Repeat("b", 2<<20), "ClientPayloadError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, once(tt.reply, false, true))
			c := newTestClient(t, nil)
			if _, x := send(c, post("http://"+s.addr)); x.Err == nil || x.Err.Type != tt.typ {
				t.Errorf("error %+v, want %s", x.Err, tt.typ)
			}
			if len(c.pool.idle) != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// Under TLS the end of the connection, or what nobody asked for, may have been read off the socket
// together with the reply, where the socket no longer shows it.
func TestTLSReadAhead(t *testing.T) {
	cert, roots := certificate(t)
	for _, tail := range []string{"", "HTTP/1.1 500 Stray\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(fmt.Sprintf("%d bytes behind", len(tail)), func(t *testing.T) {
			body := strings.Repeat("x", 9000) // read past the read buffer
			corked := func(c net.Conn, n int64) {
				cork := &corkedConn{Conn: c}
				secured(cert, func(c net.Conn, n int64) {
					br := bufio.NewReader(c)
					if _, _, ok := readRequest(br); !ok {
						return
					}
					cork.on = true
					_, _ = io.WriteString(c, text("200 OK", "text/plain", body)+tail)
					if tail == "" {
						c.Close() // close_notify goes along with the reply
					}
					cork.flush()
					_, _ = cork.Conn.Read(make([]byte, 1))
				})(cork, n)
			}
			s := newRawServer(t, corked)
			c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
			for range 3 {
				if rec, x := send(c, post("https://"+s.addr)); x.Err != nil || rec.body != body ||
					x.Timing.Reused != 0 {
					t.Errorf("error %v, body of %d, reused %d", x.Err, len(rec.body), x.Timing.Reused)
				}
			}
		})
	}
}

// corkedConn holds back what is written while it is on.
type corkedConn struct {
	net.Conn
	on   bool
	held []byte
}

func (c *corkedConn) Write(p []byte) (int, error) {
	if !c.on {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

func (c *corkedConn) Close() error {
	if c.on {
		return nil
	}
	return c.Conn.Close()
}

func (c *corkedConn) flush() {
	c.on = false
	_ = c.SetWriteDeadline(time.Time{}) // closing TLS sets one
	_, _ = c.Conn.Write(c.held)
}

// A server that reports how long it keeps an idle connection closes it then; a request must not meet the close.
func TestKeepAliveHintIsHeeded(t *testing.T) {
	tests := []struct {
		header string
		idle   time.Duration
		reused int64
	}{
		{"timeout=5", 3900 * time.Millisecond, 1},
		{"timeout=5", 4 * time.Second, 0},
		{"max=100, Timeout=\"5\"", 4 * time.Second, 0},
		{"timeout=1", 400 * time.Millisecond, 1},
		{"timeout=1", 500 * time.Millisecond, 0},
		{"timeout=0", time.Millisecond, 0},
		{"timeout=9999", 301 * time.Second, 0},
		{"timeout=soon", 299 * time.Second, 1},
		{"timeout=-1", 299 * time.Second, 1},
	}
	for _, tt := range tests {
		t.Run(tt.header, func(t *testing.T) {
			reply := "HTTP/1.1 200 OK\r\nKeep-Alive: " + tt.header + "\r\nContent-Length: 1\r\n\r\nx"
			bubble(t, nil, slowly(0, reply), func(t *testing.T, c *Client) {
				for i := range int64(2) {
					if _, x := send(c, post(pipeURL)); x.Err != nil || x.Timing.Reused != i*tt.reused {
						t.Errorf("error %v, reused %d", x.Err, x.Timing.Reused)
					}
					time.Sleep(tt.idle)
				}
			})
		})
	}
}

func TestTargets(t *testing.T) {
	tests := []struct{ url, host, dialled, path string }{
		{"http://Example.COM/x", "Example.COM", "example.com:80", "/x"},
		{"https://example.com", "example.com", "example.com:443", "/"},
		{"http://example.com:80/?q#part", "example.com:80", "example.com:80", "/?q"},
		{"http://example.com:/x", "example.com", "example.com:80", "/x"},
		{"http://[::1]:8000/x", "[::1]:8000", "[::1]:8000", "/x"},
		{"http://[::1]/x", "[::1]", "[::1]:80", "/x"},
		{"http://[FE80::1%25enP1s0]:8000/x", "[FE80::1]:8000", "[fe80::1%enP1s0]:8000", "/x"},
		{"http://u:p%40@example.com//a%2Fb?c=%20", "example.com", "example.com:80", "//a%2Fb?c=%20"},
		{"http://example.com/é", "example.com", "example.com:80", "/%C3%A9"},
	}
	c := newTestClient(t, nil)
	for _, tt := range tests {
		target, err := c.target(tt.url)
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		if target.host != tt.host || target.origin.hostPort() != tt.dialled || target.path != tt.path {
			t.Errorf("%s: Host %s, to %s, path %s", tt.url, target.host, target.origin.hostPort(), target.path)
		}
	}
}

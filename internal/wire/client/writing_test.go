package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// longPost is a request that no socket buffer takes whole.
func longPost(url string) *Request {
	r := post(url)
	r.Body = []byte(strings.Repeat("0123456789abcdef", 2<<20))
	return r
}

func TestReplyToABodyThatIsNeverRead(t *testing.T) {
	cert, roots := certificate(t)
	tests := []struct {
		name, reply string
		status      int
		body        string
	}{
		{"refusal", text("413 Content Too Large", "text/plain", "too long"), 413, "too long"},
		{"refusal in chunks", "HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("no") + lastChunk, 400,
			"no"},
		{"reply", text("200 OK", "text/plain", "early"), 200, "early"},
		{"reply behind an interim one", "HTTP/1.1 100 Continue\r\n\r\n" + text("200 OK", "text/plain", "early"), 200,
			"early"},
		{"long reply", text("200 OK", "text/plain", strings.Repeat("x", 1<<20)), 200, strings.Repeat("x", 1<<20)},
	}
	for _, tt := range tests {
		for _, scheme := range []string{"http", "https"} {
			t.Run(tt.name+" over "+scheme, func(t *testing.T) {
				release := make(chan bool)
				serve := func(c net.Conn, _ int64) {
					_, _ = io.ReadFull(c, make([]byte, 50))
					_, _ = io.WriteString(c, tt.reply)
					<-release
				}
				if scheme == "https" {
					serve = secured(cert, serve)
				}
				s := newRawServer(t, serve)
				c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
				r := longPost(scheme + "://" + s.addr)
				r.KeepTrace = true
				rec, x := send(c, r)
				close(release)
				got := rec.body
				if x.Err != nil {
					got = x.Err.Message
				}
				if x.Status != tt.status || got != tt.body {
					t.Fatalf("status %d, error %v, body of %d", x.Status, x.Err, len(got))
				}
				if x.Timing.Sending != record.Absent || x.Timing.BytesSent >= int64(len(r.Body)) {
					t.Errorf("timing %+v of a request that was not sent", x.Timing)
				}
				if len(c.pool.idle) != 0 {
					t.Error("the connection of an unfinished request was kept")
				}
			})
		}
	}
}

// A server may say something before it has read everything and go on reading.
func TestUploadGoesOnBehindAnEarlyReply(t *testing.T) {
	tests := []struct{ name, first, rest string }{
		{"interim", "HTTP/1.1 100 Continue\r\n\r\n", text("200 OK", "text/plain", "all")},
		{"head", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n", "all"},
		{"first event", sseHead + chunk("data: a\n\n"), chunk("data: b\n\n") + lastChunk},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, func(c net.Conn, _ int64) {
				br := bufio.NewReader(c)
				for {
					if _, err := br.Peek(1); err != nil {
						return
					}
					_, _ = io.WriteString(c, tt.first)
					if _, _, ok := readRequest(br); !ok {
						return
					}
					_, _ = io.WriteString(c, tt.rest)
				}
			})
			c := newTestClient(t, nil)
			for i := range 2 {
				r := longPost("http://" + s.addr)
				rec, x := send(c, r)
				if x.Err != nil || rec.body != "all" && strings.Join(rec.events, " ") != "=a =b" {
					t.Fatalf("error %v, body %q, events %v", x.Err, rec.body, rec.events)
				}
				if x.Timing.BytesSent <= int64(len(r.Body)) || x.Timing.Reused != int64(i) || x.Timing.Sending < 0 ||
					x.Timing.Waiting < 0 {
					t.Errorf("timing %+v", x.Timing)
				}
			}
		})
	}
}

func TestRedirectOfABodyThatIsNeverRead(t *testing.T) {
	bodies := make(chan int, 1)
	s := newRawServer(t, func(c net.Conn, n int64) {
		br := bufio.NewReaderSize(c, 100)
		if n == 1 {
			_, _ = br.Peek(50)
			_, _ = io.WriteString(c, "HTTP/1.1 307 Elsewhere\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
			<-bodies
			return
		}
		_, body, _ := readRequest(br)
		_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
		bodies <- len(body)
		bodies <- len(body)
	})
	r := longPost("http://" + s.addr)
	_, x := send(newTestClient(t, nil), r)
	if n := <-bodies; x.Err != nil || n != len(r.Body) || x.Timing.BytesSent <= int64(n) {
		t.Errorf("error %v, %d bytes arrived, timing %+v", x.Err, n, x.Timing)
	}
}

func TestLongUploadEndsFromOutside(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		after   int64
		cut     time.Duration
		typ     string
	}{
		{"timeout", 5 * time.Second, -1, 0, "TimeoutError"},
		{"not sent in time", 5 * time.Second, second, 0, "RequestSendTimeout"},
		{"cut off", 0, -1, 5 * time.Second, "RequestCancellationError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serve := func(c net.Conn, _ int) {
				_, _ = io.ReadFull(c, make([]byte, 1000))
				time.Sleep(time.Hour)
			}
			bubble(t, func(o *Options) { o.Timeout = tt.timeout }, serve, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cut > 0 {
					time.AfterFunc(tt.cut, cancel)
				}
				r := longPost(pipeURL)
				r.CancelAfterNS = tt.after
				x := c.Send(ctx, r, new(recorder))
				if x.Err == nil || x.Err.Type != tt.typ || x.EndNS-x.StartNS != 5*second {
					t.Errorf("error %+v after %d", x.Err, x.EndNS-x.StartNS)
				}
			})
		})
	}
}

func TestCancellationOfALongUploadStartsWhenItIsWritten(t *testing.T) {
	serve := func(c net.Conn, _ int) {
		br := bufio.NewReader(c)
		_, _ = br.Peek(1)
		time.Sleep(3 * time.Second)
		_, _, _ = readRequest(br)
		_, _ = br.ReadByte()
	}
	for _, after := range []int64{0, second} {
		bubble(t, nil, serve, func(t *testing.T, c *Client) {
			r := longPost(pipeURL)
			r.CancelAfterNS = after
			_, x := send(c, r)
			if x.CancelledNS-x.StartNS != 3*second+after || x.Timing.BytesSent <= int64(len(r.Body)) {
				t.Errorf("error %+v, cancelled after %d", x.Err, x.CancelledNS-x.StartNS)
			}
		})
	}
}

// The server closes in the middle of a request without a word.
func TestCloseInTheMiddleOfAnUpload(t *testing.T) {
	bubble(t, nil, func(c net.Conn, _ int) { _, _ = io.ReadFull(c, make([]byte, 1000)) },
		func(t *testing.T, c *Client) {
			_, x := send(c, longPost(pipeURL))
			if x.Err == nil || x.Err.Type != "ClientOSError" || x.EndNS-x.StartNS > second {
				t.Errorf("error %+v after %d", x.Err, x.EndNS-x.StartNS)
			}
		})
}

package prom_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/watch/prom"
)

// scripted returns a fetcher whose only connection is answered by play, in the time of a synctest bubble.
func scripted(t *testing.T, o prom.FetchOptions, play func(conn net.Conn)) *prom.Fetcher {
	t.Helper()
	var playing sync.WaitGroup
	t.Cleanup(playing.Wait)
	o.Dial = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		playing.Go(func() {
			defer func() { _ = theirs.Close() }()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				play(theirs)
			}
		})
		return ours, nil
	}
	return newFetcher(t, o)
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"

func say(conn net.Conn, after time.Duration, text string) error {
	time.Sleep(after)
	_, err := io.WriteString(conn, text)
	return err
}

func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := scripted(t, prom.FetchOptions{}, func(conn net.Conn) {
			_ = say(conn, time.Second, head)
			_ = say(conn, time.Second, "a 1\n")
			_ = say(conn, 3*time.Second, "b 2\n")
			time.Sleep(time.Second)
		})
		start := time.Now()
		b, err := f.Fetch(context.Background(), "http://h/metrics", nil)
		if err != nil || string(b.Text) != "a 1\nb 2\n" {
			t.Fatalf("%q, %v", b.Text, err)
		}
		sent, first, latency := b.RequestSentNS-start.UnixNano(), b.FirstByteNS-start.UnixNano(), b.LatencyNS
		if sent != 0 || first != int64(2*time.Second) || latency != int64(6*time.Second) {
			t.Errorf("sent %d, first byte %d, latency %d", sent, first, latency)
		}
	})
}

func TestEmptyPageHasNoFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := scripted(t, prom.FetchOptions{}, func(conn net.Conn) { _ = say(conn, time.Second, head) })
		b, err := f.Fetch(context.Background(), "http://h/metrics", nil)
		if err != nil || len(b.Text) != 0 || b.FirstByteNS != 0 || b.RequestSentNS == 0 {
			t.Errorf("%+v, %v", b, err)
		}
	})
}

func TestSlowButSteadyPageIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := scripted(t, prom.FetchOptions{ReadTimeout: 2 * time.Second}, func(conn net.Conn) {
			_ = say(conn, time.Second, head)
			for range 1000 {
				_ = say(conn, time.Second, "a 1\n")
			}
		})
		b, err := f.Fetch(context.Background(), "http://h/metrics", nil)
		if err != nil || len(b.Text) != 4000 {
			t.Errorf("%d bytes, %v", len(b.Text), err)
		}
	})
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(conn net.Conn)
		want prom.ErrorKey
		took time.Duration
	}{
		{"no answer", func(conn net.Conn) { _ = say(conn, time.Hour, head) },
			prom.ErrorKey{0, "TimeoutError", "h did not answer within 2s"}, 2 * time.Second},
		{"half of the head", func(conn net.Conn) {
			for i := 0; i < len(head) && say(conn, time.Second, head[i:i+1]) == nil; i++ {
			}
		}, prom.ErrorKey{0, "TimeoutError", "h did not answer within 2s"}, 2 * time.Second},
		{"no body", func(conn net.Conn) { _ = say(conn, time.Second, head); _ = say(conn, time.Hour, "a 1\n") },
			prom.ErrorKey{0, "TimeoutError", "h sent nothing for 2s in the middle of the page"}, 3 * time.Second},
		{"half of the body", func(conn net.Conn) {
			_ = say(conn, time.Second, head)
			_ = say(conn, time.Second, "a 1\n")
			_ = say(conn, 3*time.Second, "b 1\n")
		}, prom.ErrorKey{0, "TimeoutError", "h sent nothing for 2s in the middle of the page"}, 4 * time.Second},
		{"a port for gRPC", func(conn net.Conn) { io.WriteString(conn, "\x00\x00\x18\x04\x00\x00\x00\x00\x00") },
			prom.ErrorKey{0, "ClientPayloadError", "h does not answer in HTTP/1.1"}, 0},
		{"closed without an answer", func(conn net.Conn) { time.Sleep(time.Second) },
			prom.ErrorKey{0, "ServerDisconnectedError", "h closed the connection without an answer"}, time.Second},
		{"closed in the middle", func(conn net.Conn) {
			_ = say(conn, time.Second, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n")
		}, prom.ErrorKey{0, "ClientPayloadError", "h: connection closed by server while the page was read"},
			time.Second},
		{"no HTTP", func(conn net.Conn) { _ = say(conn, time.Second, "SSH-2.0-OpenSSH\r\n\r\n") },
			prom.ErrorKey{0, "ClientPayloadError", "h does not answer in HTTP/1.1"}, time.Second},
		{"an endless head", func(conn net.Conn) {
			_ = say(conn, time.Second, "HTTP/1.1 200 OK\r\n")
			for say(conn, 0, "X: "+strings.Repeat("x", 1000)+"\r\n") == nil {
			}
		}, prom.ErrorKey{0, "ClientPayloadError", "h: "}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := scripted(t, prom.FetchOptions{ReadTimeout: 2 * time.Second}, c.play)
				start := time.Now()
				_, err := f.Fetch(context.Background(), "http://h/metrics", nil)
				wantError(t, err, c.want)
				if took := time.Since(start); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
			})
		})
	}
}

func TestProbeTimes(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(conn net.Conn)
		ok   bool
		took time.Duration
	}{
		{"an answer in time", func(conn net.Conn) { _ = say(conn, 4*time.Second, head+"a 1\n") }, true,
			4 * time.Second},
		{"too late", func(conn net.Conn) { _ = say(conn, time.Hour, head) }, false, 5 * time.Second},
		{"a body without end", func(conn net.Conn) {
			for _ = say(conn, 0, head); say(conn, 300*time.Millisecond, "a 1\n") == nil; {
			}
		}, true, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := scripted(t, prom.FetchOptions{ReachabilityTimeout: 5 * time.Second}, c.play)
				start := time.Now()
				err := f.Probe(context.Background(), "http://h/metrics")
				if took := time.Since(start); (err == nil) != c.ok || took != c.took {
					t.Errorf("took %s, want %s; error %v", took, c.took, err)
				}
			})
		})
	}
}

func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(t, prom.FetchOptions{ReachabilityTimeout: 5 * time.Second,
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
			}})
		start := time.Now()
		_, err := f.Fetch(context.Background(), "http://h:1/metrics", nil)
		wantError(t, err, prom.ErrorKey{0, "ClientConnectorError", "cannot connect to h:1 [timed out]"})
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestDeadlineOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := scripted(t, prom.FetchOptions{}, func(conn net.Conn) {
			for _ = say(conn, 0, head); say(conn, time.Second, "a 1\n") == nil; {
			}
		})
		ctx, cancel := context.WithTimeout(context.Background(), 10500*time.Millisecond)
		defer cancel()
		_, err := f.Fetch(ctx, "http://h/metrics", nil)
		wantError(t, err, prom.ErrorKey{0, "TimeoutError", "timed out"})
	})
}

package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// Of an error page the beginning is kept; one that ends soon does not cost the connection, one that does
// not end is left.
func TestLongRefusals(t *testing.T) {
	for _, c := range []struct {
		size, conns int
		details     string
	}{
		{maxRefusal, 1, ""},
		{maxRefusal + 1, 1, "the first 65536 bytes of a longer body"},
		{maxRefusal + maxSkipped, 1, "the first 65536 bytes of a longer body"},
		{1 << 30, 2, "the first 65536 bytes of a longer body"},
	} {
		s := newRawServer(t, func(conn net.Conn, _ int64) {
			for br := bufio.NewReader(conn); ; {
				if _, _, ok := readRequest(br); !ok {
					return
				}
				fmt.Fprintf(conn, "HTTP/1.1 500 Oops\r\nContent-Length: %d\r\n\r\n", c.size)
				for sent := 0; sent < c.size; {
					n, err := io.WriteString(conn, strings.Repeat("x", min(1<<20, c.size-sent)))
					if sent += n; err != nil {
						return
					}
				}
			}
		})
		client := newTestClient(t, nil)
		for range 2 {
			_, x := send(client, post("http://"+s.addr))
			if x.Err == nil || x.Err.Code != 500 || len(x.Err.Message) != maxRefusal || x.Err.Details != c.details ||
				x.EndNS <= x.StartNS {
				t.Fatalf("%d bytes: %d of them are kept, %+v", c.size, len(x.Err.Message), x.Err.Details)
			}
		}
		if n := s.conns.Load(); n != int64(c.conns) {
			t.Errorf("%d bytes: %d connections", c.size, n)
		}
	}
}

// A stream without end is bounded in what it brings, also compressed, and a body that says its length is
// not even read.
func TestStreamsAndBodiesAreBounded(t *testing.T) {
	event := "data: " + strings.Repeat("x", 1000) + "\n\n"
	for name, c := range map[string]struct {
		head, piece, want string
		events            int
	}{
		"stream": {sseHead, chunk(event),
			"response exceeds 16384 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES) while reading the event stream", 16},
		"length": {"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", "",
			"response exceeds 4096 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES) while reading the response body", 0},
	} {
		s := newRawServer(t, func(conn net.Conn, _ int64) {
			readRequest(bufio.NewReader(conn))
			_, err := io.WriteString(conn, c.head)
			for err == nil && c.piece != "" {
				_, err = io.WriteString(conn, c.piece)
			}
			_, _ = io.Copy(io.Discard, conn)
		})
		rec, x := send(newTestClient(t, func(o *Options) { o.MaxBody = 4096 }), post("http://"+s.addr))
		if x.Err == nil || x.Err.Type != "ClientPayloadError" || !strings.HasSuffix(x.Err.Message, c.want) {
			t.Errorf("%s: %+v", name, x.Err)
		}
		if len(rec.events) < c.events || len(rec.events) > c.events+20 {
			t.Errorf("%s: %d events", name, len(rec.events))
		}
	}
}

// An event of lines without end is given up by their number, with what raw exports ask for of it.
func TestLinesOfAnEventAreBounded(t *testing.T) {
	s := newRawServer(t, func(conn net.Conn, _ int64) {
		readRequest(bufio.NewReader(conn))
		_, err := io.WriteString(conn, sseHead+chunk("data: x\n\n"))
		for piece := chunk(strings.Repeat("a:\n", 10000)); err == nil; {
			_, err = io.WriteString(conn, piece)
		}
	})
	for _, raw := range []bool{false, true} {
		req := post("http://" + s.addr)
		req.KeepRaw = raw
		rec, x := send(newTestClient(t, nil), req)
		want := "an event of more than 65536 lines while reading the event stream"
		if x.Err == nil || x.Err.Type != "ClientPayloadError" || !strings.HasSuffix(x.Err.Message, want) ||
			len(rec.events) != 1 {
			t.Errorf("raw %t: %d events, %+v", raw, len(rec.events), x.Err)
		}
		kept := 0
		if x.Raw != nil {
			kept = len(x.Raw.Responses)
		}
		if raw && kept != 2 {
			t.Errorf("%d responses are kept", kept)
		}
	}
}

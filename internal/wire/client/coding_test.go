package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// flusher is a compressor that can end a block.
type flusher interface {
	io.WriteCloser
	Flush() error
}

func compressed(coding string, parts ...string) (out []string) {
	var b bytes.Buffer
	var w flusher = gzip.NewWriter(&b)
	if coding == "deflate" {
		w = zlib.NewWriter(&b)
	}
	for _, p := range parts {
		_, _ = io.WriteString(w, p)
		_ = w.Flush()
		out = append(out, b.String())
		b.Reset()
	}
	_ = w.Close()
	return append(out, b.String())
}

func TestServerThatCompressesUnasked(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "X-GZIP"} {
		t.Run(coding, func(t *testing.T) {
			body := strings.Repeat(`{"a":1}`, 5000)
			whole := strings.Join(compressed(strings.ToLower(coding), body), "")
			head := "HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\nContent-Type: application/json\r\n"
			length := head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(whole)) + whole
			chunked := head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(whole[:7]) + chunk(whole[7:]) + lastChunk
			refusal := strings.Replace(length, "200 OK", "500 Oops", 1)
			for _, reply := range []string{length, chunked, refusal} {
				s := newRawServer(t, answer(reply))
				c := newTestClient(t, nil)
				for range 2 {
					rec, x := send(c, post("http://"+s.addr))
					got := rec.body
					if x.Err != nil && x.Status == 500 {
						got = x.Err.Message
					}
					if got != body || x.Timing.BytesReceived != int64(len(reply)) {
						t.Fatalf("error %.200v, body of %d, timing %+v", x.Err, len(got), x.Timing)
					}
				}
				if n := s.conns.Load(); n != 1 {
					t.Errorf("%d connections", n)
				}
			}
		})
	}
}

// Each event must be handed over when the block that holds it has come.
func TestCompressedStream(t *testing.T) {
	seen := make(chan bool, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		if _, _, ok := readRequest(bufio.NewReader(c)); !ok {
			return
		}
		_, _ = io.WriteString(c, strings.Replace(sseHead, "\r\n", "\r\nContent-Encoding: gzip\r\n", 1))
		for i, part := range compressed("gzip", "data: a\n\n", "data: b\n\n") {
			_, _ = io.WriteString(c, chunk(part))
			if i < 2 {
				<-seen
			}
		}
		_, _ = io.WriteString(c, lastChunk)
	})
	rec := &recorder{on: func() { seen <- true }}
	x := newTestClient(t, nil).Send(t.Context(), post("http://"+s.addr), rec)
	if x.Err != nil || strings.Join(rec.events, " ") != "=a =b" || rec.stamps[0] >= rec.stamps[1] {
		t.Errorf("error %v, events %v, stamps %v", x.Err, rec.events, rec.stamps)
	}
}

func TestCompressionThatCannotBeRead(t *testing.T) {
	whole := strings.Join(compressed("gzip", "abc"), "")
	tests := []struct{ name, coding, body, want string }{
		{"unknown", "br", "abc", `content encoding "br" was not requested`},
		{"nothing of it", "gzip", "abcdefghijklmnop", "invalid header"},
		{"half of it", "gzip", whole[:len(whole)-9], "closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, answer(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: "+
				"%d\r\n\r\n%s", tt.coding, len(tt.body), tt.body)))
			_, x := send(newTestClient(t, nil), post("http://"+s.addr))
			if x.Err == nil || x.Err.Type != "ClientPayloadError" || !strings.Contains(x.Err.Message, tt.want) {
				t.Errorf("error %+v, want %q", x.Err, tt.want)
			}
		})
	}
}

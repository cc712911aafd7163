package mockserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// BenchmarkServe sends requests on one connection and reads their replies.
func BenchmarkServe(b *testing.B) {
	for name, body := range map[string]string{
		"plain":   chat(text(100), false, `"max_tokens":1`),
		"stream":  chat(text(100), true, `"max_tokens":100,"ignore_eos":true`),
		"refused": "{",
	} {
		b.Run(name, func(b *testing.B) {
			srv, err := New(Options{Fast: true, NoTokenizer: true})
			if err != nil {
				b.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- srv.Serve(ctx, ln) }()
			nc, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\nAccept: */*\r\n"+
				"Content-Type: application/json\r\nX-Request-ID: 1\r\nContent-Length: %d\r\n\r\n%s", chatPath,
				len(body), body)
			reader := bufio.NewReader(nc)
			b.ReportAllocs()
			for b.Loop() {
				nc.Write(request)
				resp, err := http.ReadResponse(reader, nil)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
			}
			nc.Close()
			stop()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}

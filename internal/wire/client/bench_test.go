package client

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
)

type nothing struct{}

func (nothing) Event([]byte, []byte, int64)      {}
func (nothing) Body(string, bool, []byte, int64) {}

var benchBody = []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(" word", 32) +
	`"}],"model":"m","stream":false}`)

// fixedServer answers without looking: it takes what one read brings for one request.
func fixedServer(b *testing.B, reply string) string {
	s := newRawServer(b, func(c net.Conn, _ int64) {
		buf := make([]byte, 16<<10)
		out := []byte(reply)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
	return "http://" + s.addr + "/v1/chat/completions"
}

func bareTransport() *http.Transport {
	return &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
}

func bareRequest(b *testing.B, url string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(benchBody))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "aiperf/test")
	return r
}

func BenchmarkUnary(b *testing.B) {
	reply := text("200 OK", "application/json",
		`{"choices":[{"message":{"role":"assistant","content":" word"}}],"usage":{"prompt_tokens":32,"completion_tokens":1}}`)
	b.Run("client", func(b *testing.B) {
		c, err := New(DefaultOptions(), clock.New())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		r := post(fixedServer(b, reply))
		r.Body = benchBody
		ctx := b.Context()
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if x := c.Send(ctx, r, nothing{}); x.Err != nil {
					b.Error(x.Err)
				}
			}
		})
	})
	b.Run("bare", func(b *testing.B) {
		url := fixedServer(b, reply)
		hc := &http.Client{Transport: bareTransport()}
		defer hc.CloseIdleConnections()
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				resp, err := hc.Do(bareRequest(b, url))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	})
}

// BenchmarkStream reads streams of 1,000 events as fast as they come; an operation is an event.
func BenchmarkStream(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\"," +
		"\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n"
	reply := sseHead + strings.Repeat(chunk(event), 999) + chunk("data: [DONE]\n\n") + lastChunk
	b.Run("client", func(b *testing.B) {
		c, err := New(DefaultOptions(), clock.New())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		r := post(fixedServer(b, reply))
		r.Body = benchBody
		b.ReportAllocs()
		for i := 0; i < b.N; i += 1000 {
			if x := c.Send(context.Background(), r, nothing{}); x.Err != nil || x.Responses != 1000 {
				b.Fatal(x.Responses, x.Err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		url := fixedServer(b, reply)
		hc := &http.Client{Transport: bareTransport()}
		defer hc.CloseIdleConnections()
		b.ReportAllocs()
		for i := 0; i < b.N; i += 1000 {
			resp, err := hc.Do(bareRequest(b, url))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}

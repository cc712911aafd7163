//go:build unix

package collect

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// syntheticPages are two pages of the same series, of which the first so many differ.
func syntheticPages(series, changing int) [2][]byte {
	var pages [2]bytes.Buffer
	for v := range pages {
		b := &pages[v]
		for i := range series {
			if i%100 == 0 {
				fmt.Fprintf(b, "# HELP engine_metric_%d A figure of the engine.\n# TYPE engine_metric_%d gauge\n",
					i/100, i/100)
			}
			value := float64(1000 + i)
			if i < changing {
				value += 7.25 * float64(v)
			}
			fmt.Fprintf(b, "engine_metric_%d{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\","+
				"worker=\"%d\"} %v\n", i/100, i, value)
		}
	}
	return [2][]byte{pages[0].Bytes(), pages[1].Bytes()}
}

// servePages answers each request on a connection with the next page, at as little cost as can be.
func servePages(b *testing.B, pages [2][]byte) (addr string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	var answers [2][]byte
	for i, p := range pages {
		answers[i] = append(fmt.Appendf(nil,
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", len(p)), p...)
	}
	var turn atomic.Int64
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					if len(lines.Bytes()) > 0 {
						continue
					}
					if _, err := conn.Write(answers[turn.Add(1)%2]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// cpuTime returns what the process has used, user and system.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTwentyEndpoints scrapes 20 endpoints of 5,000 series each over loopback. cores is the CPU time of a round,
// the sending server's included, over the 333 ms that it may take.
func BenchmarkTwentyEndpoints(b *testing.B) {
	for _, changing := range []int{0, 1000, 5000} {
		b.Run(fmt.Sprintf("changing=%d", changing), func(b *testing.B) {
			pages := syntheticPages(5000, changing)
			var urls []string
			for range 20 {
				urls = append(urls, servePages(b, pages))
			}
			c, err := New(Options{URLs: urls})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			c.Baseline(ctx)
			c.Boundary(ctx)
			b.SetBytes(int64(20 * len(pages[0])))
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				c.Boundary(ctx)
			}
			used := cpuTime(b) - before
			b.ReportMetric(used.Seconds()/float64(b.N)/defaultInterval.Seconds(), "cores")
			if got := c.Errors(); len(got) != 0 {
				b.Errorf("errors %v", got)
			}
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

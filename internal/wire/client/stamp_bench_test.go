package client

import (
	"net"
	"testing"

	"aiperf/internal/base/clock"
)

// readySocket yields the two ends of a TCP connection; the reading end is stamped by the kernel if asked.
func readySocket(b *testing.B, src *sources) (read, write net.Conn) {
	b.Helper()
	accepted := make(chan net.Conn, 1)
	s := newRawServer(b, func(c net.Conn, _ int64) {
		accepted <- c
		<-b.Context().Done()
	})
	d := net.Dialer{Control: socketOptions{stamps: src.measured()}.control}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c, <-accepted
}

// BenchmarkRead reads events that have arrived already; an operation is a read of 200 bytes.
func BenchmarkRead(b *testing.B) {
	with, err := newSources(TimestampAuto)
	if err != nil {
		b.Fatal(err)
	}
	defer with.close()
	for _, v := range []struct {
		name string
		src  *sources
	}{{"user", new(sources)}, {"kernel", with}} {
		b.Run(v.name, func(b *testing.B) {
			const event, batch = 200, 100
			near, far := readySocket(b, v.src)
			w := newWire(near, clock.New(), v.src)
			sent := make([]byte, event*batch)
			got := make([]byte, event)
			b.ReportAllocs()
			for left := b.N; left > 0; left -= batch {
				b.StopTimer()
				if _, err := far.Write(sent); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for range min(left, batch) {
					if _, err := w.Read(got); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

package grpc

import (
	"context"
	"fmt"
	"testing"

	rpc "google.golang.org/grpc"
)

type nothing struct{}

func (nothing) Event([]byte, []byte, int64)      {}
func (nothing) Body(string, bool, []byte, int64) {}

// BenchmarkCall sends a call and takes its replies, over one connection to a server in the same process.
func BenchmarkCall(b *testing.B) {
	for _, replies := range []int{1, 100} {
		b.Run(fmt.Sprintf("replies=%d", replies), func(b *testing.B) {
			ln := serve(b, func(_ string, _ []byte, s rpc.ServerStream) error {
				for range replies {
					if err := s.SendMsg([]byte("a token")); err != nil {
						return err
					}
				}
				return nil
			})
			c, r := newClient(b, nil), request(ln, "q")
			r.CancelAfterNS = int64(1 << 50) // the timer of a cancellation is part of it
			b.ReportAllocs()
			for b.Loop() {
				if x := c.Send(context.Background(), r, nothing{}); x.Err != nil || x.Responses != replies {
					b.Fatal(x.Err, x.Responses)
				}
			}
		})
	}
}

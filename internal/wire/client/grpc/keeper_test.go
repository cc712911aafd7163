package grpc

import (
	"net/url"
	"slices"
	"testing"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"aiperf/internal/measure/record"
)

// keeper keeps the values of two fields, and adds one.
type keeper struct {
	from, to string
	cookies  []string
	trailer  []string
}

func (k *keeper) Keep(from *url.URL, values func(string) []string) {
	k.from, k.cookies, k.trailer = from.String(), values("Set-Cookie"), values("X-Session-Token")
}

func (k *keeper) Carry(to *url.URL, headers []record.Header, home bool) []record.Header {
	if k.to = to.String(); len(k.trailer) == 0 || !home {
		return headers
	}
	return append(slices.Clip(headers), record.Header{Name: "X-Session-Token", Value: k.trailer[0]})
}

func TestHeadersAndTrailersOfRepliesAreKept(t *testing.T) {
	var md metadata.MD
	ln := serve(t, func(_ string, _ []byte, s rpc.ServerStream) error {
		md, _ = metadata.FromIncomingContext(s.Context())
		if err := s.SetHeader(metadata.Pairs("set-cookie", "a=1", "set-cookie", "b=2")); err != nil {
			return err
		}
		s.SetTrailer(metadata.Pairs("x-session-token", "t1"))
		return s.SendMsg([]byte("one"))
	})
	c, k := newClient(t, nil), &keeper{}
	for _, want := range [][]string{nil, {"t1"}} {
		r := request(ln, "hello")
		r.Keeper = k
		if x, _ := send(c, r); x.Err != nil {
			t.Fatal(x.Err)
		}
		if got := md.Get("x-session-token"); !slices.Equal(got, want) {
			t.Errorf("the request carried %q, want %q", got, want)
		}
	}
	place := "http://" + ln.Addr().String() + "/s/Call"
	if !slices.Equal(k.cookies, []string{"a=1", "b=2"}) || k.from != place || k.to != place {
		t.Errorf("%+v", k)
	}
}

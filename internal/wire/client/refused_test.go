package client

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framed is a connection of HTTP/2 at the server's end, as bare frames.
type framed struct {
	*http2.Framer
	conn int64
}

// fields is a block of header fields.
func fields(kv ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(kv); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: kv[i], Value: kv[i+1]})
	}
	return b.Bytes()
}

func (f framed) reply(id uint32, body string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id,
		BlockFragment: fields(":status", "200", "content-type", "text/plain"), EndHeaders: true})
	_ = f.WriteData(id, true, []byte(body))
}

// newFrameServer calls on for the header frame of each stream of HTTP/2 in clear text.
func newFrameServer(t *testing.T, on func(f framed, id uint32)) *rawServer {
	return newRawServer(t, func(c net.Conn, n int64) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := framed{http2.NewFramer(c, c), n}
		_ = f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					_ = f.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				on(f, frame.StreamID)
			}
		}
	})
}

func http2Client(t *testing.T) *Client {
	return newTestClient(t, func(o *Options) { o.HTTP2 = true })
}

// A server that shuts a connection down in good order takes the streams up to the last one that it names; the others
// it never read.
func TestStreamsAboveTheLastOneAreSentAgain(t *testing.T) {
	var leaving sync.Map // connections that were shut down: what comes after the last stream is left unread
	s := newFrameServer(t, func(f framed, id uint32) {
		if _, left := leaving.LoadOrStore(f.conn, true); left {
			return
		}
		f.reply(id, "x")
		_ = f.WriteGoAway(id, http2.ErrCodeNo, []byte("bye"))
	})
	c := http2Client(t)
	const workers, each = 16, 60
	var resent atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				rec, x := send(c, post("http://"+s.addr))
				if x.Err != nil || rec.body != "x" {
					t.Errorf("%+v, body %q", x.Err, rec.body)
				}
				if x.Resends > 1 || (x.Resends == 1) != (x.Timing.Blocked > 0) {
					t.Errorf("resent %d, blocked %d", x.Resends, x.Timing.Blocked)
				}
				resent.Add(x.Resends)
			}
		})
	}
	all.Wait()
	if resent.Load() == 0 {
		t.Error("no stream met a shutdown")
	}
}

func TestRefusedStreamIsSentAgainOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse func(f framed, id uint32)
		conns  int64 // up to this one refuse
		resent int64
		want   string
	}{
		{"refused", func(f framed, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, 1, 1, ""},
		{"refused twice", func(f framed, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, 2, 1,
			"REFUSED_STREAM"},
		{"shut down", func(f framed, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) }, 1, 1, ""},
		{"broken off", func(f framed, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeInternal) }, 1, 0,
			"INTERNAL_ERROR"},
		{"a fault of the protocol", func(f framed, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeProtocol) }, 1, 0,
			"PROTOCOL_ERROR"},
		{"refused in the middle", func(f framed, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields(":status", "200"),
				EndHeaders: true})
			_ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}, 1, 0, "REFUSED_STREAM"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFrameServer(t, func(f framed, id uint32) {
				if f.conn <= tt.conns {
					tt.refuse(f, id)
					return
				}
				f.reply(id, "x")
			})
			c := http2Client(t)
			r := post("http://" + s.addr)
			r.CancelAfterNS, r.KeepTrace = int64(1)<<50, true
			_, x := send(c, r)
			if (x.Err == nil) != (tt.want == "") || x.Err != nil && !strings.Contains(x.Err.Message, tt.want) ||
				x.Resends != tt.resent {
				t.Errorf("%+v, resent %d", x.Err, x.Resends)
			}
			if x.Err != nil && strings.Contains(x.Err.Message, "GetBody") && tt.resent > 0 {
				t.Errorf("words of a library: %s", x.Err.Message)
			}
			if n := s.conns.Load(); n != tt.resent+1 {
				t.Errorf("%d connections", n)
			}
			if lost := x.Trace.PoolWaitEndNS - x.Trace.PoolWaitStartNS; tt.resent == 1 &&
				(lost <= 0 || x.Timing.Blocked != lost || c.clock.WallNS(x.StartNS) != x.Trace.PoolWaitEndNS) {
				t.Errorf("start %d, blocked %d, trace %d", x.StartNS, x.Timing.Blocked, lost)
			}
		})
	}
}

// A server that ends its connections often must not leave a list of dead ones behind.
func TestLaneForgetsConnectionsThatEnded(t *testing.T) {
	s := newFrameServer(t, func(f framed, id uint32) {
		f.reply(id, "x")
		_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
	})
	c := http2Client(t)
	for range 50 {
		if _, x := send(c, post("http://"+s.addr)); x.Err != nil {
			t.Fatal(x.Err)
		}
	}
	l := c.streams.shared
	held := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.conns)
	}
	// The last ends may not have been read yet: the next requests meet them.
	for more := 0; held() > 3 && more < 100; more++ {
		time.Sleep(10 * time.Millisecond)
		if _, x := send(c, post("http://"+s.addr)); x.Err != nil {
			t.Fatal(x.Err)
		}
	}
	if n := held(); n > 3 || s.conns.Load() < 10 {
		t.Errorf("%d connections are held of %d", n, s.conns.Load())
	}
}

func TestDataOfHTTP2AreFieldsAndBodies(t *testing.T) {
	s := newFrameServer(t, func(f framed, id uint32) { f.reply(id, "hello") })
	r := post("http://" + s.addr + "/x")
	_, x := send(http2Client(t), r)
	sent := len(":method"+"POST"+":scheme"+"http"+":path"+"/x"+":authority"+s.addr+
		"user-agent"+"aiperf/test"+"content-type"+"application/json"+"content-length"+"7") + 7
	received := len(":status" + "200" + "content-type" + "text/plain" + "hello")
	if x.Err != nil || x.Timing.BytesSent != int64(sent) || x.Timing.BytesReceived != int64(received) {
		t.Errorf("%v, sent %d of %d, received %d of %d", x.Err, x.Timing.BytesSent, sent, x.Timing.BytesReceived,
			received)
	}
}

package grpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync/atomic"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// call is one exchange under way.
type call struct {
	client.Lifetime
	client  *Client
	req     *client.Request
	sink    client.Sink
	out     *client.Exchange
	target  *callTarget
	channel *channel
	body    []byte
	buffer  *[]byte // of a short body, to be given back
	joined  []byte  // of a reply that came in parts
	sentMD  []record.Header
	gotMD   metadata.MD

	responses []record.RawResponse
	chunks    []record.Chunk
	received  int64 // bytes
	firstNS   int64 // the first response

	// Written on the goroutines of the connection.
	headersNS, sentNS, ackNS atomic.Int64
	// wireSent and wireReceived are the bytes of the call that the library reports: messages with their prefix,
	// headers and trailers as they came, and the text of those that were sent.
	wireSent, wireReceived atomic.Int64
	trailers               atomic.Bool
}

// Send carries out one exchange and returns when it is over. The sink is called on this goroutine only. The
// end of ctx cuts the exchange off.
func (c *Client) Send(ctx context.Context, req *client.Request, sink client.Sink) client.Exchange {
	out := new(client.Exchange)
	c.SendInto(ctx, req, sink, out)
	return *out
}

// SendInto is Send with its result in *out, which must be zero.
func (c *Client) SendInto(ctx context.Context, req *client.Request, sink client.Sink, out *client.Exchange) {
	x := &call{client: c, req: req, sink: sink, out: out}
	x.Begin(&c.opts, c.clock, req)
	x.out.StartNS = c.clock.NowNS()
	x.settle(x.Guard(ctx, x.transfer))
}

var streamed = &rpc.StreamDesc{ServerStreams: true}

// transfer sends the message and takes the replies.
func (x *call) transfer() (err error) {
	c := x.client
	ctx, done := x.Wait(context.WithValue(context.Background(), callKey{}, x))
	defer done()
	if x.target, err = c.target(x.req.URL); err != nil {
		return err
	}
	if len(x.req.Body) > maxMessage {
		return fmt.Errorf("a message of %d bytes: gRPC carries %d at most", len(x.req.Body), maxMessage)
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return client.ErrEnded
	}
	defer func() { <-c.slots }()
	md, agent, authority := x.metadata()
	once := false
	if x.channel, once, err = c.channel(x.target, x.req.Session, agent); err != nil {
		return err
	}
	if once {
		defer x.channel.close()
	}
	var options []rpc.CallOption
	if authority != "" {
		options = append(options, rpc.CallAuthority(authority))
	}
	stream, err := x.channel.conn.NewStream(metadata.NewOutgoingContext(ctx, md), streamed, x.target.method, options...)
	if err != nil {
		return err
	}
	x.takeBody()
	// Its error is io.EOF where the call has ended already: RecvMsg says how.
	if err := stream.SendMsg(x); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		if err = stream.RecvMsg(x); err != nil {
			break
		}
	}
	if x.req.KeepRaw || x.req.KeepTrace || x.req.Keeper != nil {
		if head, headErr := stream.Header(); headErr == nil {
			x.gotMD = metadata.Join(head, stream.Trailer())
		}
	}
	if k := x.req.Keeper; k != nil {
		k.Keep(x.place(), x.gotMD.Get)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// place is the address of the call for a Keeper.
func (x *call) place() *url.URL {
	u := &url.URL{Scheme: "http", Host: x.target.address(), Path: x.target.method}
	if x.target.secure {
		u.Scheme = "https"
	}
	return client.PlaceOf(u, x.req.Headers)
}

// metadata makes the call's metadata of the request's headers: names in lower case, without those that
// belong to HTTP or to the framing.
func (x *call) metadata() (md metadata.MD, agent, authority string) {
	headers := x.req.Headers
	if k := x.req.Keeper; k != nil {
		headers = k.Carry(x.place(), headers, true)
	}
	md = make(metadata.MD, len(headers))
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		switch name {
		case "user-agent":
			agent = h.Value
		case "host":
			authority = h.Value
		case "accept", "content-type", "content-length", "connection", "te", "transfer-encoding", "keep-alive",
			"upgrade", "proxy-connection":
			continue
		default:
			if strings.HasPrefix(name, "grpc-") || strings.HasPrefix(name, ":") {
				continue
			}
			md[name] = append(md[name], h.Value)
		}
		if x.req.KeepTrace || x.req.KeepRaw {
			x.sentMD = append(x.sentMD, record.Header{Name: name, Value: h.Value})
		}
	}
	if u := x.target.user; u != nil && len(md["authorization"]) == 0 {
		password, _ := u.Password()
		md["authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))}
	}
	return md, agent, authority
}

// smallBody is what a body's room must exceed for the library to say when it is done with it.
const smallBody = 2 << 10

// takeBody gives the message a room of its own where it is so short that the library would not say when it
// was written.
func (x *call) takeBody() {
	x.body = x.req.Body
	if mem.IsBelowBufferPoolingThreshold(cap(x.body)) {
		x.buffer = x.client.bodies.Get().(*[]byte)
		x.body = append((*x.buffer)[:0], x.req.Body...)
	}
}

// Get implements mem.BufferPool; nothing is taken from a call.
func (x *call) Get(n int) *[]byte { b := make([]byte, n); return &b }

// Put implements mem.BufferPool: the connection has the whole message.
func (x *call) Put(*[]byte) {
	// The end of the call from outside gives the message back unsent.
	x.UnlessEnded(func() { x.sentNS.CompareAndSwap(0, x.client.clock.NowNS()) })
	if x.buffer != nil {
		x.client.bodies.Put(x.buffer)
	}
	x.Sent()
}

// receive takes a reply. It is called on the goroutine of Send.
func (x *call) receive(data mem.BufferSlice) error {
	now := x.client.clock.NowNS()
	var message []byte
	if len(data) == 1 {
		message = data[0].ReadOnlyData()
	} else {
		x.joined = x.joined[:0]
		for _, b := range data {
			x.joined = append(x.joined, b.ReadOnlyData()...)
		}
		message = x.joined
	}
	if x.Ended() {
		return client.ErrEnded
	}
	if x.out.Responses == 0 {
		x.firstNS = now
	}
	x.out.Responses++
	x.out.Reads++
	x.out.LastResponseNS = now
	x.received += int64(len(message))
	if x.req.KeepTrace {
		x.chunks = append(x.chunks, record.Chunk{AtNS: x.client.clock.WallNS(now), Bytes: int64(len(message))})
	}
	if x.req.KeepRaw {
		x.responses = append(x.responses,
			record.RawResponse{PerfNS: now, IsBinary: true, ContentType: contentType,
				Bytes: append([]byte(nil), message...)})
	}
	x.sink.Event(nil, message, now)
	return nil
}

const contentType = "application/grpc+proto"

// codec passes messages on as they are.
type codec struct{}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	x := v.(*call)
	return mem.BufferSlice{mem.NewBuffer(&x.body, x)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error { return v.(*call).receive(data) }

// ownFields are the fields that the library adds to the call's metadata, without the values that vary.
const ownFields = ":method" + "POST" + ":scheme" + "http" + ":path" + ":authority" + "content-type" + contentType +
	"te" + "trailers"

// headerBytes is the length of the fields of a request, names and values.
func (x *call) headerBytes(md metadata.MD) int64 {
	n := len(ownFields) + len(x.target.method) + len(x.target.address())
	for name, values := range md {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return int64(n)
}

type callKey struct{}

// statsHandler notes the instants of calls that only the library knows.
type statsHandler struct{}

// TagRPC implements stats.Handler.
func (statsHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (statsHandler) HandleRPC(ctx context.Context, s stats.RPCStats) {
	x, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.OutHeader:
		x.headersNS.CompareAndSwap(0, x.client.clock.NowNS())
		x.wireSent.Add(x.headerBytes(s.Header))
	case *stats.OutPayload:
		x.wireSent.Add(int64(s.WireLength))
	case *stats.InHeader:
		x.target.spoke.Store(true)
		x.ackNS.CompareAndSwap(0, x.client.clock.NowNS())
		x.wireReceived.Add(int64(s.WireLength))
	case *stats.InPayload:
		x.wireReceived.Add(int64(s.WireLength))
	case *stats.InTrailer:
		x.target.spoke.Store(true)
		x.trailers.Store(true)
		x.wireReceived.Add(int64(s.WireLength))
	}
}

// TagConn implements stats.Handler.
func (statsHandler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (statsHandler) HandleConn(context.Context, stats.ConnStats) {}

package client

import (
	"maps"
	"slices"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// Stamps are the instants of an exchange on the run's clock, 0 = did not happen. Those of connection
// and transfer are of the last hop of a redirected exchange.
type Stamps struct {
	PoolStart, PoolEnd                int64
	DNSStart, DNSEnd, DNSHit, DNSMiss int64
	ConnectStart, ConnectEnd          int64
	Reused                            int64
	SendStart, HeadersSent, SendEnd   int64
	HeadersReceived                   int64
	ReceiveStart, ReceiveEnd          int64
	ErrorAt                           int64

	// BytesSent and BytesReceived are of the whole messages, BodySent and BodyReceived of what is in them,
	// as coded.
	BytesSent, BodySent, ChunksSent             int64
	BytesReceived, BodyReceived, ChunksReceived int64
}

// newConnection forgets what belonged to the connection before.
func (t *Stamps) newConnection() {
	*t = Stamps{PoolStart: t.PoolStart, PoolEnd: t.PoolEnd}
}

// answered corrects the stamps of a writer that came late to them: no request is being sent once it is
// answered. The kernel may have the reply before the write has returned to its caller.
func (t *Stamps) answered() {
	if t.HeadersReceived != 0 && t.SendEnd > t.HeadersReceived {
		t.SendEnd = t.HeadersReceived
		t.HeadersSent = min(t.HeadersSent, t.SendEnd)
	}
}

// span is the time from start to end: none if it never started, absent if it never ended.
func span(start, end, none int64) int64 {
	switch {
	case start == 0:
		return none
	case end < start:
		return record.Absent
	}
	return end - start
}

// Timing derives the trace facts. Absent and 0 differ: a phase that had no part in the exchange took
// no time, one that was not completed has none.
func (t *Stamps) Timing() Timing {
	out := Timing{
		Blocked:        span(t.PoolStart, t.PoolEnd, 0),
		DNSLookup:      span(t.DNSStart, t.DNSEnd, 0),
		Connecting:     span(t.ConnectStart, t.ConnectEnd, record.Absent),
		Sending:        span(t.SendStart, t.SendEnd, record.Absent),
		Waiting:        span(t.SendEnd, t.ReceiveStart, record.Absent),
		Receiving:      span(t.ReceiveStart, t.ReceiveEnd, record.Absent),
		Duration:       span(t.SendStart, t.ReceiveEnd, record.Absent),
		BytesSent:      t.BytesSent,
		ChunksSent:     t.ChunksSent,
		BytesReceived:  t.BytesReceived,
		ChunksReceived: t.ChunksReceived,
	}
	if t.Reused != 0 {
		out.Reused, out.Connecting = 1, 0
	}
	return out
}

// Trace returns the stamps as wall instants, without headers, chunks and addresses.
func (t *Stamps) Trace(clk *clock.Clock) *record.Trace {
	wall := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return clk.WallNS(ns)
	}
	return &record.Trace{
		RequestSendStartNS:        wall(t.SendStart),
		RequestHeadersSentNS:      wall(t.HeadersSent),
		RequestSendEndNS:          wall(t.SendEnd),
		RequestChunksCount:        t.ChunksSent,
		RequestBytesTotal:         t.BodySent,
		ResponseHeadersReceivedNS: wall(t.HeadersReceived),
		ResponseReceiveStartNS:    wall(t.ReceiveStart),
		ResponseReceiveEndNS:      wall(t.ReceiveEnd),
		ResponseChunksCount:       t.ChunksReceived,
		ResponseBytesTotal:        t.BodyReceived,
		ErrorNS:                   wall(t.ErrorAt),
		PoolWaitStartNS:           wall(t.PoolStart),
		PoolWaitEndNS:             wall(t.PoolEnd),
		DNSStartNS:                wall(t.DNSStart),
		DNSEndNS:                  wall(t.DNSEnd),
		DNSCacheHitNS:             wall(t.DNSHit),
		DNSCacheMissNS:            wall(t.DNSMiss),
		ConnectStartNS:            wall(t.ConnectStart),
		ConnectEndNS:              wall(t.ConnectEnd),
		ConnectionReusedNS:        wall(t.Reused),
	}
}

// account fills in what the exchange looked like on the wire.
func (x *exchange) account(h *hop) {
	x.out.Timing, x.out.SentNS = x.t.Timing(), x.t.SendEnd
	x.out.KernelStamps = x.client.sources.kernel && x.out.Reads > 0 && x.out.StampedReads == x.out.Reads
	if x.req.KeepTrace {
		x.out.Trace = x.trace(h)
	}
	if x.req.KeepRaw {
		raw := &record.Raw{StartPerfNS: x.out.StartNS, Payload: x.req.Body, RequestHeaders: x.headers,
			Status: x.out.Status, Responses: x.responses, CutOff: x.out.CutOff}
		if x.response != nil {
			raw.ResponseHeaders = HeaderList(x.response.Header)
		}
		x.out.Raw = raw
	}
}

func (x *exchange) trace(h *hop) *record.Trace {
	tr := x.t.Trace(x.clock)
	tr.RequestChunks, tr.ResponseChunks = x.requestChunks, x.responseChunks
	if x.t.HeadersSent != 0 {
		tr.RequestHeaders = h.sent()
	}
	if x.response != nil && x.t.HeadersReceived != 0 {
		tr.ResponseStatus = x.response.StatusCode
		tr.ResponseReason = reason(x.response)
		tr.ResponseHeaders = HeaderList(x.response.Header)
	}
	if x.local.IsValid() {
		tr.LocalIP, tr.LocalPort = x.local.Addr().String(), int(x.local.Port())
	}
	if x.remote.IsValid() {
		tr.RemoteIP, tr.RemotePort = x.remote.Addr().String(), int(x.remote.Port())
	}
	return tr
}

// HeaderList returns the header fields of a response in order of names.
func HeaderList(h map[string][]string) []record.Header {
	out := make([]record.Header, 0, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, record.Header{Name: name, Value: value})
		}
	}
	return out
}

package client

import (
	"net/http"
	"slices"

	"aiperf/internal/measure/record"
)

// stamps are the instants of an exchange on the run's clock, 0 = did not happen. Those of connection
// and transfer are of the last hop of a redirected exchange.
type stamps struct {
	poolStart, poolEnd                int64
	dnsStart, dnsEnd, dnsHit, dnsMiss int64
	connectStart, connectEnd          int64
	reused                            int64
	sendStart, headersSent, sendEnd   int64
	headersReceived                   int64
	receiveStart, receiveEnd          int64
	errorAt                           int64

	// bytesSent and bytesReceived are of the whole messages, bodySent and bodyReceived of what is in them,
	// as coded.
	bytesSent, bodySent, chunksSent             int64
	bytesReceived, bodyReceived, chunksReceived int64
}

// newConnection forgets what belonged to the connection before.
func (t *stamps) newConnection() {
	*t = stamps{poolStart: t.poolStart, poolEnd: t.poolEnd}
}

// answered corrects the stamps of a writer that came late to them: no request is being sent once it is
// answered. The kernel may have the reply before the write has returned to its caller.
func (t *stamps) answered() {
	if t.headersReceived != 0 && t.sendEnd > t.headersReceived {
		t.sendEnd = t.headersReceived
		t.headersSent = min(t.headersSent, t.sendEnd)
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

// timing derives the trace facts. Absent and 0 differ: a phase that had no part in the exchange took
// no time, one that was not completed has none.
func (t *stamps) timing() Timing {
	out := Timing{
		Blocked:        span(t.poolStart, t.poolEnd, 0),
		DNSLookup:      span(t.dnsStart, t.dnsEnd, 0),
		Connecting:     span(t.connectStart, t.connectEnd, record.Absent),
		Sending:        span(t.sendStart, t.sendEnd, record.Absent),
		Waiting:        span(t.sendEnd, t.receiveStart, record.Absent),
		Receiving:      span(t.receiveStart, t.receiveEnd, record.Absent),
		Duration:       span(t.sendStart, t.receiveEnd, record.Absent),
		BytesSent:      t.bytesSent,
		ChunksSent:     t.chunksSent,
		BytesReceived:  t.bytesReceived,
		ChunksReceived: t.chunksReceived,
	}
	if t.reused != 0 {
		out.Reused, out.Connecting = 1, 0
	}
	return out
}

// account fills in what the exchange looked like on the wire.
func (x *exchange) account(h *hop) {
	x.out.Timing, x.out.SentNS = x.t.timing(), x.t.sendEnd
	x.out.KernelStamps = x.client.sources.kernel && x.out.Reads > 0 && x.out.StampedReads == x.out.Reads
	if x.req.KeepTrace {
		x.out.Trace = x.trace(h)
	}
	if x.req.KeepRaw {
		raw := &record.Raw{StartPerfNS: x.out.StartNS, Payload: x.req.Body, RequestHeaders: x.req.Headers,
			Status: x.out.Status, Responses: x.responses, CutOff: x.out.CutOff}
		if x.response != nil {
			raw.ResponseHeaders = headerList(x.response.Header)
		}
		x.out.Raw = raw
	}
}

func (x *exchange) trace(h *hop) *record.Trace {
	t := &x.t
	wall := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return x.client.clock.WallNS(ns)
	}
	tr := &record.Trace{
		RequestSendStartNS:        wall(t.sendStart),
		RequestHeadersSentNS:      wall(t.headersSent),
		RequestSendEndNS:          wall(t.sendEnd),
		RequestChunks:             x.requestChunks,
		RequestChunksCount:        t.chunksSent,
		RequestBytesTotal:         t.bodySent,
		ResponseHeadersReceivedNS: wall(t.headersReceived),
		ResponseReceiveStartNS:    wall(t.receiveStart),
		ResponseReceiveEndNS:      wall(t.receiveEnd),
		ResponseChunks:            x.responseChunks,
		ResponseChunksCount:       t.chunksReceived,
		ResponseBytesTotal:        t.bodyReceived,
		ErrorNS:                   wall(t.errorAt),
		PoolWaitStartNS:           wall(t.poolStart),
		PoolWaitEndNS:             wall(t.poolEnd),
		DNSStartNS:                wall(t.dnsStart),
		DNSEndNS:                  wall(t.dnsEnd),
		DNSCacheHitNS:             wall(t.dnsHit),
		DNSCacheMissNS:            wall(t.dnsMiss),
		ConnectStartNS:            wall(t.connectStart),
		ConnectEndNS:              wall(t.connectEnd),
		ConnectionReusedNS:        wall(t.reused),
	}
	if t.headersSent != 0 {
		tr.RequestHeaders = h.sent()
	}
	if x.response != nil && t.headersReceived != 0 {
		tr.ResponseStatus = x.response.StatusCode
		tr.ResponseReason = reason(x.response)
		tr.ResponseHeaders = headerList(x.response.Header)
	}
	if x.local.IsValid() {
		tr.LocalIP, tr.LocalPort = x.local.Addr().String(), int(x.local.Port())
	}
	if x.remote.IsValid() {
		tr.RemoteIP, tr.RemotePort = x.remote.Addr().String(), int(x.remote.Port())
	}
	return tr
}

// headerList is h in order of names.
func headerList(h http.Header) []record.Header {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]record.Header, 0, len(h))
	for _, name := range names {
		for _, value := range h[name] {
			out = append(out, record.Header{Name: name, Value: value})
		}
	}
	return out
}

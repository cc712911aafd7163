package grpc

import (
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// settle completes the account of a call whose transfer ended with err.
func (x *call) settle(err error) {
	x.Settle(x.out, err, x.failure)
	x.out.SentNS, x.out.AckNS = x.sentNS.Load(), x.ackNS.Load()
	if x.out.Err == nil {
		x.out.Status = statusOK
		x.out.SentNS = sentBy(x.out.SentNS, x.out.AckNS)
	}
	if x.out.Err != nil || x.req.FinalTurn {
		x.client.drop(x.req.Session)
	}
	x.account()
}

// sentBy is when the request of a call that succeeded was sent. The library reports that by giving its buffers back,
// which the headers of the reply can overtake; a server that answers has the request.
func sentBy(sentNS, ackNS int64) int64 {
	if ackNS != 0 && (sentNS == 0 || sentNS > ackNS) {
		return ackNS
	}
	return sentNS
}

// account fills in what the call looked like. Addresses and connections are missing: calls share them.
func (x *call) account() {
	o := x.out
	t := client.Stamps{
		SendStart: x.headersNS.Load(), HeadersSent: x.headersNS.Load(), SendEnd: o.SentNS,
		HeadersReceived: o.AckNS, ReceiveStart: x.firstNS, ReceiveEnd: o.LastResponseNS,
		BytesReceived: x.wireReceived.Load(), BodyReceived: x.received, ChunksReceived: int64(o.Responses),
	}
	if o.SentNS != 0 {
		t.BytesSent, t.BodySent, t.ChunksSent = x.wireSent.Load(), int64(len(x.req.Body)), 1
	}
	if o.Err != nil {
		t.ErrorAt = o.EndNS
	}
	o.Timing = t.Timing()
	o.Timing.Blocked, o.Timing.DNSLookup, o.Timing.Connecting = record.Absent, record.Absent, record.Absent
	o.Timing.Reused = record.Absent
	if x.req.KeepTrace {
		o.Trace = t.Trace(x.client.clock)
		o.Trace.RequestHeaders, o.Trace.ResponseHeaders = x.sentMD, client.HeaderList(x.gotMD)
		o.Trace.ResponseStatus, o.Trace.ResponseChunks = o.Status, x.chunks
		if o.SentNS != 0 {
			o.Trace.RequestChunks = []record.Chunk{{AtNS: o.Trace.RequestSendEndNS, Bytes: t.BodySent}}
		}
	}
	if x.req.KeepRaw {
		o.Raw = &record.Raw{StartPerfNS: o.StartNS, Payload: x.req.Body, RequestHeaders: x.sentMD, Status: o.Status,
			ResponseHeaders: client.HeaderList(x.gotMD), Responses: x.responses, CutOff: o.CutOff}
	}
}

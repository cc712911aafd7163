package grpc

import (
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// settle completes the account of a call that ended with err.
func (x *call) settle(err error) {
	c := x.client
	ok := x.finish()
	x.out.EndNS = c.clock.NowNS()
	x.out.SentNS, x.out.AckNS = x.sentNS.Load(), x.ackNS.Load()
	var failure *record.Error
	switch {
	case !ok:
		x.out.EndNS = x.outcomeNS
		failure = x.describeEnd()
	case err != nil:
		failure = x.failure(err)
	default:
		x.out.Status = statusOK
		x.out.SentNS = sentBy(x.out.SentNS, x.out.AckNS)
	}
	if failure != nil {
		c.opts.Publish(failure, false)
		x.out.Err = failure
	}
	if failure != nil || x.req.FinalTurn {
		c.drop(x.req.Session)
	}
	x.account(failure != nil)
}

// sentBy is when the request of a call that succeeded was sent. The library reports that by giving its buffers back,
// which the headers of the reply can overtake; who answers has the request.
func sentBy(sentNS, ackNS int64) int64 {
	if ackNS != 0 && (sentNS == 0 || sentNS > ackNS) {
		return ackNS
	}
	return sentNS
}

func (x *call) describeEnd() *record.Error {
	switch x.outcome {
	case cancelled:
		x.out.CancelledNS = x.outcomeNS
		return client.Cancelled(x.req.CancelAfterNS)
	case notSentInTime:
		return client.SendTimedOut()
	case cutOff:
		x.out.CutOff = true
		return client.CutOff()
	}
	return x.client.opts.TimedOut()
}

// span is the time from start to end, absent without either.
func span(start, end int64) int64 {
	if start == 0 || end < start {
		return record.Absent
	}
	return end - start
}

// account fills in what the call looked like. There is nothing to tell of addresses and connections: calls
// share them.
func (x *call) account(failed bool) {
	o := &x.out
	first := o.Timing.Waiting
	o.Timing = client.Timing{
		Blocked: record.Absent, DNSLookup: record.Absent, Connecting: record.Absent, Reused: record.Absent,
		Sending: span(x.headersNS.Load(), o.SentNS), Waiting: span(o.SentNS, first),
		Receiving:     span(first, o.LastResponseNS),
		Duration:      span(x.headersNS.Load(), o.LastResponseNS),
		BytesReceived: x.wireReceived.Load(), ChunksReceived: int64(o.Responses),
	}
	if o.SentNS != 0 {
		o.Timing.BytesSent, o.Timing.ChunksSent = x.wireSent.Load(), 1
	}
	if x.req.KeepTrace {
		o.Trace = x.trace(first, failed)
	}
	if x.req.KeepRaw {
		o.Raw = &record.Raw{StartPerfNS: o.StartNS, Payload: x.req.Body, RequestHeaders: x.sentMD, Status: o.Status,
			ResponseHeaders: headerList(x.gotMD), Responses: x.responses, CutOff: o.CutOff}
	}
}

func (x *call) trace(first int64, failed bool) *record.Trace {
	wall := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return x.client.clock.WallNS(ns)
	}
	o := &x.out
	body := int64(0)
	if o.SentNS != 0 {
		body = int64(len(x.req.Body))
	}
	t := &record.Trace{
		RequestSendStartNS: wall(x.headersNS.Load()), RequestHeadersSentNS: wall(x.headersNS.Load()),
		RequestSendEndNS: wall(o.SentNS),
		RequestHeaders:   x.sentMD, RequestChunksCount: o.Timing.ChunksSent, RequestBytesTotal: body,
		ResponseStatus: o.Status, ResponseHeaders: headerList(x.gotMD), ResponseHeadersReceivedNS: wall(o.AckNS),
		ResponseReceiveStartNS: wall(first), ResponseReceiveEndNS: wall(o.LastResponseNS),
		ResponseChunks: x.chunks, ResponseChunksCount: o.Timing.ChunksReceived, ResponseBytesTotal: x.received,
	}
	if o.SentNS != 0 {
		t.RequestChunks = []record.Chunk{{AtNS: wall(o.SentNS), Bytes: body}}
	}
	if failed {
		t.ErrorNS = wall(o.EndNS)
	}
	return t
}

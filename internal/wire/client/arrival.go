package client

import (
	"bytes"

	"aiperf/internal/wire/client/sse"
)

// read counts a read that brought bytes of the body.
func (a *Arrival) read(w *wire) {
	a.Reads++
	if !w.stamped {
		return
	}
	a.StampedReads++
	a.ReadLagSumNS += w.lagNS
	a.ReadLagNS = max(a.ReadLagNS, w.lagNS)
}

var endMark = []byte("[DONE]")

// arrived counts an event before it is passed to the sink.
func (x *exchange) arrived(ev *sse.Event, at int64) {
	a := &x.out.Arrival
	if x.out.Responses == 0 {
		a.FirstReadLagNS = x.conn.wire.lagNS
	}
	if bytes.Equal(ev.Data, endMark) {
		return
	}
	shared := at == x.eventNS
	if shared {
		a.CoalescedEvents++
		if !x.coalesced {
			a.CoalescedReads++
			a.CoalescedEvents++
		}
	}
	x.eventNS, x.coalesced = at, shared
}

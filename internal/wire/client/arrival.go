package client

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

// arrived counts an event that is not the end mark.
func (x *exchange) arrived(at int64) {
	a := &x.out.Arrival
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

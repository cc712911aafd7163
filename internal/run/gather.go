package run

import "aiperf/internal/load"

// gathered are goroutines that wait to send at the same instant.
type gathered struct {
	// gate opens when the credits have been handed out; a place without one has nothing to do.
	gate   chan struct{}
	places map[uint64]*sending
}

// release lets those go that wait; nil waits for nobody.
func (g *gathered) release() {
	if g != nil {
		close(g.gate)
	}
}

// wait has the credit of a place carried out once the gate is open.
func (g *gathered) wait(d *dispatcher, place *sending) {
	<-g.gate
	if place.credit.IssuedNS != 0 {
		d.work(*place)
	}
}

// Gather implements load.Gatherer.
func (d *dispatcher) Gather(phase int, sessions []uint64, ready func()) {
	g := &gathered{gate: make(chan struct{}), places: make(map[uint64]*sending, len(sessions))}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.gathered.release()
	ctx := d.exchangesOf(phase)
	for _, k := range sessions {
		g.places[k] = &sending{ctx: ctx, together: true}
	}
	d.gathered = g
	d.all.Go(func() {
		for _, k := range sessions {
			d.state(k).ready(0)
		}
		for _, place := range g.places {
			d.all.Go(func() { g.wait(d, place) })
		}
		ready()
	})
}

// SendAll implements load.Gatherer.
func (d *dispatcher) SendAll(credits []load.Credit) {
	d.mu.Lock()
	g := d.gathered
	d.gathered = nil
	d.mu.Unlock()
	var others []load.Credit
	for _, c := range credits {
		if place := g.places[c.Session]; place != nil {
			place.credit = c
		} else {
			others = append(others, c)
		}
	}
	g.release()
	for _, c := range others {
		d.Send(c)
	}
}

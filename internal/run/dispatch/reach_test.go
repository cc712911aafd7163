package dispatch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/dispatch"
	"aiperf/internal/wire/client"
)

// refusal is an exchange whose connection was refused.
func refusal(at time.Duration) *client.Exchange {
	return &client.Exchange{EndNS: int64(at), Err: &record.Error{Type: neterr.Connector, Message: "connection refused"}}
}

func newReachability(reasons *[]error) *dispatch.Reachability {
	return dispatch.NewReachability(func(err error) { *reasons = append(*reasons, err) },
		func(s string) string { return s })
}

func TestUnreachedIsALackOfConnections(t *testing.T) {
	t.Parallel()
	failed := func(typ string, change func(*client.Exchange)) *client.Exchange {
		x := &client.Exchange{EndNS: 1, Err: &record.Error{Type: typ}}
		if change != nil {
			change(x)
		}
		return x
	}
	sent := func(x *client.Exchange) { x.SentNS = 1 }
	for _, c := range []struct {
		name    string
		x       *client.Exchange
		reached bool
		want    bool
	}{
		{"refused", failed(neterr.Connector, nil), false, true},
		{"refused later on", failed(neterr.Connector, nil), true, true},
		{"no such host", failed(neterr.DNS, nil), false, true},
		{"TLS fails", failed(neterr.SSL, nil), false, true},
		{"reset before anything got through", failed(neterr.OS, sent), false, true},
		{"reset by a server that answers others", failed(neterr.OS, sent), true, false},
		{"closed by a server that answers others", failed(neterr.ServerDisconnected, sent), true, false},
		{"no answer in time", failed(neterr.Timeout, sent), false, false},
		{"an HTTP error", failed("ClientResponseError", func(x *client.Exchange) { x.Status, x.SentNS = 503, 1 }),
			false, false},
		{"no descriptors here", failed(neterr.Connector, func(x *client.Exchange) { x.Shortage = neterr.Descriptors }),
			false, false},
		{"cancelled on purpose", failed("RequestCancellationError", func(x *client.Exchange) { x.CancelledNS = 1 }),
			false, false},
		{"a request that cannot be made", failed(neterr.Value, nil), false, false},
		{"success", &client.Exchange{Status: 200, SentNS: 1, Responses: 1}, false, false},
	} {
		r := newReachability(new([]error))
		if c.reached {
			r.Observe(&client.Exchange{Status: 200, SentNS: 1, Responses: 1})
		}
		if got := r.Observe(c.x) > 0; got != c.want { // a credit that is held back
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// One request after the other: pauses grow to a tenth of a second, and after 10 s and 100 failures the run ends.
func TestServerThatIsNeverReachedEndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reasons []error
		r := newReachability(&reasons)
		start := time.Now()
		attempts := 0
		for len(reasons) == 0 && attempts < 2000 {
			attempts++
			r.Pause(context.Background(), r.Observe(refusal(time.Since(start))))
		}
		if took := time.Since(start); len(reasons) != 1 || took < 10*time.Second || took > 15*time.Second ||
			attempts < 100 || attempts > 200 {
			t.Fatalf("%d attempts in %v: %v", attempts, took, reasons)
		}
		if text := reasons[0].Error(); !strings.Contains(text, "never reached") ||
			!strings.Contains(text, "connection refused") || !strings.Contains(text, "--no-fail-fast") {
			t.Error(text)
		}
		if pause := r.Observe(refusal(time.Since(start))); pause != 0 || len(reasons) != 1 {
			t.Errorf("after the end: a pause of %v, %d reasons", pause, len(reasons))
		}
	})
}

// Connections that take 20 s to fail end the run after a minute, long before there are a hundred of them.
func TestConnectionsThatHangEndTheRun(t *testing.T) {
	t.Parallel()
	var reasons []error
	r := newReachability(&reasons)
	for i := range 4 {
		if len(reasons) > 0 {
			t.Fatalf("ended after %d failures", i)
		}
		r.Observe(refusal(time.Duration(i) * 20 * time.Second))
	}
	if len(reasons) != 1 {
		t.Error("the run goes on")
	}
}

// A server that was reached once may go away: credits are held back, the run goes on, and the outage is remembered.
func TestServerThatGoesAwayDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	var reasons []error
	r := newReachability(&reasons)
	r.Observe(&client.Exchange{Status: 200, SentNS: 1, Responses: 1})
	for i := range 300 {
		pause := r.Observe(refusal(time.Duration(i) * 100 * time.Millisecond))
		if pause <= 0 || pause > time.Second {
			t.Fatalf("failure %d is followed by a pause of %v", i, pause)
		}
	}
	r.Observe(&client.Exchange{EndNS: int64(31 * time.Second), Status: 200, SentNS: 1, Responses: 1})
	if o := r.Outage(); len(reasons) != 0 || o != (dispatch.Outage{Failures: 300, Longest: 31 * time.Second}) {
		t.Errorf("%+v, %v", o, reasons)
	}
	if pause := r.Observe(refusal(40 * time.Second)); pause != 10*time.Millisecond {
		t.Errorf("the next outage begins with a pause of %v", pause)
	}
	r.Observe(&client.Exchange{EndNS: int64(41 * time.Second), Status: 503, SentNS: 1, Responses: 1,
		Err: &record.Error{HasCode: true, Code: 503}})
	r.Observe(refusal(42 * time.Second))
	if o := r.Outage(); o.After != 2 || o.Before != 0 {
		t.Errorf("the server does not come back: %+v", o)
	}
}

// A server that is not there at first is away before the first success.
func TestServerThatComesLate(t *testing.T) {
	t.Parallel()
	var reasons []error
	r := newReachability(&reasons)
	r.Observe(refusal(time.Second))
	r.Observe(refusal(2 * time.Second))
	r.Observe(&client.Exchange{EndNS: int64(3 * time.Second), Status: 200, SentNS: 1, Responses: 1})
	r.Observe(refusal(4 * time.Second))
	if o := r.Outage(); o.Failures != 3 || o.Before != 2 || o.After != 1 {
		t.Errorf("%+v", o)
	}
}

func TestHeldCreditReturnsWhenTheRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReachability(new([]error))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		start := time.Now()
		r.Pause(ctx, r.Observe(refusal(0)))
		if took := time.Since(start); took != 0 {
			t.Errorf("held for %v", took)
		}
		for range 20 { // pauses grow to a tenth of a second for each credit that is held
			r.Pause(ctx, r.Observe(refusal(0)))
		}
		if pause := r.Observe(refusal(0)); pause != 100*time.Millisecond {
			t.Errorf("a pause of %v: other credits are held still", pause)
		}
	})
}

// A run that never reached its server is known by its first error; one that did, once, is none.
func TestNeverReached(t *testing.T) {
	t.Parallel()
	var none *dispatch.Reachability
	if none.Never() != nil {
		t.Error("nobody observes it")
	}
	var reasons []error
	r := newReachability(&reasons)
	if r.Never() != nil {
		t.Error("nothing failed yet")
	}
	r.Observe(refusal(time.Second))
	if first := r.Never(); first == nil || first.Message != "connection refused" {
		t.Errorf("the first error is %v", first)
	}
	r.Observe(&client.Exchange{EndNS: int64(2 * time.Second), SentNS: 1, Status: 200, Responses: 1})
	if first := r.Never(); first != nil {
		t.Errorf("it was reached, and has %v", first)
	}
}

// Of requests that were sent elsewhere there are only the records; a doubt is for the server.
func TestRecordsSayWhetherAServerWasReached(t *testing.T) {
	t.Parallel()
	failed := func(typ string) *record.Record { return &record.Record{Err: &record.Error{Type: typ}} }
	cut := failed(neterr.Connector)
	cut.Raw = &record.Raw{CutOff: true}
	for name, c := range map[string]struct {
		records []*record.Record
		never   bool
	}{
		"refused":             {[]*record.Record{failed(neterr.Connector), failed(neterr.DNS)}, true},
		"one succeeded":       {[]*record.Record{failed(neterr.Connector), {}}, false},
		"broken connections":  {[]*record.Record{failed(neterr.OS), failed(neterr.Connector)}, false},
		"an HTTP error":       {[]*record.Record{{Err: &record.Error{HasCode: true, Code: 503}}}, false},
		"cut off at the end":  {[]*record.Record{cut}, false},
		"none came":           {nil, false},
		"certificate refused": {[]*record.Record{failed(neterr.Certificate)}, true},
	} {
		r := newReachability(new([]error))
		for _, rec := range c.records {
			r.Take(rec)
		}
		if got := r.Never() != nil; got != c.never {
			t.Errorf("%s: never reached is %t", name, got)
		}
	}
}

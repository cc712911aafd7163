package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// Bounds of the pauses between connections that fail, and of a run that never reaches its server.
const (
	firstPause = 10 * time.Millisecond
	// pauseShare is the longest pause for each credit that is held back, longestPause that of any: a hundred attempts
	// fit into unreachedTime whatever the concurrency is.
	pauseShare, longestPause = 100 * time.Millisecond, time.Second
	// A run that never reached its server ends after unreachedTime and unreachedCount failures, or after unreachedLong
	// where each of them takes its time.
	unreachedTime, unreachedCount = 10 * time.Second, 100
	unreachedLong                 = time.Minute
)

// Reachability observes whether servers can be reached at all. While every connection fails it delays the return of the
// credits of failed requests, so that a server that is down is not flooded with connections; a run that has not reached
// its server once is ended. A nil one does nothing.
type Reachability struct {
	end    func(error)
	redact func(string) string

	mu      sync.Mutex
	reached bool // some exchange got beyond its connection
	ended   bool
	held    int // credits that are held back
	// failuresInRow counts the failures since the last exchange that got through, sinceNS is the end of the first of
	// them.
	failuresInRow, sinceNS int64
	outages                Outage
	succeeded              bool          // some exchange had a whole reply
	sinceSuccess           int64         // requests without a connection since the last one that had
	first                  *record.Error // of the first request without a connection
}

// Outage is what is said about a server that could not be reached for a while.
type Outage struct {
	Failures int64 // requests without a connection, of the whole run
	Longest  time.Duration
	// Before and After of them failed before the first whole reply and after the last one: durations and rates are
	// between these two.
	Before, After int64
}

// NewReachability returns an observer that ends a run by a function; redact takes secrets out of messages.
func NewReachability(end func(error), redact func(string) string) *Reachability {
	return &Reachability{end: end, redact: redact}
}

// unreached reports whether an exchange failed for lack of a connection. A connection that breaks before the reply
// begins counts only as long as no exchange has got through: then the server may be there and turn everybody away.
func unreached(x *client.Exchange, reached bool) bool {
	if x.Err == nil || x.Err.HasCode || x.Status != 0 || x.Responses > 0 || x.CancelledNS != 0 ||
		x.Shortage != neterr.NoShortage {
		return false
	}
	switch x.Err.Type {
	case neterr.Value:
		return false
	case neterr.OS, neterr.ServerDisconnected:
		return !reached || x.SentNS == 0
	}
	return x.SentNS == 0
}

// Observe takes a finished exchange, ends the run if its server was never reached, and returns for how long the credit
// is to be held back.
func (r *Reachability) Observe(x *client.Exchange) (pause time.Duration) {
	if r == nil || x.CutOff {
		return 0
	}
	pause, reason := r.judge(x)
	if reason != nil {
		r.end(reason)
	}
	return pause
}

// unconnected are the errors of requests that got no connection.
var unconnected = []string{neterr.Connector, neterr.ConnectTimeout, neterr.TLSTimeout, neterr.DNS, neterr.Certificate,
	neterr.SSL}

// Take takes the record of a request that was sent elsewhere: its error says whether it got beyond its connection.
// Where that is not certain, it did.
func (r *Reachability) Take(rec *record.Record) {
	if r == nil || rec.Raw != nil && rec.Raw.CutOff {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch err := rec.Err; {
	case err == nil || err.HasCode || !slices.Contains(unconnected, err.Type):
		r.reached = true
	case r.first == nil:
		r.first = err
	}
}

// Pause waits until the pause of a credit or ctx is over.
func (r *Reachability) Pause(ctx context.Context, pause time.Duration) {
	if pause <= 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.held--
	r.mu.Unlock()
}

// judge returns for how long the credit of an exchange is held back, and why the run ends here, if it does.
func (r *Reachability) judge(x *client.Exchange) (pause time.Duration, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !unreached(x, r.reached) {
		r.connected(x)
		return 0, nil
	}
	if r.failuresInRow == 0 {
		r.sinceNS = x.EndNS
	}
	r.failuresInRow++
	r.sinceSuccess++
	r.outages.Failures++
	if r.first == nil {
		r.first = x.Err
	}
	lasted := time.Duration(x.EndNS - r.sinceNS)
	r.outages.Longest = max(r.outages.Longest, lasted)
	if r.ended {
		return 0, nil
	}
	if !r.reached && (lasted >= unreachedTime && r.failuresInRow >= unreachedCount || lasted >= unreachedLong) {
		r.ended = true
		return 0, &unreachedError{failed: r.failuresInRow, lasted: lasted, message: r.redact(x.Err.Message)}
	}
	r.held++
	return min(firstPause<<min(r.failuresInRow-1, 10), pauseShare*time.Duration(r.held), longestPause), nil
}

// connected records an exchange that got beyond its connection; one that was cancelled may not have.
func (r *Reachability) connected(x *client.Exchange) {
	if x.Status == 0 && x.SentNS == 0 && x.Err != nil {
		return
	}
	r.reached = true
	if r.failuresInRow > 0 {
		r.outages.Longest = max(r.outages.Longest, time.Duration(x.EndNS-r.sinceNS))
	}
	r.failuresInRow = 0
	if x.Err != nil {
		return
	}
	if !r.succeeded {
		r.outages.Before = r.sinceSuccess
	}
	r.succeeded, r.sinceSuccess = true, 0
}

// Never returns the first error of a run none of whose requests got beyond its connection; nil if one did, and where
// none failed.
func (r *Reachability) Never() *record.Error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reached {
		return nil
	}
	return r.first
}

// Outage returns what was seen so far.
func (r *Reachability) Outage() Outage {
	if r == nil {
		return Outage{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outages
	o.After = r.sinceSuccess
	return o
}

// unreachedError reports that no connection to a server came about.
type unreachedError struct {
	failed  int64
	lasted  time.Duration
	message string
}

func (u *unreachedError) Error() string {
	return fmt.Sprintf("the server was never reached: %s requests failed in %.0f s, the last one with %q; check "+
		"--url and that the server is up. --no-fail-fast goes on all the same",
		artifact.GroupThousands(fmt.Sprint(u.failed)), u.lasted.Seconds(), u.message)
}

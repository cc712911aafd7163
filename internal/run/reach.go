package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/neterr"
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

// reach follows whether servers can be reached at all. While every connection fails it holds the credits of failed
// requests back for a moment, so that a server that is down is not flooded with connections; a run that has not reached
// its server once is ended. A nil reach does nothing.
type reach struct {
	end    func(error)
	redact func(string) string

	mu      sync.Mutex
	reached bool // some exchange got beyond its connection
	ended   bool
	held    int // credits that are held back
	// row counts the failures since the last exchange that got through, sinceNS is the end of the first of them.
	row, sinceNS int64
	away         outage
}

// outage is what is said about a server that could not be reached for a while.
type outage struct {
	Failures int64 // requests without a connection, of the whole run
	Longest  time.Duration
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

// take takes a finished exchange, ends the run if its server was never reached, and returns for how long the credit is
// to be held back.
func (r *reach) take(x *client.Exchange) (pause time.Duration) {
	if r == nil || x.CutOff {
		return 0
	}
	pause, reason := r.judge(x)
	if reason != nil {
		r.end(reason)
	}
	return pause
}

// hold holds a credit back until the pause or ctx is over.
func (r *reach) hold(ctx context.Context, pause time.Duration) {
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
func (r *reach) judge(x *client.Exchange) (pause time.Duration, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !unreached(x, r.reached) {
		r.through(x)
		return 0, nil
	}
	if r.row == 0 {
		r.sinceNS = x.EndNS
	}
	r.row++
	r.away.Failures++
	lasted := time.Duration(x.EndNS - r.sinceNS)
	r.away.Longest = max(r.away.Longest, lasted)
	if r.ended {
		return 0, nil
	}
	if !r.reached && (lasted >= unreachedTime && r.row >= unreachedCount || lasted >= unreachedLong) {
		r.ended = true
		return 0, &unreachedError{failed: r.row, lasted: lasted, message: r.redact(x.Err.Message)}
	}
	r.held++
	return min(firstPause<<min(r.row-1, 10), pauseShare*time.Duration(r.held), longestPause), nil
}

// through notes an exchange that got beyond its connection; one that was cancelled may not have.
func (r *reach) through(x *client.Exchange) {
	if x.Status == 0 && x.SentNS == 0 && x.Err != nil {
		return
	}
	r.reached = true
	if r.row > 0 {
		r.away.Longest = max(r.away.Longest, time.Duration(x.EndNS-r.sinceNS))
	}
	r.row = 0
}

// outage is what was seen so far.
func (r *reach) outage() outage {
	if r == nil {
		return outage{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away
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

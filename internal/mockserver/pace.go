package mockserver

import (
	"sync"
	"time"
)

// loop is a frontend that does one thing at a time: it takes some time for each request before the engine sees it.
type loop struct {
	each time.Duration

	mu   sync.Mutex
	free int64 // the instant from which on it has nothing to do
}

// take returns when the loop begins with a request that arrives now, and when the engine has it.
func (l *loop) take(now int64) (from, to int64) {
	if l.each == 0 {
		return now, now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from = max(now, l.free)
	l.free = from + int64(l.each)
	return from, l.free
}

// coldStart is the time after the first request in which nothing is worked on, as while an engine compiles.
type coldStart struct {
	lasts time.Duration

	mu   sync.Mutex
	ends int64 // 0 = no request yet
}

// over returns when work can begin for a request that is there now.
func (c *coldStart) over(now int64) int64 {
	if c.lasts == 0 {
		return now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == 0 {
		c.ends = now + int64(c.lasts)
	}
	return max(now, c.ends)
}

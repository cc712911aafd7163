package browse

import (
	"context"
	"time"
)

// finished is closed when something is complete.
type finished chan struct{}

func (f finished) ready() bool {
	select {
	case <-f:
		return true
	default:
		return false
	}
}

// wait reports whether it is complete after at most a time.
func (f finished) wait(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-f:
	case <-timer.C:
	case <-ctx.Done():
	}
	return f.ready()
}

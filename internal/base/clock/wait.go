package clock

import (
	"context"
	"time"
)

// Wait waits for a while and reports whether the context lasted.
func Wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

package run

import (
	"fmt"

	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// cacheBust says to the sessions how their requests are marked, nil if they are not.
func (e *execution) cacheBust() *session.CacheBust {
	target := e.cfg.Dataset.CacheBust
	if target == "" {
		return nil
	}
	return &session.CacheBust{Target: target, RunID: e.id, NoSystem: func() {
		e.log.Warn(fmt.Sprintf("--cache-bust %s: there is no system message to mark, so the first message of the user is marked", target))
	}}
}

// checkCacheBust refuses to mark what is sent as it was recorded.
func checkCacheBust(data *dataset.Dataset, target string) error {
	if target == "" {
		return nil
	}
	if n := holds(data).Payloads; n > 0 {
		return fmt.Errorf("--cache-bust %s cannot mark whole request bodies: %d turns are sent as they are", target, n)
	}
	return nil
}

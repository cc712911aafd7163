package summary

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/trust"
)

const (
	// deliveredShare is the part of a planned rate from which on the rate counts as delivered.
	deliveredShare = 0.98
	// fullShare is the part of the slots from which on they count as always in use.
	fullShare = 0.8
)

// LimitedBy says what limited the throughput of a run, as far as the run itself shows it; "" where it does not. A run
// with one load shows whether the load was delivered, not how much more the server would take.
func LimitedBy(r *Result, asked *Configured) string {
	c := &r.Counts
	busy, hasBusy := r.Value("effective_concurrency")
	switch {
	case c.Successes == 0:
		return ""
	case ParseClient(r.ClientHealth).Verdict == string(trust.ClientLimited):
		return "this client: the server may be faster than the figures"
	case c.TargetRate > 0 && c.DeliveredRate >= deliveredShare*c.TargetRate:
		return fmt.Sprintf("the request rate: all of %s req/s was sent", artifact.Short(c.TargetRate))
	case c.TargetRate > 0 && c.DeliveredRate > 0:
		return fmt.Sprintf("%s of %s req/s could be sent: requests took too long for the concurrency",
			artifact.Short(c.DeliveredRate), artifact.Short(c.TargetRate))
	case asked.Concurrency > 0 && hasBusy && busy >= fullShare*asked.Concurrency:
		return fmt.Sprintf("concurrency %s, always in use; aiperf capacity finds the largest load within limits",
			artifact.Short(asked.Concurrency))
	case asked.Concurrency > 0 && hasBusy:
		return fmt.Sprintf("too few requests for concurrency %s: %s in flight on average",
			artifact.Short(asked.Concurrency), artifact.Short(busy))
	}
	return ""
}

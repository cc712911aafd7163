package run

import (
	"aiperf/internal/result/summary"
	"aiperf/internal/run/dispatch"
	"aiperf/internal/watch/trust"
)

// course returns what the run observed of its own course, given its result with the totals of the servers, its first
// requests, the times without a connection and what was sent.
func (c *content) course(
	r *summary.Result, first trust.FirstRequests, away dispatch.Outage, sent *promptTally,
) trust.Course {
	course := trust.Course{Unreached: away.Failures, Outage: away.Longest, UnreachedBefore: away.Before,
		UnreachedAfter: away.After, First: first}
	if r.Reconciliation != nil {
		if message, advice, found := r.Reconciliation.Finding(); found {
			course.Totals = &trust.Totals{Message: message, Advice: advice, Quiet: r.Reconciliation.Quiet()}
		}
	}
	if cached := r.Cached; cached.Warm() {
		course.WarmCache = &trust.WarmCache{Share: cached.Share, Repeats: cached.Repeats, Remedy: c.freshCache(),
			Quiet: c.options.Info.RunLabel != ""}
	}
	if c.repeatsMatter(c.data) {
		sent.mu.Lock()
		course.Prompts = &trust.Prompts{Distinct: sent.distinct, Sent: sent.sent, Max: sent.max,
			Remedy: c.uniquePrompts(sent.sent), Announced: c.repeatsAnnounced}
		sent.mu.Unlock()
	}
	return course
}

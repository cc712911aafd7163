package run

import (
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
)

// course returns what the run observed of its own course, given its result with the totals of the servers.
func (e *execution) course(r *summary.Result) trust.Course {
	away := e.reach.Outage()
	c := trust.Course{Unreached: away.Failures, Outage: away.Longest, UnreachedBefore: away.Before,
		UnreachedAfter: away.After,
		First:          e.health.firstRequests(e.cfg.Endpoint.Streaming)}
	if r.Reconciliation != nil {
		if message, advice, found := r.Reconciliation.Finding(); found {
			c.Totals = &trust.Totals{Message: message, Advice: advice, Quiet: r.Reconciliation.Quiet()}
		}
	}
	if cached := r.Cached; cached.Warm() {
		c.WarmCache = &trust.WarmCache{Share: cached.Share, Repeats: cached.Repeats, Remedy: e.content.freshCache(),
			Quiet: e.options.Info.RunLabel != ""}
	}
	if e.content.repeatsMatter(e.content.data) {
		p := &e.prompts
		p.mu.Lock()
		c.Prompts = &trust.Prompts{Distinct: p.distinct, Sent: p.sent, Max: p.max,
			Remedy: e.content.uniquePrompts(p.sent), Announced: e.content.repeatsAnnounced}
		p.mu.Unlock()
	}
	return c
}

package summary

import (
	"aiperf/internal/base/neterr"
	"aiperf/internal/watch/servermetrics"
)

// Ledger has the totals that the server counted during the run, and the requests at the borders of the run.
type Ledger struct {
	Server servermetrics.ServerTotals `json:"server"`
	// InFlight requests of the warm-up were in flight when the profiling phase began. WarmUp requests may have ended
	// after the first scrape: there was none between the phases.
	InFlight int64 `json:"warmup_in_flight,omitempty"`
	WarmUp   int64 `json:"warmup_requests,omitempty"`
	// Resent requests were sent again on another connection.
	Resent int64 `json:"requests_resent,omitempty"`
	// Repeats is the part of the prompts' text, from 0 to 1, that the run had sent before; nil where that is not known,
	// and where the server does not count what it takes from a cache.
	Repeats *float64 `json:"prompt_repeats,omitempty"`
}

// Reconcile compares the result's totals with those of the server; without a ledger there is nothing to compare.
func (r *Result) Reconcile(l *Ledger) {
	if l == nil {
		return
	}
	c := servermetrics.ClientTotals{
		Succeeded: r.Counts.Successes, CutOff: r.Counts.CutOff,
		Resent: l.Resent, InFlight: l.InFlight, WarmUp: l.WarmUp,
		Failed: r.Counts.Skipped, // the server refused them
	}
	for i := range r.Errors {
		switch n := r.Errors[i].Count; r.Errors[i].Error.Type {
		case neterr.Cancelled: // simulated: nothing else cancels a request whose record is an error
			c.Cancelled += n
		case neterr.Timeout:
			c.Dropped += n
		default:
			c.Failed += n
		}
	}
	aborted := float64(c.Dropped + c.Cancelled + c.CutOff)
	c.Figures = []servermetrics.ClientTotal{
		{Quantity: servermetrics.Requests, Metric: "request_count", Value: float64(c.Succeeded), Max: 1},
		{Quantity: servermetrics.AbortedRequests, Metric: "cancelled + timed out + cut off requests", Value: aborted,
			Max: 1},
		r.tokens(servermetrics.PromptTokens, "usage_prompt_tokens", "input_sequence_length"),
		r.tokens(servermetrics.CachedTokens, "usage_prompt_cache_read_tokens", ""),
		r.tokens(servermetrics.GeneratedTokens, "usage_completion_tokens", "output_sequence_length"),
		r.sum(servermetrics.TTFT, "time_to_first_token", 1e-3),
		r.sum(servermetrics.Latency, "request_latency", 1e-3),
	}
	r.Reconciliation = servermetrics.Reconcile(&l.Server, &c)
	repeats := -1.0
	if l.Repeats != nil {
		repeats = *l.Repeats
	}
	r.Cached = r.Reconciliation.Cached(repeats)
}

// tokens are those that the server reported in its replies if all of them have the count, else those that the client
// counted.
func (r *Result) tokens(q servermetrics.Quantity, reported, own string) servermetrics.ClientTotal {
	f := r.sum(q, reported, 1)
	if own == "" {
		return f
	}
	counted := r.sum(q, own, 1)
	if f.Absent != "" {
		counted.Tokenized = true
		return counted
	}
	if counted.Absent == "" {
		f.Own = counted.Value
	}
	return f
}

// sum is the total of a record metric over all successful requests, times a factor.
func (r *Result) sum(q servermetrics.Quantity, tag string, factor float64) servermetrics.ClientTotal {
	f := servermetrics.ClientTotal{Quantity: q, Metric: tag}
	m, ok := r.Find(tag)
	switch {
	case !ok || m.Stats.Count == 0:
		f.Absent = "the run has no " + tag
	case m.Stats.Count < r.Counts.Successes:
		f.Absent = "not all requests have " + tag
	default:
		f.Value, f.Max, f.Count = m.Stats.Sum*factor, m.Stats.Max*factor, m.Stats.Count
	}
	return f
}

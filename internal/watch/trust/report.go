package trust

import "slices"

// Verdict is what is to be thought of a run.
type Verdict string

// The verdicts.
const (
	// Valid: what was asked for was sent, and the client's share in the figures is small.
	Valid Verdict = "valid"
	// ClientLimited: the client was the bottleneck; the server may be faster than the figures say.
	ClientLimited Verdict = "client_limited"
	// Inconclusive: nothing shows that the client was the bottleneck, but the figures cannot be relied on.
	Inconclusive Verdict = "inconclusive"
)

// Report is what is known of the client's own part in a run.
type Report struct {
	Verdict Verdict
	// Saturated is true when the tool lag's 99th percentile exceeds the larger of 5 ms and 5 % of the median
	// TTFT (the median latency where there is none), or when the process used more than 85 % of its quota.
	Saturated bool
	Reasons   []Reason

	Inputs *Inputs
	Health *Health

	// The lags in milliseconds.
	ScheduleLag, AdmissionWait, ToolLag, ConnectionWait, SendTime, ReadLag Lags
	// Bounds are the client's shares in the headline metrics.
	Bounds []Bound

	firstReadLag Lags
}

// Reason is one finding.
type Reason struct {
	// Code names the finding.
	Code string
	// Leads is the verdict that the finding leads to; Valid = it is only reported.
	Leads Verdict
	// Message says what was seen, Advice what helps.
	Message, Advice string
	// course: the finding is on the run, not on the client. quiet: it is not a warning, because it was reported before
	// or matters little.
	course, quiet bool
}

// Judge makes the report of a run.
func Judge(h *Health, in *Inputs) *Report {
	r := reportOf(h, in)
	r.Bounds = bounds(h, in, r)
	for i := range rules {
		rule := &rules[i]
		message, found := rule.find(r)
		if !found {
			continue
		}
		r.Reasons = append(r.Reasons, Reason{Code: rule.code, Leads: rule.leads, Message: message, Advice: rule.advice})
		r.Saturated = r.Saturated || rule.saturates
		// Limited weighs more than inconclusive: it explains.
		if rule.leads == ClientLimited || rule.leads == Inconclusive && r.Verdict == Valid {
			r.Verdict = rule.leads
		}
	}
	r.judgeCourse()
	return r
}

func reportOf(h *Health, in *Inputs) *Report {
	return &Report{
		Verdict: Valid, Inputs: in, Health: h,
		ScheduleLag: lagsOf(in.ScheduleLag), AdmissionWait: lagsOf(in.AdmissionWait), ToolLag: lagsOf(in.ToolLag),
		ConnectionWait: lagsOf(in.ConnectionWait),
		SendTime:       lagsOf(in.SendTime), ReadLag: lagsOf(in.ReadLag), firstReadLag: lagsOf(in.FirstReadLag),
	}
}

// Unjudged returns the report of a run that has not ended: what was observed, without a judgement of the results.
func Unjudged(h *Health, in *Inputs) *Report {
	r := reportOf(h, in)
	r.Verdict = Inconclusive
	r.Reasons = []Reason{{Code: "run_not_ended", Leads: Inconclusive,
		Message: "the run did not reach its end, where the client's share in its figures is assessed",
		Advice:  "let it finish, or stop it with one Ctrl-C"}}
	return r
}

// Include adds what was found of another process that was a client of the same run. Its findings name the process and
// lead to the verdict as its own do; those on the course of the run count only where the report has none of their kind.
// Of the bounds, the larger ones count.
func (r *Report) Include(who string, found []Reason, bounds []Bound) {
	for _, reason := range found {
		known := slices.ContainsFunc(r.Reasons, func(o Reason) bool { return o.Code == reason.Code })
		reason.course = OfCourse(reason.Code)
		if reason.Leads == Valid || reason.course && known {
			continue
		}
		reason.Message = who + ": " + reason.Message
		r.Reasons = append(r.Reasons, reason)
		if reason.Leads == ClientLimited || r.Verdict == Valid {
			r.Verdict = reason.Leads
		}
	}
	for i := range r.Bounds {
		b := &r.Bounds[i]
		for j := range bounds {
			o := &bounds[j]
			switch {
			case o.Tag != b.Tag:
			case b.Unit == "ms":
				b.Value = max(b.Value, o.Value)
			case o.Metric.Avg > 0: // a part of the rate
				b.Value = max(b.Value, o.Value/o.Metric.Avg*b.Metric.Avg)
			}
		}
	}
}

package judge

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

// headline are the metrics whose certainty is said, with their short names.
var headline = []struct{ tag, name string }{
	{"time_to_first_token", "TTFT"}, {"inter_token_latency", "ITL"}, {"request_latency", "latency"},
}

// PartOnly warns of the figures of an incomplete run.
const PartOnly = "The figures cover only a part of the run and must not be compared with those of other runs."

// whole says that a run is not.
func (f *view) whole() (Finding, bool) {
	l := Finding{Code: CodeInterrupted}
	switch {
	case f.Incomplete != "":
		l.Level, l.Title, l.Text = Bad, "Run incomplete", f.Incomplete+". "+PartOnly
	case f.Cancelled:
		l.Level, l.Title = Warn, "Run cancelled"
		l.Text = "It was stopped early; the figures cover the requests up to then."
	default:
		return l, false
	}
	return l, true
}

// complete says that a run is whole, and what the other findings do not say of its requests.
func (f *view) complete() (Finding, bool) {
	l := Finding{Code: CodeComplete, Level: Good, Title: "Run complete"}
	if f.Running || f.Incomplete != "" || f.Cancelled || f.Successes == 0 {
		return l, false
	}
	if f.Failed > 0 && FailedLevel(f.failedShare()) == Good {
		l.Level = Plain
		l.Text = fmt.Sprintf("%s of %s requests failed (%s).", count(f.Failed), count(f.Ended()), percent(f.failedShare()))
	}
	if f.Skipped > 0 {
		l.Level = Warn
		l.Text += fmt.Sprintf(" %s of %s requests were skipped: their context was too long.", count(f.Skipped),
			count(f.Ended()))
	}
	if FailedLevel(f.failedShare()) != Good {
		l.Level, l.Text = Plain, "It was not cut short."+l.Text
	}
	l.Text = strings.TrimSpace(l.Text)
	if f.Failed == 0 && f.Skipped == 0 {
		l.Text = "All " + count(f.Successes) + " requests succeeded."
	}
	return l, true
}

// early says that a phase ended before its stop condition was met, as was asked for.
func (f *view) early() (Finding, bool) {
	l := Finding{Code: CodeInterrupted, Level: Plain, Title: "Run ended early"}
	if f.Early == "" {
		return l, false
	}
	l.Text = upper(f.Early) + "."
	return l, true
}

// ClientLimited is what is said of a run whose client was the bottleneck, where the client's report is not at hand.
func ClientLimited() Finding {
	return Finding{Code: CodeClient, Kind: Cause, Level: Bad, Title: stateOf[CodeClient].Title, Confidence: Certain,
		Text:  "The client was the bottleneck; the server may be faster than the figures say.",
		Brief: "this client: the server may be faster than the figures"}
}

// ClientLevel is how a verdict on the client is to be taken.
func ClientLevel(of trust.Verdict) Level {
	switch of {
	case trust.Valid:
		return Good
	case trust.ClientLimited:
		return Bad
	}
	return Warn
}

// client says that the client limited the run.
func (f *view) client() (Finding, bool) {
	l := ClientLimited()
	l.Text += " " + f.ownShare()
	if why := f.clientReason(); why != nil {
		l.Text = "The client was the bottleneck, so that the server may be faster than the figures say: " +
			why.Message + ". " + f.ownShare()
		l.Advice = why.Advice
	}
	l.Text = strings.TrimSpace(l.Text)
	return l, f.Client.Verdict == trust.ClientLimited
}

// clientReason returns the first reason of the verdict on the client; nil without one.
func (f *view) clientReason() *trust.ReasonDocument {
	for i := range f.Client.Reasons {
		if why := &f.Client.Reasons[i]; why.LeadsTo == f.Client.Verdict {
			return why
		}
	}
	return nil
}

// courseReason returns what the client's report says of the run's course with a code; nil for nothing.
func (f *view) courseReason(code string) *trust.ReasonDocument {
	for i := range f.Client.Reasons {
		if why := &f.Client.Reasons[i]; why.Code == code {
			return why
		}
	}
	return nil
}

// ownShare says what the client itself may have added; "" where that is not known.
func (f *view) ownShare() string {
	var shares []string
	for _, m := range headline {
		if b, ok := f.Client.Bounds.Get(m.tag); ok {
			shares = append(shares, "≤ "+short(b.Value)+" "+b.Unit+" of "+m.name)
		}
	}
	if len(shares) == 0 {
		return ""
	}
	return "Its own share is " + strings.Join(shares, ", ") + "."
}

// doubtful says that the figures may be the client's.
func (f *view) doubtful() (Finding, bool) {
	l := Finding{Code: CodeDoubtful, Level: Warn, Title: "Client inconclusive", Text: f.ownShare()}
	if f.Client.Verdict != trust.Inconclusive {
		return l, false
	}
	if why := f.clientReason(); why != nil {
		l.Text, l.Advice = strings.TrimSpace(upper(why.Message)+". "+l.Text), why.Advice
	}
	return l, true
}

// clientShare says what a client that was valid may have added.
func (f *view) clientShare() (Finding, bool) {
	switch f.Client.Verdict {
	case "":
		return Finding{Code: CodeNotObserved, Level: Plain, Title: "Client not observed",
			Text: "What this program itself added to the figures is not known."}, true
	case trust.Valid:
		return Finding{Code: CodeClientShare, Level: Good, Title: "Client valid", Text: f.ownShare()}, true
	}
	return Finding{}, false
}

// warm says that the server's prefix cache held what this run had not put there.
func (f *view) warm() (Finding, bool) {
	c := f.Cached
	if !c.Warm() {
		return Finding{}, false
	}
	l := Finding{Code: CodeWarmCache, Level: Warn, Title: "Warm cache", Confidence: Likely,
		Evidence: []Evidence{{Metric: c.Metric, Value: 100 * c.Share, Unit: "%"}},
		Text:     (&trust.WarmCache{Share: c.Share, Repeats: c.Repeats}).Message() + "."}
	if why := f.courseReason("warm_cache"); why != nil {
		l.Advice = why.Advice
	}
	l.Brief = fmt.Sprintf("a warm cache: %.0f %% of the prompt tokens were in it before", 100*c.Share)
	return l, true
}

// WarmRuns says of how many runs of an experiment the server's prefix cache held what they had not put there themselves:
// runs of one seed send each other's prompts again, and so does the next start of the same experiment.
func WarmRuns(runs []*servermetrics.Cached) (Finding, bool) {
	warm, most := 0, 0.0
	for _, c := range runs {
		if c.Warm() {
			warm, most = warm+1, max(most, c.Share)
		}
	}
	return Finding{Code: CodeWarmCache, Kind: Outcome, Level: Warn, Title: stateOf[CodeWarmCache].Title, Confidence: Likely,
		Text: fmt.Sprintf("In %d of %d runs more of the prompt tokens (up to %.0f %%) came from the server's prefix cache than "+
			"the run itself repeats: earlier runs sent the same prompts.", warm, len(runs), 100*most),
		Advice: "--reset-kv-cache empties the cache before each run, --vary-seed-per-trial or another --random-seed makes other " +
			"prompts, --cache-bust first_turn_prefix marks them"}, warm > 0
}

// intervals says how wide those of the percentiles are.
func (f *view) intervals() (Finding, bool) {
	for _, h := range headline {
		m := metrics.Find(f.Metrics, h.tag)
		if m == nil || m.Stats.Count == 0 || len(m.Bounds) == 0 {
			continue
		}
		var parts []string
		var few []string
		for _, rank := range []float64{50, 90, 99} {
			width, name := width(m, rank), metrics.RankKey(rank)
			switch {
			case math.IsNaN(width):
			case math.IsInf(width, 1):
				few = append(few, fmt.Sprintf("%s needs %s", name,
					count(stats.SamplesForBounds(rank, metrics.BoundsConfidence))))
			default:
				parts = append(parts, name+" ± "+short(100*width)+" %")
			}
		}
		l := Finding{Code: CodeIntervals, Level: Good, Title: count(m.Stats.Count) + " requests"}
		if len(parts) > 0 {
			l.Text = fmt.Sprintf("%s is within %s of the true value (%.0f %% confidence; other runs may differ by more).",
				upper(h.name), strings.Join(parts, ", "), 100*metrics.BoundsConfidence)
		}
		if len(few) > 0 {
			l.Code, l.Level = CodeFewSamples, Warn
			l.Text = strings.TrimSpace(l.Text + " Too few requests for bounds: " + strings.Join(few, ", ") + ".")
			l.Advice = "raise --request-count or --benchmark-duration"
		}
		return l, l.Text != ""
	}
	return Finding{}, false
}

// width returns the larger side of the interval of a percentile, as a part of it: infinite where a side has no bound,
// NaN where there is no interval.
func width(m *metrics.Metric, rank float64) float64 {
	for _, b := range m.Bounds {
		if b.Rank != rank {
			continue
		}
		v := m.Percentile(rank)
		if !(v > 0) {
			return math.NaN()
		}
		if !artifact.Finite(b.Low) || !artifact.Finite(b.High) {
			return math.Inf(1)
		}
		return max(b.High-v, v-b.Low) / v
	}
	return math.NaN()
}

// totals says that the server counted otherwise.
func (f *view) totals() (Finding, bool) {
	why := f.courseReason(trust.TotalsDiffer)
	if why == nil {
		return Finding{}, false
	}
	return Finding{Code: CodeContradiction, Level: Warn, Title: "Server's totals differ",
		Text: upper(why.Message) + ".", Advice: why.Advice}, true
}

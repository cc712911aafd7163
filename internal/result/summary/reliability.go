package summary

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/watch/trust"
)

// headline are the metrics whose certainty is said, with their short names.
var headline = []struct{ tag, name string }{
	{"time_to_first_token", "TTFT"}, {"inter_token_latency", "ITL"}, {"request_latency", "latency"},
}

// Reliability returns how far the figures can be relied on: whether the run is whole, what the client itself added, how
// wide the intervals of percentiles are, whether the server counted the same. Nothing is said of what is not known, but
// that nobody observed the client.
func Reliability(r *Result) []Finding {
	f := factsOf(r)
	return found(f.whole, f.clientShare, f.intervals, f.totals)
}

// whole says that a run is not.
func (f *facts) whole() (Finding, bool) {
	switch {
	case f.Incomplete != "":
		return Finding{Code: CodeInterrupted, Level: Bad, Title: "Run incomplete",
			Text: f.Incomplete + ". " + PartOnly}, true
	case f.WasCancelled:
		return Finding{Code: CodeInterrupted, Level: Warn, Title: "Run cancelled",
			Text: "It was stopped early; the figures cover the requests up to then."}, true
	case f.EndedEarly != nil:
		return Finding{Code: CodeInterrupted, Level: Plain, Title: "Run ended early",
			Text: upper(f.EndedEarly.String()) + "."}, true
	}
	return Finding{}, false
}

// clientShare says what the client itself may have added.
func (f *facts) clientShare() (Finding, bool) {
	var shares []string
	for _, m := range headline {
		if b, ok := f.health.Bounds.Get(m.tag); ok {
			shares = append(shares, "≤ "+short(b.Value)+" ms of "+m.name)
		}
	}
	share := ""
	if len(shares) > 0 {
		share = "Its own share is " + strings.Join(shares, ", ") + "."
	}
	switch f.health.Verdict {
	case "":
		return Finding{Code: CodeNotObserved, Level: Plain, Title: "Client not observed",
			Text: "What this program itself added to the figures is not known."}, true
	case trust.Valid:
		return Finding{Code: CodeClientShare, Level: Good, Title: "Client valid", Text: share}, true
	}
	l := Finding{Code: CodeDoubtful, Level: Warn, Title: "Client inconclusive", Text: share}
	if f.health.Verdict == trust.ClientLimited {
		l.Level, l.Title = Bad, "Client limited"
	}
	for _, why := range f.health.Reasons {
		if why.LeadsTo == f.health.Verdict {
			l.Text, l.Advice = upper(why.Message)+". "+share, why.Advice
			break
		}
	}
	l.Text = strings.TrimSpace(l.Text)
	return l, true
}

// intervals says how wide those of the percentiles are.
func (f *facts) intervals() (Finding, bool) {
	for _, h := range headline {
		m, ok := f.Find(h.tag)
		if !ok || m.Stats.Count == 0 || len(m.Bounds) == 0 {
			continue
		}
		var parts []string
		var few []string
		for _, rank := range []float64{50, 90, 99} {
			width, name := width(&m, rank), metrics.RankKey(rank)
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
			l.Code, l.Level = CodeTooFew, Warn
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
func (f *facts) totals() (Finding, bool) {
	for _, why := range f.health.Reasons {
		if why.Code == "totals_differ" {
			return Finding{Code: CodeContradiction, Level: Warn, Title: "Server's totals differ",
				Text: upper(why.Message) + ".", Advice: why.Advice}, true
		}
	}
	return Finding{}, false
}

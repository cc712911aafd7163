package capacity

import (
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
)

// Decision is what is certain of a condition, or of all of them.
type Decision string

// The decisions.
const (
	Undecided Decision = "undecided"
	Met       Decision = "met"
	Violated  Decision = "violated"
)

// Verdict is what a probe showed.
type Verdict struct {
	// Decision is Met if all filters are met for certain, Violated if one is violated for certain or the probe is
	// saturated. It is Undecided where the client was the bottleneck: the server was not measured then.
	Decision Decision
	// Confidence is how certain the decision is, between 0 and 1; 0 if there is none.
	Confidence float64
	// Binding is the index of the filter that is violated, or is met by the smallest margin in its standard errors; -1
	// if no filter has a figure.
	Binding int
	// Filters are in the order of the filters.
	Filters []FilterVerdict
	// Saturated reports that the work in the system grew without bound; Evidence has the figures, for people.
	Saturated bool
	Evidence  string
	// ClientLimited reports that this program or its machine was the bottleneck: such a probe is neither feasible nor
	// infeasible.
	ClientLimited bool
	// EndedEarly reports that the judge ended the probe, Reason why; Saved is the time that this saved, warm-up
	// included.
	EndedEarly bool
	Reason     string
	Saved      time.Duration
	// Requests is the number of measured requests on which the decision is based.
	Requests int64
}

// FilterVerdict is what a probe showed of one filter. What is not known is nil.
type FilterVerdict struct {
	Filter   search.Filter
	Decision Decision
	// Confidence is how certain the decision is, 0 without one.
	Confidence float64
	// Value is the figure so far and Margin that of the filter, at most 0 where it is met, in the unit of the metric;
	// StandardError is that of both, for requests that depend on one another.
	Value         *float64
	Margin        *float64
	StandardError *float64
	// Inflation is by how much the variance is above that of independent requests.
	Inflation float64
	// Judged reports that the figure can be judged while the run goes on.
	Judged bool
}

// Object returns the verdict as files have it, without what is not known.
func (v *Verdict) Object() artifact.Object {
	o := artifact.Object{
		{Key: "decision", Value: v.Decision}, {Key: "confidence", Value: v.Confidence},
		{Key: "requests", Value: v.Requests}, {Key: "saturated", Value: v.Saturated},
	}
	if v.Saturated {
		o = append(o, artifact.Member{Key: "evidence", Value: v.Evidence})
	}
	o = append(o, artifact.Member{Key: "client_limited", Value: v.ClientLimited},
		artifact.Member{Key: "ended_early", Value: v.EndedEarly})
	if v.Reason != "" {
		o = append(o, artifact.Member{Key: "reason", Value: v.Reason})
	}
	o = append(o, artifact.Member{Key: "saved_seconds", Value: v.Saved.Seconds()})
	if v.Binding >= 0 {
		o = append(o, artifact.Member{Key: "binding_filter", Value: v.Filters[v.Binding].Filter.String()})
	}
	filters := make([]any, len(v.Filters))
	for i := range v.Filters {
		f := &v.Filters[i]
		filters[i] = artifact.Object{
			{Key: "filter", Value: f.Filter.String()}, {Key: "decision", Value: f.Decision},
			{Key: "confidence", Value: f.Confidence}, {Key: "value", Value: f.Value},
			{Key: "margin", Value: f.Margin}, {Key: "standard_error", Value: f.StandardError},
			{Key: "inflation", Value: f.Inflation}, {Key: "judged", Value: f.Judged},
		}
	}
	return append(o, artifact.Member{Key: "filters", Value: filters})
}

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
	// Refused says that the server refused most prompts as too long; "" if it did not.
	Refused string
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

// VerdictDocument is a verdict as files have it. What is not known is left out.
type VerdictDocument struct {
	Decision      Decision                `json:"decision"`
	Confidence    float64                 `json:"confidence"`
	Requests      int64                   `json:"requests"`
	Saturated     bool                    `json:"saturated"`
	Evidence      *string                 `json:"evidence,omitempty"`
	Refused       string                  `json:"refused,omitempty"`
	ClientLimited bool                    `json:"client_limited"`
	EndedEarly    bool                    `json:"ended_early"`
	Reason        string                  `json:"reason,omitempty"`
	SavedSeconds  float64                 `json:"saved_seconds"`
	Binding       *string                 `json:"binding_filter,omitempty"`
	Filters       []FilterVerdictDocument `json:"filters"`
}

// FilterVerdictDocument is what a probe showed of one filter.
type FilterVerdictDocument struct {
	Filter        string   `json:"filter"`
	Decision      Decision `json:"decision"`
	Confidence    float64  `json:"confidence"`
	Value         *float64 `json:"value,omitempty"`
	Margin        *float64 `json:"margin,omitempty"`
	StandardError *float64 `json:"standard_error,omitempty"`
	Inflation     *float64 `json:"inflation,omitempty"`
	Judged        bool     `json:"judged"`
}

// Object returns the verdict as files have it.
func (v *Verdict) Object() artifact.Object {
	d := VerdictDocument{Decision: v.Decision, Confidence: v.Confidence, Requests: v.Requests, Saturated: v.Saturated,
		Refused: v.Refused, ClientLimited: v.ClientLimited, EndedEarly: v.EndedEarly, Reason: v.Reason, SavedSeconds: v.Saved.Seconds()}
	if v.Saturated {
		d.Evidence = &v.Evidence
	}
	if v.Binding >= 0 {
		d.Binding = new(v.Filters[v.Binding].Filter.String())
	}
	for i := range v.Filters {
		f := &v.Filters[i]
		d.Filters = append(d.Filters, FilterVerdictDocument{Filter: f.Filter.String(), Decision: f.Decision,
			Confidence: f.Confidence, Value: f.Value, Margin: f.Margin, StandardError: f.StandardError,
			Inflation: artifact.Known(f.Inflation), Judged: f.Judged})
	}
	return artifact.ObjectOf(d)
}

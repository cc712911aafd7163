package summary

import "aiperf/internal/measure/metrics"

// OutsideMetric is the figure of a metric of a plug-in: a distribution over the requests, or a single value, which is
// then the average. It cannot be computed again without its program, so the state of the run has it.
type OutsideMetric struct {
	Tag          string        `json:"tag"`
	Header       string        `json:"header"`
	Unit         string        `json:"unit"`
	Distribution bool          `json:"distribution"`
	Stats        metrics.Stats `json:"stats"`
	// Sum is that of Stats, which files of states leave out; Further are percentiles in addition to the usual ones.
	Sum     float64              `json:"sum,omitempty"`
	Further []metrics.Percentile `json:"further,omitempty"`
}

// AddOutside adds the figures of plug-ins to the metrics.
func (r *Result) AddOutside(list []OutsideMetric) {
	for _, m := range list {
		of := metrics.Metric{Tag: m.Tag, Header: m.Header, Unit: m.Unit, Group: metrics.GroupDefault,
			Distribution: m.Distribution, Stats: m.Stats, Further: m.Further}
		if m.Distribution {
			of.Method, of.Stats.Sum = metrics.MethodExact, m.Sum
		}
		r.Metrics = append(r.Metrics, of)
	}
}

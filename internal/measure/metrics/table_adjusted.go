package metrics

import (
	"slices"

	"aiperf/internal/measure/unit"
)

// errorAdjustedTable holds the distributions in which a failed request counts as one that never ended.
func errorAdjustedTable(all []Definition) []Definition {
	var out []Definition
	for _, d := range all {
		if !d.Flags.Has(PercentileIncludesFailedRequests) {
			continue
		}
		out = append(out, Definition{
			Tag: "adj_" + d.Tag, Header: d.Header + " (error-adjusted)", Short: d.Short + " (adj)",
			ShortHidesUnit: d.ShortHidesUnit,
			Kind:           KindAdjusted, Unit: d.Unit, Display: d.Display, Group: d.Group,
			Flags: d.Flags&^PercentileIncludesFailedRequests | NoIndividualRecords,
			Doc:   d.Header + " where a failed request counts as infinitely slow.",
			Formula: "nearest rank among the values of " + d.Tag +
				" and +∞ for each failed request; what is infinite is left out",
			Absent:   "no request failed, or none has " + d.Tag,
			Requires: []string{d.Tag},
			adjust:   errorAdjusted,
		})
	}
	return out
}

// networkPrefix begins the tags of the latencies without the network's part.
const networkPrefix = "network_adjusted_"

// networkTable holds latencies without the network's part in them.
func networkTable(all []Definition) []Definition {
	out := []Definition{{
		Tag: "network_rtt", Header: "Network RTT", Short: "RTT",
		Kind: KindDerived, Unit: unit.Nanoseconds, Display: unit.Milliseconds, Order: 305, Group: GroupDefault,
		Doc:     "Mean round trip time between this machine and the server.",
		Formula: "mean of the probes, or --network-latency-mean",
		Absent:  "the network was not calibrated",
		derive: func(s *scalars) (float64, bool) {
			if s.networkRTT == nil {
				return 0, false
			}
			return float64(*s.networkRTT), true
		},
	}}
	for _, row := range []struct {
		of    string
		order int
	}{{"request_latency", 301}, {"time_to_first_token", 101}, {"time_to_first_output_token", 211}} {
		d := all[slices.IndexFunc(all, func(d Definition) bool { return d.Tag == row.of })]
		out = append(out, Definition{
			Tag: networkPrefix + d.Tag, Header: "Network-Adjusted " + d.Header, Short: "Net-Adj " + d.Short,
			Kind: KindAdjusted, Unit: d.Unit, Display: d.Display, Order: row.order, Group: d.Group,
			Flags:    d.Flags&^PercentileIncludesFailedRequests | NoIndividualRecords,
			Doc:      d.Header + " without one mean round trip of the network.",
			Formula:  "each statistic of " + d.Tag + " but std and count, less network_rtt, at least 0",
			Absent:   "the network was not calibrated, or " + d.Tag + " is missing",
			Requires: []string{d.Tag},
			adjust:   networkAdjusted,
		})
	}
	return out
}

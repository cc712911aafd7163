package metrics

import (
	"slices"
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
			Doc:   d.Header + " with failed requests as infinitely slow.",
			Formula: "nearest rank among " + d.Tag +
				" and +∞ for each failed request, if finite",
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
		Kind: KindDerived, Unit: Nanoseconds, Display: Milliseconds, Order: 305, Group: GroupDefault,
		Doc:     "Mean round trip time between this machine and the server.",
		Formula: "mean of the probes, or --network-latency-mean",
		Absent:  "not calibrated",
		flat:    true,
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
			Doc:      d.Header + " less one mean round trip.",
			Formula:  "each statistic of " + d.Tag + " but std and count − network_rtt, at least 0",
			Absent:   "not calibrated, or no " + d.Tag,
			Requires: []string{d.Tag},
			adjust:   networkAdjusted,
		})
	}
	return out
}

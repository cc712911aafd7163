package fleet

import (
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
)

// Lost returns what the results lack of agents that were lost; nil if none was.
func Lost(accounts []Account) error {
	var who []string
	requests := int64(0)
	for i := range accounts {
		if x := &accounts[i]; x.Lost != "" {
			who = append(who, fmt.Sprintf("%s (%s)", x.Name, x.Lost))
			requests += x.Gone
		}
	}
	if who == nil {
		return nil
	}
	return fmt.Errorf("the results lack a part of the load: %d of %d agents were lost, with %d requests that have no "+
		"record: %s", len(who), len(accounts), requests, strings.Join(who, ", "))
}

// Document returns the accounts of a run as fleet.json has them.
func Document(accounts []Account) artifact.Object {
	list := []any{}
	var sent, recorded, cut, lost int64
	for i := range accounts {
		x := &accounts[i]
		sent, recorded, cut, lost = sent+x.Sent, recorded+x.Recorded, cut+x.CutOff, lost+x.Gone
		o := artifact.Object{
			{Key: "share", Value: x.Share}, {Key: "name", Value: x.Name}, {Key: "cores", Value: x.Cores},
			{Key: "requests_sent", Value: x.Sent}, {Key: "records", Value: x.Recorded},
			{Key: "requests_cut_off", Value: x.CutOff}, {Key: "requests_lost", Value: x.Gone},
			{Key: "clock_offset_ms", Value: float64(x.Offset.Offset) / 1e6},
			{Key: "clock_offset_bound_ms", Value: float64(x.Offset.Bound) / 1e6},
			{Key: "clock_drift_ppm", Value: x.Offset.Drift * 1e6}, {Key: "clock_probes", Value: x.Offset.Probes},
		}
		if x.Lost != "" {
			o = append(o, artifact.Member{Key: "lost", Value: x.Lost})
		}
		if x.Dir != "" {
			o = append(o, artifact.Member{Key: "records_dir", Value: x.Dir})
		}
		if len(x.Notes) > 0 {
			o = append(o, artifact.Member{Key: "notes", Value: x.Notes})
		}
		list = append(list, o)
	}
	return artifact.Object{{Key: "agents", Value: list}, {Key: "requests_sent", Value: sent},
		{Key: "records", Value: recorded}, {Key: "requests_cut_off", Value: cut}, {Key: "requests_lost", Value: lost}}
}

package fleet

import "aiperf/internal/base/artifact"

// Document returns the accounts of a run as fleet.json has them.
func Document(accounts []Account) artifact.Object {
	list := []any{}
	var sent, recorded, lost int64
	for i := range accounts {
		x := &accounts[i]
		gone := int64(0)
		if x.Lost != "" {
			gone = x.InFlight + x.Unrecorded
		}
		sent, recorded, lost = sent+x.Sent, recorded+x.Recorded, lost+gone
		o := artifact.Object{
			{Key: "share", Value: x.Share}, {Key: "name", Value: x.Name}, {Key: "cores", Value: x.Cores},
			{Key: "requests_sent", Value: x.Sent}, {Key: "records", Value: x.Recorded},
			{Key: "requests_lost", Value: gone},
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
		{Key: "records", Value: recorded}, {Key: "requests_lost", Value: lost}}
}

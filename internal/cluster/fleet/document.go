package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
)

// Lost returns what the results lack of agents that were lost; nil if none was.
func Lost(accounts []Account) error {
	var who, unsure []string
	requests := int64(0)
	for i := range accounts {
		x := &accounts[i]
		if x.Lost == "" {
			continue
		}
		who = append(who, fmt.Sprintf("%s (%s)", x.Name, x.Lost))
		requests += x.Gone
		if x.Source == FromLastReport {
			unsure = append(unsure, x.lowerBound())
		}
	}
	if who == nil {
		return nil
	}
	text := fmt.Sprintf("the results lack a part of the load: %d of %d agents were lost, with %d requests that have no "+
		"record: %s", len(who), len(accounts), requests, strings.Join(who, ", "))
	if unsure != nil {
		text += "; " + strings.Join(unsure, "; ")
	}
	return errors.New(text)
}

// lowerBound says that what is known of a lost agent is not all that it sent.
func (x *Account) lowerBound() string {
	return fmt.Sprintf("%d requests sent by %s is a lower bound: it may have sent up to %d more in the %s after its last "+
		"report, which its journal counts", x.Sent, x.Name, x.UnreportedAtMost, x.Silence.Round(100*time.Millisecond))
}

// Document returns the accounts of a run as fleet.json has them.
func Document(accounts []Account) artifact.Object {
	list := []any{}
	var sent, recorded, cut, lost, beyond int64
	for i := range accounts {
		x := &accounts[i]
		sent, recorded, cut, lost = sent+x.Sent, recorded+x.Recorded, cut+x.CutOff, lost+x.Gone
		beyond += x.UnreportedAtMost
		o := artifact.Object{
			{Key: "share", Value: x.Share}, {Key: "name", Value: x.Name}, {Key: "cores", Value: x.Cores},
			{Key: "requests_sent", Value: x.Sent}, {Key: "records", Value: x.Recorded},
			{Key: "requests_cut_off", Value: x.CutOff}, {Key: "requests_lost", Value: x.Gone},
			{Key: "source", Value: x.Source},
			{Key: "clock_offset_ms", Value: float64(x.Offset.Offset) / 1e6},
			{Key: "clock_offset_bound_ms", Value: float64(x.Offset.Bound) / 1e6},
			{Key: "clock_drift_ppm", Value: x.Offset.Drift * 1e6}, {Key: "clock_probes", Value: x.Offset.Probes},
		}
		if x.Lost != "" {
			o = append(o, artifact.Member{Key: "lost", Value: x.Lost})
		}
		if x.Source == FromLastReport {
			o = append(o, artifact.Member{Key: "requests_sent_is", Value: "a lower bound"},
				artifact.Member{Key: "requests_unreported_at_most", Value: x.UnreportedAtMost},
				artifact.Member{Key: "silent_s", Value: x.Silence.Seconds()})
		}
		if j := x.Journal; j != nil {
			o = append(o, artifact.Member{Key: "journal", Value: artifact.Object{{Key: "requests_sent", Value: j.Sent},
				{Key: "records", Value: j.Records}}})
		}
		if len(x.Differences) > 0 {
			o = append(o, artifact.Member{Key: "differences", Value: x.Differences})
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
		{Key: "records", Value: recorded}, {Key: "requests_cut_off", Value: cut}, {Key: "requests_lost", Value: lost},
		{Key: "requests_unreported_at_most", Value: beyond}}
}

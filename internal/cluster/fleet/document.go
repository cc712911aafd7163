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

// AccountsDocument is fleet.json: the accounts of a run and their sums.
type AccountsDocument struct {
	Agents           []AccountDocument `json:"agents"`
	Sent             int64             `json:"requests_sent"`
	Recorded         int64             `json:"records"`
	CutOff           int64             `json:"requests_cut_off"`
	Gone             int64             `json:"requests_lost"`
	UnreportedAtMost int64             `json:"requests_unreported_at_most"`
}

// AccountDocument is the account of one agent.
type AccountDocument struct {
	Share         int     `json:"share"`
	Name          string  `json:"name"`
	Cores         int     `json:"cores"`
	Sent          int64   `json:"requests_sent"`
	Recorded      int64   `json:"records"`
	CutOff        int64   `json:"requests_cut_off"`
	Gone          int64   `json:"requests_lost"`
	Source        string  `json:"source"`
	OffsetMS      float64 `json:"clock_offset_ms"`
	OffsetBoundMS float64 `json:"clock_offset_bound_ms"`
	DriftPPM      float64 `json:"clock_drift_ppm"`
	Probes        int     `json:"clock_probes"`
	Lost          string  `json:"lost,omitempty"`
	*LowerBoundDocument
	Journal     *JournalCount `json:"journal,omitempty"`
	Differences []string      `json:"differences,omitempty"`
	Dir         string        `json:"records_dir,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
}

// LowerBoundDocument says that what is known of a lost agent is not all that it sent.
type LowerBoundDocument struct {
	SentIs           string  `json:"requests_sent_is"`
	UnreportedAtMost int64   `json:"requests_unreported_at_most"`
	Seconds          float64 `json:"silent_s"`
}

// Document returns the accounts of a run as fleet.json has them.
func Document(accounts []Account) artifact.Object {
	var all AccountsDocument
	for i := range accounts {
		x := &accounts[i]
		all.Sent, all.Recorded, all.CutOff = all.Sent+x.Sent, all.Recorded+x.Recorded, all.CutOff+x.CutOff
		all.Gone, all.UnreportedAtMost = all.Gone+x.Gone, all.UnreportedAtMost+x.UnreportedAtMost
		d := AccountDocument{Share: x.Share, Name: x.Name, Cores: x.Cores, Sent: x.Sent, Recorded: x.Recorded,
			CutOff: x.CutOff, Gone: x.Gone, Source: x.Source, OffsetMS: float64(x.Offset.Offset) / 1e6,
			OffsetBoundMS: float64(x.Offset.Bound) / 1e6, DriftPPM: x.Offset.Drift * 1e6, Probes: x.Offset.Probes,
			Lost: x.Lost, Journal: x.Journal, Differences: x.Differences, Dir: x.Dir, Notes: x.Notes}
		if x.Source == FromLastReport {
			d.LowerBoundDocument = &LowerBoundDocument{"a lower bound", x.UnreportedAtMost, x.Silence.Seconds()}
		}
		all.Agents = append(all.Agents, d)
	}
	return artifact.ObjectOf(all)
}

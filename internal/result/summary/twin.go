package summary

import (
	"cmp"
	"math"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/twin"
	"aiperf/internal/result/judge"
)

// Recorded is what a recording that was played is compared by, and what of its replay the records do not say.
type Recorded struct {
	twin.Facts
	// Replayed is what a cache without bounds knows of the prompts that were sent.
	Replayed *twin.Cache `json:"replayed_cache,omitempty"`
}

// Twin compares a recording with its replay.
type Twin struct {
	Recorded, Replayed twin.Facts
	Rows               []twin.Row
}

// CompareWith compares the requests of the run with those of the recording.
func (r *Result) CompareWith(recorded *Recorded, list []twin.Request) {
	t := &Twin{Recorded: recorded.Facts, Replayed: twin.Replayed(list, recorded.Flight)}
	t.Replayed.Cache, t.Replayed.Server = recorded.Replayed, r.serverCache()
	lateness := math.NaN()
	if late, ok := r.Value("replay_sched_lag_p99"); ok {
		lateness = late
	}
	t.Rows = twin.Compare(&t.Recorded, &t.Replayed, lateness)
	r.Twin = t
}

// serverCache is the share of the prompts that came from the server's cache, by its counters or else by what it says of
// each request; nil if it says neither.
func (r *Result) serverCache() *float64 {
	if r.Cached != nil {
		return &r.Cached.Share
	}
	if percent, ok := r.Value("overall_usage_prompt_cache_read_pct"); ok && r.CacheReported {
		share := percent / 100
		return &share
	}
	return nil
}

// TwinLine is a measure as people read it; "–" stands for what is not known.
type TwinLine struct {
	Measure, Recorded, Replayed, Distance string
	Verdict                               judge.TwinVerdict
}

// Lines are the measures of both sides as people read them.
func (t *Twin) Lines() (lines []TwinLine) {
	text := func(v float64) string { return cmp.Or(artifact.Short(v), "–") }
	for i := range t.Rows {
		r := &t.Rows[i]
		l := TwinLine{Measure: r.Title(), Recorded: text(r.Recorded), Replayed: text(r.Replayed), Distance: "–",
			Verdict: judge.TwinVerdictOf(r.Distance)}
		if unit := r.Unit(); unit != "" {
			l.Measure += " (" + unit + ")"
		}
		if l.Verdict != "" {
			l.Distance = strconv.FormatFloat(r.Distance, 'f', 3, 64)
		}
		lines = append(lines, l)
	}
	return lines
}

package servermetrics

import (
	"slices"

	"aiperf/internal/stats"
)

// Window is a stretch of time, both ends included, in Unix nanoseconds.
type Window struct{ StartNS, EndNS int64 }

// Window is the measurement window of the endpoint for a profiling phase: the phase, up to the endpoint's last
// update where that came later, so that the final scrape counts when it changed anything.
func (e *EndpointStore) Window(phase Window) Window {
	for _, ns := range e.updates {
		phase.EndNS = max(phase.EndNS, ns)
	}
	return phase
}

// Info describes the scrapes of an endpoint over the whole run.
type Info struct {
	TotalFetches              int64
	FirstFetchNS, LastFetchNS int64
	AvgFetchLatencyMS         float64
	UniqueUpdates             int64
	// FirstUpdateNS and LastUpdateNS are 0 without an update.
	FirstUpdateNS, LastUpdateNS int64
	DurationSeconds             float64 // from the first to the last update
	AvgUpdateIntervalMS         float64
	// MedianUpdateIntervalMS is nil with fewer than two gaps between updates.
	MedianUpdateIntervalMS *float64
}

// Info describes the scrapes of the endpoint; it must have delivered one.
func (e *EndpointStore) Info() Info {
	info := Info{
		TotalFetches: int64(len(e.times)),
		FirstFetchNS: slices.Min(e.times), LastFetchNS: slices.Max(e.times),
		UniqueUpdates: int64(len(e.updates)),
	}
	if e.latencies > 0 {
		info.AvgFetchLatencyMS = e.latencyNS / float64(e.latencies) / 1e6
	}
	if len(e.updates) == 0 {
		return info
	}
	updates := slices.Sorted(slices.Values(e.updates))
	info.FirstUpdateNS, info.LastUpdateNS = updates[0], updates[len(updates)-1]
	info.DurationSeconds = seconds(info.LastUpdateNS - info.FirstUpdateNS)
	if len(updates) > 1 {
		info.AvgUpdateIntervalMS = info.DurationSeconds * 1000 / float64(len(updates)-1)
	}
	if gap, known := medianGap(updates); known {
		ms := gap / 1e6
		info.MedianUpdateIntervalMS = &ms
	}
	return info
}

// medianGap is the median distance of ascending times; unknown with fewer than two gaps.
func medianGap(times []int64) (float64, bool) {
	if len(times) < 3 {
		return 0, false
	}
	gaps := make([]float64, len(times)-1)
	for i := range gaps {
		gaps[i] = float64(times[i+1] - times[i])
	}
	return stats.Percentiles(gaps, []float64{50})[0], true
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

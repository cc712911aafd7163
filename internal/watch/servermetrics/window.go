package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// Window is a stretch of time, both ends included, in Unix nanoseconds.
type Window struct{ StartNS, EndNS int64 }

// Window returns the measurement window of the endpoint for a profiling phase: the phase, up to the endpoint's final
// scrape where that came later. The final scrape counts also when its page was the one before: the page of an idle
// server, or of a run shorter than the scrape interval, does not change.
func (e *EndpointStore) Window(phase Window) Window {
	for _, ns := range e.times {
		phase.EndNS = max(phase.EndNS, ns)
	}
	return phase
}

// Info describes scrapes of an endpoint.
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
	// NoTotals is why there are no statistics of counters and histograms; "" where there are.
	NoTotals string
}

// Info describes the scrapes of the whole run.
func (e *EndpointStore) Info() Info {
	return e.InfoWithin(Window{math.MinInt64, math.MaxInt64})
}

// InfoWithin describes the scrapes of the endpoint in a window; it is zero without one.
func (e *EndpointStore) InfoWithin(w Window) Info {
	info := Info{FirstFetchNS: math.MaxInt64, LastFetchNS: math.MinInt64, NoTotals: e.NoTotals()}
	latencyNS, latencies := 0.0, 0
	for slot, ns := range e.times {
		if ns < w.StartNS || ns > w.EndNS {
			continue
		}
		info.TotalFetches++
		info.FirstFetchNS, info.LastFetchNS = min(info.FirstFetchNS, ns), max(info.LastFetchNS, ns)
		if v := e.latencies[slot]; v > 0 {
			latencyNS += float64(v)
			latencies++
		}
	}
	if info.TotalFetches == 0 {
		return Info{}
	}
	if latencies > 0 {
		info.AvgFetchLatencyMS = latencyNS / float64(latencies) / 1e6
	}
	var updates []int64
	for _, ns := range e.updates {
		if ns >= w.StartNS && ns <= w.EndNS {
			updates = append(updates, ns)
		}
	}
	info.UniqueUpdates = int64(len(updates))
	if len(updates) == 0 {
		return info
	}
	slices.Sort(updates)
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

// medianGap returns the median distance of ascending times; unknown with fewer than two gaps.
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

package capacity_test

import (
	"testing"
	"time"

	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
)

// A run of a quick look ends without a verdict once its figures are steady and clear of the limits, on either side; one
// near a limit, one that scatters and one that is short goes on.
func TestASteadyRunEnds(t *testing.T) {
	for _, c := range []struct {
		name      string
		users     int
		limit     float64 // of the time to first token, which is half of the latency, in ms
		latency   func(number int) float64
		requests  int
		elapsed   float64
		unasked   bool
		limited   bool
		wantEnded bool
	}{
		{name: "far below", users: 4, limit: 500, requests: 24, elapsed: 3, wantEnded: true},
		{name: "far beyond", users: 4, limit: 20, requests: 24, elapsed: 3, wantEnded: true},
		{name: "near the limit", users: 4, limit: 52, requests: 24, elapsed: 3},
		{name: "too few requests", users: 4, limit: 500, requests: 9, elapsed: 3},
		{name: "too short", users: 4, limit: 500, requests: 24, elapsed: 1},
		{name: "not asked for", users: 4, limit: 500, requests: 24, elapsed: 3, unasked: true},
		{name: "the client was the bottleneck", users: 4, limit: 52, requests: 24, elapsed: 3, limited: true,
			wantEnded: true},
		{name: "the client was the bottleneck of one user", users: 1, limit: 52, requests: 24, elapsed: 3, limited: true},
		{name: "scattered", users: 4, limit: 5000, requests: 24, elapsed: 3, latency: func(number int) float64 {
			return []float64{0.02, 0.9, 0.1, 2, 0.3}[number%5]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := make(chan run.End, 1)
			j := capacity.NewJudge(closedLoop(c.users), capacity.JudgeOptions{End: ends, Steady: !c.unasked,
				Filters: []search.Filter{{Metric: "time_to_first_token", Stat: "p95", Op: search.LE, Threshold: c.limit}}})
			for i := range c.requests {
				latency := 0.1
				if c.latency != nil {
					latency = c.latency(i)
				}
				j.Record(requestOf(int64(i), float64(i)*latency/float64(c.users), latency))
			}
			s := snapshot(c.elapsed, int64(c.requests+c.users), int64(c.requests))
			if c.limited {
				s.Client = &progress.Client{Verdict: "client_limited"}
			}
			j.Show(s)
			select {
			case end := <-ends:
				if !c.wantEnded || end.Reason == "" {
					t.Errorf("ended: %q", end.Reason)
				}
			default:
				if c.wantEnded {
					t.Errorf("goes on after %s, half-width %v", time.Duration(c.elapsed*1e9), j.HalfWidth())
				}
			}
		})
	}
}

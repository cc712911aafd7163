package timesplit_test

import (
	"math"
	"testing"

	"aiperf/internal/measure/timesplit"
)

func TestPartsAddUpToTheWhole(t *testing.T) {
	part := func(stage timesplit.Stage, ms float64) timesplit.Part {
		return timesplit.Part{Stage: stage, Milliseconds: ms, Source: "m"}
	}
	for _, c := range []struct {
		known                   []timesplit.Part
		queue, network, unknown float64
	}{
		{[]timesplit.Part{part(timesplit.Queue, 60), part(timesplit.Network, 10)}, 60, 10, 30},
		{[]timesplit.Part{part(timesplit.Network, 50), part(timesplit.Queue, 90)}, 90, 10, 0},
		{[]timesplit.Part{part(timesplit.Queue, 0), {Stage: timesplit.Network, Milliseconds: 5}}, 0, 0, 100},
		{nil, 0, 0, 100},
	} {
		s := timesplit.Fit(100, c.known)
		sum := 0.0
		for _, p := range s.Parts {
			sum += p.Share
			if p.Known != (p.Stage != timesplit.Unknown) {
				t.Errorf("%+v", p)
			}
		}
		if math.Abs(sum-1) > 1e-9 || s.Share(timesplit.Queue) != c.queue/100 ||
			s.Share(timesplit.Network) != c.network/100 || s.Share(timesplit.Unknown) != c.unknown/100 {
			t.Errorf("%+v", s)
		}
	}
	if s := timesplit.Fit(100, []timesplit.Part{part(timesplit.Queue, 0)}); s.Find(timesplit.Queue) == nil {
		t.Error("a queue of no time is known")
	}
}

func TestMeanOfRuns(t *testing.T) {
	split := func(whole, queue float64) *timesplit.Times {
		return &timesplit.Times{Server: "vLLM", Requests: 10, TTFT: timesplit.Fit(whole,
			[]timesplit.Part{{Stage: timesplit.Queue, Milliseconds: queue, Source: "m"}})}
	}
	got := timesplit.Mean([]*timesplit.Times{nil, split(100, 100), split(300, 100)})
	if got == nil || got.Latency != nil || got.Requests != 20 || got.Server != "vLLM" || got.TTFT.Milliseconds != 200 ||
		got.TTFT.Share(timesplit.Queue) != 0.5 || got.TTFT.Find(timesplit.Unknown).Milliseconds != 100 {
		t.Errorf("%+v", got)
	}
	if got := timesplit.Mean([]*timesplit.Times{nil, {}}); got != nil {
		t.Errorf("%+v of runs of which nothing is known", got)
	}
}

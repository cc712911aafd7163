package run

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// needy asks for errors and GPUs and keeps the last snapshot. It ends the run when there are errors, and readings of GPUs
// during the load.
type needy struct {
	last *progress.Snapshot
	seen chan struct{}
	once sync.Once
}

func (n *needy) Begin(*progress.Run) progress.Needs { return progress.Needs{Errors: true, GPUs: true} }
func (n *needy) Show(s *progress.Snapshot) {
	if len(s.Errors) > 0 && len(s.GPUs) == 2 && !math.IsNaN(s.GPUs[0].Values[0].Avg) && !math.IsNaN(s.GPUs[0].Values[1].Avg) {
		n.once.Do(func() { close(n.seen) })
	}
}
func (n *needy) End(e *progress.Ending) { n.last = e.Last }

func TestSnapshotsHaveErrorsAndGPUs(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond, ErrorRate: 40, Seed: 3,
		GPU: mockserver.GPUOptions{Load: &mockserver.LoadCurve{{Load: 0.5}}}})
	n := &needy{seen: make(chan struct{})}
	w := watch(t, url, Options{Observers: []progress.Observer{n}, Stop: n.seen}, "--no-server-metrics", "--gpu-telemetry",
		url+"/dcgm1/metrics", "--concurrency", "2", "--benchmark-duration", "60")
	failed := int64(0)
	for _, k := range n.last.Errors {
		if k.Message == "" || k.Type == "" {
			t.Errorf("%+v has no name or no message", k)
		}
		failed += k.Count
	}
	if want := w.outcome.Result.Counts.Errors; failed != want || want == 0 {
		t.Errorf("%d errors, the result has %d", failed, want)
	}
	if len(n.last.GPUs) != 2 || n.last.GPUs[1].Index != 1 || n.last.GPUs[0].Source != hostOf(url)+"/dcgm1" {
		t.Fatalf("GPUs %+v", n.last.GPUs)
	}
	power := n.last.GPUs[0].Values[0]
	if power.Tag != "gpu_power_usage" || power.Now != 385 || power.Avg != 385 || power.Unit != "W" {
		t.Errorf("power %+v, want 385 W", power)
	}
	if energy := n.last.GPUs[0].Values[1]; !math.IsNaN(energy.P50) || math.IsNaN(energy.Avg) {
		t.Errorf("the growth of a counter is its only figure: %+v", energy)
	}
}

func TestKindsOfErrorsAreBounded(t *testing.T) {
	t.Parallel()
	var k errorKinds
	k.add(&record.Error{Code: 1})
	if len(k.newest()) != 0 {
		t.Error("errors are counted that nobody wants")
	}
	k.wanted.Store(true)
	for i := range 3 * maxErrorKinds {
		k.add(&record.Error{Code: 500 + i, Type: "A", Message: strings.Repeat("x", 2*maxKindMessage)})
	}
	k.add(&record.Error{Code: 500, Type: "A", Message: "the last"})
	list := k.newest()
	if len(list) != maxErrorKinds+1 || list[0].Type != otherErrorKinds || list[0].Count != 2*maxErrorKinds {
		t.Errorf("%d kinds, the first %+v", len(list), list[0])
	}
	if list[1].Message != "the last" || list[1].Count != 2 || len(list[2].Message) > maxKindMessage+4 {
		t.Error(fmt.Sprint(list[1:3]))
	}
}

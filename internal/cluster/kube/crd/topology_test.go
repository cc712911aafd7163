package crd_test

import (
	"strings"
	"testing"

	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"

	"github.com/google/go-cmp/cmp"
)

// running is a run with a concurrency, and a number of workers where that is above 0.
func running(concurrency, workers int) *config.Run {
	r := &config.Run{Phases: []config.Phase{{Concurrency: &concurrency}}}
	if workers > 0 {
		r.Workers.Max = &workers
	}
	return r
}

func TestTrapWorkersThatAreAskedForMustFillPods(t *testing.T) {
	for _, c := range []struct {
		workers int
		want    crd.Topology
	}{
		{8, crd.Topology{Workers: 8, Pods: 1, PerPod: 8, Processors: 8}},
		{10, crd.Topology{Workers: 10, Pods: 1, PerPod: 10, Processors: 10}},
		{20, crd.Topology{Workers: 20, Pods: 2, PerPod: 10, Processors: 20}},
	} {
		got, err := crd.TopologyOf(&crd.Spec{}, running(5, c.workers))
		if err != nil || got != c.want {
			t.Errorf("%d workers: %+v, %v; want %+v", c.workers, got, err, c.want)
		}
	}
	_, err := crd.TopologyOf(&crd.Spec{}, running(5, 25))
	if err == nil || !strings.Contains(err.Error(), "such as 20 or 30") {
		t.Errorf("25 workers: %v; want advice", err)
	}
}

func TestTrapWorkersThatFollowFromTheConcurrencyAreRoundedUp(t *testing.T) {
	for _, c := range []struct{ concurrency, workers, pods int }{
		{0, 1, 1}, {5, 1, 1}, {100, 1, 1}, {101, 2, 1}, {250, 3, 1}, {1000, 10, 1}, {1001, 20, 2}, {2500, 30, 3},
	} {
		got, err := crd.TopologyOf(&crd.Spec{}, running(c.concurrency, 0))
		if err != nil || got.Workers != c.workers || got.Pods != c.pods {
			t.Errorf("concurrency %d: %+v, %v; want %d workers in %d pods", c.concurrency, got, err, c.workers, c.pods)
		}
	}
	least := 12
	r := running(5, 0)
	r.Workers.Min = &least
	if got, err := crd.TopologyOf(&crd.Spec{}, r); err != nil || got.Workers != 20 {
		t.Errorf("at least 12 workers: %+v, %v; want 20", got, err)
	}
}

func TestTrapInKubernetesEveryWorkerHasARecordProcessor(t *testing.T) {
	got, err := crd.TopologyOf(&crd.Spec{}, running(800, 0))
	if err != nil || got.Processors != 8 {
		t.Errorf("8 workers: %+v, %v; want 8 record processors, not 2 as on one host", got, err)
	}
	r, odd := running(5, 20), 3
	r.Workers.RecordProcessors = &odd
	if _, err := crd.TopologyOf(&crd.Spec{}, r); err == nil || !strings.Contains(err.Error(), "multiple of 2") {
		t.Errorf("3 record processors in 2 pods: %v", err)
	}
}

func TestBudgetIsDividedByLargestRemainder(t *testing.T) {
	one, err := crd.SharesOf(crd.Topology{Workers: 1, Pods: 1, PerPod: 1, Processors: 1})
	want := crd.Shares{Agent: crd.Share{541, 1536},
		Workers: []crd.Share{{708, 1536}}, Processors: []crd.Share{{2101, 3072}}}
	if err != nil || cmp.Diff(want, one) != "" {
		t.Errorf("1 worker: %v %s", err, cmp.Diff(want, one))
	}
	// as the original writes it for three workers
	three, err := crd.SharesOf(crd.Topology{Workers: 3, Pods: 1, PerPod: 3, Processors: 3})
	if err != nil || cmp.Diff([]crd.Share{{785, 1228}, {784, 1228}, {784, 1228}}, three.Processors) != "" ||
		three.Workers[2] != (crd.Share{265, 615}) {
		t.Errorf("3 workers: %v %+v", err, three)
	}
	if _, err := crd.SharesOf(crd.Topology{Workers: 20, Pods: 1, PerPod: 20, Processors: 20}); err == nil ||
		!strings.Contains(err.Error(), "it needs 162") {
		t.Errorf("20 workers in a pod: %v", err)
	}
}

package dispatch_test

import (
	"testing"

	"aiperf/internal/load"
	"aiperf/internal/run/dispatch"
)

// A run that ends before its barrier opens leaves nobody behind it.
func TestGatheredRequestsThatAreNotSentEnd(t *testing.T) {
	t.Parallel()
	d := dispatch.NewIdle()
	ended := d.WaitAtGate()
	d.Close()
	if ended() != (load.Credit{}) {
		t.Error("a request was sent")
	}
}

func TestCuttingOnePhaseOffSparesTheOthers(t *testing.T) {
	t.Parallel()
	d := dispatch.NewIdle()
	defer d.Close()
	first, second := d.ExchangesOf(0), d.ExchangesOf(1)
	d.CutOffPhase(0)
	if first.Err() == nil || second.Err() != nil {
		t.Errorf("ended: phase 0 %v, phase 1 %v", first.Err(), second.Err())
	}
	d.CutOff()
	if second.Err() == nil {
		t.Error("phase 1 goes on")
	}
}

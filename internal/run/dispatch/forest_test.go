package dispatch_test

import (
	"reflect"
	"sort"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/run/dispatch"
)

func TestThinkTimesAreDrawnFromTheSeed(t *testing.T) {
	t.Parallel()
	data := datasetOf(t, `{"session_id":"o","orchestrator":true,"spawns":["a"],"rounds":200,"think_time_ms":100,"think_time_sigma":1,"think_time_min_ms":20,"think_time_max_ms":400}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"A"}]}]}`)
	delays := func(seed, k uint64) (all []float64) {
		d := dispatch.New(dispatch.Options{Data: data, Seed: random.Root(seed)})
		defer d.Close()
		tree := d.Source().(load.Branching).Tree(k)
		for _, turn := range tree.Nodes[0].Turns[1:] {
			all = append(all, float64(turn.DelayNS)/1e6)
		}
		return all
	}
	one := delays(1, 0)
	if !reflect.DeepEqual(one, delays(1, 0)) || reflect.DeepEqual(one, delays(1, 1)) ||
		reflect.DeepEqual(one, delays(2, 0)) {
		t.Error("think times are no function of seed and session")
	}
	sort.Float64s(one)
	if one[0] != 20 || one[len(one)-1] != 400 || one[len(one)/2] < 60 || one[len(one)/2] > 160 {
		t.Errorf("think times from %v to %v, median %v", one[0], one[len(one)-1], one[len(one)/2])
	}
}

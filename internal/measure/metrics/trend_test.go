package metrics

import (
	"math"
	"reflect"
	"testing"

	"aiperf/internal/measure/record"
)

func TestTrend(t *testing.T) {
	set := mustSet(t, chatConfig())
	// Each second one request that takes 1.5 s to its first token and 2 s in all; the second one fails.
	records := []*record.Record{success(0, 2000*ms, 1500*ms), failure(1000*ms, 2000*ms, record.Error{Type: "x"}),
		success(2000*ms, 2000*ms, 1500*ms), success(3000*ms, 2000*ms, 2500*ms), success(4000*ms, 2000*ms, 1500*ms)}
	got := fill(set.NewEngine(), records).Trend()
	want := &Trend{SendingNS: 4e9, Sent: [4]int64{1, 1, 1, 2}, Ended: [4]int64{0, 0, 1, 1},
		InFlight: [4]int64{1, 2, 2, 3}, Wait: [4]float64{1500, math.NaN(), 1500, 2000}}
	if math.IsNaN(got.Wait[1]) {
		got.Wait[1], want.Wait[1] = 0, 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := fill(set.NewEngine(), records[:1]).Trend(); got != nil {
		t.Errorf("of requests at one instant: %+v", got)
	}
	if got := set.NewEngine().Trend(); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

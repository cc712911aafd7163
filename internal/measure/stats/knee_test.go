package stats_test

import (
	"math"
	"testing"

	"aiperf/internal/measure/stats"
)

// linear is a server with latency a + b·n at n users, whose power n/latency² is largest at n = a/b.
func linear(a, b float64, loads ...float64) (latency, throughput []float64) {
	for _, n := range loads {
		l := a + b*n
		latency, throughput = append(latency, l), append(throughput, n/l)
	}
	return latency, throughput
}

func TestKneeIsWhereThePowerIsLargest(t *testing.T) {
	latency, throughput := linear(64, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256)
	if i, ok := stats.Knee(latency, throughput); !ok || i != 6 {
		t.Errorf("knee at point %d, %v; want that of 64 users", i, ok)
	}
	further, yield := linear(64, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 4096, 65536)
	if i, ok := stats.Knee(further, yield); !ok || i != 6 {
		t.Errorf("measured far beyond the knee it is at point %d, %v", i, ok)
	}
}

func TestKneeOfACliffIsTheLastPointBeforeIt(t *testing.T) {
	if i, ok := stats.Knee([]float64{50, 51, 52, 900}, []float64{10, 20, 40, 41}); !ok || i != 2 {
		t.Errorf("point %d, %v", i, ok)
	}
}

func TestKneeIsUnknownWhereTheCurveDoesNotBend(t *testing.T) {
	rising, yield := linear(64, 1, 1, 2, 4, 8, 16)
	falling, little := linear(1, 1, 64, 128, 256)
	for name, c := range map[string][2][]float64{
		"below the knee":         {rising, yield},
		"beyond the knee":        {falling, little},
		"noise at the top":       {{10, 10, 10.1}, {10, 20, 19.9}},
		"two points":             {{10, 20}, {10, 5}},
		"no point":               {nil, nil},
		"no number in the curve": {{math.NaN(), 1, 1}, {1, math.NaN(), math.NaN()}},
	} {
		if i, ok := stats.Knee(c[0], c[1]); ok {
			t.Errorf("%s: knee at point %d", name, i)
		}
	}
}

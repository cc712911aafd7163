package gpu_test

import (
	"math"
	"testing"

	"aiperf/internal/watch/gpu"
)

func TestNewestOfEachDevice(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := gpu.NewStore(c)
	read := func(index int, ns int64, power, energy float64) {
		v := c.NewValues()
		if !math.IsNaN(power) {
			c.Set(v, "gpu_power_usage", power)
		}
		c.Set(v, "energy_consumption", energy)
		s.Add(gpu.Reading{Device: gpu.Device{Source: "http://a/metrics", Index: index, UUID: string(rune('A' + index))},
			TimestampNS: ns, Values: v})
	}
	read(1, 10, 100, 1)
	read(0, 10, 50, 5)
	read(1, 20, 300, 2)
	read(1, 30, math.NaN(), 4)

	list := s.Newest(0)
	if len(list) != 2 || list[0].Index != 0 || list[1].Index != 1 {
		t.Fatalf("devices %+v, want those of indexes 0 and 1", list)
	}
	if f := list[1].Fields; len(f) != 2 || f[0].Now != 300 || f[0].Known || f[1].Now != 4 {
		t.Errorf("without a start: %+v", f)
	}
	f := s.Newest(15)[1].Fields
	if !f[0].Known || f[0].Avg != 300 || f[0].Max != 300 || !f[1].Known || f[1].Avg != 3 {
		t.Errorf("since the start: %+v, want the power of one reading and a growth of 3", f)
	}
}

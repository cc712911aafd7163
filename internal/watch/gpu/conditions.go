package gpu

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
)

// Condition is what may have slowed a device down in a phase. What its source does not say is nil, and shares
// are 0 to 1.
type Condition struct {
	// Name is the device as tables call it.
	Name string `json:"name"`
	// PowerLimited, HeatLimited and SettingsLimited are the shares of the time in which the clocks were lower for these
	// reasons: a limit of power, heat, clocks that somebody set.
	PowerLimited    *float64 `json:"power_limited,omitempty"`
	HeatLimited     *float64 `json:"heat_limited,omitempty"`
	SettingsLimited *float64 `json:"settings_limited,omitempty"`
	// Clock is the mean SM clock of the samples in which it worked, HighestClock the highest it can have, in MHz.
	Clock        *float64 `json:"clock_mhz,omitempty"`
	HighestClock *float64 `json:"highest_clock_mhz,omitempty"`
	// Power is the mean in watts, Temperature the highest in °C.
	Power       *float64 `json:"power_watts,omitempty"`
	Temperature *float64 `json:"temperature_max,omitempty"`
	// MemoryUsed is the largest share of the memory.
	MemoryUsed *float64 `json:"memory_used,omitempty"`
}

// Bits of NVML's mask of reasons for lower clocks.
const (
	bySettings = 0x2
	byPower    = 0x4 | 0x80
	byHeat     = 0x20 | 0x40
)

// working is the utilization in percent from which on a device works.
const working = 10

// Conditions returns what may have slowed each device down, for those of which something is known.
func (s *Store) Conditions(w Window) []Condition {
	var out []Condition
	for _, d := range s.devices {
		m := DeviceMetrics{Device: d.Device}
		known := artifact.Known
		c := Condition{Name: m.Title(), SettingsLimited: known(s.reasons(d, w, bySettings)),
			PowerLimited: known(larger(s.violation(d, w, "power_violation"), s.reasons(d, w, byPower))),
			HeatLimited:  known(larger(s.violation(d, w, "thermal_violation"), s.reasons(d, w, byHeat))),
			Clock:        known(s.clock(d, w)), HighestClock: known(s.largest(d, w, "sm_clock_max")),
			Power: known(s.mean(d, w, "gpu_power_usage")), Temperature: known(s.largest(d, w, "gpu_temperature")),
			MemoryUsed: known(s.memory(d, w))}
		if c != (Condition{Name: c.Name, Power: c.Power, Temperature: c.Temperature}) {
			out = append(out, c)
		}
	}
	return out
}

// larger returns the larger of two shares, the other one where one is not known.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

func (s *Store) values(d *Series, w Window, name string) []float64 {
	i, ok := s.catalog.find(name)
	if !ok {
		return nil
	}
	return d.samples(i, w.StartNS, w.EndNS+w.GraceNS)
}

// mean returns the mean of the samples of a field; NaN without any.
func (s *Store) mean(d *Series, w Window, name string) float64 {
	values := s.values(d, w, name)
	if len(values) == 0 {
		return math.NaN()
	}
	return mean(values)
}

func (s *Store) largest(d *Series, w Window, name string) float64 {
	values := s.values(d, w, name)
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Max(values)
}

// violation returns the share of the time that a counter of microseconds says.
func (s *Store) violation(d *Series, w Window, name string) float64 {
	i, ok := s.catalog.find(name)
	if !ok || w.EndNS <= w.StartNS {
		return math.NaN()
	}
	us, known := d.growth(i, w.StartNS, w.EndNS+w.GraceNS)
	if !known {
		return math.NaN()
	}
	return min(us*1e3/float64(w.EndNS-w.StartNS), 1)
}

// reasons returns the share of the samples of the mask that have one of some bits.
func (s *Store) reasons(d *Series, w Window, bits uint64) float64 {
	values := s.values(d, w, "clock_reasons")
	if len(values) == 0 {
		return math.NaN()
	}
	n := 0
	for _, v := range values {
		if v > 0 && v < math.MaxUint32 && uint64(v)&bits != 0 {
			n++
		}
	}
	return float64(n) / float64(len(values))
}

// clock returns the mean clock of the samples in which the device worked.
func (s *Store) clock(d *Series, w Window) float64 {
	clock, hasClock := s.catalog.find("sm_clock")
	busy, hasBusy := s.catalog.find("gpu_utilization")
	if !hasClock || !hasBusy || d.columns[clock] == nil || d.columns[busy] == nil {
		return math.NaN()
	}
	var values []float64
	for i := d.from(w.StartNS); i < d.until(w.EndNS+w.GraceNS); i++ {
		if v := d.columns[clock][i]; d.columns[busy][i] >= working && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return mean(values)
}

// memory returns the largest share of the memory that was in use.
func (s *Store) memory(d *Series, w Window) float64 {
	used, hasUsed := s.catalog.find("gpu_memory_used")
	free, hasFree := s.catalog.find("gpu_memory_free")
	if !hasUsed || !hasFree || d.columns[used] == nil || d.columns[free] == nil {
		return math.NaN()
	}
	most := math.NaN()
	for i := d.from(w.StartNS); i < d.until(w.EndNS+w.GraceNS); i++ {
		if all := d.columns[used][i] + d.columns[free][i]; all > 0 {
			most = larger(most, d.columns[used][i]/all)
		}
	}
	return most
}

package gpu

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/measure/metrics"
)

// Newest is the newest value of a field of a device, and its figures so far.
type Newest struct {
	Field
	Now float64
	// Stats are over the readings since an instant, of a counter only Avg: its growth. Known reports that there are any.
	metrics.Stats
	Known bool
}

// DeviceNewest is what a device said last.
type DeviceNewest struct {
	Device
	Fields []Newest
	// Memory is the size of its memory in GB; 0 where it is not known.
	Memory float64
}

// Newest returns what each device said last, with the figures since an instant, in the order of sources, hosts and
// indexes. An instant of 0 is for no figures.
func (s *Store) Newest(sinceNS int64) []DeviceNewest {
	var list []DeviceNewest
	for _, d := range s.devices {
		own := DeviceNewest{Device: d.Device}
		for field, column := range d.columns {
			now, known := newestOf(column)
			if !known || s.catalog.quiet[field] {
				continue
			}
			n := Newest{Field: s.catalog.Field(field), Now: now}
			if sinceNS > 0 {
				n.Stats, n.Known = s.stats(d, field, Window{StartNS: sinceNS, EndNS: math.MaxInt64}, math.MaxInt64)
			}
			own.Fields = append(own.Fields, n)
		}
		own.Memory = s.memorySize(d)
		if len(own.Fields) > 0 {
			list = append(list, own)
		}
	}
	slices.SortStableFunc(list, func(a, b DeviceNewest) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Hostname, b.Hostname),
			cmp.Compare(a.Index, b.Index), cmp.Compare(a.Instance, b.Instance))
	})
	return list
}

// newestOf returns the newest value of a column that is known.
func newestOf(column []float64) (float64, bool) {
	for _, v := range slices.Backward(column) {
		if !math.IsNaN(v) {
			return v, true
		}
	}
	return 0, false
}

// memorySize returns the size of a device's memory in GB, 0 where it is not known.
func (s *Store) memorySize(d *Series) float64 {
	newest := func(name string) (float64, bool) {
		field, has := s.catalog.find(name)
		if !has {
			return 0, false
		}
		return newestOf(d.columns[field])
	}
	if total, known := newest("amd_memory_total"); known {
		return total
	}
	used, hasUsed := newest("gpu_memory_used")
	free, hasFree := newest("gpu_memory_free")
	if !hasUsed || !hasFree {
		return 0
	}
	return used + free
}

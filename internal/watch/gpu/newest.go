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
}

// Newest returns what each device said last, with the figures since an instant, in the order of sources, hosts and
// indexes. An instant of 0 is for no figures.
func (s *Store) Newest(sinceNS int64) []DeviceNewest {
	var list []DeviceNewest
	for _, d := range s.devices {
		own := DeviceNewest{Device: d.Device}
		for field, column := range d.columns {
			i := len(column) - 1
			for i >= 0 && math.IsNaN(column[i]) {
				i--
			}
			if i < 0 || s.catalog.quiet[field] {
				continue
			}
			n := Newest{Field: s.catalog.Field(field), Now: column[i]}
			if sinceNS > 0 {
				n.Stats, n.Known = s.stats(d, field, Window{StartNS: sinceNS, EndNS: math.MaxInt64}, math.MaxInt64)
			}
			own.Fields = append(own.Fields, n)
		}
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

package gpu

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"aiperf/internal/measure/metrics"
)

// Store holds the readings of a run, by device. It is not safe for concurrent use.
type Store struct {
	catalog *Catalog
	devices []*Series
	byKey   map[string]*Series
}

// Series is what a device said over a run.
type Series struct {
	Device
	times []int64
	// columns are the values of each field, as long as times; nil for a field that was never said.
	columns [][]float64
}

// NewStore returns an empty store.
func NewStore(c *Catalog) *Store { return &Store{catalog: c, byKey: map[string]*Series{}} }

// Empty reports that no device said anything.
func (s *Store) Empty() bool { return len(s.devices) == 0 }

// GPUs returns the number of GPUs. One counts once, in however many instances and through however many exporters it was
// seen.
func (s *Store) GPUs() int {
	seen := map[string]bool{}
	for _, d := range s.devices {
		seen[d.physical()] = true
	}
	return len(seen)
}

// Add keeps a reading. Identity that a device reported only later fills what was not known before.
func (s *Store) Add(r Reading) {
	key := r.key()
	d := s.byKey[key]
	if d == nil {
		d = &Series{Device: r.Device, columns: make([][]float64, s.catalog.Len())}
		s.byKey[key] = d
		s.devices = append(s.devices, d)
	}
	d.Namespace, d.Pod = cmp.Or(d.Namespace, r.Namespace), cmp.Or(d.Pod, r.Pod)
	d.insert(r.TimestampNS, r.Values)
}

// insert keeps the series in the order of time; a reading is seldom older than the one before.
func (d *Series) insert(ns int64, values []float64) {
	at := len(d.times)
	if at > 0 && ns < d.times[at-1] {
		at = sort.Search(at, func(i int) bool { return d.times[i] > ns })
	}
	d.times = slices.Insert(d.times, at, ns)
	for i := range d.columns {
		v := math.NaN()
		if i < len(values) {
			v = values[i]
		}
		switch {
		case d.columns[i] != nil:
			d.columns[i] = slices.Insert(d.columns[i], at, v)
		case !math.IsNaN(v):
			d.columns[i] = make([]float64, len(d.times), 2*len(d.times))
			for j := range d.columns[i] {
				d.columns[i][j] = math.NaN()
			}
			d.columns[i][at] = v
		}
	}
}

// Window is a phase: from its start to the end of its last request, in wall nanoseconds, both included.
type Window struct {
	StartNS, EndNS int64
	// GraceNS is how long after the end an energy counter is still read.
	GraceNS int64
}

// from returns the index of the first reading at or after ns.
func (d *Series) from(ns int64) int {
	return sort.Search(len(d.times), func(i int) bool { return d.times[i] >= ns })
}

// until returns the index of the first reading after ns.
func (d *Series) until(ns int64) int {
	return sort.Search(len(d.times), func(i int) bool { return d.times[i] > ns })
}

// samples returns the values of a field between two instants, both included.
func (d *Series) samples(field int, startNS, endNS int64) []float64 {
	column := d.columns[field]
	if column == nil {
		return nil
	}
	var out []float64
	for _, v := range column[d.from(startNS):max(d.until(endNS), d.from(startNS))] {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// gauge describes the samples of the phase. A phase that is too short to have any is described by those after it:
// the final reading comes with its last request.
func (d *Series) gauge(field int, w Window, untilNS int64) (metrics.Stats, bool) {
	values := d.samples(field, w.StartNS, w.EndNS)
	if len(values) == 0 {
		values = d.samples(field, w.StartNS, untilNS)
	}
	if len(values) == 0 {
		return metrics.Stats{}, false
	}
	return describe(values), true
}

// growth returns what a counter rose by from the last sample before the phase, or its first one in it, to the last one
// up to endNS. A counter that restarted has not grown. Without a sample from the start on it is not known.
func (d *Series) growth(field int, startNS, endNS int64) (float64, bool) {
	in := d.samples(field, startNS, endNS)
	if len(in) == 0 {
		return 0, false
	}
	base := in[0]
	before := d.columns[field][:d.from(startNS)]
	for _, v := range slices.Backward(before) {
		if !math.IsNaN(v) {
			base = v
			break
		}
	}
	return max(in[len(in)-1]-base, 0), true
}

// Late returns the devices whose last reading came more than slack before the end of the phase: what they did
// afterwards is not known, and not in their energy.
func (s *Store) Late(w Window, slackNS int64) []Device {
	var late []Device
	for _, d := range s.devices {
		if last := d.times[len(d.times)-1]; last >= w.StartNS && last < w.EndNS-slackNS {
			late = append(late, d.Device)
		}
	}
	return late
}

// stats describes a field of a device by the readings up to an instant, if there is anything to say.
func (s *Store) stats(d *Series, field int, w Window, untilNS int64) (metrics.Stats, bool) {
	if s.catalog.fields[field].Kind == Counter {
		v, ok := d.growth(field, w.StartNS, untilNS)
		return metrics.Stats{Avg: v}, ok
	}
	return d.gauge(field, w, untilNS)
}

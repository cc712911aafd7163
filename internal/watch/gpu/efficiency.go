package gpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/metrics"
)

// Load is what the requests of a phase did, as far as it is known: the numerators of efficiency.
type Load struct {
	OutputTokens, OutputLength, InputLength *float64 // totals; OutputLength counts reasoning too
	Requests, MeanLatencySeconds            *float64
	RequestRate, TokenRate, Goodput         *float64 // per second
	Concurrency                             *float64
}

// Efficiency is a figure of power or energy.
type Efficiency struct {
	Tag            string        `json:"tag"`
	Header         string        `json:"header"`
	Unit           string        `json:"unit"`
	Order          int           `json:"order"`
	Group          metrics.Group `json:"group"` // of all GPUs together, or of those of a vendor
	Value          float64       `json:"value"`
	LargerIsBetter bool          `json:"larger_is_better,omitempty"`
}

// Result returns the figure as a metric.
func (f Efficiency) Result() metrics.Metric {
	r := metrics.Metric{
		Tag: f.Tag, Header: f.Header, Short: f.Header, Unit: f.Unit, Order: f.Order,
		Group: f.Group, Stats: metrics.Stats{Avg: f.Value},
	}
	if f.LargerIsBetter {
		r.Flags = metrics.LargerIsBetter
	}
	return r
}

// fleetOrders and vendorOrders place the figures in tables and files: those of all GPUs, and those of a vendor,
// to which the vendor's own number is added.
var (
	fleetOrders = map[string]int{
		"total_gpu_power": 900, "total_gpu_energy": 901, "output_tokens_per_joule": 902, "energy_per_user": 903,
	}
	vendorOrders = map[string]int{
		"energy_delay_product": 700, "performance_per_watt": 710, "output_tps_per_watt": 712, "goodput_per_watt": 714,
		"average_gpu_power": 720, "total_gpu_energy": 730, "total_gpu_power": 740, "energy_per_total_token": 745,
		"energy_per_output_token": 750, "energy_per_request": 755, "output_tokens_per_joule": 760,
		"energy_per_user": 765,
	}
	vendors = []struct {
		platform, name string
		group          metrics.Group
		orders         int
	}{{NVIDIA, "NVIDIA", metrics.GroupGPUNVIDIA, 0}, {AMD, "AMD", metrics.GroupGPUAMD, 100}}
)

// fleet is the power and energy of some of the devices.
type fleet struct {
	powered, metered int // devices with such a reading
	watts, joules    float64
	integrated       bool // the energy is power × time
}

// Efficiency combines the readings of a phase with its requests: the four figures of all GPUs, then for each vendor
// its own. A figure whose signal is missing is left out.
func (s *Store) Efficiency(w Window, load Load) []Efficiency {
	all := s.fleet(w, "")
	out := all.figures(load, load.OutputTokens)
	for i := range out {
		out[i].Order, out[i].Group = fleetOrders[out[i].Tag], metrics.GroupGPU
	}
	for _, v := range vendors {
		f := s.fleet(w, v.platform)
		list := append(f.figures(load, load.OutputLength), f.vendorFigures(w, load)...)
		for i := range list {
			m := &list[i]
			m.Order = vendorOrders[m.Tag] + v.orders
			m.Tag, m.Header, m.Group = v.platform+"_"+m.Tag, v.name+" "+m.Header, v.group
		}
		slices.SortFunc(list, func(a, b Efficiency) int { return cmp.Compare(a.Order, b.Order) })
		out = append(out, list...)
	}
	return out
}

// fleet sums up the devices of a platform, "" for all. A GPU counts once, in however many instances and through
// however many exporters it was seen.
func (s *Store) fleet(w Window, platform string) fleet {
	var f fleet
	powered, metered := map[string]bool{}, map[string]bool{}
	devices := slices.Clone(s.devices)
	// A GPU as a whole goes before its instances.
	slices.SortStableFunc(devices, func(a, b *Series) int { return len(a.Instance) - len(b.Instance) })
	for _, d := range devices {
		if platform != "" && d.Platform != platform {
			continue
		}
		if v, ok := s.power(d, w); ok && !powered[d.physical()] {
			powered[d.physical()] = true
			f.watts += v
		}
		if v, ok := s.energy(d, w); ok && !metered[d.physical()] {
			metered[d.physical()] = true
			f.joules += v * 1e6
		}
	}
	f.powered, f.metered = len(powered), len(metered)
	if f.metered == 0 && f.powered > 0 && w.EndNS > w.StartNS {
		f.joules, f.metered, f.integrated = f.watts*w.seconds(), f.powered, true
	}
	return f
}

// power returns the mean power of a device within the phase in watts.
func (s *Store) power(d *Series, w Window) (float64, bool) {
	for _, name := range powerFields {
		if i, ok := s.catalog.find(name); ok {
			if values := d.samples(i, w.StartNS, w.EndNS); len(values) > 0 {
				return mean(values), true
			}
			if v, ok := d.around(i, w); ok {
				return v, true
			}
		}
	}
	return 0, false
}

// around returns the value of a field in a phase in which its source said nothing new: the mean of the last sample
// before and the first one after. An exporter that is slower than the phase, or a page that did not change, has no
// others.
func (d *Series) around(field int, w Window) (float64, bool) {
	before, after := d.samples(field, math.MinInt64, w.StartNS), d.samples(field, w.EndNS, math.MaxInt64)
	if len(before) == 0 || len(after) == 0 {
		return 0, false
	}
	return (before[len(before)-1] + after[0]) / 2, true
}

// energy returns what a device used in the phase in megajoules, by its own counter.
func (s *Store) energy(d *Series, w Window) (float64, bool) {
	for _, name := range energyFields {
		if i, ok := s.catalog.find(name); ok {
			if v, ok := d.growth(i, w.StartNS, w.EndNS+w.GraceNS); ok {
				return v, true
			}
		}
	}
	return 0, false
}

func (w Window) seconds() float64 { return float64(w.EndNS-w.StartNS) / 1e9 }

// count returns a number of devices in a header.
func count(n int) string {
	if n == 1 {
		return "(1 GPU)"
	}
	return fmt.Sprintf("(%d GPUs)", n)
}

// figures returns the four figures that every fleet has, without their order.
func (f *fleet) figures(load Load, tokens *float64) []Efficiency {
	var out []Efficiency
	if f.powered > 0 {
		out = append(out, Efficiency{Tag: "total_gpu_power", Header: "Total GPU Power " + count(f.powered), Unit: "W",
			Value: f.watts})
	}
	if f.metered == 0 {
		return out
	}
	devices := f.devices()
	out = append(out, Efficiency{Tag: "total_gpu_energy", Header: "Total GPU Energy " + devices, Unit: "J",
		Value: f.joules})
	if tokens != nil && f.joules > 0 {
		out = append(out, Efficiency{Tag: "output_tokens_per_joule", Header: "Output Tokens per Joule " + devices,
			Unit: "tokens/J", Value: *tokens / f.joules, LargerIsBetter: true})
	}
	if load.Concurrency != nil && *load.Concurrency > 0 {
		out = append(out, Efficiency{Tag: "energy_per_user", Header: "Energy per User " + devices,
			Unit: "joules/user", Value: f.joules / *load.Concurrency})
	}
	return out
}

func (f *fleet) devices() string {
	if f.integrated {
		return count(f.metered) + " (integrated)"
	}
	return count(f.metered)
}

// vendorFigures returns those that only a vendor's family has, without their order.
func (f *fleet) vendorFigures(w Window, load Load) []Efficiency {
	seconds := w.seconds()
	if f.metered == 0 || seconds <= 0 {
		return nil
	}
	watts := f.joules / seconds
	var out []Efficiency
	add := func(tag, header, unit string, larger bool, value float64) {
		out = append(out, Efficiency{Tag: tag, Header: header + " " + f.devices(), Unit: unit, Value: value,
			LargerIsBetter: larger})
	}
	// per divides unless a side is not known or the divisor is 0.
	per := func(tag, header, unit string, larger bool, a, b *float64) {
		if a != nil && b != nil && *b > 0 {
			add(tag, header, unit, larger, *a / *b)
		}
	}
	millijoules, power := 1000*f.joules, &watts
	add("average_gpu_power", "Average GPU Power", "W", false, watts)
	per("energy_per_output_token", "Energy per Output Token", "mJ/token", false, &millijoules, load.OutputLength)
	if load.InputLength != nil && load.OutputLength != nil {
		tokens := *load.InputLength + *load.OutputLength
		per("energy_per_total_token", "Energy per Total Token", "mJ/token", false, &millijoules, &tokens)
	}
	per("energy_per_request", "Energy per Request", "joules/request", false, &f.joules, load.Requests)
	if load.MeanLatencySeconds != nil {
		product := f.joules * *load.MeanLatencySeconds
		per("energy_delay_product", "Energy Delay Product", "J*s", false, &product, load.Requests)
	}
	per("performance_per_watt", "Performance per Watt", "requests/sec/W", true, load.RequestRate, power)
	per("output_tps_per_watt", "Output TPS per Watt", "tokens/sec/W", true, load.TokenRate, power)
	per("goodput_per_watt", "Goodput per Watt", "good-req/s/W", true, load.Goodput, power)
	return out
}

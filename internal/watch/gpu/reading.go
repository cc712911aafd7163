package gpu

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/watch/prom"
)

// Device is one GPU, or one MIG instance of it, at one source.
type Device struct {
	// Source is the exporter's URL, redacted, or the id of a local driver.
	Source   string `json:"telemetry_source_url"`
	Platform string `json:"platform"`
	Index    int    `json:"gpu_index"`
	// UUID and Model are never empty: they are generated where the source does not tell.
	UUID      string `json:"gpu_uuid"`
	Model     string `json:"gpu_model_name"`
	PCIBusID  string `json:"pci_bus_id,omitempty"`
	Device    string `json:"device,omitempty"`
	Hostname  string `json:"hostname,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod_name,omitempty"`
	// Instance is the id of the MIG instance, "" for the GPU as a whole.
	Instance string `json:"gpu_instance_id,omitempty"`
}

// key identifies a device among those of all sources.
func (d *Device) key() string {
	return strings.Join([]string{d.Source, d.Hostname, d.UUID, strconv.Itoa(d.Index), d.Instance}, "\x00")
}

// physical identifies the GPU that a device is or is a part of, wherever it was seen.
func (d *Device) physical() string {
	if strings.HasPrefix(d.UUID, unknownUUID) || d.UUID == "" {
		return strings.Join([]string{d.Source, d.Hostname, strconv.Itoa(d.Index)}, "\x00")
	}
	return d.UUID
}

// unknownUUID stands before the index of a GPU without UUID.
const unknownUUID = "GPU-unknown-"

// Reading is what a device said at one instant.
type Reading struct {
	Device
	TimestampNS int64
	// Values are those of the catalog's fields, NaN where there is none.
	Values []float64
}

// Dialect is which exporter's names are understood.
type Dialect uint8

// The dialects.
const (
	AnyDialect Dialect = iota
	DCGM
	DeviceMetricsExporter
)

// group is the lines of a page that belong to one device.
type group struct {
	device Device
	values []float64
	ranks  []int
	// uuid as the page says it, "" if not at all.
	uuid string
	any  bool
}

// FromPage makes readings of a page of an exporter: one for each device that has any known field. Lines that belong
// to no GPU are left out.
func (c *Catalog) FromPage(source string, timestampNS int64, samples []prom.Sample, d Dialect) []Reading {
	var groups []*group
	for i := range samples {
		s := &samples[i]
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Series.Family.Type == prom.Histogram {
			continue
		}
		name := strings.TrimSuffix(s.Series.Family.Name, "_total")
		if d != DeviceMetricsExporter {
			for _, m := range c.dcgm[name] {
				groups = c.dcgmLine(groups, source, m, labels(s.Series.Labels), s.Value)
			}
		}
		if d != DCGM {
			groups = c.amdLine(groups, source, name, labels(s.Series.Labels), s.Value)
		}
	}
	var readings []Reading
	for _, g := range groups {
		if g.any {
			readings = append(readings, Reading{Device: g.device, TimestampNS: timestampNS, Values: g.values})
		}
	}
	slices.SortStableFunc(readings, func(a, b Reading) int { return cmp.Compare(a.Index, b.Index) })
	return readings
}

func (c *Catalog) dcgmLine(groups []*group, source string, m mapping, l labels, value float64) []*group {
	index, err := strconv.Atoi(l.get("gpu"))
	if err != nil {
		return groups
	}
	d := Device{
		Source: source, Platform: NVIDIA, Index: index, UUID: l.get("UUID"),
		Model:    cmp.Or(l.get("modelName"), "Unknown GPU"),
		PCIBusID: l.get("pci_bus_id"), Device: l.get("device"), Hostname: l.get("Hostname"),
		Namespace: l.get("namespace"), Pod: l.get("pod"), Instance: l.get("GPU_I_ID"),
	}
	if d.Instance != "" {
		d.Model = strings.TrimSpace(d.Model + " MIG " + l.get("GPU_I_PROFILE"))
	}
	groups, g := c.groupOf(groups, d)
	g.set(m, m.rank, value)
	return groups
}

// amdLine adds a line of AMD's exporter to the group of its GPU. A field has several mappings where a label, the kind
// of the clock, tells its metrics apart; the rank decides which of several lines for one metric counts.
func (c *Catalog) amdLine(groups []*group, source, name string, l labels, value float64) []*group {
	mappings := c.amd[name]
	index, err := strconv.Atoi(l.get("gpu_id"))
	if err != nil || len(mappings) == 0 {
		return groups
	}
	for _, m := range mappings {
		rank := m.rank
		if m.clock != "" {
			kind := strings.ToLower(strings.TrimPrefix(l.get("clock_type"), "GPU_CLOCK_TYPE_"))
			if kind != m.clock {
				continue
			}
			if n, err := strconv.Atoi(l.get("clock_index")); err == nil {
				rank = n
			}
		}
		var g *group
		groups, g = c.groupOf(groups, Device{
			Source: source, Platform: AMD, Index: index,
			UUID:   cmp.Or(l.get("serial_number"), "amd-gpu-"+l.get("gpu_id")),
			Model:  cmp.Or(l.get("card_model"), "Unknown AMD GPU"),
			Device: "amd" + l.get("gpu_id"), Hostname: l.get("hostname"), Namespace: l.get("namespace"),
			Pod: l.get("pod"),
		})
		g.set(m, rank, value)
	}
	return groups
}

// groupOf returns the group of a device; a line that lacks the UUID or the host belongs to the first device that fits.
func (c *Catalog) groupOf(groups []*group, d Device) ([]*group, *group) {
	agree := func(a, b string) bool { return a == b || a == "" || b == "" }
	for _, g := range groups {
		if g.device.Index == d.Index && g.device.Platform == d.Platform && g.device.Instance == d.Instance &&
			agree(g.uuid, d.UUID) && agree(g.device.Hostname, d.Hostname) {
			return groups, g
		}
	}
	g := &group{device: d, uuid: d.UUID, values: c.NewValues(), ranks: make([]int, c.Len())}
	g.device.UUID = cmp.Or(d.UUID, unknownUUID+strconv.Itoa(d.Index))
	return append(groups, g), g
}

// set keeps a value unless a better one is there; of equal ones the last counts.
func (g *group) set(m mapping, rank int, value float64) {
	if !math.IsNaN(g.values[m.field]) && g.ranks[m.field] < rank {
		return
	}
	g.values[m.field], g.ranks[m.field], g.any = value*m.scale, rank, g.any || !m.quiet
}

// NewValues returns the values of a reading that says nothing.
func (c *Catalog) NewValues() []float64 {
	v := make([]float64, c.Len())
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

// Set puts the value of a field, by its plain name, into the values of a reading. Unknown names and values that are
// not finite are left out.
func (c *Catalog) Set(values []float64, name string, value float64) bool {
	i, ok := c.find(name)
	if ok = ok && !math.IsNaN(value) && !math.IsInf(value, 0); ok {
		values[i] = value
	}
	return ok
}

// labels are those of a series.
type labels []prom.Label

func (l labels) get(name string) string {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value
		}
	}
	return ""
}

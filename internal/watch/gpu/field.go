package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is how a field is summed up.
type Kind uint8

// A gauge has a distribution, a counter only grows.
const (
	Gauge Kind = iota
	Counter
)

var kindNames = [...]string{Gauge: "gauge", Counter: "counter"}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind of field %.20q", text)
	}
	*k = Kind(i)
	return nil
}

// Platforms of devices.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
)

// Field is one quantity of a GPU.
type Field struct {
	Name    string `json:"name"`
	Display string `json:"display_name"`
	Unit    string `json:"unit"`
	Kind    Kind   `json:"kind"`
	// Platform whose devices have the field.
	Platform string `json:"platform"`
}

// builtin are the fields that need no configuration, in the order of exports.
var builtin = []Field{
	{"gpu_power_usage", "GPU Power Usage", "W", Gauge, NVIDIA},
	{"energy_consumption", "Energy Consumption", "MJ", Counter, NVIDIA},
	{"gpu_utilization", "GPU Utilization", "%", Gauge, NVIDIA},
	{"gpu_memory_used", "GPU Memory Used", "GB", Gauge, NVIDIA},
	{"gpu_temperature", "GPU Temperature", "°C", Gauge, NVIDIA},
	{"mem_utilization", "Memory Utilization", "%", Gauge, NVIDIA},
	{"sm_utilization", "SM Utilization", "%", Gauge, NVIDIA},
	{"decoder_utilization", "Decoder Utilization", "%", Gauge, NVIDIA},
	{"encoder_utilization", "Encoder Utilization", "%", Gauge, NVIDIA},
	{"jpg_utilization", "JPEG Utilization", "%", Gauge, NVIDIA},
	{"xid_errors", "XID Errors", "count", Counter, NVIDIA},
	{"power_violation", "Power Violation", "us", Counter, NVIDIA},
	{"amd_power", "AMD Power", "W", Gauge, AMD},
	{"amd_energy_consumption", "AMD Energy Consumption", "MJ", Counter, AMD},
	{"amd_gfx_activity", "AMD GFX Activity", "%", Gauge, AMD},
	{"amd_umc_activity", "AMD UMC Activity", "%", Gauge, AMD},
	{"amd_mm_activity", "AMD MM Activity", "%", Gauge, AMD},
	{"amd_memory_used", "AMD Memory Used", "GB", Gauge, AMD},
	{"amd_memory_free", "AMD Memory Free", "GB", Gauge, AMD},
	{"amd_memory_total", "AMD Memory Total", "GB", Gauge, AMD},
	{"amd_temperature", "AMD Temperature", "°C", Gauge, AMD},
	{"amd_memory_temperature", "AMD Memory Temperature", "°C", Gauge, AMD},
	{"amd_ecc_uncorrectable", "AMD ECC Uncorrectable", "count", Counter, AMD},
	{"amd_throttle_status", "AMD Throttle Status", "count", Gauge, AMD},
	{"amd_sm_clock", "AMD SM Clock", "MHz", Gauge, AMD},
	{"amd_mem_clock", "AMD Memory Clock", "MHz", Gauge, AMD},
}

// quiet are fields that no export has: [Store.Conditions] is made of them, unless a custom field of the name shows one.
var quiet = []Field{
	{"thermal_violation", "Thermal Violation", "us", Counter, NVIDIA},
	{"sm_clock", "SM Clock", "MHz", Gauge, NVIDIA},
	{"sm_clock_max", "Highest SM Clock", "MHz", Gauge, NVIDIA},
	{"clock_reasons", "Reasons for Lower Clocks", "bits", Gauge, NVIDIA},
	{"gpu_memory_free", "GPU Memory Free", "GB", Gauge, NVIDIA},
}

// scopedNames are the vendor-prefixed names that are not just nvidia_ before the name.
var scopedNames = map[string]string{
	"gpu_power_usage": "nvidia_power_usage", "gpu_memory_used": "nvidia_memory_used",
	"gpu_temperature": "nvidia_temperature", "mem_utilization": "nvidia_memory_utilization",
}

// Fields of power and of energy, whoever made the GPU.
var (
	powerFields  = []string{"gpu_power_usage", "amd_power"}
	energyFields = []string{"energy_consumption", "amd_energy_consumption"}
)

// mapping leads from a sample of an exporter to a field.
type mapping struct {
	field int
	scale float64
	// rank orders samples that mean the same field: the lowest counts.
	rank int
	// clock is the clock_type that a gpu_clock must have.
	clock string
	// quiet: the field is in no export.
	quiet bool
}

// exporterField is a row of the tables below.
type exporterField struct {
	sample, field string
	scale         float64
	rank          int
	clock         string
}

// dcgmFields are the names of the DCGM exporter. Memory is in MiB, energy in mJ, violations are in ns.
var dcgmFields = []exporterField{
	{sample: "DCGM_FI_DEV_POWER_USAGE", field: "gpu_power_usage", scale: 1},
	{sample: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", field: "energy_consumption", scale: 1e-9},
	{sample: "DCGM_FI_DEV_GPU_UTIL", field: "gpu_utilization", scale: 1},
	{sample: "DCGM_FI_DEV_FB_USED", field: "gpu_memory_used", scale: 0.001048576},
	{sample: "DCGM_FI_DEV_GPU_TEMP", field: "gpu_temperature", scale: 1},
	{sample: "DCGM_FI_DEV_MEM_COPY_UTIL", field: "mem_utilization", scale: 1},
	{sample: "DCGM_FI_PROF_SM_ACTIVE", field: "sm_utilization", scale: 100},
	{sample: "DCGM_FI_DEV_DEC_UTIL", field: "decoder_utilization", scale: 1},
	{sample: "DCGM_FI_DEV_ENC_UTIL", field: "encoder_utilization", scale: 1},
	{sample: "DCGM_FI_DEV_XID_ERRORS", field: "xid_errors", scale: 1},
	{sample: "DCGM_FI_DEV_POWER_VIOLATION", field: "power_violation", scale: 1e-3},
	{sample: "DCGM_FI_DEV_THERMAL_VIOLATION", field: "thermal_violation", scale: 1e-3},
	{sample: "DCGM_FI_DEV_SM_CLOCK", field: "sm_clock", scale: 1},
	{sample: "DCGM_FI_DEV_MAX_SM_CLOCK", field: "sm_clock_max", scale: 1},
	{sample: "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", field: "clock_reasons", scale: 1},
	{sample: "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", field: "clock_reasons", scale: 1, rank: 1},
	{sample: "DCGM_FI_DEV_FB_FREE", field: "gpu_memory_free", scale: 0.001048576},
}

// amdFields are the names of AMD's Device Metrics Exporter. Memory is in MB of 1/1024 GB, energy in µJ.
var amdFields = []exporterField{
	{sample: "gpu_package_power", field: "amd_power", scale: 1},
	{sample: "gpu_power_usage", field: "amd_power", scale: 1, rank: 1},
	{sample: "gpu_energy_consumed", field: "amd_energy_consumption", scale: 1e-12},
	{sample: "gpu_gfx_activity", field: "amd_gfx_activity", scale: 1},
	{sample: "gpu_umc_activity", field: "amd_umc_activity", scale: 1},
	{sample: "gpu_used_vram", field: "amd_memory_used", scale: 1.0 / 1024},
	{sample: "gpu_free_vram", field: "amd_memory_free", scale: 1.0 / 1024},
	{sample: "gpu_total_vram", field: "amd_memory_total", scale: 1.0 / 1024},
	{sample: "gpu_junction_temperature", field: "amd_temperature", scale: 1},
	{sample: "gpu_memory_temperature", field: "amd_memory_temperature", scale: 1},
	{sample: "gpu_ecc_uncorrect", field: "amd_ecc_uncorrectable", scale: 1},
	{sample: "gpu_clock", field: "amd_sm_clock", scale: 1, clock: "system"},
	{sample: "gpu_clock", field: "amd_mem_clock", scale: 1, clock: "memory"},
}

// Catalog is the fields of a run and the samples that they come from. It does not change once it is in use.
type Catalog struct {
	fields []Field
	index  map[string]int
	dcgm   map[string][]mapping
	amd    map[string][]mapping
	// quiet are the fields that exports leave out.
	quiet map[int]bool
	// scoped asks for vendor-prefixed names.
	scoped bool
}

// FieldNamed returns the built-in field with a name, plain or with its vendor.
func FieldNamed(name string) (Field, bool) {
	for _, f := range builtin {
		if f.Name == name || f.Platform == NVIDIA && name == cmp.Or(scopedNames[f.Name], "nvidia_"+f.Name) {
			return f, true
		}
	}
	return Field{}, false
}

// NewCatalog returns the built-in fields and, after them, the custom ones. With scoped, exports name NVIDIA's
// fields with their vendor.
func NewCatalog(custom []Custom, scoped bool) *Catalog {
	c := &Catalog{index: map[string]int{}, dcgm: map[string][]mapping{}, amd: map[string][]mapping{},
		quiet: map[int]bool{}, scoped: scoped}
	for _, f := range builtin {
		c.add(f)
	}
	for _, f := range quiet {
		c.quiet[len(c.fields)] = true
		c.add(f)
	}
	for _, f := range dcgmFields {
		c.dcgm[f.sample] = append(c.dcgm[f.sample], mapping{field: c.index[f.field], scale: f.scale, rank: f.rank,
			quiet: c.quiet[c.index[f.field]]})
	}
	for _, f := range amdFields {
		c.amd[f.sample] = append(c.amd[f.sample], mapping{c.index[f.field], f.scale, f.rank, f.clock, false})
	}
	for _, m := range custom {
		if i, known := c.index[m.Field.Name]; known && !c.quiet[i] {
			continue
		}
		c.add(m.Field) // under its name from now on
		c.dcgm[m.Sample] = append(c.dcgm[m.Sample], mapping{field: c.index[m.Field.Name], scale: m.Scale})
	}
	return c
}

func (c *Catalog) add(f Field) {
	c.index[f.Name] = len(c.fields)
	c.fields = append(c.fields, f)
}

// Len returns the number of fields.
func (c *Catalog) Len() int { return len(c.fields) }

// Field returns a field as exports name it.
func (c *Catalog) Field(i int) Field {
	f := c.fields[i]
	if c.scoped && f.Platform == NVIDIA {
		f.Name = cmp.Or(scopedNames[f.Name], "nvidia_"+f.Name)
		f.Display = "NVIDIA " + strings.TrimPrefix(f.Display, "NVIDIA ")
	}
	return f
}

// find returns the index of a field by its plain name.
func (c *Catalog) find(name string) (int, bool) {
	i, ok := c.index[name]
	return i, ok
}

// isBuiltin reports whether a sample of DCGM has a field without any configuration.
func isBuiltin(sample string) bool {
	for _, f := range dcgmFields {
		if f.sample == sample && !slices.ContainsFunc(quiet, func(q Field) bool { return q.Name == f.field }) {
			return true
		}
	}
	return false
}

package collect_test

import (
	"math"
	"testing"

	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
)

func value(t *testing.T, c *gpu.Catalog, r gpu.Reading, field string) float64 {
	t.Helper()
	for i := range c.Len() {
		if c.Field(i).Name == field {
			return r.Values[i]
		}
	}
	t.Fatal(field)
	return 0
}

func TestNvidiaSMILine(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	r, err := collect.ParseSMI(c, collect.SMIColumns(),
		[]byte("1, GPU-x, NVIDIA H200, 00000000:02:00.0, 250.50, 66, [N/A], 16384, [Not Supported]\n"))
	if err != nil || r.Index != 1 || r.UUID != "GPU-x" || r.Model != "NVIDIA H200" ||
		r.PCIBusID != "00000000:02:00.0" || r.Device.Device != "nvidia1" {
		t.Fatalf("%+v %v", r, err)
	}
	for field, want := range map[string]float64{"gpu_power_usage": 250.5, "gpu_utilization": 66,
		"gpu_memory_used": 17.179869184} {
		if got := value(t, c, r, field); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
	for _, field := range []string{"mem_utilization", "gpu_temperature", "energy_consumption"} {
		if !math.IsNaN(value(t, c, r, field)) {
			t.Errorf("%s has a value", field)
		}
	}
	for _, bad := range []string{"", "No devices were found", "x, a, b, c, 1, 2, 3, 4, 5", "0, a"} {
		if _, err := collect.ParseSMI(c, collect.SMIColumns(), []byte(bad)); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestAMDSMIDocuments(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	known, err := collect.ParseAMDStatic([]byte(`WARNING: something
[{"gpu":0,"asic":{"market_name":"MI300X","asic_serial":"0xA"},"board":{"product_name":"Instinct"},"bus":{"bdf":"0000:0c:00.0"}},{"gpu":1}]`))
	if err != nil || known[0].Model != "Instinct" || known[0].UUID != "0xA" || known[0].PCIBusID != "0000:0c:00.0" ||
		known[1].Model != "Unknown AMD GPU" {
		t.Fatalf("%+v %v", known, err)
	}
	readings, err := collect.ParseAMDMetric(c,
		[]byte(`{"gpu_data":[{"gpu":0,"power":{"socket_power":{"value":500,"unit":"W"}},"energy":{"total_energy_consumption":{"value":2000000,"unit":"J"}},
		"usage":{"gfx_activity":"N/A","umc_activity":{"value":40}},"temperature":{"junction":"N/A","hotspot":{"value":61}}},{"gpu":1,"power":"N/A"},{"gpu":7,"power":{"socket_power":1}}]}`), known)
	if err != nil || len(readings) != 1 {
		t.Fatalf("%+v %v", readings, err)
	}
	for field, want := range map[string]float64{"amd_power": 500, "amd_energy_consumption": 2, "amd_umc_activity": 40,
		"amd_temperature": 61} {
		if got := value(t, c, readings[0], field); got != want {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
	if !math.IsNaN(value(t, c, readings[0], "amd_gfx_activity")) {
		t.Error("N/A has a value")
	}
	if _, err := collect.ParseAMDMetric(c, []byte("Traceback"), known); err == nil {
		t.Error("no error for what is no JSON")
	}
}

func FuzzParseSMI(f *testing.F) {
	c := gpu.NewCatalog(nil, false)
	f.Add([]byte("1, GPU-x, N, 0, 250.50, 66, [N/A], 16384, 5"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := collect.ParseSMI(c, collect.SMIColumns(), line); err == nil && len(r.Values) != c.Len() {
			t.Errorf("%+v", r)
		}
	})
}

func FuzzParseAMD(f *testing.F) {
	c := gpu.NewCatalog(nil, false)
	f.Add([]byte(`[{"gpu":0,"power":{"socket_power":{"value":500}}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		known, err := collect.ParseAMDStatic(text)
		if err == nil {
			_, _ = collect.ParseAMDMetric(c, text, known)
		}
	})
}

package driver

import (
	"math"
	"testing"

	"github.com/ebitengine/purego"

	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/prom"
)

// fakeNVML returns a GPU whose library is made of functions of this test; what is not among them the library lacks.
func fakeNVML(functions map[string]any) *nvml {
	symbols := map[string]uintptr{}
	for _, name := range []string{
		"nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetUtilizationRates",
		"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetTemperature",
		"nvmlDeviceGetDecoderUtilization", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetJpgUtilization",
		"nvmlDeviceGetViolationStatus",
		"nvmlDeviceGetProcessUtilization", "nvmlGpmSampleGet", "nvmlGpmMetricsGet",
	} {
		symbols[name] = 0
		if f, has := functions[name]; has {
			symbols[name] = purego.NewCallback(f)
		}
	}
	return &nvml{library: &library{symbols: symbols}, devices: []*nvmlDevice{{}}}
}

// word returns a function that gives one 32-bit number.
func word(n uint32) func(uintptr, *uint32) uintptr {
	return func(_ uintptr, out *uint32) uintptr { *out = n; return nvmlSuccess }
}

// Memory is told in bytes here and in MiB by an exporter; both are decimal gigabytes.
func TestTrapMemoryIsBytesHereAndMiBThere(t *testing.T) {
	n := fakeNVML(map[string]any{
		"nvmlDeviceGetMemoryInfo": func(_ uintptr, out *[3]uint64) uintptr {
			*out = [3]uint64{141e9, 1e9, 16384 << 20}
			return nvmlSuccess
		},
	})
	local := n.Read()
	if len(local) != 1 || len(local[0].Values) != 1 ||
		math.Abs(local[0].Values["gpu_memory_used"]-17.179869184) > 1e-12 {
		t.Fatalf("NVML: %+v, want 17.179869184 GB and nothing else", local)
	}
	samples, err := prom.NewParser(prom.Options{}).Parse([]byte(`DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a"} 16384`+"\n"),
		false)
	if err != nil {
		t.Fatal(err)
	}
	c := gpu.NewCatalog(nil, false)
	remote := c.FromPage("http://h:9400/metrics", 1, samples, gpu.DCGM)
	for i := range c.Len() {
		if c.Field(i).Name == "gpu_memory_used" &&
			(len(remote) != 1 || math.Abs(remote[0].Values[i]-17.179869184) > 1e-12) {
			t.Errorf("DCGM: %+v, want 17.179869184 GB", remote)
		}
	}
}

func TestReadingsOfNVMLAreScaled(t *testing.T) {
	n := fakeNVML(map[string]any{
		"nvmlDeviceGetPowerUsage": word(348690), // mW
		"nvmlDeviceGetTotalEnergyConsumption": func(_ uintptr,
			out *uint64) uintptr {
			*out = 5_000_000
			return nvmlSuccess
		},
		"nvmlDeviceGetUtilizationRates": func(_ uintptr,
			out *[2]uint32) uintptr {
			*out = [2]uint32{66, 33}
			return nvmlSuccess
		},
		"nvmlDeviceGetTemperature": func(_, sensor uintptr,
			out *uint32) uintptr {
			*out = 55 + uint32(sensor)
			return nvmlSuccess
		},
		"nvmlDeviceGetDecoderUtilization": func(_ uintptr, out, period *uint32) uintptr {
			*out, *period = 7,
				999
			return nvmlSuccess
		},
		// not supported
		"nvmlDeviceGetJpgUtilization": func(_ uintptr, out, period *uint32) uintptr { *out = 8; return 3 },
		"nvmlDeviceGetViolationStatus": func(_, policy uintptr, out *[2]uint64) uintptr {
			*out = [2]uint64{999, 1_234_567 + uint64(policy)}
			return nvmlSuccess
		},
	})
	got := n.read(n.devices[0])
	want := map[string]float64{"gpu_power_usage": 348.69, "energy_consumption": 0.005, "gpu_utilization": 66,
		"mem_utilization": 33, "gpu_temperature": 55,
		"decoder_utilization": 7, "power_violation": 1234.567}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for field, v := range want {
		if math.Abs(got[field]-v) > 1e-9*v {
			t.Errorf("%s: %v, want %v", field, got[field], v)
		}
	}
}

// The processes of a GPU may add up to more than the GPU has.
func TestSMsOfProcessesAreCapped(t *testing.T) {
	type sample struct {
		_     [2]uint32 // process, padding
		stamp uint64
		sm    uint32
		_     [3]uint32 // memory, encoder, decoder
	}
	var asked []uint64
	n := fakeNVML(map[string]any{
		"nvmlDeviceGetProcessUtilization": func(_ uintptr, out *[2]sample, count *uint32, since uint64) uintptr {
			if out == nil {
				*count = 2
				return nvmlInsufficientSize
			}
			asked = append(asked, since)
			*out = [2]sample{{stamp: 20, sm: 70}, {stamp: 30, sm: 60}}
			return nvmlSuccess
		},
	})
	for range 2 {
		if got := n.read(n.devices[0])["sm_utilization"]; got != 100 {
			t.Errorf("got %v, want 100", got)
		}
	}
	if len(asked) != 2 || asked[0] != 0 || asked[1] != 30 {
		t.Errorf("asked for samples since %v, want 0 and 30", asked)
	}
	// Without a process the GPU is not used.
	n = fakeNVML(map[string]any{"nvmlDeviceGetProcessUtilization": func(_ uintptr, _ *[2]sample, _ *uint32,
		_ uint64) uintptr {
		return nvmlNotFound
	}})
	if got, has := n.read(n.devices[0])["sm_utilization"]; !has || got != 0 {
		t.Errorf("without processes: %v %v, want 0", got, has)
	}
}

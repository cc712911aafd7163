package gpu_test

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/watch/gpu"
)

func TestCustomMetrics(t *testing.T) {
	for _, x := range []struct {
		line, display, field, unit string
		scale                      float64
		kind                       gpu.Kind
	}{
		{"DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)", "SM Clock Frequency",
			"sm_clock", "MHz", 1, gpu.Gauge},
		{"DCGM_FI_DEV_MEMORY_TEMP, gauge, Memory temperature (in °C)", "Memory Temperature", "memory_temp", "°C", 1,
			gpu.Gauge},
		{"DCGM_FI_DEV_FB_FREE, gauge, Framebuffer memory free (in MiB)", "Framebuffer Memory Free", "fb_free", "MB",
			1.048576, gpu.Gauge},
		{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Tensor pipe active (in %), averaged", "Tensor Pipe Active",
			"dcgm_fi_prof_pipe_tensor_active", "%", 1, gpu.Gauge},
		{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, (in count)", "PCIE Replay Counter", "pcie_replay_counter", "count",
			1, gpu.Counter},
		{"DCGM_FI_DEV_THERMAL_VIOLATION, counter, Throttling duration due to thermal constraints (in us)",
			"Throttling Duration Due To Thermal Constraints", "thermal_violation", "us", 1, gpu.Counter},
		{"DCGM_FI_DEV_X,gauge,Energy (in mJ)", "Energy", "x", "mJ", 1, gpu.Gauge},
		{"DCGM_FI_DEV_X,gauge,Energy (in MJ)", "Energy", "x", "MJ", 1, gpu.Gauge},
		{"DCGM_FI_DEV_X,gauge,Odd (in furlongs) (in MHz)", "Odd", "x", "count", 1, gpu.Gauge},
	} {
		custom, warnings, err := gpu.ParseCustom("f", strings.NewReader(x.line))
		want := gpu.Custom{Sample: strings.TrimSpace(strings.Split(x.line, ",")[0]), Scale: x.scale,
			Field: gpu.Field{x.field, x.display, x.unit, x.kind, gpu.NVIDIA}}
		if err != nil || len(warnings) > 0 || len(custom) != 1 || custom[0] != want {
			t.Errorf("%s:\n got %+v %v %v\nwant %+v", x.line, custom, warnings, err, want)
		}
	}
}

func TestCustomMetricsNameWrongLines(t *testing.T) {
	text := "\uFEFF# comment\n\nDCGM_FI_DEV_A, gauge\nFOO, gauge, x\nDCGM_FI_DEV_B, histogram, x\nDCGM_FI_DEV_C, " +
		"gauge, ok\nDCGM_FI_DEV_C, gauge, again\n"
	custom, warnings, err := gpu.ParseCustom("m.csv", strings.NewReader(text))
	if err != nil || len(custom) != 1 || custom[0].Field.Name != "c" {
		t.Errorf("got %+v, %v", custom, err)
	}
	if len(warnings) != 3 {
		t.Fatalf("warnings %q", warnings)
	}
	for i, want := range []string{"m.csv:3: ", `m.csv:4: "FOO"`, `m.csv:5: the type "histogram"`} {
		if !strings.HasPrefix(warnings[i], want) {
			t.Errorf("%q does not begin with %q", warnings[i], want)
		}
	}
}

func TestTrapCustomLineOfABuiltInFieldAddsNothing(t *testing.T) {
	custom, warnings, err := gpu.ParseCustom("f", strings.NewReader("DCGM_FI_DEV_POWER_USAGE, gauge, Power (in W)\n"))
	if len(custom)+len(warnings) != 0 || err != nil {
		t.Errorf("got %+v %q %v", custom, warnings, err)
	}
}

func TestCustomMetricsExtendThePage(t *testing.T) {
	custom, _, _ := gpu.ParseCustom("f",
		strings.NewReader("DCGM_FI_DEV_FB_FREE, gauge, Free (in MiB)\n"+
			"DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, Replays\n"))
	c := gpu.NewCatalog(custom, false)
	var pages []string
	for i := range 3 {
		pages = append(pages, fmt.Sprintf("DCGM_FI_DEV_FB_FREE{gpu=\"0\"} "+
			"1000\nDCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu=\"0\"} %d\n", 5+i))
	}
	tel := storeOf(t, c, pages...).Telemetry(gpu.Window{second, 2 * second, 0})
	free, _ := metric(tel, 0, "fb_free")
	replays, _ := metric(tel, 0, "pcie_replay_counter")
	if !near(free.Avg, 1048.576) || free.Unit != "MB" || replays.Avg != 2 || replays.Count != 0 {
		t.Errorf("got %+v and %+v", free, replays)
	}
}

func FuzzParseCustom(f *testing.F) {
	f.Add("DCGM_FI_DEV_X, gauge, Help (in MHz)\n# c\n,,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		custom, _, err := gpu.ParseCustom("f", strings.NewReader(text))
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, m := range custom {
			if names[m.Field.Name] || m.Field.Unit == "" || m.Scale <= 0 {
				t.Errorf("%+v", m)
			}
			names[m.Field.Name] = true
		}
		gpu.NewCatalog(custom, true)
	})
}

func FuzzParseHelperLine(f *testing.F) {
	f.Add([]byte(`{"gpu":{"index":0},"values":{"gpu_power_usage":1}}`))
	c := gpu.NewCatalog(nil, false)
	f.Fuzz(func(t *testing.T, text []byte) {
		if l, err := gpu.ParseHelperLine(text); err == nil && l.GPU != nil {
			if r := l.Reading(c); len(r.Values) != c.Len() {
				t.Errorf("%+v", r)
			}
		}
	})
}

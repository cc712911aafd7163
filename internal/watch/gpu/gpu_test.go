package gpu_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/prom"
)

// page parses lines as a page of an exporter.
func page(t *testing.T, text string) []prom.Sample {
	t.Helper()
	samples, err := prom.NewParser(prom.Options{}).Parse([]byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// read makes readings of a page.
func read(t *testing.T, c *gpu.Catalog, ns int64, text string) []gpu.Reading {
	t.Helper()
	return c.FromPage("http://h:9400/metrics", ns, page(t, text), gpu.AnyDialect)
}

// get returns the value of a field, NaN if there is none.
func get(c *gpu.Catalog, r gpu.Reading, field string) float64 {
	for i := range c.Len() {
		if c.Field(i).Name == field {
			return r.Values[i]
		}
	}
	panic(field)
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

const second = int64(1e9)

// storeOf keeps a page for each second from the first on.
func storeOf(t *testing.T, c *gpu.Catalog, pages ...string) *gpu.Store {
	t.Helper()
	s := gpu.NewStore(c)
	for i, text := range pages {
		for _, r := range read(t, c, int64(i)*second, text) {
			s.Add(r)
		}
	}
	return s
}

func TestTrapUnitsAreScaled(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	const l = `{gpu="0",UUID="GPU-a",modelName="NVIDIA H200"} `
	for _, x := range []struct {
		line, field string
		want        float64
	}{
		{"DCGM_FI_DEV_FB_USED" + l + "16384", "gpu_memory_used", 17.179869184},
		{"DCGM_FI_DEV_FB_USED" + l + "81559", "gpu_memory_used", 85.520809984},
		{"DCGM_FI_PROF_SM_ACTIVE" + l + "0.8734", "sm_utilization", 87.34},
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" + l + "5000000", "energy_consumption", 0.005},
		{"DCGM_FI_DEV_POWER_VIOLATION" + l + "1234567", "power_violation", 1234.567},
		{`gpu_used_vram{gpu_id="1"} 2048`, "amd_memory_used", 2},
		{`gpu_energy_consumed{gpu_id="1"} 5e12`, "amd_energy_consumption", 5},
	} {
		readings := read(t, c, 1, x.line+"\n")
		if len(readings) != 1 || !near(get(c, readings[0], x.field), x.want) {
			t.Errorf("%s: %+v, want %v", x.line, readings, x.want)
		}
	}
}

func TestTrapLinesWithoutAGPUAreIgnored(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	readings := read(t, c, 1, `DCGM_FI_DEV_POWER_USAGE{gpu="abc",UUID="x"} 1
DCGM_FI_DEV_POWER_USAGE{UUID="x"} 2
DCGM_FI_DEV_POWER_USAGE 3
DCGM_FI_DEV_UNKNOWN{gpu="3",UUID="y"} 4
`)
	if len(readings) != 0 {
		t.Errorf("got %+v", readings)
	}
}

func TestTrapTotalSuffixMapsLikeTheNameWithout(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	for _, header := range []string{"", "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total counter\n",
		"# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total gauge\n"} {
		readings := read(t, c, 1, header+`DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total{gpu="0"} 5000000`+"\n")
		if len(readings) != 1 || !near(get(c, readings[0], "energy_consumption"), 0.005) {
			t.Errorf("%q: %+v", header, readings)
		}
	}
}

func TestTrapNotANumberDropsTheValueNotTheGPU(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	for _, bad := range []string{"NaN", "+Inf", "-Inf"} {
		readings := read(t, c, 1, `DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="a"} `+bad+`
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="a"} 50
`)
		if len(readings) != 1 || !math.IsNaN(get(c, readings[0], "gpu_power_usage")) ||
			get(c, readings[0], "gpu_temperature") != 50 {
			t.Errorf("%s: %+v", bad, readings)
		}
	}
}

func TestIdentityOfAGPU(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	readings := read(t, c, 7, `DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",modelName="M",pci_bus_id="P",device="nvidia1",Hostname="n",namespace="s",pod="p"} 1
DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-b",modelName="other"} 2
DCGM_FI_DEV_GPU_TEMP{gpu="0"} 3
`)
	if len(readings) != 2 {
		t.Fatalf("got %+v", readings)
	}
	want := gpu.Device{Source: "http://h:9400/metrics", Platform: gpu.NVIDIA, Index: 1, UUID: "GPU-b", Model: "M",
		PCIBusID: "P", Device: "nvidia1", Hostname: "n", Namespace: "s", Pod: "p"}
	if readings[1].Device != want || readings[1].TimestampNS != 7 {
		t.Errorf("got %+v", readings[1])
	}
	if d := readings[0].Device; d.UUID != "GPU-unknown-0" || d.Model != "Unknown GPU" {
		t.Errorf("got %+v", d)
	}
}

// Two hosts behind one exporter have a GPU 0 each; an instance of a GPU stays apart from it.
func TestGPUsOfOneIndexStayApart(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := storeOf(t, c, `DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaaaaaaaaaa",Hostname="a"} 100
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-bbbbbbbbbbbb",Hostname="b"} 200
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaaaaaaaaaa",Hostname="a",GPU_I_ID="7",GPU_I_PROFILE="1g.18gb"} 100
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-aaaaaaaaaaaa",Hostname="a",GPU_I_ID="7",GPU_I_PROFILE="1g.18gb"} 0.5
`)
	var keys []string
	for _, g := range s.Telemetry(gpu.Window{}).Endpoints[0].GPUs {
		keys = append(keys, g.Key)
	}
	if got := strings.Join(keys, " "); got != "gpu_0 gpu_0_GPU-bbbbbbbb gpu_0_mig_7" {
		t.Errorf("keys %s", got)
	}
	power := s.Efficiency(gpu.Window{0, second, 0}, gpu.Load{})[0]
	if power.Value != 300 || power.Header != "Total GPU Power (2 GPUs)" {
		t.Errorf("got %+v: an instance must not count its GPU's power again", power)
	}
}

func TestTrapGaugeStatistics(t *testing.T) {
	describe := func(watts ...string) gpu.Metric {
		var pages []string
		for _, w := range watts {
			pages = append(pages, powerPage(0, w, ""))
		}
		s := storeOf(t, gpu.NewCatalog(nil, false), pages...)
		m, _ := metric(s.Telemetry(gpu.Window{0, int64(len(watts)) * second, 0}), 0, "gpu_power_usage")
		return m
	}
	s := describe("300", "340", "320")
	if s.Avg != 320 || s.Std != 20 || !near(s.Percentiles[0], 300.4) || !near(s.Percentiles[8], 339.6) ||
		s.Count != 3 || s.Min != 300 || s.Max != 340 {
		t.Errorf("got %+v", s)
	}
	if s := describe("5"); s.Std != 0 || s.Percentiles[4] != 5 {
		t.Errorf("one sample: %+v", s)
	}
}

func powerPage(gpu int, watts, millijoules string) string {
	var b strings.Builder
	if watts != "" {
		fmt.Fprintf(&b, "DCGM_FI_DEV_POWER_USAGE{gpu=\"%d\",UUID=\"GPU-%d\"} %s\n", gpu, gpu, watts)
	}
	if millijoules != "" {
		fmt.Fprintf(&b, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"%d\",UUID=\"GPU-%d\"} %s\n", gpu, gpu, millijoules)
	}
	return b.String()
}

func metric(t *gpu.Telemetry, g int, name string) (gpu.Metric, bool) {
	for _, m := range t.Endpoints[0].GPUs[g].Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return gpu.Metric{}, false
}

func TestTrapEnergyIsItsGrowth(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	for _, x := range []struct {
		name  string
		pages []string
		want  float64
		none  bool
	}{
		{"from the last sample before the phase",
			[]string{powerPage(0, "", "1000000"), powerPage(0, "", "5000000"), powerPage(0, "", "5300000"),
				powerPage(0, "", "5600000")}, 0.0006, false},
		{"a restart is no negative growth",
			[]string{powerPage(0, "", "9000000"), powerPage(0, "", "9000000"), powerPage(0, "", "100000"),
				powerPage(0, "", "200000")}, 0, false},
		{"gaps are skipped on both ends",
			[]string{powerPage(0, "", "5000000"), powerPage(0, "1", "NaN"), powerPage(0, "", "5600000"),
				powerPage(0, "1", "NaN")}, 0.0006, false},
		{"without a sample before, from the first in it",
			[]string{"", "", powerPage(0, "", "5000000"), powerPage(0, "", "5600000")}, 0.0006, false},
		{"nothing in the phase is nothing",
			[]string{powerPage(0, "1", "5000000"), powerPage(0, "1", "5000000"), powerPage(0, "1", ""),
				powerPage(0, "1", "")}, 0, true},
	} {
		m, found := metric(storeOf(t, c, x.pages...).Telemetry(gpu.Window{2 * second, 3 * second, 0}), 0,
			"energy_consumption")
		if found == x.none || !near(m.Avg, x.want) && math.Abs(m.Avg-x.want) > 1e-15 || m.Count != 0 {
			t.Errorf("%s: %+v %v, want %v", x.name, m, found, x.want)
		}
	}
}

// What comes after a phase that another one follows is the other one's, be it energy or a gauge.
func TestReadingsOfTheNextPhaseAreNotThoseOfThisOne(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := storeOf(t, c, powerPage(0, "1", "5000000"), powerPage(0, "2", "5000000"), powerPage(0, "3", "5300000"),
		powerPage(0, "4", "5600000"))
	w := gpu.Window{StartNS: second, EndNS: 2 * second}
	for until, want := range map[int64]float64{2 * second: 0.0003, 3 * second: 0.0006} {
		if m, found := metric(s.TelemetryUntil(w, until), 0, "energy_consumption"); !found ||
			math.Abs(m.Avg-want) > 1e-15 {
			t.Errorf("up to %d: %v MJ %v, want %v", until, m.Avg, found, want)
		}
	}
	between := gpu.Window{StartNS: 2*second + 1, EndNS: 2*second + 2}
	if m, found := metric(s.TelemetryUntil(between, 3*second), 0, "gpu_power_usage"); !found || m.Avg != 4 {
		t.Errorf("a phase between two readings has %v %v, want that of its end", m.Avg, found)
	}
	if t2 := s.TelemetryUntil(between, 3*second-1); len(t2.Endpoints) != 0 {
		t.Errorf("a phase without a reading: %+v", t2.Endpoints)
	}
}

// Idle samples after the run are no part of a gauge, unless there are no others.
func TestGaugesEndWithTheLastRequest(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := storeOf(t, c, powerPage(0, "1", ""), powerPage(0, "300", ""), powerPage(0, "320", ""), powerPage(0, "340", ""),
		powerPage(0, "60", ""))
	m, _ := metric(s.Telemetry(gpu.Window{second, 3*second + 1, 0}), 0, "gpu_power_usage")
	if m.Avg != 320 || m.Count != 3 {
		t.Errorf("got %+v", m)
	}
	m, _ = metric(s.Telemetry(gpu.Window{3*second + 1, 3*second + 2, 0}), 0, "gpu_power_usage")
	if m.Avg != 60 || m.Count != 1 {
		t.Errorf("a phase between two samples: %+v", m)
	}
}

// A metric that comes and goes has the values that it had.
func TestAMetricMayBeAbsentInScrapes(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := storeOf(t, c, powerPage(0, "100", ""), powerPage(0, "", "1"), powerPage(0, "300", ""))
	m, _ := metric(s.Telemetry(gpu.Window{0, 9 * second, 0}), 0, "gpu_power_usage")
	if m.Avg != 200 || m.Count != 2 {
		t.Errorf("got %+v", m)
	}
}

func TestReadingsOutOfOrderAreSorted(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := gpu.NewStore(c)
	for _, ns := range []int64{3, 1, 2} {
		for _, r := range read(t, c, ns*second, powerPage(0, fmt.Sprint(ns), fmt.Sprint(ns*1000000))) {
			s.Add(r)
		}
	}
	m, _ := metric(s.Telemetry(gpu.Window{2 * second, 3 * second, 0}), 0, "energy_consumption")
	if !near(m.Avg, 0.002) {
		t.Errorf("got %+v", m)
	}
}

func ptr(v float64) *float64 { return &v }

// example returns the worked example of the specification: GPU 0 300, 320, 340 W, GPU 1 100, 140 W.
func example(t *testing.T) *gpu.Store {
	return storeOf(t, gpu.NewCatalog(nil, false),
		powerPage(0, "999", "5000000")+powerPage(1, "999", "1000000"),
		powerPage(0, "300", "5200000")+powerPage(1, "100", ""),
		powerPage(0, "320", "5400000"),
		powerPage(0, "340", "5600000")+powerPage(1, "140", "1450000"),
	)
}

func TestEfficiencyWorkedExample(t *testing.T) {
	got := example(t).Efficiency(gpu.Window{second, 3 * second, 0},
		gpu.Load{OutputTokens: ptr(2100), Concurrency: ptr(10), OutputLength: ptr(4200), InputLength: ptr(2100),
			Requests: ptr(21), MeanLatencySeconds: ptr(0.5), RequestRate: ptr(10.5), TokenRate: ptr(2100),
			Goodput: ptr(5.25)})
	want := []gpu.Efficiency{
		{Tag: "total_gpu_power", Header: "Total GPU Power (2 GPUs)", Unit: "W", Value: 440, Order: 900},
		{Tag: "total_gpu_energy", Header: "Total GPU Energy (2 GPUs)", Unit: "J", Value: 1050, Order: 901},
		{Tag: "output_tokens_per_joule", Header: "Output Tokens per Joule (2 GPUs)", Unit: "tokens/J", Value: 2,
			Order: 902},
		{Tag: "energy_per_user", Header: "Energy per User (2 GPUs)", Unit: "joules/user", Value: 105, Order: 903},
		{Tag: "nvidia_energy_delay_product", Header: "NVIDIA Energy Delay Product (2 GPUs)", Unit: "J*s", Value: 25,
			Order: 700},
		{Tag: "nvidia_performance_per_watt", Value: 0.02, Order: 710},
		{Tag: "nvidia_output_tps_per_watt", Value: 4, Order: 712},
		{Tag: "nvidia_goodput_per_watt", Value: 0.01, Order: 714},
		{Tag: "nvidia_average_gpu_power", Value: 525, Order: 720}, // 1050 J in 2 s
		{Tag: "nvidia_total_gpu_energy", Value: 1050, Order: 730},
		{Tag: "nvidia_total_gpu_power", Value: 440, Order: 740},
		{Tag: "nvidia_energy_per_total_token", Value: 1050000.0 / 6300, Order: 745},
		{Tag: "nvidia_energy_per_output_token", Value: 250, Order: 750},
		{Tag: "nvidia_energy_per_request", Value: 50, Order: 755},
		{Tag: "nvidia_output_tokens_per_joule", Value: 4, Order: 760},
		{Tag: "nvidia_energy_per_user", Value: 105, Order: 765},
	}
	if len(got) != len(want) {
		t.Fatalf("%d figures, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i]; g.Tag != w.Tag || !near(g.Value, w.Value) || g.Order != w.Order || w.Header != "" &&
			(g.Header != w.Header || g.Unit != w.Unit) {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

func tags(list []gpu.Efficiency) string {
	var names []string
	for _, f := range list {
		if f.Group == metrics.GroupGPU {
			names = append(names, fmt.Sprintf("%s=%g", f.Header, f.Value))
		}
	}
	return strings.Join(names, "; ")
}

func TestTrapPartialCohortsAreCounted(t *testing.T) {
	s := storeOf(t, gpu.NewCatalog(nil, false), powerPage(0, "100", "1000000")+powerPage(1, "50", ""),
		powerPage(0, "100", "3000000")+powerPage(1, "50", ""))
	got := tags(s.Efficiency(gpu.Window{0, second, 0}, gpu.Load{Concurrency: ptr(1)}))
	if got != "Total GPU Power (2 GPUs)=150; Total GPU Energy (1 GPU)=2000; Energy per User (1 GPU)=2000" {
		t.Error(got)
	}
}

// An exporter that says nothing new in the phase says what it said before and after.
func TestPowerOfAPhaseBetweenTwoReadings(t *testing.T) {
	s := storeOf(t, gpu.NewCatalog(nil, false), powerPage(0, "100", "")+powerPage(1, "50", ""), powerPage(0, "300", ""))
	if got := tags(s.Efficiency(gpu.Window{second / 4, second / 2, 0}, gpu.Load{})); !strings.HasPrefix(got,
		"Total GPU Power (1 GPU)=200") {
		t.Error(got)
	}
}

func TestEfficiencyIsLeftOut(t *testing.T) {
	w := gpu.Window{0, second, 0}
	for _, x := range []struct {
		name  string
		pages []string
		load  gpu.Load
		want  string
	}{
		{"without GPUs", nil, gpu.Load{OutputTokens: ptr(1), Concurrency: ptr(1)}, ""},
		{"tokens of an endpoint that has none", []string{powerPage(0, "", "0"), powerPage(0, "", "5000")},
			gpu.Load{Concurrency: ptr(2)}, "Total GPU Energy (1 GPU)=5; Energy per User (1 GPU)=2.5"},
		{"users of a pure rate", []string{powerPage(0, "", "0"), powerPage(0, "", "5000")},
			gpu.Load{OutputTokens: ptr(10)},
			"Total GPU Energy (1 GPU)=5; Output Tokens per Joule (1 GPU)=2"},
		{"tokens per joule of no energy", []string{powerPage(0, "", "5"), powerPage(0, "", "5")},
			gpu.Load{OutputTokens: ptr(10)}, "Total GPU Energy (1 GPU)=0"},
	} {
		s := storeOf(t, gpu.NewCatalog(nil, false), x.pages...)
		if got := tags(s.Efficiency(w, x.load)); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestEnergyWithoutACounterIsIntegrated(t *testing.T) {
	s := storeOf(t, gpu.NewCatalog(nil, false), powerPage(0, "100", "")+powerPage(1, "200", ""),
		powerPage(0, "300", "")+powerPage(1, "200", ""))
	got := tags(s.Efficiency(gpu.Window{0, 4 * second, 0}, gpu.Load{OutputTokens: ptr(3200)}))
	if got != "Total GPU Power (2 GPUs)=400; Total GPU Energy (2 GPUs) (integrated)=1600; Output Tokens per Joule (2 "+
		"GPUs) (integrated)=2" {
		t.Error(got)
	}
}

func TestTrapEnergyHasAGracePowerHasNot(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := gpu.NewStore(c)
	for _, x := range []struct {
		ms   int64
		page string
	}{{0, powerPage(0, "100", "1000")}, {1000, powerPage(0, "100", "2000")}, {1666, powerPage(0, "900", "7000")},
		{1667, powerPage(0, "900", "9000")}} {
		for _, r := range read(t, c, x.ms*1e6, x.page) {
			s.Add(r)
		}
	}
	got := tags(s.Efficiency(gpu.Window{0, 1000e6, 666e6}, gpu.Load{}))
	if got != "Total GPU Power (1 GPU)=100; Total GPU Energy (1 GPU)=6" {
		t.Error(got)
	}
}

func TestAMDPage(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	readings := read(t, c, 1, `gpu_power_usage{gpu_id="0",card_model="MI300X",serial_number="S",hostname="n"} 10
gpu_package_power{gpu_id="0",card_model="MI300X",serial_number="S",hostname="n"} 20
gpu_clock{gpu_id="0",serial_number="S",clock_index="1",clock_type="GPU_CLOCK_TYPE_SYSTEM"} 111
gpu_clock{gpu_id="0",serial_number="S",clock_index="0",clock_type="GPU_CLOCK_TYPE_SYSTEM"} 222
gpu_clock{gpu_id="0",serial_number="S",clock_index="8",clock_type="memory"} 333
gpu_clock{gpu_id="0",serial_number="S",clock_index="3",clock_type="GPU_CLOCK_TYPE_VIDEO"} 444
gpu_ecc_uncorrect_total{gpu_id="0",serial_number="S"} 5
gpu_junction_temperature{gpu_id="1"} 60
`)
	if len(readings) != 2 {
		t.Fatalf("got %+v", readings)
	}
	for field, want := range map[string]float64{"amd_power": 20, "amd_sm_clock": 222, "amd_mem_clock": 333,
		"amd_ecc_uncorrectable": 5} {
		if got := get(c, readings[0], field); got != want {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
	if d := readings[1].Device; d.UUID != "amd-gpu-1" || d.Model != "Unknown AMD GPU" || d.Platform != gpu.AMD {
		t.Errorf("got %+v", d)
	}
}

// The vendors of a mixed fleet have families of their own; the four figures cover both.
func TestMixedFleet(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	s := storeOf(t, c, powerPage(0, "100", "0")+`gpu_package_power{gpu_id="0"} 50`+"\n"+
		`gpu_energy_consumed{gpu_id="0"} 0`+"\n",
		powerPage(0, "100", "100000")+`gpu_package_power{gpu_id="0"} 50`+"\n"+
			`gpu_energy_consumed{gpu_id="0"} 50000000`+"\n")
	values := map[string]float64{}
	for _, f := range s.Efficiency(gpu.Window{0, second, 0}, gpu.Load{}) {
		values[f.Tag] = f.Value
	}
	for tag, want := range map[string]float64{"total_gpu_power": 150, "nvidia_total_gpu_power": 100,
		"amd_total_gpu_power": 50,
		"total_gpu_energy":    150, "nvidia_total_gpu_energy": 100, "amd_total_gpu_energy": 50} {
		if !near(values[tag], want) {
			t.Errorf("%s = %v, want %v", tag, values[tag], want)
		}
	}
}

func TestVendorScopedNames(t *testing.T) {
	custom := []gpu.Custom{{Sample: "DCGM_FI_DEV_FB_FREE", Scale: 1,
		Field: gpu.Field{Name: "fb_free", Display: "Framebuffer Free", Platform: gpu.NVIDIA}}}
	plain, c := gpu.NewCatalog(custom, false), gpu.NewCatalog(custom, true)
	names := map[string]string{}
	for i := range c.Len() {
		names[plain.Field(i).Name] = c.Field(i).Name + "|" + c.Field(i).Display
	}
	for plain, want := range map[string]string{
		"gpu_power_usage":    "nvidia_power_usage|NVIDIA GPU Power Usage",
		"energy_consumption": "nvidia_energy_consumption|NVIDIA Energy Consumption",
		"gpu_utilization":    "nvidia_gpu_utilization|NVIDIA GPU Utilization",
		"mem_utilization":    "nvidia_memory_utilization|NVIDIA Memory Utilization",
		"gpu_memory_used":    "nvidia_memory_used|NVIDIA GPU Memory Used",
		"gpu_temperature":    "nvidia_temperature|NVIDIA GPU Temperature",
		"jpg_utilization":    "nvidia_jpg_utilization|NVIDIA JPEG Utilization",
		"fb_free":            "nvidia_fb_free|NVIDIA Framebuffer Free",
		"amd_power":          "amd_power|AMD Power",
	} {
		if names[plain] != want {
			t.Errorf("%s: %s, want %s", plain, names[plain], want)
		}
	}
}

func TestLine(t *testing.T) {
	c := gpu.NewCatalog(nil, false)
	r := read(t, c, 1765411635639590410,
		`DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-ef6ef310",modelName="NVIDIA H200",pci_bus_id="00000000:02:00.0",device="nvidia0",Hostname="node1"} 348.69
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-ef6ef310"} 5000000
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-ef6ef310"} 66
`)[0]
	want := `{"gpu_index":0,"gpu_uuid":"GPU-ef6ef310","gpu_model_name":"NVIDIA H200","pci_bus_id":"00000000:02:00.0","device":"nvidia0","hostname":"node1",` +
		`"timestamp_ns":1765411635639590410,"dcgm_url":"http://h:9400/metrics","telemetry_data":{"gpu_power_usage":348.69,"energy_consumption":0.005,"gpu_utilization":66.0},` +
		`"telemetry_source_url":"http://h:9400/metrics","platform":"nvidia"}`
	if got := string(c.AppendLine(nil, &r)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

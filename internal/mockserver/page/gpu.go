package page

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/mockserver/httpd"
)

// gpuPaths are the pages of GPU exporters: two of DCGM's and one of AMD's.
var gpuPaths = []string{"/dcgm1/metrics", "/dcgm2/metrics", "/amd/metrics"}

const amdPage = 2 // index of AMD's

// gpuPages are those pages. Their GPUs follow the tokens that the server generates, or a curve.
type gpuPages struct {
	options GPUOptions
	model   gpuModel
	fault   httpd.PageFault
	clock   *clock.Clock
	draws   random.Stream

	mu       sync.Mutex
	readings []reading // the tokens within the window, oldest first
	peak     float64
	states   map[[2]int]*gpuState
	frozen   map[int][]byte
}

// gpuState is the energy of a GPU so far.
type gpuState struct {
	atNS     int64
	watts    float64
	joules   float64
	restart  float64 // the energy when the counter restarted
	restarts bool
	// powerNS and heatNS are how long it was slowed down for these reasons.
	slowAtNS, powerNS, heatNS int64
}

// gpuFigures are what a GPU does at an instant.
type gpuFigures struct {
	load, watts, joules float64
	speed               float64 // of the clocks
	throttled           string  // the reason
	powerNS, heatNS     int64   // slowed down so far
}

func newGPUPages(o GPUOptions, c *clock.Clock) (*gpuPages, error) {
	model, err := gpuModelNamed(cmp.Or(o.Model, "h200"))
	if err != nil {
		return nil, fmt.Errorf("--dcgm-gpu-name: %w", err)
	}
	fault, err := httpd.ParseGPUPageFault(o.Fault)
	if err != nil {
		return nil, fmt.Errorf("--dcgm-fault: %w", err)
	}
	return &gpuPages{
		options: o, model: model, fault: fault, clock: c, draws: random.Root(o.Seed).Stream("mockserver.gpus"),
		states: map[[2]int]*gpuState{}, frozen: map[int][]byte{},
	}, nil
}

// throughput returns the tokens per second over the window, as of its readers.
func (g *gpuPages) throughput(now reading) float64 {
	window := int64(cmp.Or(g.options.Window, time.Second))
	g.readings = append(g.readings, now)
	for len(g.readings) > 2 && g.readings[1].ns <= now.ns-window {
		g.readings = g.readings[1:]
	}
	first := g.readings[0]
	if first.ns == now.ns {
		return 0
	}
	rate := float64(now.tokens-first.tokens) / (float64(now.ns-first.ns) / 1e9)
	g.peak = max(g.peak, rate)
	return rate
}

// figures returns what a GPU of a page does now. With a curve they are a function of the time alone.
func (g *gpuPages) figures(page, gpu int, model gpuModel, now int64, rate float64) gpuFigures {
	idle := idleShare * model.watts
	seconds := float64(now) / 1e9
	if curve := g.options.Load; curve != nil {
		load := curve.at(seconds)
		return g.throttled(page, gpu, model, now, gpuFigures{load: load, watts: idle + load*(model.watts-idle),
			joules: idle*seconds + curve.integral(seconds)*(model.watts-idle)})
	}
	draw := g.draws.At(uint64(page*1000 + gpu))
	load := rate/max(g.peak, cmp.Or(g.options.MinThroughput, 100)) + (draw.Float64()-0.5)/10
	load = min(max(load, 0), 1)
	x := g.throttled(page, gpu, model, now, gpuFigures{load: load, watts: idle + load*(model.watts-idle)})
	watts := x.watts
	s := g.state(page, gpu, idle)
	s.joules += (s.watts + watts) / 2 * float64(now-s.atNS) / 1e9
	s.atNS, s.watts = now, watts
	x.joules = s.joules
	return x
}

// state returns the state of a GPU.
func (g *gpuPages) state(page, gpu int, idle float64) *gpuState {
	key := [2]int{page, gpu}
	s := g.states[key]
	if s == nil {
		s = &gpuState{watts: idle}
		g.states[key] = s
	}
	return s
}

// throttled slows a GPU down and counts how long it was, as of its readers.
func (g *gpuPages) throttled(page, gpu int, model gpuModel, now int64, x gpuFigures) gpuFigures {
	x = g.options.Throttle.apply(x, model.watts, now)
	s := g.state(page, gpu, idleShare*model.watts)
	switch x.throttled {
	case throttlePower:
		s.powerNS += now - s.slowAtNS
	case throttleHeat:
		s.heatNS += now - s.slowAtNS
	}
	s.slowAtNS = now
	x.powerNS, x.heatNS = s.powerNS, s.heatNS
	return x
}

// body returns a page as its reader sees it now.
func (g *gpuPages) body(dst []byte, page int, tokens int64, f *httpd.PageFault) []byte {
	now := g.clock.NowNS()
	since := time.Duration(now)
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.Constant && g.frozen[page] != nil {
		return append(dst, g.frozen[page]...)
	}
	rate := g.throughput(reading{now, tokens})
	count := g.options.count()
	if f.GPUGoneAfter.Passed(since) && !f.GPUBackAfter.Passed(since) {
		count--
	}
	model := g.model
	if page == amdPage {
		model = amdModel
	}
	figures := make([]gpuFigures, count)
	for i := range figures {
		figures[i] = g.figures(page, i, model, now, rate)
		if f.ResetAfter.Passed(since) {
			figures[i].joules -= g.restartOf(page, i, figures[i].joules, f)
		}
	}
	if page == amdPage {
		dst = g.amd(dst, figures, f)
	} else {
		dst = g.dcgm(dst, page, figures, f)
	}
	if f.Constant {
		g.frozen[page] = append([]byte(nil), dst...)
	}
	return dst
}

// restartOf returns the energy at the instant of the restart: that of the curve, or of the first reading after it.
func (g *gpuPages) restartOf(page, gpu int, joules float64, f *httpd.PageFault) float64 {
	if g.options.Load != nil {
		model := g.model
		if page == amdPage {
			model = amdModel
		}
		return g.figures(page, gpu, model, int64(f.ResetAfter.At), 0).joules
	}
	s := g.states[[2]int{page, gpu}]
	if !s.restarts {
		s.restarts, s.restart = true, joules
	}
	return s.restart
}

// gpuLine is a family of a page and its value for one GPU.
type gpuLine struct {
	name, kind, help string
	value            func(gpuFigures) float64
	labels           string // beyond those of the GPU
}

// dcgm appends the page of NVIDIA's exporter, with figures that follow the load of the server: idle to full in clocks,
// memory, temperature and power. Units are those of DCGM's fields: MiB, mJ, MHz, ns.
func (g *gpuPages) dcgm(dst []byte, page int, figures []gpuFigures, f *httpd.PageFault) []byte {
	m := g.model
	mebibytes := m.gigabytes * 1e9 / (1 << 20)
	used := func(x gpuFigures) float64 {
		return math.Round(mebibytes * cmp.Or(g.options.MemoryUsed, 0.10+0.75*x.load))
	}
	lines := []gpuLine{
		{"DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).",
			func(x gpuFigures) float64 { return 5 + 95*x.load }, ""},
		{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", func(x gpuFigures) float64 { return x.watts }, ""},
		{"DCGM_FI_DEV_POWER_MGMT_LIMIT", "gauge", "Power limit (in W).", func(gpuFigures) float64 { return m.watts },
			""},
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy since boot (in mJ).",
			func(x gpuFigures) float64 { return x.joules * 1000 }, ""},
		{"DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", used, ""},
		{"DCGM_FI_DEV_FB_TOTAL", "gauge", "Framebuffer memory (in MiB).",
			func(gpuFigures) float64 { return math.Round(mebibytes) }, ""},
		{"DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).",
			func(x gpuFigures) float64 { return math.Round(mebibytes) - used(x) }, ""},
		{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).",
			gpuFigures.celsius, ""},
		{"DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).",
			func(x gpuFigures) float64 { return 32 + 55*x.load }, ""},
		{"DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).",
			func(x gpuFigures) float64 { return x.megahertz(345, maxClock) }, ""},
		{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", func(gpuFigures) float64 { return 3201 },
			""},
		{"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %).",
			func(x gpuFigures) float64 { return 80 * x.load }, ""},
		{"DCGM_FI_DEV_ENC_UTIL", "gauge", "Encoder utilization (in %).", constantOf(0), ""},
		{"DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization (in %).", constantOf(0), ""},
		{"DCGM_FI_PROF_SM_ACTIVE", "gauge", "Share of the time in which an SM had work.",
			func(x gpuFigures) float64 { return x.load }, ""},
		{"DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error.", constantOf(0), ""},
		{"DCGM_FI_DEV_POWER_VIOLATION", "counter", "Throttling because of power (in ns).",
			func(x gpuFigures) float64 { return float64(x.powerNS) }, ""},
		{"DCGM_FI_DEV_THERMAL_VIOLATION", "counter", "Throttling because of heat (in ns).",
			func(x gpuFigures) float64 { return float64(x.heatNS) }, ""},
		{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "gauge", "Why the clocks are lower, as a mask of bits.", gpuFigures.reasons,
			""},
		{"DCGM_FI_DEV_MAX_SM_CLOCK", "gauge", "Highest SM clock (in MHz).", constantOf(maxClock), ""},
	}
	return writeGPUs(dst, lines, figures, f, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_POWER_USAGE",
		func(i int) string {
			return fmt.Sprintf(`gpu="%d",UUID="%s",pci_bus_id="00000000:%02X:00.0",device="nvidia%d",modelName="%s",`+
				`Hostname="%s"`, i, g.uuid(page, i), 2+i, i, m.model, labelEscapes.Replace(g.options.host()))
		})
}

// amd returns the page of AMD's Device Metrics Exporter.
func (g *gpuPages) amd(dst []byte, figures []gpuFigures, f *httpd.PageFault) []byte {
	mb := amdModel.gigabytes * 1024
	lines := []gpuLine{
		{"gpu_package_power", "gauge", "Power of the package in watts.", func(x gpuFigures) float64 { return x.watts },
			""},
		{"gpu_energy_consumed", "counter", "Energy since boot in microjoules.",
			func(x gpuFigures) float64 { return x.joules * 1e6 }, ""},
		{"gpu_gfx_activity", "gauge", "Activity of the compute engine in percent.",
			func(x gpuFigures) float64 { return 100 * x.load }, ""},
		{"gpu_umc_activity", "gauge", "Activity of the memory controller in percent.",
			func(x gpuFigures) float64 { return 80 * x.load }, ""},
		{"gpu_used_vram", "gauge", "VRAM used in MB.",
			func(x gpuFigures) float64 { return math.Round(mb * (0.1 + 0.75*x.load)) }, ""},
		{"gpu_free_vram", "gauge", "VRAM free in MB.",
			func(x gpuFigures) float64 { return mb - math.Round(mb*(0.1+0.75*x.load)) }, ""},
		{"gpu_total_vram", "gauge", "VRAM in MB.", constantOf(mb), ""},
		{"gpu_junction_temperature", "gauge", "Junction temperature in Celsius.",
			func(x gpuFigures) float64 { return 35 + 50*x.load }, ""},
		{"gpu_memory_temperature", "gauge", "Memory temperature in Celsius.",
			func(x gpuFigures) float64 { return 33 + 45*x.load }, ""},
		{"gpu_ecc_uncorrect_total", "counter", "Uncorrectable memory errors.", constantOf(0), ""},
		{"gpu_clock", "gauge", "Clock in MHz.", func(x gpuFigures) float64 { return x.megahertz(132, 2100) },
			`,clock_index="0",clock_type="GPU_CLOCK_TYPE_SYSTEM"`},
		{"gpu_clock", "", "", constantOf(1300), `,clock_index="8",clock_type="GPU_CLOCK_TYPE_MEMORY"`},
	}
	return writeGPUs(dst, lines, figures, f, "gpu_energy_consumed", "gpu_package_power", func(i int) string {
		return fmt.Sprintf(`gpu_id="%d",card_model="%s",serial_number="%s",hostname="%s"`,
			i, amdModel.model, strings.ToUpper(strings.ReplaceAll(g.uuid(amdPage, i)[4:20], "-", "")),
			labelEscapes.Replace(g.options.host()))
	})
}

func constantOf(v float64) func(gpuFigures) float64 { return func(gpuFigures) float64 { return v } }

// writeGPUs appends the families of a page, two decimals each.
func writeGPUs(dst []byte, lines []gpuLine, figures []gpuFigures, f *httpd.PageFault, energy, power string,
	labels func(int) string) []byte {
	for _, l := range lines {
		if l.name == energy && f.NoEnergy {
			continue
		}
		if l.kind != "" {
			dst = append(dst, "# HELP "+l.name+" "+l.help+"\n# TYPE "+l.name+" "+l.kind+"\n"...)
		}
		for i, x := range figures {
			dst = append(dst, l.name+"{"+labels(i)+l.labels+"} "...)
			switch {
			case f.NaN && l.name == power && i == 0:
				dst = append(dst, "NaN"...)
			case f.Inf && l.name == power && i == 0:
				dst = append(dst, "+Inf"...)
			default:
				dst = strconv.AppendFloat(dst, l.value(x), 'f', 2, 64)
			}
			dst = append(dst, '\n')
		}
	}
	return dst
}

// uuid returns the identity of a GPU of a page, the same in every run with the seed.
func (g *gpuPages) uuid(page, gpu int) string {
	draw := g.draws.At(uint64(1_000_000 + page*1000 + gpu))
	a, b := draw.Uint64(), draw.Uint64()
	return fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"aiperf/internal/watch/gpu"
)

// Statuses of NVML that are distinguished.
const (
	nvmlSuccess          = 0
	nvmlInsufficientSize = 7
	nvmlNotFound         = 6
)

var nvmlTexts = map[uint32]string{
	2: "invalid argument", 3: "not supported", 4: "no permission", 9: "the driver is not loaded",
	10: "the driver timed out",
	11: "interrupted", 12: "a library is missing", 15: "the GPU is lost", 18: "library and driver do not match",
	999:      "unknown error",
	notFound: "the library lacks the function",
}

func nvmlError(what string, status uint32) error {
	text, known := nvmlTexts[status]
	if !known {
		text = "status " + strconv.FormatUint(uint64(status), 10)
	}
	return fmt.Errorf("%s: %s", what, text)
}

// Numbers of NVML's interface.
const (
	sensorGPU     = 0
	policyPower   = 0
	metricSM      = 2 // of GPM: share of the time in which SMs were busy
	gpmVersion    = 1
	gpmHeader     = 24 // version, number of metrics, two samples
	gpmMetric     = 40 // id, status, value, three texts
	gpmMaxMetrics = 512
	processSample = 32 // pid, padding, time stamp, four utilisations
	busIDOffset   = 36 // in nvmlPciInfo_t: after the legacy id and five numbers
	pciInfoSize   = 128
	maxProcesses  = 4096
)

func nvmlLibraries() []string {
	if runtime.GOOS == "windows" {
		return []string{"nvml.dll", `C:\Program Files\NVIDIA Corporation\NVSMI\nvml.dll`}
	}
	return []string{"libnvidia-ml.so.1", "libnvidia-ml.so", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}
}

// nvml is NVIDIA's library, initialised.
type nvml struct {
	*library
	devices  []*nvmlDevice
	gpm      int
	warnings []string
}

type nvmlDevice struct {
	identity gpu.HelperGPU
	handle   uintptr
	// samples are two of GPM, the earlier first; 0 without GPM.
	samples [2]uintptr
	seen    uint64 // time stamp of the last process sample
}

// openNVML finds the GPUs that NVML knows, with their handles, which stay valid until it is shut down. A GPU that
// cannot be opened, as one that fell off the bus, is left out with a warning.
func openNVML() (Reader, error) {
	lib, err := openLibrary(nvmlLibraries())
	if err != nil {
		return nil, err
	}
	n := &nvml{library: lib}
	if status := n.call("nvmlInit_v2 nvmlInit"); status != nvmlSuccess {
		return nil, nvmlError("NVML cannot be initialised", status)
	}
	count := new(uint32)
	if status := n.call("nvmlDeviceGetCount_v2 nvmlDeviceGetCount", address(count)); status != nvmlSuccess {
		return nil, nvmlError("the GPUs cannot be counted", status)
	}
	for i := range int(*count) {
		handle := new(uintptr)
		if status := n.call("nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex", uintptr(i),
			address(handle)); status != nvmlSuccess {
			n.warnings = append(n.warnings, nvmlError(fmt.Sprintf("GPU %d is left out", i), status).Error())
			continue
		}
		d := &nvmlDevice{handle: *handle}
		d.identity = gpu.HelperGPU{
			Index: i, Device: "nvidia" + strconv.Itoa(i),
			UUID:  n.text("nvmlDeviceGetUUID", d, "GPU-unknown-"+strconv.Itoa(i)),
			Model: n.text("nvmlDeviceGetName", d, "Unknown GPU"), PCIBusID: n.busID(d),
		}
		n.startGPM(d)
		n.devices = append(n.devices, d)
	}
	return n, nil
}

// Ready implements Reader.
func (n *nvml) Ready() gpu.HelperReady {
	return gpu.HelperReady{GPUs: len(n.devices), GPM: n.gpm, Library: n.name}
}

// Warnings implements Reader.
func (n *nvml) Warnings() []string { return n.warnings }

func (n *nvml) text(function string, d *nvmlDevice, otherwise string) string {
	buffer := make([]byte, 128)
	if n.call(function, d.handle, address(&buffer[0]), uintptr(len(buffer)-1)) != nvmlSuccess || cstring(buffer) == "" {
		return otherwise
	}
	return cstring(buffer)
}

func (n *nvml) busID(d *nvmlDevice) string {
	info := make([]byte, pciInfoSize)
	if n.call("nvmlDeviceGetPciInfo_v3", d.handle, address(&info[0])) != nvmlSuccess {
		return ""
	}
	return cstring(info[busIDOffset : busIDOffset+32])
}

// startGPM takes the first sample of a GPU that measures its SMs.
func (n *nvml) startGPM(d *nvmlDevice) {
	support := &[2]uint32{gpmVersion, 0}
	if n.call("nvmlGpmQueryDeviceSupport", d.handle, address(support)) != nvmlSuccess || support[1] == 0 {
		return
	}
	a, b := new(uintptr), new(uintptr)
	if n.call("nvmlGpmSampleAlloc", address(a)) != nvmlSuccess ||
		n.call("nvmlGpmSampleAlloc", address(b)) != nvmlSuccess ||
		n.call("nvmlGpmSampleGet", d.handle, *a) != nvmlSuccess {
		return
	}
	d.samples = [2]uintptr{*a, *b}
	n.gpm++
}

// number calls a function that gives one 32-bit number.
func (n *nvml) number(function string, d *nvmlDevice, before ...uintptr) (float64, bool) {
	v := new(uint32)
	args := append(append([]uintptr{d.handle}, before...), address(v))
	ok := n.call(function, args...) == nvmlSuccess
	return float64(*v), ok
}

// Read implements Reader.
func (n *nvml) Read() []gpu.HelperLine {
	var lines []gpu.HelperLine
	for _, d := range n.devices {
		if values := n.read(d); len(values) > 0 {
			lines = append(lines, gpu.HelperLine{GPU: &d.identity, Values: values})
		}
	}
	return lines
}

// read reads all readings of a GPU that it supports.
func (n *nvml) read(d *nvmlDevice) map[string]float64 {
	values := map[string]float64{}
	set := func(field string, v, scale float64, ok bool) {
		if ok {
			values[field] = v * scale
		}
	}
	milliwatts, ok := n.number("nvmlDeviceGetPowerUsage", d)
	set("gpu_power_usage", milliwatts, 1e-3, ok)
	energy := new(uint64)
	ok = n.call("nvmlDeviceGetTotalEnergyConsumption", d.handle, address(energy)) == nvmlSuccess
	set("energy_consumption", float64(*energy), 1e-9, ok)
	rates := new([2]uint32) // GPU, memory
	ok = n.call("nvmlDeviceGetUtilizationRates", d.handle, address(rates)) == nvmlSuccess
	set("gpu_utilization", float64(rates[0]), 1, ok)
	set("mem_utilization", float64(rates[1]), 1, ok)
	memory := new([3]uint64) // total, free, used
	ok = n.call("nvmlDeviceGetMemoryInfo", d.handle, address(memory)) == nvmlSuccess
	set("gpu_memory_used", float64(memory[2]), 1e-9, ok)
	celsius, ok := n.number("nvmlDeviceGetTemperature", d, sensorGPU)
	set("gpu_temperature", celsius, 1, ok)
	for _, c := range []struct{ field, function string }{
		{"decoder_utilization", "nvmlDeviceGetDecoderUtilization"},
		{"encoder_utilization", "nvmlDeviceGetEncoderUtilization"},
		{"jpg_utilization", "nvmlDeviceGetJpgUtilization"},
	} {
		pair := new([2]uint32) // utilisation, sampling period
		ok = n.call(c.function, d.handle, address(&pair[0]), address(&pair[1])) == nvmlSuccess
		set(c.field, float64(pair[0]), 1, ok)
	}
	violation := new([2]uint64) // reference time, violation time
	ok = n.call("nvmlDeviceGetViolationStatus", d.handle, policyPower, address(violation)) == nvmlSuccess
	set("power_violation", float64(violation[1]), 1e-3, ok)
	sm, ok := n.smUtilization(d)
	set("sm_utilization", min(sm, 100), 1, ok)
	return values
}

func (n *nvml) smUtilization(d *nvmlDevice) (float64, bool) {
	if d.samples[0] != 0 {
		if v, ok := n.smByGPM(d); ok {
			return v, true
		}
	}
	return n.smByProcesses(d)
}

// smByGPM returns the utilisation since the sample before.
func (n *nvml) smByGPM(d *nvmlDevice) (float64, bool) {
	if n.call("nvmlGpmSampleGet", d.handle, d.samples[1]) != nvmlSuccess {
		return 0, false
	}
	get := make([]byte, gpmHeader+gpmMetric*gpmMaxMetrics)
	order := binary.NativeEndian
	order.PutUint32(get[0:], gpmVersion)
	order.PutUint32(get[4:], 1)
	order.PutUint64(get[8:], uint64(d.samples[0]))
	order.PutUint64(get[16:], uint64(d.samples[1]))
	order.PutUint32(get[gpmHeader:], metricSM)
	status := n.call("nvmlGpmMetricsGet", address(&get[0]))
	d.samples[0], d.samples[1] = d.samples[1], d.samples[0]
	value := math.Float64frombits(order.Uint64(get[gpmHeader+8:]))
	ok := status == nvmlSuccess && order.Uint32(get[gpmHeader+4:]) == nvmlSuccess && !math.IsNaN(value) && value >= 0
	return value, ok
}

// smByProcesses adds the processes up.
func (n *nvml) smByProcesses(d *nvmlDevice) (float64, bool) {
	const function = "nvmlDeviceGetProcessUtilization"
	count := new(uint32)
	switch status := n.call(function, d.handle, 0, address(count), uintptr(d.seen)); {
	case status == nvmlNotFound, status == nvmlSuccess && *count == 0:
		return 0, true
	case status != nvmlSuccess && status != nvmlInsufficientSize:
		return 0, false
	}
	*count = min(*count, maxProcesses)
	samples := make([]byte, processSample*max(int(*count), 1))
	room := *count
	if status := n.call(function, d.handle, address(&samples[0]), address(count),
		uintptr(d.seen)); status == nvmlNotFound {
		return 0, true
	} else if status != nvmlSuccess {
		return 0, false
	}
	sum := 0.0
	for i := range int(min(*count, room)) {
		s := samples[i*processSample:]
		d.seen = max(d.seen, binary.NativeEndian.Uint64(s[8:]))
		sum += float64(binary.NativeEndian.Uint32(s[16:]))
	}
	return sum, true
}

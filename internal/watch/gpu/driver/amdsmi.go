package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"aiperf/internal/watch/gpu"
)

// Numbers of AMD SMI's interface.
const (
	amdInitGPUs      = 2
	amdHotspot       = 1 // the junction
	amdCurrent       = 0
	amdVRAM          = 0
	amdMaxHandles    = 1024
	amdBuffer        = 16 << 10 // more than any of its structures
	throttleOffset   = 68       // in amdsmi_gpu_metrics_t
	indepOffset      = 112
	amdUnsupported16 = math.MaxUint16
	amdUnsupported32 = math.MaxUint32
	amdUnsupported64 = math.MaxUint64
)

func amdLibraries() []string {
	return []string{"libamd_smi.so", "/opt/rocm/lib/libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25",
		"libamd_smi.so.24"}
}

// amdsmi is AMD's library, initialised.
type amdsmi struct {
	*library
	devices []*amdDevice
}

type amdDevice struct {
	identity gpu.HelperGPU
	handle   uintptr
}

func openAMDSMI() (Reader, error) {
	lib, err := openLibrary(amdLibraries())
	if err != nil {
		return nil, err
	}
	a := &amdsmi{library: lib}
	if status := a.call("amdsmi_init", amdInitGPUs); status != 0 {
		return nil, fmt.Errorf("AMD SMI cannot be initialised: status %d", status)
	}
	sockets, err := a.handles("amdsmi_get_socket_handles")
	if err != nil {
		return nil, err
	}
	for _, socket := range sockets {
		processors, err := a.handles("amdsmi_get_processor_handles", socket)
		if err != nil {
			continue
		}
		for _, handle := range processors {
			a.devices = append(a.devices, a.device(len(a.devices), handle))
		}
	}
	return a, nil
}

// handles asks for the number of things, then for the things.
func (a *amdsmi) handles(function string, before ...uintptr) ([]uintptr, error) {
	count := new(uint32)
	if status := a.call(function, append(before, address(count), 0)...); status != 0 {
		return nil, fmt.Errorf("%s: status %d", function, status)
	}
	*count = min(*count, amdMaxHandles)
	list := make([]uintptr, *count+1)
	if status := a.call(function, append(before, address(count), address(&list[0]))...); status != 0 {
		return nil, fmt.Errorf("%s: status %d", function, status)
	}
	return list[:min(int(*count), len(list)-1)], nil
}

// device asks for the identity of a GPU. Its name is that of the chip, which stands first in its structure in all
// versions of the library; the product name of the board moves about.
func (a *amdsmi) device(index int, handle uintptr) *amdDevice {
	d := &amdDevice{handle: handle, identity: gpu.HelperGPU{
		Index: index, Device: "amd" + strconv.Itoa(index), UUID: "amd-gpu-" + strconv.Itoa(index),
		Model: "Unknown AMD GPU",
	}}
	text := make([]byte, amdBuffer)
	if a.call("amdsmi_get_gpu_asic_info", handle, address(&text[0])) == 0 && present(cstring(text[:256])) {
		d.identity.Model = cstring(text[:256])
	}
	text = make([]byte, 256)
	length := new(uint32)
	*length = uint32(len(text) - 1)
	if a.call("amdsmi_get_gpu_device_uuid", handle, address(length), address(&text[0])) == 0 && present(cstring(text)) {
		d.identity.UUID = cstring(text)
	}
	runtime.KeepAlive(length)
	bdf := new(uint64)
	if a.call("amdsmi_get_gpu_device_bdf", handle, address(bdf)) == 0 {
		d.identity.PCIBusID = fmt.Sprintf("%04x:%02x:%02x.%d", *bdf>>16, *bdf>>8&0xff, *bdf>>3&0x1f, *bdf&7)
	}
	return d
}

func present(text string) bool { return text != "" && text != "N/A" }

// Ready implements Reader.
func (a *amdsmi) Ready() gpu.HelperReady {
	return gpu.HelperReady{GPUs: len(a.devices), Library: a.name}
}

// Warnings implements Reader.
func (a *amdsmi) Warnings() []string { return nil }

// Read implements Reader.
func (a *amdsmi) Read() []gpu.HelperLine {
	var lines []gpu.HelperLine
	for _, d := range a.devices {
		if values := a.read(d); len(values) > 0 {
			lines = append(lines, gpu.HelperLine{GPU: &d.identity, Values: values})
		}
	}
	return lines
}

// read reads one GPU, in the units of the catalogue: watts, megajoules, percent, gigabytes and degrees Celsius. A value
// that the card does not have is all ones, in 16, 32 or 64 bits as the library's version has it, and is left out.
func (a *amdsmi) read(d *amdDevice) map[string]float64 {
	values := map[string]float64{}
	set := func(field string, v float64, ok bool) {
		if ok {
			values[field] = v
		}
	}
	order := binary.NativeEndian
	info := make([]byte, amdBuffer)
	if a.call("amdsmi_get_power_info", d.handle, address(&info[0])) == 0 {
		watts, ok := socketPower(info)
		set("amd_power", watts, ok)
	}
	energy, resolution, stamp := new(uint64), new(float32), new(uint64)
	if a.call("amdsmi_get_energy_count amdsmi_get_power_ave", d.handle, address(energy), address(resolution),
		address(stamp)) == 0 {
		set("amd_energy_consumption", float64(*energy)*float64(*resolution)*1e-12, *energy != amdUnsupported64)
	}
	runtime.KeepAlive(stamp)
	activity := new([16]uint32) // gfx, memory controller, multimedia
	if a.call("amdsmi_get_gpu_activity", d.handle, address(activity)) == 0 {
		for i, field := range []string{"amd_gfx_activity", "amd_umc_activity", "amd_mm_activity"} {
			set(field, float64(activity[i]), activity[i] != amdUnsupported32 && activity[i] != amdUnsupported16)
		}
	}
	used := new(uint64)
	ok := a.call("amdsmi_get_gpu_memory_usage", d.handle, amdVRAM, address(used)) == 0
	set("amd_memory_used", float64(*used)*1e-9, ok)
	celsius := new(int64)
	if a.call("amdsmi_get_temp_metric", d.handle, amdHotspot, amdCurrent, address(celsius)) == 0 {
		t := float64(*celsius)
		if t > 200 { // older libraries say millidegrees
			t /= 1000
		}
		set("amd_temperature", t, t < 1000)
	}
	ecc := new([8]uint64) // correctable, uncorrectable, deferred
	ok = a.call("amdsmi_get_gpu_total_ecc_count", d.handle, address(ecc)) == 0
	set("amd_ecc_uncorrectable", float64(ecc[1]), ok && ecc[1] != amdUnsupported64)
	metrics := make([]byte, amdBuffer)
	if a.call("amdsmi_get_gpu_metrics_info", d.handle, address(&metrics[0])) == 0 {
		status, independent := order.Uint32(metrics[throttleOffset:]), order.Uint64(metrics[indepOffset:])
		known, knownToo := status != amdUnsupported32, independent != amdUnsupported64
		throttled := 0.0
		if known && status != 0 || knownToo && independent != 0 {
			throttled = 1
		}
		set("amd_throttle_status", throttled, known || knownToo)
	}
	return values
}

// socketPower returns the power of a socket in watts. Newer libraries have a 64-bit power in front of the two 32-bit
// ones: its upper half is then 0, or it is unsupported as a whole.
func socketPower(info []byte) (float64, bool) {
	order := binary.NativeEndian
	current, average := order.Uint32(info), order.Uint32(info[4:])
	if first := order.Uint64(info); average == 0 || first == amdUnsupported64 {
		newer, newerAverage := order.Uint32(info[8:]), order.Uint32(info[12:])
		if isPower(newer) || isPower(newerAverage) {
			current, average = newer, newerAverage
		}
	}
	for _, v := range []uint32{current, average} {
		if isPower(v) {
			return float64(v), true
		}
	}
	return 0, false
}

// isPower reports whether a value is a power in watts, not one that stands for none.
func isPower(v uint32) bool { return v > 0 && v < amdUnsupported16 }

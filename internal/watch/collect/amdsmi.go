package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/watch/gpu"
)

// amdSMIPeriod is the shortest time between two runs of amd-smi, which takes the better part of a second of CPU.
const amdSMIPeriod = 2 * time.Second

// amdSMI reads the GPUs by running amd-smi once for each reading.
type amdSMI struct {
	owner *localGPUs
	path  string
	known map[int]gpu.Device
}

func newAMDSMI(owner *localGPUs) gpuSource { return &amdSMI{owner: owner} }

func (a *amdSMI) name() string          { return "amd-smi" }
func (a *amdSMI) period() time.Duration { return amdSMIPeriod }
func (a *amdSMI) close()                {}

func (a *amdSMI) open(ctx context.Context) error {
	path, err := a.owner.options.LookPath("amd-smi")
	if err != nil {
		return errors.New("it is not installed")
	}
	a.path = path
	text, err := output(ctx, path, "static", "--asic", "--board", "--bus", "--json")
	if err != nil {
		return err
	}
	if a.known, err = ParseAMDStatic(text); err != nil {
		return err
	}
	if len(a.known) == 0 {
		return errNoGPUs
	}
	return nil
}

func (a *amdSMI) read(ctx context.Context) error {
	text, err := output(ctx, a.path, "metric", "--usage", "--power", "--temperature", "--mem-usage", "--energy",
		"--ecc", "--json")
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	readings, err := ParseAMDMetric(a.owner.options.Catalog, text, a.known)
	if err == nil {
		a.owner.deliver(readings)
	}
	return err
}

// amdList returns the list of GPUs in a document of amd-smi, older and newer.
func amdList(text []byte) ([]map[string]any, error) {
	text = bytes.TrimSpace(text)
	if i := bytes.IndexAny(text, "[{"); i > 0 {
		text = text[i:] // warnings stand before the document
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err == nil {
		return list, nil
	}
	var newer struct {
		GPUs []map[string]any `json:"gpu_data"`
	}
	if err := json.Unmarshal(text, &newer); err != nil {
		return nil, fmt.Errorf("its output is not JSON: %w", err)
	}
	return newer.GPUs, nil
}

// ParseAMDStatic reads what GPUs there are, by their index, from the JSON of amd-smi static.
func ParseAMDStatic(text []byte) (map[int]gpu.Device, error) {
	list, err := amdList(text)
	if err != nil {
		return nil, err
	}
	known := map[int]gpu.Device{}
	for _, g := range list {
		index, ok := smiNumber(g["gpu"])
		if !ok || index < 0 {
			continue
		}
		i := int(index)
		d := gpu.Device{Index: i, UUID: "amd-gpu-" + strconv.Itoa(i), Model: "Unknown AMD GPU",
			Device: "amd" + strconv.Itoa(i), PCIBusID: smiWord(memberAt(g, "bus", "bdf"))}
		for _, path := range [][]string{{"board", "product_name"}, {"asic", "market_name"}} {
			if name := smiWord(memberAt(g, path...)); name != "" {
				d.Model = name
				break
			}
		}
		for _, path := range [][]string{{"asic", "asic_serial"}, {"board", "product_serial"}} {
			if serial := smiWord(memberAt(g, path...)); serial != "" {
				d.UUID = serial
				break
			}
		}
		known[i] = d
	}
	return known, nil
}

// amdPaths are where amd-smi has the values of fields; of several the first that is a number counts.
var amdPaths = []struct {
	field string
	scale float64
	paths [][]string
}{
	{"amd_power", 1, [][]string{{"power", "socket_power"}, {"power", "current_socket_power"},
		{"power", "average_socket_power"}}},
	{"amd_energy_consumption", 1e-6, [][]string{{"energy", "total_energy_consumption"}}},
	{"amd_gfx_activity", 1, [][]string{{"usage", "gfx_activity"}}},
	{"amd_umc_activity", 1, [][]string{{"usage", "umc_activity"}}},
	{"amd_mm_activity", 1, [][]string{{"usage", "mm_activity"}}},
	{"amd_memory_used", 1.0 / 1024, [][]string{{"mem_usage", "used_vram"}}},
	{"amd_temperature", 1, [][]string{{"temperature", "junction"}, {"temperature", "hotspot"}}},
	{"amd_ecc_uncorrectable", 1, [][]string{{"ecc", "total_uncorrectable_count"}, {"ecc", "total_uncorrectable"}}},
}

// ParseAMDMetric reads one reading of all GPUs that are known, from the JSON of amd-smi metric.
func ParseAMDMetric(c *gpu.Catalog, text []byte, known map[int]gpu.Device) ([]gpu.Reading, error) {
	list, err := amdList(text)
	if err != nil {
		return nil, err
	}
	var readings []gpu.Reading
	for _, g := range list {
		index, ok := smiNumber(g["gpu"])
		d, found := known[int(index)]
		if !ok || !found {
			continue
		}
		r := gpu.Reading{Device: d, Values: c.NewValues()}
		some := false
		for _, p := range amdPaths {
			for _, path := range p.paths {
				if v, ok := smiNumber(memberAt(g, path...)); ok {
					some = c.Set(r.Values, p.field, v*p.scale) || some
					break
				}
			}
		}
		if some {
			readings = append(readings, r)
		}
	}
	return readings, nil
}

// memberAt returns a member of a member.
func memberAt(v any, path ...string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// smiNumber returns a number, bare or as {"value": 12, "unit": "W"}; "N/A" is none.
func smiNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case map[string]any:
		return smiNumber(v["value"])
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// smiWord returns a text that says something.
func smiWord(v any) string {
	s, _ := v.(string)
	if s = strings.TrimSpace(s); s == "N/A" {
		return ""
	}
	return s
}

package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
)

// GPUOptions shape the pages of the GPU exporters. The zero value is two H200 that follow the load.
type GPUOptions struct {
	Model    string // "" = h200
	Count    int    // of each page; 0 = 2
	Hostname string // "" = localhost
	Seed     uint64 // of the identities and of what sets the GPUs apart
	// Load is the load of all GPUs over time; nil = the throughput decides.
	Load *LoadCurve
	// MemoryUsed is the share of the memory that is in use; 0 = by the load.
	MemoryUsed float64
	Throttle   Throttle
	// MinThroughput is the least number of tokens per second that counts as full load; 0 = 100.
	MinThroughput float64
	// Window is the time over which the throughput is taken; 0 = 1 s.
	Window time.Duration
	// Fault is the fault of the pages; its keys are those of --metrics-fault and a few more.
	Fault string
}

// gpuModel is a GPU that the pages can show.
type gpuModel struct {
	name, model string
	gigabytes   float64
	watts       float64 // at full load; a tenth when idle
}

var gpuModels = []gpuModel{
	{"rtx6000", "NVIDIA RTX 6000 Ada Generation", 48, 300},
	{"a100", "NVIDIA A100-PCIE-40GB", 40, 400},
	{"h100", "NVIDIA H100 PCIe", 80, 350},
	{"h100-sxm", "NVIDIA H100 80GB HBM3", 80, 700},
	{"h200", "NVIDIA H200", 141, 700},
	{"b200", "NVIDIA B200", 192, 1200},
	{"gb200", "NVIDIA GB200", 192, 1200},
}

// amdModel is the GPU of the AMD page.
var amdModel = gpuModel{"mi300x", "AMD Instinct MI300X", 192, 750}

// idleShare is the power of an idle GPU, as a share of that at full load.
const idleShare = 0.1

func gpuModelNamed(name string) (gpuModel, error) {
	for _, m := range gpuModels {
		if m.name == strings.ToLower(name) {
			return m, nil
		}
	}
	return gpuModel{}, fmt.Errorf("%q is not a GPU: %s", name, strings.Join(GPUs(), ", "))
}

// GPUs returns the names of the GPUs.
func GPUs() []string {
	names := make([]string, len(gpuModels))
	for i, m := range gpuModels {
		names[i] = m.name
	}
	return names
}

// CheckGPU returns an error unless v is the name of a GPU.
func CheckGPU(v string) error {
	_, err := gpuModelNamed(v)
	return err
}

// LoadCurve is a load between 0 and 1 over the seconds since the start: straight lines between its points, level
// before the first and after the last.
type LoadCurve []LoadPoint

// LoadPoint is a point of a curve.
type LoadPoint struct{ Seconds, Load float64 }

// ParseLoadCurve parses a load, or points SECONDS:LOAD separated by commas.
func ParseLoadCurve(text string) (LoadCurve, error) {
	var curve LoadCurve
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		at, load, timed := strings.Cut(item, ":")
		if !timed {
			at, load = "0", item
		}
		var p LoadPoint
		if err := scalar.SetFloat(&p.Seconds, at, 0, 1e9); err != nil {
			return nil, err
		}
		if err := scalar.SetFloat(&p.Load, load, 0, 1); err != nil {
			return nil, err
		}
		if len(curve) > 0 && p.Seconds <= curve[len(curve)-1].Seconds {
			return nil, fmt.Errorf("the times of the curve %q must ascend", text)
		}
		curve = append(curve, p)
	}
	if len(curve) == 0 {
		return nil, errors.New("the curve is empty: give a load from 0 to 1, or SECONDS:LOAD,SECONDS:LOAD…")
	}
	return curve, nil
}

// at returns the load at an instant.
func (c LoadCurve) at(seconds float64) float64 {
	i := slices.IndexFunc(c, func(p LoadPoint) bool { return p.Seconds > seconds })
	switch i {
	case 0:
		return c[0].Load
	case -1:
		return c[len(c)-1].Load
	}
	a, b := c[i-1], c[i]
	return a.Load + (b.Load-a.Load)*(seconds-a.Seconds)/(b.Seconds-a.Seconds)
}

// integral returns the load times the seconds from 0 to an instant.
func (c LoadCurve) integral(seconds float64) float64 {
	sum, from := 0.0, 0.0
	for _, p := range c {
		if p.Seconds >= seconds {
			break
		}
		sum += (c.at(from) + p.Load) / 2 * (p.Seconds - from)
		from = p.Seconds
	}
	return sum + (c.at(from)+c.at(seconds))/2*(seconds-from)
}

func (o *GPUOptions) count() int { return cmp.Or(o.Count, 2) }

func (o *GPUOptions) host() string { return cmp.Or(o.Hostname, "localhost") }

package parse

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
)

// GPUItems are the items of --gpu-telemetry by their meaning.
type GPUItems struct {
	Exporters   []config.GPUExporter
	MetricsFile string
	Collector   string
	Dashboard   bool
}

// gpuCollectors are the names that may precede an address.
var gpuCollectors = []string{"dcgm", "amd_dme"}

// localCollectors read the GPUs of this machine.
var localCollectors = []string{"pynvml", "amdsmi"}

// GPUCollector describes a collector of GPU telemetry for lists.
type GPUCollector struct{ Name, About string }

// GPUCollectors lists the collectors.
func GPUCollectors() (list []GPUCollector) {
	about := map[string]string{
		"dcgm":    "Exporters of NVIDIA's DCGM, over HTTP.",
		"amd_dme": "AMD's Device Metrics Exporter, over HTTP.",
		"pynvml":  "The NVIDIA GPUs of this machine, by its driver or nvidia-smi.",
		"amdsmi":  "The AMD GPUs of this machine, by AMD SMI.",
	}
	for _, name := range append(gpuCollectors[:len(gpuCollectors):len(gpuCollectors)], localCollectors...) {
		list = append(list, GPUCollector{name, about[name]})
	}
	return list
}

// GPU reads the items of --gpu-telemetry.
func GPU(items []string) (GPUItems, error) {
	var out GPUItems
	for _, item := range items {
		if err := out.add(item); err != nil {
			return out, err
		}
	}
	if out.Collector != "" && len(out.Exporters) > 0 {
		//lint:ignore ST1005 the documented text
		return out, fmt.Errorf("Cannot use %s with DCGM URLs. %s reads the GPUs of this machine: leave either out",
			out.Collector, out.Collector)
	}
	return out, nil
}

// add reads one item. The order of the tests is documented.
func (g *GPUItems) add(item string) error {
	lower := strings.ToLower(item)
	switch {
	case strings.HasSuffix(lower, ".csv"):
		info, err := os.Stat(item)
		switch {
		case err != nil:
			//lint:ignore ST1005 the documented text
			return fmt.Errorf("GPU metrics file not found: %s", fault.Shorten(item))
		case info.IsDir():
			return fmt.Errorf("%s is a directory, not a metrics file", fault.Shorten(item))
		case g.MetricsFile != "" && g.MetricsFile != item:
			return fmt.Errorf("two metrics files, %s and %s: give one", fault.Shorten(g.MetricsFile),
				fault.Shorten(item))
		}
		g.MetricsFile = item
	case slices.Contains(localCollectors, lower):
		if g.Collector != "" && g.Collector != lower {
			return errors.New("pynvml and amdsmi cannot be used together: one run reads the GPUs of one maker")
		}
		g.Collector = lower
	case item == "dashboard":
		g.Dashboard = true
	default:
		exporter, err := gpuExporter(item)
		if err != nil {
			return err
		}
		g.Exporters = append(g.Exporters, exporter)
	}
	return nil
}

// gpuExporter reads an address, which may follow the name of a collector and a colon.
func gpuExporter(item string) (config.GPUExporter, error) {
	name, rest, found := strings.Cut(item, ":")
	for _, known := range gpuCollectors {
		if found && name == known && rest != "" && !isPort(rest) {
			url, ok := itemURL(rest)
			if !ok {
				url = "http://" + rest
			}
			return config.GPUExporter{URL: url, Collector: known}, nil
		}
	}
	if found && strings.Contains(rest, "://") && !strings.HasPrefix(item, "http") {
		//lint:ignore ST1005 the documented text
		return config.GPUExporter{}, fmt.Errorf("Unknown GPU telemetry collector '%s'; the known ones are %s",
			fault.Shorten(name),
			strings.Join(gpuCollectors, " and "))
	}
	foreign := strings.HasPrefix(rest, "//") && !strings.EqualFold(name, "http") && !strings.EqualFold(name, "https")
	if url, ok := itemURL(item); ok && !foreign {
		return config.GPUExporter{URL: url}, nil
	}
	//lint:ignore ST1005 the documented text
	return config.GPUExporter{}, fmt.Errorf("Invalid GPU telemetry item: %s. Valid options are: 'pynvml', 'amdsmi', "+
		"'dashboard', '.csv' file, and URLs.", fault.Shorten(item))
}

// isPort reports whether what follows a colon is a port: dcgm:9400 is a host of that name.
func isPort(text string) bool {
	port, _, _ := strings.Cut(text, "/")
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	return port != ""
}

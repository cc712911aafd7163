package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// gpuItems are the items of --gpu-telemetry by their meaning.
type gpuItems struct {
	exporters []GPUExporter
	csv       string
	collector string
	dashboard bool
}

// gpuCollectors are the names that may stand before an address.
var gpuCollectors = []string{"dcgm", "amd_dme"}

func parseGPUItems(items []string) (gpuItems, error) {
	var out gpuItems
	for _, item := range items {
		if err := out.add(item); err != nil {
			return out, err
		}
	}
	if out.collector != "" && len(out.exporters) > 0 {
		//lint:ignore ST1005 the documented text
		return out, fmt.Errorf("Cannot use %s with DCGM URLs. %s reads the GPUs of this machine: leave either out",
			out.collector, out.collector)
	}
	return out, nil
}

// add reads one item. The order of the tests is documented.
func (g *gpuItems) add(item string) error {
	lower := strings.ToLower(item)
	switch {
	case strings.HasSuffix(lower, ".csv"):
		info, err := os.Stat(item)
		switch {
		case err != nil:
			//lint:ignore ST1005 the documented text
			return fmt.Errorf("GPU metrics file not found: %s", shorten(item))
		case info.IsDir():
			return fmt.Errorf("%s is a directory, not a metrics file", shorten(item))
		case g.csv != "" && g.csv != item:
			return fmt.Errorf("two metrics files, %s and %s: give one", shorten(g.csv), shorten(item))
		}
		g.csv = item
	case lower == "pynvml" || lower == "amdsmi":
		if g.collector != "" && g.collector != lower {
			return errors.New("pynvml and amdsmi cannot be used together: one run reads the GPUs of one maker")
		}
		g.collector = lower
	case item == "dashboard":
		g.dashboard = true
	default:
		exporter, err := gpuExporter(item)
		if err != nil {
			return err
		}
		g.exporters = append(g.exporters, exporter)
	}
	return nil
}

// gpuExporter reads an address, which may follow the name of a collector and a colon.
func gpuExporter(item string) (GPUExporter, error) {
	name, rest, found := strings.Cut(item, ":")
	for _, known := range gpuCollectors {
		if found && name == known && rest != "" && !isPort(rest) {
			url, ok := itemURL(rest)
			if !ok {
				url = "http://" + rest
			}
			return GPUExporter{URL: url, Collector: known}, nil
		}
	}
	if found && strings.Contains(rest, "://") && !strings.HasPrefix(item, "http") {
		//lint:ignore ST1005 the documented text
		return GPUExporter{}, fmt.Errorf("Unknown GPU telemetry collector '%s'; the known ones are %s", shorten(name),
			strings.Join(gpuCollectors, " and "))
	}
	foreign := strings.HasPrefix(rest, "//") && !strings.EqualFold(name, "http") && !strings.EqualFold(name, "https")
	if url, ok := itemURL(item); ok && !foreign {
		return GPUExporter{URL: url}, nil
	}
	//lint:ignore ST1005 the documented text
	return GPUExporter{}, fmt.Errorf("Invalid GPU telemetry item: %s. Valid options are: 'pynvml', 'amdsmi', "+
		"'dashboard', '.csv' file, and URLs.", shorten(item))
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

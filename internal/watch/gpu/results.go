package gpu

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// Telemetry is what the exports say of the GPUs of a run.
type Telemetry struct {
	// Configured and Successful are sources; an exporter that was not requested is named only if it answers.
	Configured []string `json:"endpoints_configured"`
	Successful []string `json:"endpoints_successful"`
	// StartNS is the start of the profiling phase, EndNS the time of the export.
	StartNS   int64      `json:"start_ns"`
	EndNS     int64      `json:"end_ns"`
	Endpoints []Endpoint `json:"endpoints"`
	Errors    []Failure  `json:"errors,omitempty"`
	// Platforms of the devices, sorted.
	Platforms []string `json:"platforms"`
	// Conditions are what may have slowed the devices down.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Endpoint is the devices of a source.
type Endpoint struct {
	Name string          `json:"name"` // as tables show the source
	GPUs []DeviceMetrics `json:"gpus"`
}

// DeviceMetrics is the figures of a device.
type DeviceMetrics struct {
	Device
	// Key is the device's name among those of its endpoint.
	Key     string   `json:"key"`
	Metrics []Metric `json:"metrics"`
}

// Title returns the device as tables call it.
func (r *DeviceMetrics) Title() string {
	return "GPU " + strconv.Itoa(r.Index) + suffix(" MIG ", r.Instance) + " | " + r.Model
}

// Metric is a field of a device, summed up. A counter has only Avg: its growth.
type Metric struct {
	Field
	metrics.Stats
}

// Failure is how often a collection failed in the same way.
type Failure struct {
	Code    int    `json:"code,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Count   int64  `json:"count"`
}

// DisplaySource returns a source as tables show it: an exporter without scheme and /metrics, a local driver by its
// host.
func DisplaySource(source string) string {
	for _, local := range []string{"pynvml://", "amdsmi://"} {
		if host, ok := strings.CutPrefix(source, local); ok {
			return host
		}
	}
	return prom.Display(source)
}

// Telemetry sums the store up over the last phase of a run: the final readings count though they come after its end.
// Devices without any figure are left out.
func (s *Store) Telemetry(w Window) *Telemetry { return s.TelemetryUntil(w, math.MaxInt64) }

// TelemetryUntil does what Telemetry does for a phase to which no reading after an instant belongs.
func (s *Store) TelemetryUntil(w Window, untilNS int64) *Telemetry {
	t := &Telemetry{StartNS: w.StartNS}
	for _, d := range s.devices {
		if !slices.Contains(t.Platforms, d.Platform) {
			t.Platforms = append(t.Platforms, d.Platform)
		}
		r := DeviceMetrics{Device: d.Device}
		for field := range s.catalog.fields {
			if st, ok := s.stats(d, field, w, untilNS); ok && !s.catalog.quiet[field] {
				r.Metrics = append(r.Metrics, Metric{s.catalog.Field(field), st})
			}
		}
		if len(r.Metrics) > 0 {
			t.place(r)
		}
	}
	slices.Sort(t.Platforms)
	t.Conditions = s.Conditions(w)
	for i := range t.Endpoints {
		t.Endpoints[i].name()
	}
	return t
}

// place puts a result with those of its source.
func (t *Telemetry) place(r DeviceMetrics) {
	name := DisplaySource(r.Source)
	i := slices.IndexFunc(t.Endpoints, func(e Endpoint) bool { return e.Name == name })
	if i < 0 {
		i = len(t.Endpoints)
		t.Endpoints = append(t.Endpoints, Endpoint{Name: name})
	}
	t.Endpoints[i].GPUs = append(t.Endpoints[i].GPUs, r)
}

// name sorts the devices of an endpoint and gives each a key of its own.
func (e *Endpoint) name() {
	slices.SortStableFunc(e.GPUs, func(a, b DeviceMetrics) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Instance, b.Instance))
	})
	taken := map[string]bool{}
	for i := range e.GPUs {
		g := &e.GPUs[i]
		key := "gpu_" + strconv.Itoa(g.Index) + suffix("_mig_", g.Instance)
		for n := 1; taken[key]; n++ {
			key = "gpu_" + strconv.Itoa(g.Index) + suffix("_mig_", g.Instance) + "_" + g.UUID[:min(len(g.UUID), 12*n)]
			if 12*n > len(g.UUID)+12 {
				key += "_" + strconv.Itoa(i)
			}
		}
		taken[key] = true
		g.Key = key
	}
}

func suffix(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// SetSources sets which sources there were, and sorts the endpoints in their order.
func (t *Telemetry) SetSources(configured, successful []string) {
	t.Configured, t.Successful = configured, successful
	place := func(e Endpoint) int {
		return slices.IndexFunc(configured, func(c string) bool { return DisplaySource(c) == e.Name })
	}
	slices.SortStableFunc(t.Endpoints, func(a, b Endpoint) int { return cmp.Compare(place(a), place(b)) })
}

// Any reports whether a device is such.
func (t *Telemetry) Any(is func(*DeviceMetrics) bool) bool {
	return slices.ContainsFunc(t.Endpoints, func(e Endpoint) bool {
		return slices.ContainsFunc(e.GPUs, func(g DeviceMetrics) bool { return is(&g) })
	})
}

package report

import (
	"cmp"
	"strconv"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

// telemetryDocument is the section telemetry_data; a nil zone is the local one.
func telemetryDocument(t *gpu.Telemetry, zone *time.Location) *summary.TelemetryDocument {
	d := &summary.TelemetryDocument{
		Summary: summary.TelemetrySummary{Configured: t.Configured, Successful: t.Successful,
			StartTime: instant(t.StartNS, zone), EndTime: instant(t.EndNS, zone)},
		Errors: failures(t.Errors),
	}
	for i := range t.Endpoints {
		e := &t.Endpoints[i]
		var of summary.TelemetryEndpoint
		for j := range e.GPUs {
			of.GPUs.Add(e.GPUs[j].Key, gpuDocument(&e.GPUs[j]))
		}
		d.Endpoints.Add(e.Name, of)
	}
	return d
}

func failures(list []gpu.Failure) (out []summary.FailureDocument) {
	for _, f := range list {
		out = append(out, summary.FailureDocument{
			Details: summary.FailureDetails{Code: f.Code, Type: f.Type, Message: f.Message}, Count: f.Count})
	}
	return out
}

// FailureList are failures of collectors as files have them.
func FailureList(list []gpu.Failure) []any {
	out := make([]any, len(list))
	for i, f := range failures(list) {
		out[i] = artifact.ObjectOf(f)
	}
	return out
}

func gpuDocument(g *gpu.DeviceMetrics) summary.GPUDocument {
	d := summary.GPUDocument{Index: g.Index, Name: g.Model, UUID: g.UUID, Platform: g.Platform, Hostname: g.Hostname,
		Namespace: g.Namespace, Pod: g.Pod, Instance: g.Instance}
	for i := range g.Metrics {
		d.Metrics = append(d.Metrics, artifact.Member{Key: g.Metrics[i].Name, Value: gpuBlock(&g.Metrics[i])})
	}
	return d
}

func gpuBlock(m *gpu.Metric) artifact.Object {
	block := artifact.Object{{Key: "unit", Value: m.Unit}, {Key: "avg", Value: m.Avg}}
	if m.Kind == gpu.Counter {
		return block
	}
	for i, key := range metrics.PercentileKeys {
		block = append(block, artifact.Member{Key: key, Value: m.Percentiles[i]})
	}
	return append(block, artifact.Member{Key: "min", Value: m.Min}, artifact.Member{Key: "max", Value: m.Max},
		artifact.Member{Key: "std", Value: m.Std}, artifact.Member{Key: "count", Value: m.Count})
}

// appendTelemetryCSV appends the section of GPUs after two empty lines.
func appendTelemetryCSV(dst []byte, t *gpu.Telemetry) []byte {
	optional := []struct {
		header string
		of     func(*gpu.DeviceMetrics) string
	}{
		{"Hostname", func(g *gpu.DeviceMetrics) string { return g.Hostname }},
		{"Namespace", func(g *gpu.DeviceMetrics) string { return g.Namespace }},
		{"Pod Name", func(g *gpu.DeviceMetrics) string { return g.Pod }},
	}
	used := optional[:0:0]
	for _, o := range optional {
		if t.Any(func(g *gpu.DeviceMetrics) bool { return o.of(g) != "" }) {
			used = append(used, o)
		}
	}
	header := []string{"Endpoint", "GPU_Index", "GPU_Name", "GPU_UUID", "Platform", "Metric", "avg", "min", "max"}
	header = append(append(header, metrics.PercentileKeys[:]...), "std")
	for _, o := range used {
		header = append(header, o.header)
	}
	dst = artifact.AppendCSVRow(artifact.AppendCSVRow(dst))
	dst = artifact.AppendCSVRow(dst, header...)
	for i := range t.Endpoints {
		e := &t.Endpoints[i]
		for j := range e.GPUs {
			g := &e.GPUs[j]
			for k := range g.Metrics {
				row := append([]string{e.Name, strconv.Itoa(g.Index), gpuName(g), g.UUID, g.Platform},
					gpuCells(&g.Metrics[k])...)
				for _, o := range used {
					row = append(row, o.of(g))
				}
				dst = artifact.AppendCSVRow(dst, row...)
			}
		}
	}
	return dst
}

// gpuName returns a name that differs between the instances of a GPU.
func gpuName(g *gpu.DeviceMetrics) string {
	if g.Instance == "" {
		return g.Model
	}
	return g.Model + " #" + g.Instance
}

func gpuCells(m *gpu.Metric) []string {
	cells := []string{m.Display + " (" + cmp.Or(m.Unit, "count") + ")", artifact.Fixed2(m.Avg)}
	if m.Kind == gpu.Counter {
		return append(cells, make([]string, 3+len(metrics.PercentileKeys))...)
	}
	cells = append(cells, artifact.Fixed2(m.Min), artifact.Fixed2(m.Max))
	for _, v := range m.Percentiles {
		cells = append(cells, artifact.Fixed2(v))
	}
	return append(cells, artifact.Fixed2(m.Std))
}

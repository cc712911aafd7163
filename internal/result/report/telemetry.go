package report

import (
	"cmp"
	"strconv"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/gpu"
)

// telemetryObject is the section telemetry_data; a nil zone is the local one.
func telemetryObject(t *gpu.Telemetry, zone *time.Location) artifact.Object {
	var endpoints artifact.Object
	for i := range t.Endpoints {
		e := &t.Endpoints[i]
		var gpus artifact.Object
		for j := range e.GPUs {
			gpus = append(gpus, artifact.Member{Key: e.GPUs[j].Key, Value: gpuObject(&e.GPUs[j])})
		}
		endpoints = append(endpoints, artifact.Member{Key: e.Name, Value: artifact.Object{{Key: "gpus", Value: gpus}}})
	}
	overview := artifact.Object{
		{Key: "endpoints_configured", Value: orNone(t.Configured)},
		{Key: "endpoints_successful", Value: orNone(t.Successful)},
	}
	overview = appendInstant(overview, "start_time", t.StartNS, zone)
	overview = appendInstant(overview, "end_time", t.EndNS, zone)
	return artifact.Object{
		{Key: "summary", Value: overview}, {Key: "endpoints", Value: endpoints},
		{Key: "error_summary", Value: FailureList(t.Errors)},
	}
}

// FailureList are failures of collectors as files have them.
func FailureList(failures []gpu.Failure) []any {
	list := make([]any, 0, len(failures))
	for _, f := range failures {
		details := artifact.Object{}
		if f.Code != 0 {
			details = append(details, artifact.Member{Key: "code", Value: f.Code})
		}
		details = append(details, artifact.Member{Key: "type", Value: f.Type},
			artifact.Member{Key: "message", Value: f.Message})
		list = append(list, artifact.Object{{Key: "error_details", Value: details}, {Key: "count", Value: f.Count}})
	}
	return list
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func gpuObject(g *gpu.DeviceMetrics) artifact.Object {
	o := artifact.Object{
		{Key: "gpu_index", Value: g.Index}, {Key: "gpu_name", Value: g.Model}, {Key: "gpu_uuid", Value: g.UUID},
		{Key: "platform", Value: g.Platform},
	}
	for _, m := range []struct{ key, text string }{
		{"hostname", g.Hostname}, {"namespace", g.Namespace}, {"pod_name", g.Pod}, {"gpu_instance_id", g.Instance},
	} {
		if m.text != "" {
			o = append(o, artifact.Member{Key: m.key, Value: m.text})
		}
	}
	var fields artifact.Object
	for i := range g.Metrics {
		fields = append(fields, artifact.Member{Key: g.Metrics[i].Name, Value: gpuBlock(&g.Metrics[i])})
	}
	return append(o, artifact.Member{Key: "metrics", Value: fields})
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

package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

// GPU is what the report says of GPUs; nil when the run does not show them.
type GPU struct {
	Telemetry *gpu.Telemetry
}

// gpuPlatform appends the panel before all sections of GPUs: whose figures follow, and what they are good for.
func (p *page) gpuPlatform(shown *GPU) {
	if shown == nil || len(shown.Telemetry.Endpoints) == 0 {
		return
	}
	p.panel("GPU Telemetry Platform",
		"Platform: "+strings.Join(shown.Telemetry.Platforms, ", "),
		"Metric semantics are platform-specific; cross-platform comparisons require workload and collector validation.")
}

// efficiencyTables appends the figures of power and energy, if the run shows GPUs.
func (p *page) efficiencyTables(r *summary.Result, shown *GPU) {
	if shown == nil {
		return
	}
	for _, g := range []struct {
		group metrics.Group
		name  string
	}{{metrics.GroupGPU, ""}, {metrics.GroupGPUNVIDIA, " (NVIDIA)"}, {metrics.GroupGPUAMD, " (AMD)"}} {
		t := table{title: product + " | GPU Power Efficiency" + g.name, titleStyle: title,
			columns: []column{{header: "Metric", style: cyan, wraps: true}, {header: "avg", style: green}}}
		var list []metrics.Metric
		for _, m := range r.Metrics {
			if m.Group == g.group {
				list = append(list, m)
			}
		}
		slices.SortStableFunc(list, func(a, b metrics.Metric) int { return cmp.Compare(a.Order, b.Order) })
		for i := range list {
			t.rows = append(t.rows, []cell{{text: metricLabel(&list[i])}, gpuNumber(list[i].Stats.Avg)})
		}
		if len(t.rows) > 0 {
			t.print(p)
		}
	}
}

// gpuTables appends the head block and one table for each GPU.
func (p *page) gpuTables(shown *GPU) {
	if shown == nil {
		return
	}
	t := shown.Telemetry
	p.blank(2)
	if len(t.Endpoints) == 0 {
		p.line(span{"No GPU telemetry data collected during the benchmarking run.", plain})
		p.unreachable(t)
		return
	}
	p.line(span{product + " | GPU Telemetry Summary", title})
	look := yellow
	switch len(t.Successful) {
	case 0:
		look = red
	case len(t.Configured):
		look = green
	}
	p.line(span{fmt.Sprintf("%d/%d telemetry sources reachable", len(t.Successful), len(t.Configured)), look})
	for _, source := range t.Configured {
		name := "• " + safe(gpu.DisplaySource(source))
		if slices.Contains(t.Successful, source) {
			p.line(span{name + " ", plain}, span{"✔", green})
		} else {
			p.line(span{name + " ", plain}, span{"✘ (unreachable)", red})
		}
	}
	for i := range t.Endpoints {
		for j := range t.Endpoints[i].GPUs {
			p.gpuTable(t.Endpoints[i].Name, &t.Endpoints[i].GPUs[j])
		}
	}
}

func (p *page) unreachable(t *gpu.Telemetry) {
	first := true
	for _, source := range t.Configured {
		if slices.Contains(t.Successful, source) {
			continue
		}
		if first {
			p.line(span{"Unreachable endpoints:", yellow})
			first = false
		}
		p.line(span{"• " + safe(gpu.DisplaySource(source)), plain})
	}
}

func (p *page) gpuTable(endpoint string, g *gpu.DeviceMetrics) {
	t := table{title: safe(endpoint + " | " + g.Title()), titleStyle: title,
		columns: []column{{header: "Metric", style: cyan, wraps: true}}}
	t.columns = append(t.columns, statColumns()...)
	for i := range g.Metrics {
		m := &g.Metrics[i]
		label := cell{text: safe(m.Display + " (" + m.Unit + ")")}
		t.rows = append(t.rows, append([]cell{label}, statCells(&m.Stats, m.Kind != gpu.Counter, gpuNumber)...))
	}
	t.print(p)
}

// gpuNumber is a number of the GPU tables: millions are written with an exponent.
func gpuNumber(v float64) cell {
	if artifact.Finite(v) && math.Abs(v) >= 1e6 {
		return cell{text: strconv.FormatFloat(v, 'e', 2, 64)}
	}
	return cell{text: fixed2(v)}
}

package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// shownMetrics are the metrics of the rows, in their order: those that the final report shows, but for the ones without
// a place.
func shownMetrics(set *metrics.Set, groups []string) (list []metrics.Definition) {
	const hidden = metrics.ErrorOnly | metrics.Internal | metrics.Experimental
	for _, d := range set.Definitions() {
		known := len(groups) == 0 || slices.Contains(groups, string(d.Group))
		if d.Flags&hidden == 0 && d.Order != 0 && known && d.Group != metrics.GroupNone {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b metrics.Definition) int { return cmp.Compare(a.Order, b.Order) })
	return list
}

// statistic is a column of a table of statistics. Where there is no room for all, those of a higher rank are left out.
type statistic struct {
	name string
	rank int
}

var statistics = [...]statistic{{"avg", 0}, {"min", 4}, {"max", 2}, {"p99", 1}, {"p90", 3}, {"p50", 1}, {"std", 5}}

// statRow is a row of such a table. unit follows its label where there is room.
type statRow struct {
	label string
	unit  string
	cells [len(statistics)]string
	style style
}

// leastLabel is the width down to which labels shrink before columns are left out, leastBrief the one before p50 and p99
// are.
const leastLabel, leastBrief = 14, 8

// statTable lays a table of statistics out: numbers are never cut, labels shrink, then columns are left out.
func statTable(head string, rows []statRow, columns int) (lines []line) {
	var widths [len(statistics)]int
	labels := terminal.Width(head)
	for i, s := range statistics {
		widths[i] = len(s.name)
	}
	for _, r := range rows {
		labels = max(labels, terminal.Width(r.label)+terminal.Width(r.unit))
		for i, text := range r.cells {
			widths[i] = max(widths[i], terminal.Width(text))
		}
	}
	shown := func(most int) (total int) {
		for i, s := range statistics {
			if s.rank <= most {
				total += widths[i] + 2
			}
		}
		return total
	}
	most := 5
	for least := leastLabel; most > 0 && columns-shown(most) < min(labels, least); {
		if most--; most == 1 {
			least = leastBrief
		}
	}
	labels = min(labels, max(0, columns-shown(most)))
	draw := func(label string, cells [len(statistics)]string, own, numbers style) {
		label = fitted(label, labels)
		l := line{{label + strings.Repeat(" ", labels-terminal.Width(label)), own}}
		for i, s := range statistics {
			if s.rank <= most {
				l = append(l, span{strings.Repeat(" ", widths[i]+2-terminal.Width(cells[i])) + cells[i], numbers})
			}
		}
		lines = append(lines, l)
	}
	var names [len(statistics)]string
	for i, s := range statistics {
		names[i] = s.name
	}
	draw(head, names, bold, bold)
	for _, r := range rows {
		if terminal.Width(r.label)+terminal.Width(r.unit) <= labels {
			r.label += r.unit
		}
		draw(r.label, r.cells, r.style, 0)
	}
	return lines
}

// latest are the newest live metrics, or those of the run before, of a cell, as long as there are none; nil without any.
func (f *frame) latest() (figures *progress.Figures, earlier bool) {
	switch {
	case f.figures != nil && len(f.figures.Metrics) > 0:
		return f.figures, false
	case f.earlier != nil && len(f.earlier.Metrics) > 0:
		return f.earlier, true
	}
	return nil, false
}

// metricsTitle is the title of the pane of live metrics.
func metricsTitle(f *frame) string {
	if _, earlier := f.latest(); earlier {
		return "Metrics of " + cmp.Or(f.earlierRun, "the run before")
	}
	return "Real-Time Metrics"
}

// metricLines is the content of the pane of live metrics. A metric whose figures are all those of another above it, such
// as the time to the first output token of a model that does not reason, has no row.
func metricLines(f *frame, columns, _ int) []line {
	figures, _ := f.latest()
	switch {
	case f.options.Every == 0:
		return remark("Live metrics are off (--stats-interval 0).", columns)
	case figures == nil:
		return remark("No metrics available yet. Please wait...", columns)
	}
	var rows []statRow
	shown := map[[len(statistics) + 1]string]bool{}
	for i := range f.rows {
		d := &f.rows[i]
		r := figures.Metric(d.Tag)
		if r == nil {
			continue
		}
		row := statRow{label: d.Short, style: cyan}
		if row.label == "" {
			row.label = d.Header
		}
		if !d.ShortHidesUnit && r.Unit != "" {
			row.unit = " (" + r.Unit + ")"
		}
		row.cells = [...]string{cents(r.Stats.Avg), notAvailable, notAvailable, notAvailable, notAvailable, notAvailable,
			notAvailable}
		if s := &r.Stats; r.Distribution {
			row.cells = [...]string{cents(s.Avg), cents(s.Min), cents(s.Max), cents(s.Percentiles.At(99)),
				cents(s.Percentiles.At(90)), cents(s.Percentiles.At(50)), cents(s.Std)}
		}
		key := [len(statistics) + 1]string{r.Unit}
		copy(key[1:], row.cells[:])
		if r.Distribution && shown[key] {
			continue
		}
		shown[key] = true
		rows = append(rows, row)
	}
	return statTable("Metric", rows, columns)
}

// gpuTitle is the title of the pane of the GPUs.
func gpuTitle(f *frame) string {
	if len(f.gpus()) == 0 {
		return "GPU Telemetry"
	}
	return fmt.Sprintf("GPU Telemetry · %s", counted(len(f.gpus()), "GPU"))
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// gpuTotals are the fields that the line above the GPUs sums up.
var gpuTotals = []struct {
	label string
	tags  []string
	sum   bool
	unit  string
}{
	{"power", []string{"gpu_power_usage", "amd_power"}, true, "W"},
	{"utilization", []string{"gpu_utilization", "amd_gfx_activity"}, false, "%"},
	{"memory", []string{"gpu_memory_used", "amd_memory_used"}, true, "GB"},
	{"temperature", []string{"gpu_temperature", "amd_temperature"}, false, "°C"},
}

// gpuLines is the content of the pane of the GPUs: all together, bars of each, then a block of statistics for each.
func gpuLines(f *frame, columns, _ int) (lines []line) {
	switch {
	case f.options.Watch && len(f.gpus()) == 0:
		if f.observed == nil || !f.observed.Searched {
			return remark("Looking for GPUs...", columns)
		}
		return remark("No GPUs: no exporter and no driver of this machine answered. --gpu-telemetry URL names an exporter.",
			columns)
	case f.snap == nil && !f.options.Watch:
		return remark("Enabling live GPU telemetry...", columns)
	case len(f.gpus()) == 0:
		return remark("No GPU telemetry: no exporter or driver answered. --gpu-telemetry URL names an exporter, pynvml or "+
			"amdsmi a driver of this machine.", columns)
	}
	list := f.gpus()
	if len(list) > 1 {
		lines = append(lines, gpuSummary(list, columns))
	}
	lines = append(append(lines, gpuBars(list, columns)...), nil)
	for i := range list {
		g := &list[i]
		lines = append(lines, line{{gpuName(g), bold}})
		var rows []statRow
		for _, v := range g.Values {
			unit := ""
			if v.Unit != "" {
				unit = " (" + clean(v.Unit) + ")"
			}
			row := statRow{label: clean(v.Header), unit: unit, style: cyan, cells: [...]string{scientific(v.Avg), scientific(v.Min),
				scientific(v.Max), scientific(v.P99), scientific(v.P90), scientific(v.P50), scientific(v.Std)}}
			if math.IsNaN(v.Avg) { // before the load, there is only the newest value
				row.cells[0] = scientific(v.Now)
			}
			rows = append(rows, row)
		}
		lines = append(append(lines, statTable("Metric", rows, columns)...), nil)
	}
	return lines[:len(lines)-1]
}

func gpuName(g *progress.GPU) string {
	return fmt.Sprintf("%s | GPU %d | %s", clean(g.Source), g.Index, clean(g.Model))
}

// newestOf returns the newest value of the first of some fields that a GPU has.
func newestOf(g *progress.GPU, tags []string) (float64, bool) {
	for i := range g.Values {
		if slices.Contains(tags, g.Values[i].Tag) {
			return g.Values[i].Now, true
		}
	}
	return 0, false
}

// gpuSummary is the line of all GPUs together, with as many figures as there is room for.
func gpuSummary(list []progress.GPU, columns int) line {
	l := line{{fmt.Sprintf("%d GPUs now", len(list)), bold}}
	columns -= terminal.Width(l[0].text)
	for _, t := range gpuTotals {
		sum, n := 0.0, 0
		for i := range list {
			if v, ok := newestOf(&list[i], t.tags); ok {
				sum, n = sum+v, n+1
			}
		}
		switch {
		case n == 0:
			continue
		case !t.sum:
			sum /= float64(n)
		}
		name, value := " · "+t.label+" ", short(sum)+" "+t.unit
		if columns -= terminal.Width(name) + terminal.Width(value); columns < 0 {
			break
		}
		l = append(l, span{name, dim}, span{value, 0})
	}
	return l
}

// gpuBars has two lines for each GPU: how busy it is and its name, and its memory, power and temperature.
func gpuBars(list []progress.GPU, columns int) (lines []line) {
	const label, value = len("GPU 00  "), 16
	length := min(30, max(0, (columns-label-value)/2))
	for i := range list {
		g := &list[i]
		used, known := newestOf(g, gpuTotals[1].tags)
		l := line{{fmt.Sprintf("%-*s", label, fmt.Sprintf("GPU %d", g.Index)), cyan}}
		text := notAvailable
		if known {
			text = short(used) + " %"
		}
		l = append(l, span{fmt.Sprintf("%-*s", value, text), 0}, span{bar(used/100, length) + "  ", green},
			span{clean(g.Model), dim})
		if g.Source != list[0].Source || g.Source != list[len(list)-1].Source {
			l = append(l, span{" · " + clean(g.Source), dim})
		}
		lines = append(lines, cut(l, columns))

		used, known = newestOf(g, gpuTotals[2].tags)
		text = ""
		if known {
			text = short(used) + " GB"
		}
		l = line{{fmt.Sprintf("%-*s", label, ""), 0}}
		if g.Memory > 0 {
			text = short(used) + " of " + short(g.Memory) + " GB"
			l = append(l, span{fmt.Sprintf("%-*s", value, text), 0}, span{bar(used/g.Memory, length) + "  ", blue})
		} else {
			l = append(l, span{fmt.Sprintf("%-*s", value+length+2, text), 0})
		}
		for _, t := range []int{0, 3} {
			if v, ok := newestOf(g, gpuTotals[t].tags); ok {
				l = append(l, span{fmt.Sprintf("%-8s", short(v)+" "+gpuTotals[t].unit), 0})
			}
		}
		lines = append(lines, cut(l, columns))
	}
	return lines
}

// workersTitle is the title of the pane of the workers, with their numbers.
func workersTitle(f *frame) string {
	if len(f.workers) == 0 {
		return "Workers"
	}
	failing := 0
	for _, w := range f.workers {
		if workerStatus(f, &w) == "error" {
			failing++
		}
	}
	return fmt.Sprintf("Workers · %d logical in one process · %d healthy, %d error", len(f.workers), len(f.workers)-failing,
		failing)
}

func workerStatus(f *frame, w *worker) string {
	switch {
	case w.failed > 0 && 10*w.failed > w.failed+w.completed:
		return "error"
	case f.snap == nil || f.ending != nil:
		return "idle"
	}
	return "healthy"
}

var statusStyles = map[string]style{"healthy": green, "high_load": yellow, "error": red, "idle": dim, "stale": dim}

// workerLines is the content of the pane of the workers. They share a process: its CPU and memory are those of all.
func workerLines(f *frame, columns, _ int) (lines []line) {
	// wide formats what is left out where the table is wider than the pane.
	wide := func(format string, a ...any) string {
		if columns < 98 {
			return ""
		}
		return fmt.Sprintf(format, a...)
	}
	cpu, memory := notAvailable, notAvailable
	if f.snap != nil && f.snap.Client != nil {
		for _, v := range f.snap.Client.Figures {
			switch v.Name {
			case "client_cpu_ratio":
				cpu = fmt.Sprintf("%.1f%%", 100*v.Value)
			case "client_resident_memory_peak_bytes":
				memory = bytesText(v.Value)
			}
		}
	}
	lines = append(lines, line{{fmt.Sprintf("%-14s %-10s %9s %10s %8s %7s %9s", "Worker ID", "Status", "In-flight",
		"Completed", "Failed", "CPU", "Memory") + wide(" %11s %12s", "Total Read", "Total Write"), bold}})
	inFlight := notAvailable
	if f.snap != nil {
		if p := f.snap.Current(); p != nil {
			inFlight = count(p.RequestsInFlight())
		}
	}
	total := worker{id: "all"}
	for _, w := range f.workers {
		total.completed, total.failed = total.completed+w.completed, total.failed+w.failed
	}
	row := func(w *worker, inFlight, cpu, memory string) {
		state := workerStatus(f, w)
		lines = append(lines, line{{fmt.Sprintf("%-14s ", fitted(clean(w.id), 14)), 0},
			{fmt.Sprintf("%-10s ", state), statusStyles[state]},
			{fmt.Sprintf("%9s %10s %8s %7s %9s", inFlight, count(w.completed), count(w.failed), cpu, memory) +
				wide(" %11s %12s", notAvailable, notAvailable), 0}})
	}
	row(&total, inFlight, cpu, memory)
	for i := range f.workers {
		row(&f.workers[i], notAvailable, "", "")
	}
	return lines
}

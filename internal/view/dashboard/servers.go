package dashboard

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// serverRow is a figure of a server.
type serverRow struct {
	label, name, unit string
	// bar draws the newest value of a percentage, in place of the course.
	bar bool
	// second is the name of a figure that follows the first, as p99 follows p50.
	second string
}

// serverRows are the figures of the servers in the order of their pane.
var serverRows = [...]serverRow{
	{label: "Running", name: "server_requests_running", unit: "requests"},
	{label: "Waiting", name: "server_requests_waiting", unit: "requests"},
	{label: "KV cache", name: "server_kv_cache_usage_percent", unit: "%", bar: true},
	{label: "Prefix cache hits", name: "server_prefix_cache_hit_percent", unit: "%", bar: true},
	{label: "External cache hits", name: "server_external_cache_hit_percent", unit: "%", bar: true},
	{label: "CPU KV cache", name: "server_cpu_kv_cache_usage_percent", unit: "%", bar: true},
	{label: "Requests", name: "server_requests_per_second", unit: "req/s"},
	{label: "Input", name: "server_input_tokens_per_second", unit: "tokens/s"},
	{label: "Output", name: "server_output_tokens_per_second", unit: "tokens/s"},
	{label: "TTFT p50 p99", name: "server_ttft_p50_seconds", second: "server_ttft_p99_seconds"},
	{label: "ITL p50 p99", name: "server_itl_p50_seconds", second: "server_itl_p99_seconds"},
	{label: "Latency p50 p99", name: "server_latency_p50_seconds", second: "server_latency_p99_seconds"},
	{label: "Unique prompt tokens", name: "server_unique_prompt_tokens", unit: "tokens"},
}

// value is the text of a row's figures.
func (r *serverRow) value(figures []progress.Figure) string {
	v := figureOf(figures, r.name)
	if r.second == "" {
		return short(v) + " " + r.unit
	}
	return milliseconds(1e3*v) + "  " + milliseconds(1e3*figureOf(figures, r.second))
}

// The columns of a row of a server: its label, its value, that of a percentage, and the least for a bar or a course; in a
// pane that is narrower than wideServer labels are shorter.
const (
	wideServer   = 54
	serverLabels = 21
	narrowLabels = 18
	serverValues = 19
	barValues    = 8
	leastCourse  = 6
)

// serverLines is the content of the pane of the servers.
func serverLines(f *frame, columns, _ int) (lines []line) {
	switch {
	case f.options.Watch:
		return observedLines(f, columns)
	case f.options.Every == 0:
		return remark("Live metrics are off (--stats-interval 0).", columns)
	case f.figures == nil || len(f.figures.Servers) == 0:
		return remark("No server metrics yet: the servers have no metrics page that is known, or nothing was measured yet.",
			columns)
	}
	return serverBlock(f.figures.Servers, f.servers[""], columns)
}

// serverBlock has a row for each figure that is known: the newest value, and a bar or its course where there is room.
func serverBlock(figures []progress.Figure, courses serverCourses, columns int) (lines []line) {
	labels, values := serverLabels, serverValues
	if columns < wideServer {
		labels, values = min(narrowLabels, max(8, columns-serverValues-1)), 0
	}
	for i := range serverRows {
		r := &serverRows[i]
		if math.IsNaN(figureOf(figures, r.name)) {
			continue
		}
		label := fitted(r.label, labels-1)
		text := r.value(figures)
		l := line{{label + strings.Repeat(" ", labels-terminal.Width(label)), dim}, {text, 0}}
		least := values
		if r.bar {
			least = max(least, barValues)
		}
		used := labels + max(least, terminal.Width(text)+1)
		if room := columns - used; room >= leastCourse {
			l = append(l, span{strings.Repeat(" ", used-labels-terminal.Width(text)), 0})
			if r.bar {
				l = append(l, span{bar(figureOf(figures, r.name)/100, min(30, room)), blue})
			} else {
				l = append(l, span{sparkline(courses[r.name], min(60, room), 1)[0], blue})
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// observedLines is the content of the pane of the servers without a run: a block for each.
func observedLines(f *frame, columns int) (lines []line) {
	if f.observed == nil {
		return remark("Looking for metrics pages...", columns)
	}
	for i := range f.observed.Servers {
		s := &f.observed.Servers[i]
		if i > 0 {
			lines = append(lines, nil)
		}
		head := line{{clean(s.URL), bold}}
		if s.Kind != "" {
			head = append(head, span{" · " + clean(s.Kind), bold})
		}
		lines = append(lines, cut(head, columns))
		if s.Remark != "" && s.Error == "" {
			lines = append(lines, remark("  "+clean(s.Remark), columns)...)
		}
		switch {
		case s.Error != "":
			for k, part := range wrapped(clean(s.Error), columns-2) {
				if k < 3 {
					lines = append(lines, line{{"  " + part, red}})
				}
			}
			lines = append(lines, line{{"  It is tried again.", dim}})
		case len(s.Figures) == 0 && s.Kind != "":
			lines = append(lines, remark("  No figures yet: many servers have none before their first request.", columns)...)
		case len(s.Figures) == 0:
			lines = append(lines, remark("  Nothing is known of its metrics yet, or they are none that aiperf reads.", columns)...)
		default:
			lines = append(lines, serverBlock(s.Figures, f.servers[s.URL], columns)...)
		}
	}
	return lines
}

// serversTitle is the title of the pane of the servers.
func serversTitle(f *frame) string {
	if f.observed == nil {
		return "Server Metrics"
	}
	failing := 0
	for i := range f.observed.Servers {
		if f.observed.Servers[i].Error != "" {
			failing++
		}
	}
	title := fmt.Sprintf("Server Metrics · %d watched", len(f.observed.Servers))
	if failing > 0 {
		title += fmt.Sprintf(", %d not reached", failing)
	}
	return title
}

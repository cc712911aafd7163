package dashboard

import (
	"fmt"
	"math"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// clean makes foreign text a single line that a terminal shows.
func clean(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(terminal.Text(text))
}

// wrapped breaks a text at the edge; further lines begin with an indent.
func wrapped(text string, columns, indent int) (list []string) {
	if columns < 1 {
		return []string{text}
	}
	if indent >= columns/2 {
		indent = 0
	}
	var b strings.Builder
	used := 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		w := g.Width()
		if used+w > columns && used > 0 {
			list = append(list, b.String())
			b.Reset()
			b.WriteString(strings.Repeat(" ", indent))
			used = indent
		}
		b.WriteString(g.Value())
		used += w
	}
	return append(list, b.String())
}

// The layout of a line of the log: the time, a space, the level, a space, the message.
const (
	logTime  = len("15:04:05.000")
	logLevel = 8
	logHead  = logTime + 1 + logLevel + 1
)

var levelStyles = map[string]style{"TRACE": dim, "DEBUG": dim, "INFO": green, "NOTICE": cyan, "WARNING": yellow,
	"SUCCESS": bold | green, "ERROR": red, "CRITICAL": bold | red}

// logTail is the content of the pane of the log.
func logTail(f *frame, columns, _ int) (lines []line) {
	if len(f.log) == 0 {
		return []line{{{"No log lines yet.", dim}}}
	}
	for _, text := range f.log {
		lines = append(lines, logLine(text, columns)...)
	}
	return lines
}

// briefLog is the width below which a line of the log has no level: the colour of its message says it.
const briefLog = 70

// logLine breaks a line of the log at the edge and gives its level a colour.
func logLine(text string, columns int) (lines []line) {
	level := ""
	if len(text) > logHead && text[2] == ':' {
		level = strings.TrimRight(text[logTime+1:logTime+1+logLevel], " ")
	}
	own, known := levelStyles[level]
	if !known {
		for _, part := range wrapped(text, columns, 0) {
			lines = append(lines, plain(part))
		}
		return lines
	}
	head, message := line{{text[:logTime+1], dim}, {text[logTime+1 : logHead], own}}, style(0)
	if columns < briefLog {
		head = line{{text[:8] + " ", dim}}
		if level != "INFO" {
			message = own
		}
	}
	used := 0
	for _, sp := range head {
		used += len(sp.text)
	}
	for i, part := range wrapped(text[logHead:], columns-used, 0) {
		if i > 0 {
			head = line{{strings.Repeat(" ", used), 0}}
		}
		lines = append(lines, append(head[:len(head):len(head)], span{part, message}))
	}
	return lines
}

// errorsTitle is the title of the pane of the errors.
func errorsTitle(f *frame) string {
	n := int64(0)
	if f.snap != nil {
		for _, k := range f.snap.Errors {
			n += k.Count
		}
	}
	if n == 0 {
		return "Errors"
	}
	return fmt.Sprintf("Errors · %s", count(n))
}

// errorLines is the content of the pane of the errors: their kinds with the last message of each.
func errorLines(f *frame, columns, rows int) (lines []line) {
	if f.snap == nil || len(f.snap.Errors) == 0 {
		return []line{{{"No errors.", green}}}
	}
	for _, k := range f.snap.Errors {
		name := clean(k.Type)
		if k.Code != 0 {
			name = fmt.Sprintf("%d %s", k.Code, name)
		}
		lines = append(lines, line{{fmt.Sprintf("%6s× ", count(k.Count)), bold | red}, {name, bold}})
		message := wrapped(clean(k.Message), columns-2, 0)
		if most := max(1, rows/3); len(message) > most {
			message = message[:most]
			message[most-1] = fitted(message[most-1]+"……", columns-2)
		}
		for _, part := range message {
			lines = append(lines, line{{"  " + part, dim}})
		}
	}
	return lines
}

// serverRows are the figures of the servers.
var serverRows = []struct {
	label, name, unit string
	bar               bool
}{
	{"Running", "server_requests_running", "requests", false}, {"Waiting", "server_requests_waiting", "requests", false},
	{"KV cache", "server_kv_cache_usage_percent", "%", true},
	{"Prefix cache hits", "server_prefix_cache_hit_percent", "%", true},
	{"External cache hits", "server_external_cache_hit_percent", "%", true},
	{"CPU KV cache", "server_cpu_kv_cache_usage_percent", "%", true},
	{"Input", "server_input_tokens_per_second", "tokens/s", false},
	{"Output", "server_output_tokens_per_second", "tokens/s", false},
	{"Unique prompt tokens", "server_unique_prompt_tokens", "tokens", false},
}

// serverLines is the content of the pane of the servers.
func serverLines(f *frame, columns, _ int) (lines []line) {
	switch {
	case f.options.Every == 0:
		return []line{{{"Live metrics are off (--stats-interval 0).", dim}}}
	case f.figures == nil || len(f.figures.Servers) == 0:
		return []line{{{"No server metrics yet: the servers have no metrics page that is known, or", dim}},
			{{"nothing was measured yet.", dim}}}
	}
	labels := min(21, max(8, columns-22))
	for _, r := range serverRows {
		v := serverFigure(f.figures, r.name)
		if math.IsNaN(v) {
			continue
		}
		label := fitted(r.label, labels-1)
		l := line{{label + strings.Repeat(" ", labels-width(label)), dim}, {short(v) + " " + r.unit, 0}}
		used := labels + width(l[1].text) + 1
		if r.bar {
			at := labels + 8
			if used < at {
				l = append(l, span{strings.Repeat(" ", at-used+1), 0})
				used = at
			}
			l = append(l, span{bar(v/100, min(30, max(0, columns-used-1))), blue})
		}
		lines = append(lines, l)
	}
	for _, t := range []struct {
		label  string
		values course
	}{{"Waiting requests", f.trends.waiting}, {"KV cache usage", f.trends.cache}} {
		if !math.IsNaN(t.values.last()) && columns > labels+10 {
			label := fitted(t.label, labels-1)
			lines = append(lines, line{{label + strings.Repeat(" ", labels-width(label)), dim},
				{sparkline(filled(t.values), columns-labels, 1)[0], blue}})
		}
	}
	return lines
}

// filled repeats values where there is none.
func filled(c course) []float64 {
	list := make([]float64, len(c))
	last := math.NaN()
	for i, v := range c {
		if !math.IsNaN(v) {
			last = v
		}
		list[i] = last
	}
	return list
}

var verdictStyles = map[string]style{"valid": green, "client_limited": red, "inconclusive": yellow}

// drawHealth draws the line about the client itself.
func drawHealth(c *canvas, f *frame, y int) {
	if f.snap == nil || f.snap.Client == nil {
		c.put(1, y, c.width-1, "Client: not judged yet", dim)
		return
	}
	client := f.snap.Client
	l := line{{"Client ", dim}}
	if client.Verdict == "" {
		l = append(l, span{"not judged yet", dim})
	} else {
		l = append(l, span{strings.ReplaceAll(client.Verdict, "_", " "), bold | verdictStyles[client.Verdict]})
	}
	bound := 0.0
	for _, v := range client.Figures {
		switch v.Name {
		case "client_cpu_ratio":
			l = append(l, span{" · CPU ", dim}, span{fmt.Sprintf("%.0f %%", 100*v.Value), 0})
		case "client_resident_memory_peak_bytes":
			l = append(l, span{" · memory ", dim}, span{bytesText(v.Value), 0})
		case "client_timer_delay_p99_seconds":
			l = append(l, span{" · timer delay p99 ", dim}, span{milliseconds(1e3 * v.Value), 0})
		case "client_error_bound_seconds":
			bound = max(bound, v.Value)
		case "host_cpu_busy_ratio":
			l = append(l, span{" · machine ", dim}, span{fmt.Sprintf("%.0f %% busy", 100*v.Value), 0})
		}
	}
	if bound > 0 {
		l = append(l[:2:2], append(line{{" · share ≤ ", dim}, {milliseconds(1e3 * bound), 0}}, l[2:]...)...)
	}
	if len(client.Findings) > 0 {
		l = append(l[:2:2], append(line{{": " + clean(client.Findings[0].Message), yellow}}, l[2:]...)...)
	}
	drawLine(c, 1, y, c.width-2, cut(l, c.width-2))
}

// cut shortens a line to so many columns, with an ellipsis.
func cut(l line, columns int) line {
	for i, sp := range l {
		w := width(sp.text)
		if w > columns {
			return append(l[:i:i], span{fitted(sp.text, columns), sp.style})
		}
		columns -= w
	}
	return l
}

// gpus are those of the run.
func (f *frame) gpus() []progress.GPU {
	if f.snap == nil {
		return nil
	}
	return f.snap.GPUs
}

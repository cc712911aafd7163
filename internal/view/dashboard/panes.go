package dashboard

import (
	"cmp"
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// clean makes foreign text a single line that a terminal shows.
func clean(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(terminal.Text(text))
}

// wrapped breaks a text at words, and words that are too long at the edge.
func wrapped(text string, columns int) (list []string) {
	if columns < 1 {
		return []string{text}
	}
	for _, row := range terminal.Wrap(text, columns) {
		for terminal.Width(row) > columns {
			head := terminal.Cut(row, columns, "")
			if head == "" { // a wide character in a single column
				break
			}
			list, row = append(list, head), row[len(head):]
		}
		list = append(list, row)
	}
	return list
}

// remark is the content of a pane that has nothing else to show.
func remark(text string, columns int) (lines []line) {
	for _, row := range wrapped(text, columns) {
		lines = append(lines, line{{row, dim}})
	}
	return lines
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
func logTail(f *frame, columns, _ int) []line {
	if len(f.log) == 0 {
		return []line{{{"No log lines yet.", dim}}}
	}
	return f.logRows.of(f.log, f.logBefore, columns)
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
		for _, part := range wrapped(text, columns) {
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
	for i, part := range wrapped(text[logHead:], columns-used) {
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
		message := wrapped(clean(k.Message), columns-2)
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

var verdictStyles = map[string]style{"valid": green, "client_limited": red, "inconclusive": yellow}

// drawHealth draws the line about the client itself: its verdict, what is wrong, and its figures as far as there is room.
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
	room := c.width - 2 - l.width()
	// add adds a part if all of it fits, and for the first of the parts what does.
	add := func(part line) {
		if len(l) == 2 {
			part = cut(part, room)
		}
		if w := part.width(); w <= room {
			l, room = append(l, part...), room-w
		}
	}
	if text := limitedSoFar(f.snap.Judgement); text != "" && client.Verdict == "valid" {
		add(line{{" · so far: " + text, yellow}})
	}
	if len(client.Findings) > 0 && client.Verdict != "valid" {
		add(line{{": " + clean(client.Findings[0].Message), yellow}})
	}
	bound := 0.0
	var parts []line
	for _, v := range client.Figures {
		switch v.Name {
		case "client_cpu_ratio":
			parts = append(parts, line{{" · CPU ", dim}, {fmt.Sprintf("%.0f %%", 100*v.Value), 0}})
		case "client_resident_memory_peak_bytes":
			parts = append(parts, line{{" · memory ", dim}, {bytesText(v.Value), 0}})
		case "client_timer_delay_p99_seconds":
			parts = append(parts, line{{" · timers late by ", dim}, {milliseconds(1e3 * v.Value), 0}})
		case "client_error_bound_seconds":
			bound = max(bound, v.Value)
		case "host_cpu_busy_ratio":
			parts = append(parts, line{{" · machine ", dim}, {fmt.Sprintf("%.0f %% busy", 100*v.Value), 0}})
		}
	}
	if bound > 0 {
		add(line{{" · error at most ", dim}, {milliseconds(1e3 * bound), 0}})
	}
	for _, part := range parts {
		add(part)
	}
	if len(client.Findings) > 0 && client.Verdict == "valid" {
		add(cut(line{{" · " + clean(client.Findings[0].Message), yellow}}, max(room, leastFinding)))
	}
	drawLine(c, 1, y, c.width-2, l)
}

// leastFinding is the least width of a remark on a client that is valid.
const leastFinding = 40

// width returns the columns of a line.
func (l line) width() (columns int) {
	for _, sp := range l {
		columns += terminal.Width(sp.text)
	}
	return columns
}

// limitedSoFar is the first thing that is wrong with a run so far, in a few words; "" for nothing.
func limitedSoFar(j *progress.Judgement) string {
	if j == nil {
		return ""
	}
	for _, f := range j.Findings {
		if f.Level == "warn" || f.Level == "bad" {
			return clean(cmp.Or(f.Brief, f.Title))
		}
	}
	return ""
}

// cut shortens a line to so many columns, with an ellipsis.
func cut(l line, columns int) line {
	for i, sp := range l {
		w := terminal.Width(sp.text)
		if w > columns {
			return append(l[:i:i], span{fitted(sp.text, columns), sp.style})
		}
		columns -= w
	}
	return l
}

// gpus are those of the run, or those that are observed without one.
func (f *frame) gpus() []progress.GPU {
	switch {
	case f.observed != nil:
		return f.observed.GPUs
	case f.snap == nil:
		return nil
	}
	return f.snap.GPUs
}

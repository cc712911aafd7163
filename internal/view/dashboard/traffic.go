package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// The panes of a recording. No key shows them alone.
const (
	trafficPane   paneID = "traffic"
	lengthsPane   paneID = "lengths"
	recordingPane paneID = "recording"
)

func init() { // they draw frames, whose layout has all panes
	panes[trafficPane] = &pane{title: titled("Traffic"), lines: trafficLines}
	panes[lengthsPane] = &pane{title: titled("Lengths in tokens"), lines: lengthLines}
	panes[recordingPane] = &pane{title: titled("Recording"), lines: recordingLines}
}

// trafficCourses are the figures of recorded traffic whose course is shown.
type trafficCourses struct {
	requests, inFlight, prompts, replies, shared, failed, lost course
}

// clone returns a copy that later values do not change.
func (t *trafficCourses) clone() trafficCourses {
	c := *t
	for i := range trafficRows {
		p := trafficRows[i].course(&c)
		*p = slices.Clone(*p)
	}
	return c
}

// trafficRows are the rows of the pane of the traffic; of the newest values the mean over mean periods is shown.
var trafficRows = [...]struct {
	label, unit string
	course      func(*trafficCourses) *course
	mean        int
	style       style
	// bad: the row is red where it is not 0.
	bad bool
}{
	{"Requests", "req/s", func(c *trafficCourses) *course { return &c.requests }, 3, green, false},
	{"In flight", "requests", func(c *trafficCourses) *course { return &c.inFlight }, 1, blue, false},
	{"Prompts", "tokens/s", func(c *trafficCourses) *course { return &c.prompts }, 5, cyan, false},
	{"Replies", "tokens/s", func(c *trafficCourses) *course { return &c.replies }, 5, cyan, false},
	{"Shared", "% of prompt", func(c *trafficCourses) *course { return &c.shared }, 5, magenta, false},
	{"Failed", "req/s", func(c *trafficCourses) *course { return &c.failed }, 5, red, true},
	{"Lost rows", "rows/s", func(c *trafficCourses) *course { return &c.lost }, 5, red, true},
}

// Recorded shows what a recorder has seen so far. It is called once in a period.
func (d *Dashboard) Recorded(t *progress.Traffic) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.state.traffic
	d.state.traffic = t
	if before == nil || t.For <= before.For {
		return
	}
	seconds := (t.For - before.For).Seconds()
	rate := func(now, then int64) float64 { return float64(now-then) / seconds }
	c := &d.state.recorded
	c.requests.add(rate(t.Requests, before.Requests))
	c.inFlight.add(float64(t.InFlight))
	c.prompts.add(rate(t.InputTokens, before.InputTokens))
	c.replies.add(rate(t.OutputTokens, before.OutputTokens))
	c.failed.add(rate(t.Failed, before.Failed))
	c.lost.add(rate(t.Lost, before.Lost))
	share := math.NaN()
	if tokens := t.InputTokens - before.InputTokens; tokens > 0 {
		share = 100 * float64(t.SharedTokens-before.SharedTokens) / float64(tokens)
	}
	c.shared.add(share)
}

// trafficLines has a row for each figure: the newest value and its course.
func trafficLines(f *frame, columns, rows int) (lines []line) {
	const labels, values = 11, 19
	height := max(1, min(2, rows/len(trafficRows)))
	for i := range trafficRows {
		r := &trafficRows[i]
		c := *r.course(&f.recorded)
		v := c.mean(r.mean)
		text, own := short(v)+" "+r.unit, r.style
		if r.bad && !(v > 0) {
			own = dim
		}
		l := line{{r.label + strings.Repeat(" ", labels-len(r.label)), dim}}
		spark := make([]string, height)
		if room := columns - labels - values; room >= leastCourse {
			spark = sparkline(c, room, height)
		}
		valueStyle := style(0)
		if r.bad && v > 0 {
			valueStyle = red
		}
		if height == 2 {
			lines = append(lines, line{{strings.Repeat(" ", labels+values), 0}, {spark[0], own}})
		}
		text += strings.Repeat(" ", max(1, values-terminal.Width(text)))
		l = append(l, span{text, valueStyle}, span{spark[height-1], own})
		lines = append(lines, l)
	}
	return lines
}

// lengthLines draws both distributions beside one another.
func lengthLines(f *frame, columns, rows int) (lines []line) {
	switch {
	case f.traffic == nil:
		return nil
	case f.traffic.Requests == 0:
		return remark("Nothing yet. Clients send to "+clean(f.traffic.Clients)+" what they sent to the server.", columns)
	case f.traffic.Prompts.Count == 0:
		return remark("No prompt yet: a request is described when it has ended.", columns)
	}
	half := (columns - 2) / 2
	left := distribution("Prompts", &f.traffic.Prompts, half, rows, cyan)
	right := distribution("Replies", &f.traffic.Replies, columns-2-half, rows, green)
	for i := range max(len(left), len(right)) {
		var l line
		if i < len(left) {
			l = append(l, left[i]...)
		}
		l = append(l, span{strings.Repeat(" ", max(2, half+2-l.width())), 0})
		if i < len(right) {
			l = append(l, right[i]...)
		}
		lines = append(lines, l)
	}
	return lines
}

// distribution draws lengths as bars: one for each power of two, those at the ends together where there are more than
// rows.
func distribution(name string, d *progress.Lengths, columns, rows int, own style) (lines []line) {
	if d.Count == 0 {
		return []line{{{name, bold}, {" –", dim}}}
	}
	lines = append(lines, line{{name, bold}, {" mean " + short(float64(d.Sum)/float64(d.Count)), 0}})
	first, last := len(d.Up), -1
	for i, n := range d.Up {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	counts := append([]int64(nil), d.Up[first:last+1]...)
	open := false // the last bar has all that is longer
	for room := max(2, rows-1); len(counts) > room; {
		if n := len(counts); counts[0]+counts[1] <= counts[n-1]+counts[n-2] {
			counts[1] += counts[0]
			counts, first = counts[1:], first+1
		} else {
			counts[n-2] += counts[n-1]
			counts, open = counts[:n-1], true
		}
	}
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	const labels, shares = 7, 6
	for i, n := range counts {
		label := "≤ " + short(float64(int64(1)<<(first+i)))
		if open && i == len(counts)-1 {
			label = "> " + short(float64(int64(1)<<(first+i-1)))
		}
		share := float64(n) / float64(d.Count)
		text := percentOf(share)
		room := columns - labels - shares
		drawn := ""
		if room > 0 {
			drawn = strings.TrimRight(bar(float64(n)/float64(most), room), "░")
			if n > 0 && drawn == "" {
				drawn = "▏"
			}
		}
		lines = append(lines, line{{fmt.Sprintf("%*s ", labels-1, label), dim}, {fmt.Sprintf("%*s ", shares-1, text), 0},
			{drawn, own}})
	}
	return lines
}

// percentOf is a share in whole percent; less than half of one is said to be less than 1 %.
func percentOf(share float64) string {
	if share > 0 && share < 0.005 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// recordingLines says what was recorded so far, and of what.
func recordingLines(f *frame, columns, rows int) (lines []line) {
	t := f.traffic
	if t == nil {
		return nil
	}
	add := func(label, text string, own style) {
		const labels = 10
		lines = append(lines, line{{label + strings.Repeat(" ", max(1, labels-len(label))), dim},
			{fitted(text, max(1, columns-labels)), own}})
	}
	of := fmt.Sprintf("%s of %s", count(t.Rows), count(t.Requests))
	if len(of)+20 <= columns {
		of += " requests"
	}
	add("Rows", of, 0)
	if t.Lost > 0 {
		add("Lost", count(t.Lost)+" rows", bold|red)
	}
	if t.Failed > 0 {
		add("Failed", count(t.Failed)+" requests", yellow)
	}
	if t.Sessions > 0 {
		add("Sessions", fmt.Sprintf("%s, %.1f turns each", count(t.Sessions), float64(t.Turns)/float64(t.Sessions)), 0)
	}
	if t.InputTokens > 0 {
		add("Shared", fmt.Sprintf("%s of prompt tokens", percentOf(float64(t.SharedTokens)/float64(t.InputTokens))), 0)
	}
	add("Files", bytesText(float64(t.Bytes))+" in "+clean(t.Folder), 0)
	if t.Full {
		add("", "full; rows are lost", bold|red)
	}
	left := max(2, rows-len(lines))
	for _, group := range []struct {
		label string
		list  []progress.Named
		rows  int
	}{{"Models", t.Models, (left + 1) / 2}, {"Types", t.Endpoints, left / 2}} {
		for i, text := range shares(group.list, t.Turns, group.rows, columns-10) {
			if i > 0 {
				group.label = ""
			}
			add(group.label, text, 0)
		}
	}
	return lines
}

// shares are names with the share of each in so many rows; the last one says how many more there are.
func shares(list []progress.Named, total int64, rows, columns int) (texts []string) {
	shown := list
	if len(list) > rows {
		shown = list[:max(1, rows-1)]
	}
	rest := len(list) - len(shown)
	more := ""
	if rest > 0 && rows < 2 {
		more = fmt.Sprintf(" +%d", rest)
	}
	for _, n := range shown {
		share := fmt.Sprintf("%-6s", percentOf(float64(n.Count)/float64(max(1, total))))
		texts = append(texts, share+fitted(clean(n.Name), max(1, columns-len(share)-len(more)))+more)
	}
	if rest > 0 && more == "" {
		texts = append(texts, fmt.Sprintf("and %d more", rest))
	}
	return texts
}

// drawTraffic draws a frame of a recording.
func (s *screen) drawTraffic(f *frame) {
	c := &s.canvas
	title, right := f.options.Title, f.now.Format("15:04:05")
	if f.traffic != nil {
		title += " · " + clean(f.traffic.Clients) + " → " + clean(f.traffic.Upstream)
		right = elapsed(f.traffic.For.Truncate(time.Second)) + "  " + right
	}
	c.put(1, 0, c.width-1, fitted(title, c.width-len(right)-3), bold)
	c.put(c.width-len(right)-1, 0, len(right), right, 0)
	s.drawFooter(f)
	body := rect{0, 1, c.width, c.height - 2}
	if s.maximised != "" {
		s.pane(f, s.maximised, body)
		return
	}
	if !s.hideLogs {
		rows := min(7, max(3, body.h/5))
		body.h -= rows
		s.pane(f, logPane, rect{body.x, body.y + body.h, body.w, rows})
	}
	rows := min(len(trafficRows)+2, body.h/2)
	if c.height >= tallScreen {
		rows = 2*len(trafficRows) + 2
	}
	s.pane(f, trafficPane, rect{body.x, body.y, body.w, rows})
	body.y, body.h = body.y+rows, body.h-rows
	wide := body.w * 11 / 20
	s.pane(f, lengthsPane, rect{body.x, body.y, wide, body.h})
	s.pane(f, recordingPane, rect{body.x + wide, body.y, body.w - wide, body.h})
}

// drawTinyTraffic draws what fits of a recording into a small terminal.
func drawTinyTraffic(c *canvas, f *frame) {
	lines := slices.Concat([]line{{{f.options.Title, bold}}}, trafficLines(f, c.width, 0),
		recordingLines(f, c.width, c.height))
	for y, l := range lines[:min(len(lines), c.height)] {
		drawLine(c, 0, y, c.width, l)
	}
}

package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// runsTitle is the title of the pane of a series.
func runsTitle(f *frame) string {
	if f.series == nil {
		return "Runs"
	}
	name := map[string]string{progress.RepeatsKind: "Repeats", progress.SweepKind: "Sweep",
		progress.SearchKind: "Search"}[f.series.Kind]
	return name + " · " + f.place()
}

// cellMarks are the marks of the states of a cell.
var cellMarks = map[progress.CellState]span{
	progress.CellWaiting: {"·", dim}, progress.CellRunning: {"▶", bold | yellow}, progress.CellDone: {"✔", green},
	progress.CellFailed: {"✘", red}, progress.CellSkipped: {"–", dim},
}

var cellVerdicts = map[string]style{"met": green, "missed": red, "undecided": yellow}

// cellColumns are the figures of a cell, the most important first.
var cellColumns = []struct {
	head, tag, stat string
	time            bool
}{
	{"req/s", "request_throughput", "avg", false}, {"tok/s", "output_token_throughput", "avg", false},
	{"TTFT p50", "time_to_first_token", "p50", true}, {"latency p99", "request_latency", "p99", true},
	{"ITL p50", "inter_token_latency", "p50", true}, {"TTFT p99", "time_to_first_token", "p99", true},
}

// runLines is the content of the pane of a series: the answer so far, the cells, and a curve where there is room.
func runLines(f *frame, columns, rows int) (lines []line) {
	s := f.series
	if s == nil {
		return []line{{{"This is a single run.", dim}}}
	}
	if s.Answer != "" {
		parts := wrapped(clean(s.Answer), columns)
		if most := min(2, max(1, rows/4)); len(parts) > most {
			parts = append(parts[:most-1], fitted(strings.Join(parts[most-1:], " "), columns))
		}
		for _, part := range parts {
			lines = append(lines, line{{part, bold}})
		}
	}
	table := cellTable(s, columns)
	room := rows - len(lines)
	plot := curveLines(s, columns, min(12, room-min(len(table), room/2)-1))
	if room -= len(plot); len(plot) > 0 {
		room--
	}
	if at := runningRow(s); len(table) > room && room > 2 {
		// The head and the rows around the one that runs; all of them are there when the pane is maximised.
		from := min(max(1, at+1-(room-1)/2), len(table)-(room-1))
		table = append([]line{table[0]}, table[from:from+room-1]...)
		if rows > 30 {
			table = cellTable(s, columns)
		}
	}
	if len(plot) > 0 {
		lines = append(append(lines, plot...), nil)
	}
	return append(lines, table...)
}

// runningRow is the index of the cell that runs, else of the first that waits.
func runningRow(s *progress.Series) int {
	for _, state := range []progress.CellState{progress.CellRunning, progress.CellWaiting} {
		if i := slices.IndexFunc(s.Cells, func(c progress.Cell) bool { return c.State == state }); i >= 0 {
			return i
		}
	}
	return len(s.Cells) - 1
}

// runningCell is the cell that runs, nil where none does.
func (s *state) runningCell() *progress.Cell {
	if s.series == nil {
		return nil
	}
	for i := range s.series.Cells {
		if c := &s.series.Cells[i]; c.State == progress.CellRunning {
			return c
		}
	}
	return nil
}

// cellTable is the table of the cells, with as many figures as there is room for.
func cellTable(s *progress.Series, columns int) (lines []line) {
	labels := len("Run")
	for i := range s.Cells {
		labels = max(labels, terminal.Width(cellName(&s.Cells[i])))
	}
	shown := slices.DeleteFunc(slices.Clone(cellColumns), func(c struct {
		head, tag, stat string
		time            bool
	}) bool {
		return !slices.ContainsFunc(s.Cells, func(cell progress.Cell) bool { return cellFigure(&cell, c.tag, c.stat) != nil })
	})
	const column = 12
	shown = shown[:min(len(shown), max(0, (columns-min(labels, 20)-2-7)/column))]
	labels = min(labels, max(8, columns-2-7-column*len(shown)))
	head := fmt.Sprintf("  %-*s", labels, "Run")
	for _, c := range shown {
		head += fmt.Sprintf("%*s", column, c.head)
	}
	lines = append(lines, line{{head + fmt.Sprintf("%7s", "took"), bold}})
	for i := range s.Cells {
		c := &s.Cells[i]
		mark := cellMarks[c.State]
		name := fitted(cellName(c), labels)
		own := style(0)
		switch {
		case c.State == progress.CellRunning:
			own = bold
		case c.State == progress.CellWaiting || c.State == progress.CellSkipped:
			own = dim
		case c.Verdict != "":
			own = cellVerdicts[c.Verdict]
		}
		l := line{{mark.text + " ", mark.style}, {name + strings.Repeat(" ", labels-terminal.Width(name)), own}}
		for _, k := range shown {
			text := ""
			if m := cellFigure(c, k.tag, k.stat); m != nil {
				text = short(m.Value)
				if k.time {
					text = milliseconds(m.Value)
				}
			}
			l = append(l, span{fmt.Sprintf("%*s", column, text), own & dim})
		}
		if c.Took > 0 {
			l = append(l, span{fmt.Sprintf("%7s", strings.ReplaceAll(elapsed(c.Took), " ", "")), dim})
		}
		lines = append(lines, l)
	}
	return lines
}

func cellName(c *progress.Cell) string {
	name := clean(c.Label)
	if len(c.Values) > 0 {
		var values []string
		for _, v := range c.Values {
			values = append(values, leaf(v.Name)+" "+v.Text)
		}
		name = clean(strings.Join(values, ", "))
	}
	if c.Trials > 1 && len(c.Values) > 0 {
		name += fmt.Sprintf(" #%d", c.Trial)
	}
	if c.Verdict != "" {
		name += " " + c.Verdict
	}
	return name
}

// leaf is the last part of the name of a value, as in phases.profiling.concurrency.
func leaf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func cellFigure(c *progress.Cell, tag, stat string) *progress.CellMetric {
	i := slices.IndexFunc(c.Metrics, func(m progress.CellMetric) bool { return m.Tag == tag && m.Stat == stat })
	if i < 0 {
		return nil
	}
	return &c.Metrics[i]
}

// leastCurve is the least height of a curve, leastLogRatio the ratio of the largest load to the smallest from which on the
// axis of the loads is logarithmic.
const (
	leastCurve    = 5
	leastLogRatio = 8
)

// curveLines draws the throughput of the cells over the value that they vary, where that is one number.
func curveLines(s *progress.Series, columns, rows int) (lines []line) {
	if rows < leastCurve || columns < 30 {
		return nil
	}
	tag := "output_token_throughput"
	if !slices.ContainsFunc(s.Cells, func(c progress.Cell) bool { return cellFigure(&c, tag, "avg") != nil }) {
		tag = "request_throughput"
	}
	type point struct {
		x, y  float64
		style style
	}
	var points []point
	name, unit := "", ""
	// The axis has the loads of all cells, so that it stays as it is.
	top, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for i := range s.Cells {
		c := &s.Cells[i]
		if len(c.Values) != 1 || math.IsNaN(c.Values[0].Number) {
			continue
		}
		low, high = min(low, c.Values[0].Number), max(high, c.Values[0].Number)
		m := cellFigure(c, tag, "avg")
		if m == nil {
			continue
		}
		top = max(top, m.Value)
		own := style(green)
		if c.Verdict != "" {
			own = cellVerdicts[c.Verdict]
		}
		points = append(points, point{c.Values[0].Number, m.Value, own})
		name, unit = clean(leaf(c.Values[0].Name)), m.Unit
	}
	if len(points) < 2 {
		return nil
	}
	if top <= 0 || high <= low {
		return nil
	}
	labels := max(terminal.Width(short(top)), 2)
	area := newCanvas(columns-labels-2, rows-2)
	place := func(x float64) float64 { return (x - low) / (high - low) }
	if low > 0 && high/low >= leastLogRatio {
		place = func(x float64) float64 { return math.Log(x/low) / math.Log(high/low) }
	}
	for _, p := range points {
		x := int(math.Round(place(p.x) * float64(area.width-1)))
		y := area.height - 1 - int(math.Round(p.y/top*float64(area.height-1)))
		area.put(x, y, 1, "●", p.style)
	}
	for y := range area.height {
		label := ""
		switch y {
		case 0:
			label = short(top)
		case area.height - 1:
			label = "0"
		}
		l := line{{fmt.Sprintf("%*s ┤", labels, label), dim}}
		for x := range area.width {
			one := area.cells[y*area.width+x]
			if one.text == "" {
				one.text = " "
			}
			l = append(l, span(one))
		}
		lines = append(lines, l)
	}
	lines = append(lines, line{{strings.Repeat(" ", labels+1) + "└" + strings.Repeat("─", area.width), dim}})
	left, right := short(low), short(high)
	axis := name + " → " + unit
	gap := area.width - terminal.Width(left) - terminal.Width(right) - terminal.Width(axis)
	if gap < 2 {
		axis, gap = "", area.width-terminal.Width(left)-terminal.Width(right)
	}
	return append(lines, line{{strings.Repeat(" ", labels+2) + left + strings.Repeat(" ", max(0, gap/2)) + axis +
		strings.Repeat(" ", max(0, gap-gap/2)) + right, dim}})
}

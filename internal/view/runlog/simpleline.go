package runlog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

const (
	reset = "\x1b[0m"
	red   = "\x1b[1;31m"
	// between parts figures.
	between = " · "
	// leastBar is the smallest width of a bar.
	leastBar = 6
)

// part is a piece of the line of a terminal. Those of a higher rank are left out first where there is no room.
type part struct {
	text, style string
	rank        int
}

// line returns the line of a terminal with at most so many columns, and how many it has:
//
//	Profiling |██████▋   | 201/300 67% · 10.7 req/s · 576 tok/s · TTFT p50 82.1 ms · 4 in flight · 0 errors · ETA 9 s
func (b *bar) line(series string, room int, colour bool) (line string, width int) {
	parts := b.parts(series)
	parts = b.fitting(parts, room)
	if len(parts) == 0 { // not even the count fits
		parts = []part{{text: cut(b.percentage(), room)}}
	}
	paint := func(style, text string) string {
		if !colour || style == "" || text == "" {
			return text
		}
		return style + text + reset
	}
	name := ""
	if parts[0].rank == nameRank {
		name, parts = parts[0].text+" ", parts[1:]
	}
	full := ""
	if space := room - columns(name) - widthOf(parts) - len("|| "); space >= leastBar && !b.endless {
		full = drawn(b.fraction, space) + " "
	}
	var out strings.Builder
	out.WriteString(paint(stages[b.stage].colour, name+full))
	for i, p := range parts {
		if i > 0 {
			out.WriteString(between)
		}
		out.WriteString(paint(p.style, p.text))
	}
	return out.String(), columns(name) + columns(full) + widthOf(parts)
}

// The ranks of parts.
const (
	countRank = iota
	errorRank
	etaRank
	requestsRank
	nameRank
	searchRank
	accuracyRank
	medianRank
	tokensRank
	noErrorRank
	inFlightRank
	seriesRank
	worst = seriesRank
)

// fitting returns the parts for which there is room, in their order: those of a low rank first, then the smallest bar,
// then the others.
func (b *bar) fitting(parts []part, room int) []part {
	kept := make([]bool, len(parts))
	chosen := func() (list []part) {
		for i, p := range parts {
			if kept[i] {
				list = append(list, p)
			}
		}
		return list
	}
	for rank := range worst + 1 {
		if rank == tokensRank && !b.endless {
			room -= leastBar + len("|| ")
		}
		for i, p := range parts {
			kept[i] = kept[i] || p.rank == rank
			if p.rank == rank && widthOf(chosen()) > room {
				kept[i] = false
			}
		}
		if rank == countRank && len(chosen()) == 0 {
			return nil
		}
	}
	return chosen()
}

func widthOf(parts []part) (n int) {
	for i, p := range parts {
		if i > 0 {
			n += columns(between)
		}
		n += columns(p.text)
	}
	return n
}

// parts returns the pieces of the line in their order.
func (b *bar) parts(series string) (parts []part) {
	add := func(rank int, style, text string) {
		if text != "" {
			parts = append(parts, part{text, style, rank})
		}
	}
	name := stages[b.stage].name
	if b.phase != "" {
		name += " " + terminal.Text(b.phase)
	}
	add(nameRank, "", name)
	add(countRank, "", b.count())
	add(seriesRank, "", series)
	add(searchRank, "", strings.TrimSpace(b.search))
	if b.requests > 0 {
		add(requestsRank, "", artifact.Significant(b.requests)+" req/s")
	}
	if b.tokens > 0 {
		add(tokensRank, "", artifact.Significant(b.tokens)+" tok/s")
	}
	if b.median > 0 {
		add(medianRank, "", b.of+" p50 "+milliseconds(b.median))
	}
	if b.graded > 0 {
		add(accuracyRank, "", fmt.Sprintf("%.1f%% right", 100*b.accuracy))
	}
	if b.stage != processingRecords {
		add(inFlightRank, "", thousands(b.inFlight)+" in flight")
	}
	switch b.errors {
	case 0:
		add(noErrorRank, "", "0 errors")
	case 1:
		add(errorRank, red, "1 error")
	default:
		add(errorRank, red, thousands(b.errors)+" errors")
	}
	if b.left > 0 {
		add(etaRank, "", "ETA "+remains(b.left))
	}
	return parts
}

// count says how much is done.
func (b *bar) count() string {
	switch {
	case b.total > 0:
		return thousands(b.done) + "/" + thousands(b.total) + " " + b.percentage()
	case b.endless:
		return thousands(b.done) + " requests"
	}
	return b.percentage()
}

func (b *bar) percentage() string {
	if b.endless {
		return thousands(b.done)
	}
	return strconv.Itoa(int(100*min(max(b.fraction, 0), 1)+1e-9)) + "%"
}

// eighths are blocks of one to seven eighths of a column.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// drawn returns a bar with so many columns inside.
func drawn(fraction float64, width int) string {
	n := int(math.Floor(min(max(fraction, 0), 1) * float64(width) * 8))
	inside := strings.Repeat("█", n/8) + eighths[n%8]
	return "|" + inside + strings.Repeat(" ", width-columns(inside)) + "|"
}

// milliseconds writes a latency.
func milliseconds(v float64) string {
	if v >= 1000 {
		return artifact.Significant(v/1000) + " s"
	}
	return artifact.Significant(v) + " ms"
}

// remains writes a time to come.
func remains(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s >= 3600:
		return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
	case s >= 60:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d s", s)
}

// columns returns the columns of a text at most: names of phases may have wide characters.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// wide is the first character that may take two columns and is none of a bar.
const wide = 0x2600

func columnsOf(r rune) int {
	if r >= wide || r >= 0x1100 && r < 0x2000 {
		return 2
	}
	return 1
}

// cut returns the beginning of a text that fits.
func cut(text string, room int) string {
	for i, r := range text {
		if room -= columnsOf(r); room < 0 {
			return text[:i]
		}
	}
	return text
}

const barWidth = 10

// text returns the bar as text in two parts, the second of which are the errors if there are any:
//
//	Profiling: 40/100 |████      | 40% [00:12<00:18]
//	Profiling:  40% |████      | [00:12<00:18]
//	Profiling: 40/100 |████      | 40% [00:12<00:18] 3 errors
//	Profiling peak: 40/100 |████      | 40% [00:12<00:18]
//	Profiling:  40% |████      | [00:12<00:18] concurrency 31 is held, 41 missed a limit
func (b *bar) text() (text, failed string) {
	switch {
	case b.errors == 1:
		failed = " 1 error"
	case b.errors > 1:
		failed = " " + thousands(b.errors) + " errors"
	}
	fraction := min(max(b.fraction, 0), 1)
	full := int(fraction * barWidth)
	drawn := "|" + strings.Repeat("█", full) + strings.Repeat(" ", barWidth-full) + "|"
	times := fmt.Sprintf("[%s<%s]", minutes(b.elapsed), remaining(b.elapsed, fraction))
	times += b.search
	name := stages[b.stage].name
	if b.phase != "" {
		name += " " + b.phase
	}
	if b.total > 0 {
		return fmt.Sprintf("%s: %s/%s %s %.0f%% %s", name, thousands(b.done), thousands(b.total), drawn, 100*fraction,
			times), failed
	}
	return fmt.Sprintf("%s: %3.0f%% %s %s", name, 100*fraction, drawn, times), failed
}

// searchText says where a search stands, after a space; "" without one.
func searchText(s *progress.Search) string {
	if s == nil {
		return ""
	}
	text := " " + strings.ReplaceAll(s.Variable, "_", " ") + " " + number(s.Value)
	switch s.Stage {
	case progress.SearchDiscovers:
		text += " is tried"
		if s.LastPassing != nil {
			text += ", " + number(*s.LastPassing) + " met all limits"
		}
	case progress.SearchHolds:
		text += " is held"
		if s.FirstFailing != nil {
			text += ", " + number(*s.FirstFailing) + " missed a limit"
		}
	default:
		text += ", search over"
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func remaining(elapsed time.Duration, fraction float64) string {
	if fraction <= 0 {
		return "?"
	}
	return minutes(time.Duration(float64(elapsed) * (1 - fraction) / fraction))
}

func minutes(d time.Duration) string {
	s := int64(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

func thousands(n int64) string { return artifact.GroupThousands(strconv.FormatInt(n, 10)) }

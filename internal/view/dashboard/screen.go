package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// frame is what a frame shows.
type frame struct {
	*state
	options *Options
	// log are the newest lines of the log, logBefore is the number of those before them, logRows what they were broken into.
	log       []string
	logBefore int
	logRows   *brokenLog
	workers   []worker
	spinner   int
	notice    string
	now       time.Time
}

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// line is a line of a pane.
type line []span

func plain(text string) line { return line{{text, 0}} }

// paneID names a pane by the key that maximises it.
type paneID string

// The panes.
const (
	progressPane paneID = "2"
	metricsPane  paneID = "3"
	workersPane  paneID = "4"
	gpuPane      paneID = "5"
	logPane      paneID = "6"
	serverPane   paneID = "7"
	errorPane    paneID = "8"
	runsPane     paneID = "9"
)

// pane is a titled box of lines.
type pane struct {
	// hint is its word in the footer.
	hint  string
	title func(*frame) string
	// lines returns its content for a size. It may return more lines than there are rows.
	lines func(f *frame, columns, rows int) []line
	// follows shows the end of the content unless somebody scrolled.
	follows bool
}

func titled(text string) func(*frame) string { return func(*frame) string { return text } }

var panes = map[paneID]*pane{
	progressPane: {hint: "Progress", title: titled("Profile Progress"), lines: progressLines},
	metricsPane:  {hint: "Metrics", title: metricsTitle, lines: metricLines},
	workersPane:  {hint: "Workers", title: workersTitle, lines: workerLines},
	gpuPane:      {hint: "GPU", title: gpuTitle, lines: gpuLines},
	logPane:      {hint: "Logs", title: titled("Logs"), lines: logTail, follows: true},
	serverPane:   {hint: "Servers", title: serversTitle, lines: serverLines},
	errorPane:    {hint: "Errors", title: errorsTitle, lines: errorLines},
	runsPane:     {hint: "Runs", title: runsTitle, lines: runLines},
}

// rect is a part of the screen.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// placed is a pane on the screen.
type placed struct {
	id paneID
	rect
}

// screen is the layout: which pane is where, and how far each is scrolled.
type screen struct {
	canvas canvas
	// maximised fills the body; "" is the normal layout. chosen reports that it was typed: before that, the log fills it
	// until the first progress.
	maximised paneID
	chosen    bool
	hideLogs  bool
	gpus      bool
	broken    brokenLog
	// scroll is the first line that is shown of a pane, from its end where it follows.
	scroll map[paneID]int
	// drawn are the panes of the last frame, hits the keys of its footer.
	drawn []placed
	hits  []hit
}

// hit is a part of the footer that stands for a key.
type hit struct {
	rect
	key string
}

func newScreen(gpus bool) screen {
	s := screen{gpus: gpus, scroll: map[paneID]int{}}
	s.resize(LeastWidth, LeastHeight)
	return s
}

func (s *screen) resize(width, height int) { s.canvas.reset(width, height) }

// key does what a key means to the layout.
func (s *screen) key(name string) {
	switch name {
	case "1":
		s.maximised, s.chosen = "", true
	case "esc":
		s.maximised, s.chosen, s.hideLogs = "", true, false
		clear(s.scroll)
	case "l":
		s.hideLogs = !s.hideLogs
		if s.hideLogs && s.maximised == logPane {
			s.maximised = ""
		}
		s.chosen = true
	case "up", "k":
		s.scrollPane(s.focus(), -1)
	case "down", "j":
		s.scrollPane(s.focus(), 1)
	case "pgup":
		s.scrollPane(s.focus(), -max(1, s.rows(s.focus())-1))
	case "pgdown", "space":
		s.scrollPane(s.focus(), max(1, s.rows(s.focus())-1))
	case "home":
		s.scrollPane(s.focus(), -1<<20)
	case "end":
		s.scrollPane(s.focus(), 1<<20)
	default:
		if _, known := panes[paneID(name)]; !known {
			return
		}
		if s.maximised == paneID(name) && s.chosen {
			s.maximised = ""
		} else {
			s.maximised = paneID(name)
		}
		s.chosen = true
	}
}

// focus is the pane that keys scroll: the maximised one, else the one of the GPUs, else the log.
func (s *screen) focus() paneID {
	if s.maximised != "" {
		return s.maximised
	}
	for _, p := range s.drawn {
		if p.id == gpuPane {
			return gpuPane
		}
	}
	return logPane
}

// rows returns the rows of a pane's content in the last frame.
func (s *screen) rows(id paneID) int {
	for _, p := range s.drawn {
		if p.id == id {
			return p.h - 2
		}
	}
	return 0
}

// scrollPane moves the content of a pane by lines; drawing bounds the place.
func (s *screen) scrollPane(id paneID, lines int) {
	if panes[id].follows {
		lines = -lines
	}
	s.scroll[id] = max(0, s.scroll[id]+lines)
}

// scrollAt scrolls the pane at a place.
func (s *screen) scrollAt(x, y, lines int) {
	for _, p := range s.drawn {
		if p.has(x, y) {
			s.scrollPane(p.id, lines)
		}
	}
}

// click returns the key that a click stands for: a hint of the footer, or the title of a pane.
func (s *screen) click(x, y int) string {
	for _, h := range s.hits {
		if h.has(x, y) {
			return h.key
		}
	}
	for _, p := range s.drawn {
		if p.has(x, y) && y == p.y {
			return string(p.id)
		}
	}
	return ""
}

// The sizes of the layout.
const (
	// leastBodyWidth and leastBodyHeight are the least size of the screen for panes; below it, there are a few lines only.
	leastBodyWidth  = 50
	leastBodyHeight = 12
	// tallScreen is the height from which sparklines have two rows, wideScreen the width from which all stand in one.
	tallScreen = 36
	wideScreen = 168
	// overviewRows is the least height of the overview, overviewWithGPUs the one above the GPUs; logRows is the least and
	// mostLogRows the largest height of the log, gpuRows the least of the GPUs.
	overviewRows     = 14
	overviewWithGPUs = 7
	logRows          = 5
	mostLogRows      = 16
	gpuRows          = 7
	// leastSeriesGPUs is that of the GPUs below the runs of a series: all together, and two GPUs' bars.
	leastSeriesGPUs = 7
	// leastSparkline is the least width of a sparkline of a tile: a few points say nothing.
	leastSparkline = 8
	// leastMetrics is the width of the metrics in the layout of a series at which they have p50 and p99.
	leastMetrics = 50
	// extraColumns is the least width of a pane beside the log.
	extraColumns = 38
)

// draw draws a frame.
func (s *screen) draw(f *frame) {
	c := &s.canvas
	f.logRows = &s.broken
	c.reset(c.width, c.height)
	s.drawn, s.hits = s.drawn[:0], s.hits[:0]
	if c.width < leastBodyWidth || c.height < leastBodyHeight {
		drawTiny(c, f)
		return
	}
	if f.options.Traffic {
		s.drawTraffic(f)
		return
	}
	if f.options.Watch {
		s.drawWatch(f)
		return
	}
	drawHeader(c, f)
	top := 1
	shown := s.shown(f)
	if shown == "" || c.height >= LeastHeight {
		top += drawTiles(c, f, 1)
	}
	s.drawFooter(f)
	drawHealth(c, f, c.height-2)
	body := rect{0, top, c.width, c.height - top - 2}
	if shown != "" {
		s.pane(f, shown, body)
		return
	}
	s.normal(f, body)
}

// drawWatch draws a frame without a run: the servers, the GPUs beside or below them, and the log.
func (s *screen) drawWatch(f *frame) {
	c := &s.canvas
	now := f.now.Format("15:04:05")
	c.put(1, 0, c.width-1, fitted(f.options.Title, c.width-len(now)-3), bold)
	c.put(c.width-len(now)-1, 0, len(now), now, 0)
	s.drawFooter(f)
	body := rect{0, 1, c.width, c.height - 2}
	if s.maximised != "" {
		s.pane(f, s.maximised, body)
		return
	}
	if !s.hideLogs {
		rows := min(7, max(4, body.h/5))
		body.h -= rows
		s.pane(f, logPane, rect{body.x, body.y + body.h, body.w, rows})
	}
	switch {
	case !s.gpus && len(f.gpus()) == 0:
		s.pane(f, serverPane, body)
	case body.w >= wideScreen-28:
		s.pane(f, serverPane, rect{body.x, body.y, body.w / 2, body.h})
		s.pane(f, gpuPane, rect{body.x + body.w/2, body.y, body.w - body.w/2, body.h})
	default:
		// What the servers need, and at least a third for the GPUs.
		rows := min(len(serverLines(f, body.w-4, 0))+2, body.h-max(gpuRows, body.h/3))
		s.pane(f, serverPane, rect{body.x, body.y, body.w, rows})
		s.pane(f, gpuPane, rect{body.x, body.y + rows, body.w, body.h - rows})
	}
}

// shown is the pane that fills the body, "" for the normal layout.
func (s *screen) shown(f *frame) paneID {
	if !f.options.Watch && !s.chosen && !f.moving && f.runs <= 1 {
		return logPane
	}
	return s.maximised
}

// normal draws the normal layout.
func (s *screen) normal(f *frame, body rect) {
	if f.series != nil {
		s.ofSeries(f, body)
		return
	}
	extras := s.extras(f, body.w)
	least := overviewRows
	if s.gpus {
		least = overviewWithGPUs + gpuRows
	}
	bottom := 0
	if !s.hideLogs || len(extras) > 0 {
		share := body.h * 2 / 5
		if s.gpus {
			share = body.h / 4
		}
		bottom = min(mostLogRows, max(logRows, min(share, body.h-least)))
	}
	overview := body.h - bottom
	if s.gpus {
		own := max(gpuRows, min(overview-overviewWithGPUs, overview/2))
		overview -= own
		s.pane(f, gpuPane, rect{body.x, body.y + overview, body.w, own})
	}
	left := max(body.w/3, min(34, body.w/2))
	s.pane(f, progressPane, rect{body.x, body.y, left, overview})
	s.pane(f, metricsPane, rect{body.x + left, body.y, body.w - left, overview})
	if bottom > 0 {
		s.bottom(f, "", extras, rect{body.x, body.y + body.h - bottom, body.w, bottom})
	}
}

// ofSeries draws the normal layout of a series: its runs have the largest pane, beside the phases; below are the GPUs, and
// the metrics beside the log.
func (s *screen) ofSeries(f *frame, body rect) {
	bottom, gpus := body.h*9/20, 0
	if s.gpus {
		gpus = min(len(gpuLines(f, body.w-4, 0))+2, max(leastSeriesGPUs, body.h*3/10))
		bottom = max(logRows, (body.h-gpus)*2/5)
	}
	top := body.h - bottom - gpus
	left := max(body.w/3, min(34, body.w/2))
	s.pane(f, progressPane, rect{body.x, body.y, left, top})
	s.pane(f, runsPane, rect{body.x + left, body.y, body.w - left, top})
	if gpus > 0 {
		s.pane(f, gpuPane, rect{body.x, body.y + top, body.w, gpus})
	}
	s.bottom(f, metricsPane, s.extras(f, body.w), rect{body.x, body.y + top + gpus, body.w, bottom})
}

// bottom draws the log and what stands beside it.
func (s *screen) bottom(f *frame, first paneID, extras []paneID, at rect) {
	var list []paneID
	if first != "" {
		list = append(list, first)
	}
	if !s.hideLogs {
		list = append(list, logPane)
	}
	list = append(list, extras...)
	for i, id := range list {
		w := at.w / (len(list) - i)
		if first != "" && i == 0 {
			w = max(w, at.w*2/5, min(leastMetrics, at.w*3/5))
		}
		s.pane(f, id, rect{at.x, at.y, w, at.h})
		at.x, at.w = at.x+w, at.w-w
	}
}

// extras are the panes that stand beside the log, as many as there is room for.
func (s *screen) extras(f *frame, columns int) (list []paneID) {
	if f.snap != nil && len(f.snap.Errors) > 0 {
		list = append(list, errorPane)
	}
	if f.figures != nil && len(f.figures.Servers) > 0 {
		list = append(list, serverPane)
	}
	room := columns / extraColumns
	if f.series != nil {
		room -= 2 // for the metrics
	}
	if !s.hideLogs {
		room--
	}
	return list[:min(len(list), max(0, room))]
}

// pane draws a pane.
func (s *screen) pane(f *frame, id paneID, at rect) {
	c, p := &s.canvas, panes[id]
	if at.w < 4 || at.h < 2 {
		return
	}
	s.drawn = append(s.drawn, placed{id, at})
	content := p.lines(f, at.w-4, at.h-2)
	drawBox(c, at, p.title(f))
	rows := at.h - 2
	most := max(0, len(content)-rows)
	place := min(s.scroll[id], most)
	s.scroll[id] = place
	if p.follows {
		place = most - place
	}
	for i, l := range content[place:min(len(content), place+rows)] {
		drawLine(c, at.x+2, at.y+1+i, at.w-4, l)
	}
	if most > 0 {
		text := fmt.Sprintf(" %d–%d of %d ", place+1, place+min(rows, len(content)-place), len(content))
		if w := terminal.Width(text); w+4 < at.w {
			c.put(at.x+at.w-w-2, at.y+at.h-1, w, text, dim)
		}
	}
}

// drawLine draws a line in at most so many columns.
func drawLine(c *canvas, x, y, columns int, l line) {
	for _, sp := range l {
		used := c.put(x, y, columns, sp.text, sp.style)
		x, columns = x+used, columns-used
		if columns <= 0 {
			return
		}
	}
}

// drawBox draws a border with a title.
func drawBox(c *canvas, at rect, title string) {
	horizontal := strings.Repeat("─", max(0, at.w-2))
	c.put(at.x, at.y, at.w, "╭"+horizontal+"╮", dim)
	c.put(at.x, at.y+at.h-1, at.w, "╰"+horizontal+"╯", dim)
	for y := at.y + 1; y < at.y+at.h-1; y++ {
		c.put(at.x, y, 1, "│", dim)
		c.put(at.x+at.w-1, y, 1, "│", dim)
	}
	if t := fitted(" "+title+" ", at.w-4); t != "" {
		c.put(at.x+2, at.y, at.w-4, t, bold|cyan)
	}
}

// hints are the words of the footer; those with a higher rank are left out first.
var hints = []struct {
	key, text string
	rank      int
}{
	{"1", "Overview", 0}, {"2", "Progress", 2}, {"3", "Metrics", 2}, {"4", "Workers", 3}, {"5", "GPU", 1},
	{"6", "Logs", 1}, {"7", "Servers", 2}, {"8", "Errors", 2}, {"9", "Runs", 4}, {"c", "Copy", 5},
	{"ctrl+s", "Screenshot", 4}, {"ctrl+c", "Quit", 0},
}

// drawFooter draws the key hints, and a notice in their place at the right.
func (s *screen) drawFooter(f *frame) {
	c, y := &s.canvas, s.canvas.height-1
	room := c.width
	notice := fitted(f.notice, c.width-2)
	if notice != "" {
		room -= terminal.Width(notice) + 2
	}
	for rank := 5; rank >= 0; rank-- {
		total := 1
		for _, h := range hints {
			if h.rank <= rank && s.hinted(f, h.key) {
				total += len(s.shownKey(f, h.key)) + 1 + len(h.text) + 2
			}
		}
		if total > room+2 && rank > 0 {
			continue
		}
		x := 1
		for _, h := range hints {
			if h.rank > rank || !s.hinted(f, h.key) || x+len(s.shownKey(f, h.key))+1+len(h.text) > room {
				continue
			}
			at := x
			key := style(bold | cyan)
			if s.shown(f) == paneID(h.key) {
				key |= reverse
			}
			x += c.put(x, y, c.width-x, s.shownKey(f, h.key), key)
			x += c.put(x+1, y, c.width-x-1, h.text, 0) + 1
			s.hits = append(s.hits, hit{rect{at, y, x - at, 1}, h.key})
			x += 2
		}
		break
	}
	if notice != "" {
		c.put(c.width-terminal.Width(notice)-1, y, c.width, notice, bold|yellow)
	}
}

// hinted reports whether the footer has a key.
func (s *screen) hinted(f *frame, key string) bool {
	if f.options.Watch {
		return !slices.Contains(f.options.absentKeys(), key)
	}
	return key != string(runsPane) || f.series != nil
}

// runKeys are the keys of panes that only a run has.
var runKeys = []string{string(progressPane), string(metricsPane), string(workersPane), string(errorPane),
	string(runsPane)}

// absentKeys are the keys that a watch does not have.
func (o *Options) absentKeys() []string {
	if o.Traffic {
		return append(runKeys[:len(runKeys):len(runKeys)], string(gpuPane), string(serverPane))
	}
	return runKeys
}

// shownKey is a key as the footer names it.
func (s *screen) shownKey(f *frame, key string) string {
	if key == "ctrl+c" && f.options.Watch {
		return "q"
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "^" + strings.ToUpper(letter)
	}
	return key
}

// drawTiny draws what fits into a small terminal: a few lines without boxes.
func drawTiny(c *canvas, f *frame) {
	if f.options.Traffic {
		drawTinyTraffic(c, f)
		return
	}
	if f.options.Watch {
		for y, l := range observedLines(f, c.width) {
			if y < c.height {
				drawLine(c, 0, y, c.width, l)
			}
		}
		return
	}
	h := headerOf(f)
	lines := []line{{{h.name, bold}}}
	if h.known {
		lines = append(lines, line{{bar(h.share, min(c.width, 40)), green}}, plain(percent(h.share)))
	}
	t := &f.trends
	if f.snap != nil {
		lines = append(lines, plain(short(t.requests.last())+" req/s"))
		if p := f.snap.Current(); p != nil {
			lines = append(lines, plain(count(p.RequestsInFlight())+" in flight"), plain(elapsed(p.Elapsed)),
				line{{count(p.RequestErrors) + " errors", errorStyle(p)}})
		}
		lines = append(lines, plain("TTFT "+milliseconds(t.ttft.last())), plain("latency "+milliseconds(t.latency.last())))
	}
	for y, l := range lines[:min(len(lines), max(0, c.height-1))] {
		drawLine(c, 0, y, c.width, l)
	}
	if c.height > 1 {
		c.put(0, c.height-1, c.width, fitted("^C quits; larger terminal: more", c.width), dim)
	}
}

// header is what the first row says.
type header struct {
	name  string
	share float64
	// known reports that there is a bar.
	known bool
}

func headerOf(f *frame) header {
	switch {
	case f.snap == nil && f.series != nil && f.runs > 0:
		return header{name: "Next run"}
	case f.snap == nil:
		return header{name: "Starting"}
	case f.ending != nil || f.snap.Stage == progress.Exporting || f.snap.Stage == progress.Done:
		return header{"Records", 1, true}
	}
	p := f.snap.Current()
	if p == nil {
		return header{name: "Starting"}
	}
	name, share, known := phaseHeader(f, p)
	return header{name, share, known}
}

// drawHeader draws the first row: the phase, the title, and the bar.
func drawHeader(c *canvas, f *frame) {
	h := headerOf(f)
	x := c.put(1, 0, c.width-1, fitted(h.name, c.width/3), bold) + 2
	right := c.width
	if h.known {
		columns := min(30, max(8, c.width/6))
		text := fmt.Sprintf("%4.0f%%", 100*h.share)
		right -= columns + len(text) + 1
		n := c.put(right, 0, columns, bar(h.share, columns), green)
		c.put(right+n, 0, len(text), text, 0)
	}
	title := fitted(f.title(), right-x-2)
	at := max(x, (c.width-terminal.Width(title))/2)
	if at+terminal.Width(title) > right-1 {
		at = max(x, right-1-terminal.Width(title))
	}
	c.put(at, 0, right-at, title, bold)
}

// title is the text in the middle of the header: the program, the model, the run of a series.
func (f *frame) title() string {
	parts := []string{f.options.Title}
	if f.run != nil {
		if len(f.run.Models) > 0 {
			parts = append(parts, strings.Join(f.run.Models, ", "))
		}
		if f.series != nil {
			parts = append(parts, f.place())
		}
	}
	return strings.Join(parts, " · ")
}

// place says which run of a series goes on.
func (f *frame) place() string {
	n := 0
	for _, c := range f.series.Cells {
		if c.State != progress.CellWaiting {
			n++
		}
	}
	text := fmt.Sprintf("run %d", max(n, 1))
	if f.series.Planned > 0 {
		text += fmt.Sprintf(" of %d", f.series.Planned)
	}
	if c := f.runningCell(); c != nil && len(c.Values) > 0 {
		text += ": " + cellName(c)
	}
	return text
}

// tile is a figure with its course.
type tile struct {
	label, value string
	values       course
	style        style
}

func tiles(f *frame) []tile {
	t := &f.trends
	failed, inFlight := int64(0), "–"
	if f.snap != nil {
		if p := f.snap.Current(); p != nil {
			inFlight, failed = count(p.RequestsInFlight()), p.RequestErrors
		}
	}
	latency := style(cyan)
	requests := tile{"req/s", short(t.requests.mean(3)), t.requests, green}
	if failed > 0 {
		requests.style = yellow
	}
	return []tile{requests, {"tok/s", short(t.tokens.mean(5)), t.tokens, green}, {"in flight", inFlight, t.inFlight, blue},
		{"TTFT", milliseconds(t.ttft.last()), t.ttft, latency}, {"ITL", milliseconds(t.itl.last()), t.itl, latency},
		{"latency", milliseconds(t.latency.last()), t.latency, latency}}
}

// drawTiles draws the live figures with their sparklines, and returns the rows that they take.
func drawTiles(c *canvas, f *frame, y int) int {
	columns, rows := 3, 1
	if c.width >= wideScreen {
		columns = 6
	}
	if c.height >= tallScreen {
		rows = 2
	}
	list := tiles(f)
	for i, t := range list {
		left, right := c.width*(i%columns)/columns, c.width*(i%columns+1)/columns
		top := y + i/columns*rows
		c.put(left+1, top, 10, t.label, dim)
		text := 10
		if rows == 1 {
			c.put(left+11, top, 10, t.value, bold)
			text = 20
		} else {
			c.put(left+1, top+1, 10, t.value, bold)
		}
		if right-left-text-2 < leastSparkline {
			continue
		}
		for k, s := range sparkline(t.values, right-left-text-2, rows) {
			c.put(left+text+1, top+k, right-left-text-1, s, t.style)
		}
	}
	return len(list) / columns * rows
}

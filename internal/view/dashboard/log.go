package dashboard

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"aiperf/internal/base/terminal"
)

// keptLines bounds the lines of the log that are kept.
const keptLines = 2000

// logLines keeps the newest lines of the log.
type logLines struct {
	mu    sync.Mutex
	lines []string
	// dropped is the number of lines that are kept no more.
	dropped int
	rest    []byte
}

// write takes text that ends with a line break, or waits for the rest of its last line.
func (l *logLines) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := append(l.rest, p...)
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		l.lines = append(l.lines, strings.ReplaceAll(terminal.Text(string(text[:i])), "\t", " "))
		text = text[i+1:]
	}
	l.rest = append(l.rest[:0], text...)
	if n := len(l.lines) - keptLines; n > keptLines/4 {
		l.lines = append([]string(nil), l.lines[n:]...)
		l.dropped += n
	}
}

// newest returns the lines that are kept, and the number of those before them. Later ones do not change them.
func (l *logLines) newest() (lines []string, before int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.lines)-keptLines)
	return l.lines[from:len(l.lines):len(l.lines)], l.dropped + from
}

// brokenLog are the lines of the log broken into rows of a width: each is broken once.
type brokenLog struct {
	columns int
	// from and to are the numbers of the first line and of the one after the last; counts are the rows of each.
	from, to int
	counts   []int
	rows     []line
}

// of returns the rows of lines of which before others have gone.
func (r *brokenLog) of(lines []string, before, columns int) []line {
	if columns != r.columns || before > r.to || before < r.from {
		*r = brokenLog{columns: columns, from: before, to: before}
	}
	for ; r.from < before; r.from++ {
		r.rows, r.counts = r.rows[r.counts[0]:], r.counts[1:]
	}
	for ; r.to < before+len(lines); r.to++ {
		own := logLine(lines[r.to-before], columns)
		r.rows, r.counts = append(r.rows, own...), append(r.counts, len(own))
	}
	return r.rows
}

// logWriter takes lines for the log pane while the screen is up, and passes them on else.
type logWriter struct {
	dashboard *Dashboard
	out       io.Writer
	// elsewhere reports that out does not lead to the terminal of the screen, so that it gets the lines in any case.
	elsewhere bool
}

// Write implements io.Writer.
func (w *logWriter) Write(p []byte) (int, error) {
	w.dashboard.log.write(p)
	if w.dashboard.up.Load() && !w.elsewhere {
		return len(p), nil
	}
	return w.out.Write(p)
}

// keptOutput bounds the output that waits for the end of the screen, in bytes.
const keptOutput = 4 << 20

// held is output that waits until the terminal is as it was.
type held struct {
	mu     sync.Mutex
	pieces []piece
	bytes  int
	lost   bool
}

type piece struct {
	to   io.Writer
	text []byte
}

// add keeps a piece; the oldest ones are lost where there are too many.
func (h *held) add(to io.Writer, p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.pieces) - 1; n >= 0 && h.pieces[n].to == to {
		h.pieces[n].text = append(h.pieces[n].text, p...)
	} else {
		h.pieces = append(h.pieces, piece{to, bytes.Clone(p)})
	}
	h.bytes += len(p)
	for h.bytes > keptOutput && len(h.pieces) > 1 {
		h.bytes -= len(h.pieces[0].text)
		h.pieces, h.lost = h.pieces[1:], true
	}
}

// flush writes what was kept.
func (h *held) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost && len(h.pieces) > 0 {
		_, _ = io.WriteString(h.pieces[0].to, "… the output of earlier runs is left out\n")
	}
	for _, p := range h.pieces {
		_, _ = p.to.Write(p.text)
	}
	h.pieces, h.bytes = nil, 0
}

// holdWriter keeps what is written while the screen is up, and passes it on else.
type holdWriter struct {
	dashboard *Dashboard
	out       io.Writer
}

// Write implements io.Writer.
func (w *holdWriter) Write(p []byte) (int, error) {
	if w.dashboard.up.Load() {
		w.dashboard.held.add(w.out, p)
		return len(p), nil
	}
	return w.out.Write(p)
}

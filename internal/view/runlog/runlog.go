// Package runlog writes the log of a run: short lines for the console and full lines for logs/aiperf.log, both from one
// slog.Handler with one level threshold. [Progress] logs the phases of a run and its current figures.
//
// The attribute LoggerKey names the component that logs; other attributes follow the message as key=value.
//
// The invariant: a line has passed the redactor before it is written, and no text of a server can look like another
// line or send a command to the terminal. The package must never know what is measured, but for snapshots of progress.
//
// It also shows a running benchmark as a progress bar with its current figures on the last line of a terminal,
// never wider than that. On something that is not a terminal it prints a line at every tenth of the way instead.
//
// It follows the run as an observer of progress and knows nothing else of it. Log lines for the same terminal go
// through a writer of [Simple.LogWriter], so that the two do not overwrite each other.
package runlog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
)

// LoggerKey is the attribute that names the component that logs.
const LoggerKey = "logger"

// defaultLogger is the component of a line without one.
const defaultLogger = "aiperf"

// Options configures a log.
type Options struct {
	// Level is the lowest level written.
	Level slog.Level
	// Console gets the short lines; nil means none.
	Console io.Writer
	// Brief leaves to the console only what is at least a warning.
	Brief bool
	// Terminal reports that Console is one: colours and wrapping.
	Terminal bool
	// Color allows colours on a terminal.
	Color bool
	// Columns is the terminal's width; 0 means no wrapping.
	Columns  int
	Redactor *artifact.Redactor
	// Location is the zone of the time stamps; nil is the local one.
	Location *time.Location
}

// Log is an open log. It is safe for concurrent use. Writing a line never fails, so that a log that cannot be written
// does not end a run; Err returns the error.
type Log struct {
	options Options

	mu      sync.Mutex
	console io.Writer
	file    io.WriteCloser
	path    string // of the file, "" until it is open
	early   []byte // lines for the file from before it was opened
	err     error
	// follow takes each line; nil takes none.
	follow func(Line)
	// warnings are the newest warnings and errors. The array is never written again.
	warnings []string
}

// maxWarnings bounds the warnings that are kept.
const maxWarnings = 20

// maxEarly bounds the lines that are kept for a file that is not open yet.
const maxEarly = 1 << 20

// New returns a log that writes to the console only, until OpenFile.
func New(o Options) *Log {
	if o.Redactor == nil {
		o.Redactor = artifact.NewRedactor()
	}
	return &Log{options: o, console: o.Console}
}

// OpenFile appends the lines so far and all later ones to the file at path. It creates missing directories.
func (l *Log) OpenFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make the log directory: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("cannot open the log file: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.keep(l.file.Close())
	}
	l.file, l.path = file, path
	l.toFile(l.early)
	l.early = nil
	return nil
}

// Path returns the path of the file that was opened last, "" if none was.
func (l *Log) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// SetConsole sends later short lines to another writer, such as a live display that owns the terminal; nil means none.
// It returns the former writer.
func (l *Log) SetConsole(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.console
	l.console = w
	return before
}

// Show writes a line where the console's lines go, on the screen of a dashboard too, and into no file. It reports whether
// there is a console.
func (l *Log) Show(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.console == nil {
		return false
	}
	_, _ = io.WriteString(l.console, line+"\n")
	return true
}

// Logger returns a logger whose lines carry the component's name.
func (l *Log) Logger(component string) *slog.Logger {
	return slog.New(&handler{log: l, component: component})
}

// Hide has further secrets hidden in the lines that follow.
func (l *Log) Hide(secrets ...string) { l.options.Redactor.Learn(secrets...) }

// Err returns the first error of writing the file.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Warnings returns the newest warnings and errors, the oldest of them first.
func (l *Log) Warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.warnings
}

// Line is a line of the log, which has passed the redactor.
type Line struct {
	At                        time.Time
	Level, Component, Message string
}

// Follow has a function take all later lines, whatever the console shows; nil ends that. It is called while the log is
// locked, so it must not log and must return at once.
func (l *Log) Follow(take func(Line)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow = take
}

// Follower returns the function that takes all lines, for a log that is to have the same; nil for none.
func (l *Log) Follower() func(Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.follow
}

// Close closes the file. Later lines go to the console only.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.keep(l.file.Close())
		l.file = nil
	}
	return l.err
}

// Discard closes the file and forgets it, since its folder is to be removed. Later lines go to the console only.
func (l *Log) Discard() {
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path, l.early = "", nil
}

func (l *Log) keep(err error) {
	if l.err == nil && err != nil {
		l.err = fmt.Errorf("cannot write the log file: %w", err)
	}
}

func (l *Log) toFile(line []byte) {
	switch {
	case l.file != nil && l.err == nil:
		_, err := l.file.Write(line)
		l.keep(err)
	case l.file == nil && len(l.early)+len(line) <= maxEarly:
		l.early = append(l.early, line...)
	}
}

// write writes one entry to both sides.
func (l *Log) write(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toFile(appendFileLine(nil, e))
	if e.level >= LevelWarning && e.level != LevelSuccess {
		l.warnings = append(slices.Clone(l.warnings[max(0, len(l.warnings)+1-maxWarnings):]), e.message)
	}
	if l.follow != nil {
		l.follow(Line{At: e.at, Level: LevelName(e.level), Component: e.component, Message: e.message})
	}
	if l.console != nil && (!l.options.Brief || e.level >= LevelWarning) {
		// An error, such as that of a closed pipe, does not stop the run.
		_, _ = l.console.Write(appendConsoleLine(nil, e, &l.options))
	}
}

// handler implements slog.Handler.
type handler struct {
	log       *Log
	component string
	prefix    string // of the open groups
	attrs     string // already formatted
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.log.options.Level
}

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	e := entry{at: r.Time, level: r.Level, component: h.component, source: source(r.PC)}
	if e.at.IsZero() {
		e.at = time.Now()
	}
	if h.log.options.Location != nil {
		e.at = e.at.In(h.log.options.Location)
	} else {
		e.at = e.at.Local()
	}
	var text strings.Builder
	text.WriteString(r.Message)
	text.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == LoggerKey && h.prefix == "" {
			e.component = a.Value.String()
			return true
		}
		appendAttr(&text, h.prefix, a)
		return true
	})
	if e.component == "" {
		e.component = defaultLogger
	}
	e.message = clean(h.log.options.Redactor.Text(text.String()))
	h.log.write(&e)
	return nil
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	attrs = slices.Clone(attrs)
	var text strings.Builder
	text.WriteString(h.attrs)
	for _, a := range attrs {
		if a.Key == LoggerKey && h.prefix == "" {
			next.component = a.Value.String()
			continue
		}
		appendAttr(&text, h.prefix, a)
	}
	next.attrs = text.String()
	return &next
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.prefix += name + "."
	return &next
}

func appendAttr(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range v.Group() {
			appendAttr(b, prefix, member)
		}
		return
	}
	text := v.String()
	if text == "" || strings.ContainsAny(text, " \"=\n\r\t") {
		text = strconv.Quote(text)
	}
	b.WriteString(" " + prefix + a.Key + "=" + text)
}

func source(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return filepath.Base(frame.File) + ":" + strconv.Itoa(frame.Line)
}

// Package loader reads files of conversations: JSON Lines, one object a line.
//
// A format is known by name or told from the first record. Every error names the file and the line;
// the whole file is read before the first request, so that all mistakes show at once.
package loader

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/bounded"
	"aiperf/internal/workload/dataset"
)

// How many mistakes and how many unknown keys of a file are listed.
const (
	maxErrors  = 10
	maxUnknown = 10
)

// Result is what a file holds. Conversations without an id in the file have none.
type Result struct {
	Dataset  *dataset.Dataset
	Format   string
	Warnings []string
	// Notes say how the file was read.
	Notes []string
	// BlockSize is the number of tokens of a hash id; traces only.
	BlockSize int
}

// Load reads the file at path as it is. An empty format is detected.
func Load(ctx context.Context, path, format string) (*Result, error) {
	return LoadWith(ctx, path, format, Options{})
}

// LoadWith reads the file at path. An empty format is detected.
func LoadWith(ctx context.Context, path, format string, o Options) (*Result, error) {
	f, err := chooseFormat(path, format, o.maxLine())
	if err != nil {
		return nil, err
	}
	if flags := o.traceOnly(); len(flags) > 0 && f.blockSize == 0 {
		return nil, fmt.Errorf("%s: %s need a trace, and this is a %s file", path, strings.Join(flags, ", "), f.name)
	}
	if asksOfBaseten(o.Baseten) && f.name != basetenTrace {
		return nil, fmt.Errorf("%s: --replay-speedup, --trace-session-sample-ratio, --max-idle-gap-cap-seconds, "+
			"--no-open-loop-replay, --open-loop-strict,"+
			" --omit-kv-hints and --no-force-min-tokens need a %s, and this is a %s file", path, basetenTrace, f.name)
	}
	l := &load{
		ctx: ctx, path: path, format: f.name, options: o, blockSize: cmp.Or(o.BlockSize, f.blockSize),
		sessions: map[string]int{}, unknown: map[string]bool{}, parents: map[int64]int64{}, media: map[string]string{},
	}
	if o.StripImages && f.name != singleTurn {
		return nil, fmt.Errorf("%s: --uuid-and-strip needs %s data, and this is a %s file", path, singleTurn, f.name)
	}
	if o.BlockSize > 0 && f.blockSize == 0 {
		l.warnings = append(l.warnings,
			fmt.Sprintf("--isl-block-size has no effect on %s, which is a %s file and no trace", path, f.name))
	}
	if l.indexable(f) {
		indexed, err := l.index(f)
		switch {
		case errors.Is(err, errNotIndexed):
			l = l.anew()
		case err != nil:
			return nil, err
		default:
			return l.indexedResult(f, indexed)
		}
	}
	if err := f.read(l); err != nil {
		return nil, err
	}
	if err := l.settleTimes(f.blockSize > 0); err != nil {
		return nil, err
	}
	if o.StripImages {
		for i := range l.conversations {
			stripImages(&l.conversations[i])
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	if len(l.conversations) == 0 {
		return nil, l.empty()
	}
	d := &dataset.Dataset{
		Conversations:      dataset.Memory(l.conversations),
		Roots:              l.roots,
		Sampling:           cmp.Or(f.sampling, dataset.Sequential),
		DefaultContextMode: cmp.Or(f.mode, dataset.DeltasWithoutResponses),
		NoInputs:           f.name == basetenTrace,
	}
	return &Result{
		Dataset: d, Format: f.name, Warnings: l.warnings, Notes: append(l.notes, l.dropped.notes(f.unit())...),
		BlockSize: l.blockSize,
	}, nil
}

// load is one file being read.
type load struct {
	ctx           context.Context
	path, format  string
	line          int
	conversations []dataset.Conversation
	roots         []int          // nil: all conversations
	sessions      map[string]int // session id → place in conversations
	// lines are the first lines of the conversations.
	lines   []int
	unknown map[string]bool
	// unknownAt are the keys of unknown where they were met first.
	unknownAt []unknownKey
	media     map[string]string // what the media of the file resolve to, by kind and text
	warnings  []string
	mistakes  []string
	mistaken  int
	options   Options
	notes     []string
	dropped   dropped

	// What the formats of traces work with: rows before they are grouped, the parent of each chat, and
	// the lines that are not rows.
	rows         []traceRow
	blockSize    int
	parents      map[int64]int64
	skipped      int
	skippedLines []string
	// earliest is the time of the first captured record, in milliseconds.
	earliest float64
	// columns are those of a CSV file that are read.
	columns [3]int
	// notIndexed reports that a row cannot be read alone.
	notIndexed bool
}

type unknownKey struct {
	key  string
	line int
}

// anew is the load before anything was read.
func (l *load) anew() *load {
	return &load{
		ctx: l.ctx, path: l.path, format: l.format, options: l.options, blockSize: l.blockSize,
		sessions: map[string]int{}, unknown: map[string]bool{}, parents: map[int64]int64{}, media: map[string]string{},
		columns: l.columns,
	}
}

// indexedResult is the result of rows that stay in their file; nil if nothing of it can be sent.
func (l *load) indexedResult(f format, indexed *Indexed) (*Result, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	if indexed == nil || indexed.Len() == 0 {
		return nil, l.empty()
	}
	return &Result{
		Dataset: &dataset.Dataset{Conversations: indexed, Sampling: dataset.Sequential,
			DefaultContextMode: cmp.Or(f.mode, dataset.DeltasWithoutResponses)},
		Format: f.name, Warnings: l.warnings, Notes: append(l.notes, l.dropped.notes(f.unit())...),
		BlockSize: l.blockSize,
	}, nil
}

func (l *load) notef(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// errorf notes a mistake of the current line.
func (l *load) errorf(format string, args ...any) {
	if l.mistaken++; l.mistaken <= maxErrors {
		l.mistakes = append(l.mistakes, fmt.Sprintf("%s:%d: %s", l.path, l.line, fmt.Sprintf(format, args...)))
	}
}

func (l *load) err() error {
	if l.mistaken > maxErrors {
		l.mistakes = append(l.mistakes, fmt.Sprintf("and %d more mistakes in %s", l.mistaken-maxErrors, l.path))
	}
	if len(l.mistakes) == 0 {
		return nil
	}
	return errors.New(strings.Join(l.mistakes, "\n"))
}

// warnUnknown warns of the first line with a key that means nothing.
func (l *load) warnUnknown(key string, known ...string) {
	if l.unknown[key] || len(l.unknown) > maxUnknown {
		return
	}
	l.unknown[key] = true
	l.unknownAt = append(l.unknownAt, unknownKey{key, l.line})
	if len(l.unknown) > maxUnknown {
		l.warnings = append(l.warnings, fmt.Sprintf("%s:%d: here and below are more unknown keys", l.path, l.line))
		return
	}
	l.warnings = append(l.warnings,
		fmt.Sprintf("%s:%d: the key %q is unknown and ignored%s", l.path, l.line, shorten(key), meant(key, known)))
}

// conversation is the conversation of a session id, a new one if the id is new or empty.
func (l *load) conversation(id string) *dataset.Conversation {
	if at, ok := l.sessions[id]; ok {
		return &l.conversations[at]
	}
	if id != "" {
		l.sessions[id] = len(l.conversations)
	}
	l.conversations = append(l.conversations, dataset.Conversation{SessionID: id})
	l.lines = append(l.lines, l.line)
	return &l.conversations[len(l.conversations)-1]
}

// text is an open file of text.
type text struct {
	io.Reader
	file *os.File
}

func (t *text) Close() error { return t.file.Close() }

// openText opens a file or a pipe, unpacks it if it ends in .gz, and takes a byte order mark away.
func openText(path string) (*text, error) {
	file, err := bounded.OpenStream(path)
	if err != nil {
		return nil, err
	}
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			file.Close()
			return nil, fmt.Errorf("%s is not gzip data, which its name says: %w", path, err)
		}
	}
	buffered := bufio.NewReaderSize(in, 1<<16)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	return &text{buffered, file}, nil
}

// lineLimit bounds the lines of a file; 0 is the usual bound.
type lineLimit int64

// of is in without lines that are too long.
func (limit lineLimit) of(in io.Reader) *bounded.Lines {
	return bounded.NewLines(in, cmp.Or(int64(limit), bounded.MaxLine), "; AIPERF_DATASET_MAX_LINE_BYTES sets the limit")
}

// eachLine calls f with every line that is not blank and its number, from 1, without the
// white space around it.
func eachLine(path string, limit lineLimit, f func(number int, line []byte) error) error {
	in, err := openText(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(limit.of(in), 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f(number, line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// shorten keeps a value readable in a message.
func shorten(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	cut := limit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

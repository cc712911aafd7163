// Package loader reads the files of users: conversations, prompts and recorded traces in some fifteen formats.
//
// A format is given by name or recognised by the first record. The whole file is checked before the first request; an
// error names the file and the line, and several mistakes are reported at once.
//
// In most formats a line is a row that is read without those before it ([lineReader]). Rows are grouped into
// conversations by what is noted of each ([grouping]); where a file is large, only that stays in memory, and the rows
// are read again when they are sent ([Indexed]). A file gives the same dataset both ways. The other formats are
// documents, or lines that refer to each other, and make conversations themselves ([load]).
//
// The package never sends anything, and knows neither servers nor tokenizers: the text of a prompt that is recorded as
// a length is made by package compose.
//
// It also keeps numbers of many rows in little memory: columns that grow without being copied, a table of keys
// and a set of row numbers. It knows nothing of what the numbers mean.
//
// It also reads text files by lines: in order, in chunks on all cores, and single lines again by their number.
//
// Lines are passed on without the white space around them, blank ones not at all; errors name the file and the line.
// The package knows nothing of what the lines say.
package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/workload/dataset"
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
	// Tokenizer is what counted the lengths; "" if that is not known.
	Tokenizer string
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
	if o.Users > 0 && o.Users != 1 {
		o.IndexFrom = math.MaxInt64
	}
	if flags := o.traceOnly(); len(flags) > 0 && f.blockSize == 0 {
		return nil, fmt.Errorf("%s: %s need a trace, and this is a %s file", path, strings.Join(flags, ", "), f.name)
	}
	if f.name == recordingFormat { // whose replies may be asked for in the same way
		o.Baseten.NoMinTokens = false
	}
	if asksOfBaseten(o.Baseten) && f.name != basetenTrace {
		return nil, fmt.Errorf("%s: --replay-speedup, --trace-session-sample-ratio, --max-idle-gap-cap-seconds, "+
			"--no-open-loop-replay, --open-loop-strict,"+
			" --omit-kv-hints and --no-force-min-tokens need a %s, and this is a %s file", path, basetenTrace, f.name)
	}
	l := &load{ctx: ctx, lineReader: lineReader{
		faults: faults{path: path}, format: f, options: &o, blockSize: cmp.Or(o.BlockSize, f.blockSize),
	}}
	if o.StripImages && f.name != singleTurn {
		return nil, fmt.Errorf("%s: --uuid-and-strip needs %s data, and this is a %s file", path, singleTurn, f.name)
	}
	if o.BlockSize > 0 && f.blockSize == 0 {
		l.warnings = append(l.warnings,
			fmt.Sprintf("--isl-block-size has no effect on %s, which is a %s file and not a trace", path, f.name))
	}
	conversations, err := l.read()
	if err != nil {
		return nil, err
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	if conversations.Len() == 0 {
		return nil, l.empty(&o)
	}
	conversations = l.limit(conversations)
	if o.Users > 0 && o.Users != 1 {
		if conversations, err = l.multiply(conversations.(dataset.Memory)); err != nil { // which is not indexed
			return nil, err
		}
	}
	l.credentials.note(&l.faults)
	return &Result{
		Dataset: &dataset.Dataset{
			Conversations: conversations, Roots: l.roots,
			Sampling:           cmp.Or(f.sampling, dataset.Sequential),
			DefaultContextMode: cmp.Or(f.mode, dataset.DeltasWithoutResponses),
			NoInputs:           f.name == basetenTrace,
			Credentials:        l.credentials.list,
		},
		Format: f.name, Warnings: l.warnings, Notes: append(l.notes, l.dropped.filterNotes(f.unit())...),
		BlockSize: l.blockSize, Tokenizer: l.countedBy,
	}, nil
}

// load makes the conversations of a file.
type load struct {
	lineReader
	ctx           context.Context
	conversations dataset.Memory
	roots         []int          // nil: all conversations
	sessions      map[string]int // session id → place in conversations
	starts        []int          // the first lines of the conversations
	grouped       bool           // the conversations are those of rows
	countedBy     string         // the tokenizer of recorded lengths
}

// read returns the conversations: those of a large file of rows stay in it.
func (l *load) read() (dataset.Conversations, error) {
	if l.indexable() {
		before := l.lineReader
		x, err := l.index()
		if err == nil || !errors.Is(err, errNotIndexed) {
			return x, err
		}
		l.lineReader = before
	}
	if err := l.format.read(l); err != nil {
		return nil, err
	}
	if !l.grouped {
		l.applyTimes()
	}
	return l.conversations, nil
}

// limit keeps the first conversations, of those that branch the first roots.
func (l *load) limit(all dataset.Conversations) dataset.Conversations {
	n, have := l.options.Limit, all.Len()
	if l.roots != nil {
		have = len(l.roots)
	}
	if n <= 0 || n >= have {
		return all
	}
	l.notef("the first %d of %d conversations are used", n, have)
	if l.roots != nil {
		l.roots = l.roots[:n]
		return all
	}
	switch c := all.(type) {
	case dataset.Memory:
		return c[:n]
	case *Indexed:
		c.limit(n)
	}
	return all
}

// conversation returns the conversation of a session id, a new one if the id is new or empty.
func (l *load) conversation(id string) *dataset.Conversation {
	if at, ok := l.sessions[id]; ok {
		return &l.conversations[at]
	}
	if id != "" {
		l.addSession(id)
	}
	l.conversations = append(l.conversations, dataset.Conversation{SessionID: id})
	l.starts = append(l.starts, l.line)
	return &l.conversations[len(l.conversations)-1]
}

// addSession notes the id of the next conversation.
func (l *load) addSession(id string) {
	if l.sessions == nil {
		l.sessions = map[string]int{}
	}
	l.sessions[id] = len(l.conversations)
}

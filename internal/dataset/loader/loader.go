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

	"aiperf/internal/dataset"
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
}

// Load reads the file at path. An empty format is detected.
func Load(ctx context.Context, path, format string) (*Result, error) {
	f, err := chooseFormat(path, format)
	if err != nil {
		return nil, err
	}
	l := &load{ctx: ctx, path: path, format: f.name, sessions: map[string]int{}, unknown: map[string]bool{}}
	if err := f.read(l); err != nil {
		return nil, err
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	if len(l.conversations) == 0 {
		return nil, fmt.Errorf("%s contains no records", path)
	}
	d := &dataset.Dataset{
		Conversations:      l.conversations,
		Sampling:           cmp.Or(f.sampling, dataset.Sequential),
		DefaultContextMode: cmp.Or(f.mode, dataset.DeltasWithoutResponses),
	}
	return &Result{Dataset: d, Format: f.name, Warnings: l.warnings}, nil
}

// load is one file being read.
type load struct {
	ctx           context.Context
	path, format  string
	line          int
	conversations []dataset.Conversation
	sessions      map[string]int // session id → place in conversations
	unknown       map[string]bool
	warnings      []string
	mistakes      []string
	mistaken      int
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
func (l *load) warnUnknown(key string) {
	if l.unknown[key] || len(l.unknown) > maxUnknown {
		return
	}
	l.unknown[key] = true
	if len(l.unknown) > maxUnknown {
		l.warnings = append(l.warnings, fmt.Sprintf("%s:%d: here and below are more unknown keys", l.path, l.line))
		return
	}
	l.warnings = append(l.warnings, fmt.Sprintf("%s:%d: the key %q is unknown and ignored", l.path, l.line, shorten(key)))
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
	return &l.conversations[len(l.conversations)-1]
}

// eachLine calls f with every line that is not blank and its number, from 1. A byte order mark and
// the white space around the line are taken away; a file that ends in .gz is unpacked.
func eachLine(path string, f func(number int, line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
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

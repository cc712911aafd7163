package loader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How many mistakes and how many unknown keys of a file are listed.
const (
	maxErrors  = 10
	maxUnknown = 10
)

// faults are what is wrong with a file, and what the user should know of how it was read.
type faults struct {
	path     string
	line     int // that is being read
	mistakes []string
	mistaken int // mistakes, those that are not listed too
	warnings []string
	notes    []string
	unknown  map[string]bool
	// unknownAt are the keys of unknown where they were met first.
	unknownAt []unknownKey
	// skipped counts the lines that are not rows, skippedLines are the first of them.
	skipped      int
	skippedLines []string
	dropped      dropped
	credentials  credentials
}

type unknownKey struct {
	key   string
	known []string
	line  int
}

// dropped counts what the filters left out or changed.
type dropped struct{ outside, long, capped, contexts, agents, streams int }

func (f *faults) notef(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// errorf notes a mistake of the current line.
func (f *faults) errorf(format string, args ...any) {
	if f.mistaken++; f.mistaken <= maxErrors {
		f.mistakes = append(f.mistakes, fmt.Sprintf("%s:%d: %s", f.path, f.line, fmt.Sprintf(format, args...)))
	}
}

// takeMistake returns the text of the mistake that was just noted, without its place, and forgets it.
func (f *faults) takeMistake() string {
	text := f.mistakes[len(f.mistakes)-1]
	f.mistakes, f.mistaken = nil, 0
	return text[len(fmt.Sprintf("%s:%d: ", f.path, f.line)):]
}

func (f *faults) err() error {
	if f.mistaken > maxErrors {
		f.mistakes = append(f.mistakes, fmt.Sprintf("and %d more mistakes in %s", f.mistaken-maxErrors, f.path))
	}
	if len(f.mistakes) == 0 {
		return nil
	}
	return errors.New(strings.Join(f.mistakes, "\n"))
}

// warnUnknown warns of the first line with a key that means nothing.
func (f *faults) warnUnknown(key string, known []string) {
	if f.unknown[key] || len(f.unknown) > maxUnknown {
		return
	}
	if f.unknown == nil {
		f.unknown = map[string]bool{}
	}
	f.unknown[key] = true
	f.unknownAt = append(f.unknownAt, unknownKey{key, known, f.line})
	if len(f.unknown) > maxUnknown {
		f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: here and below are more unknown keys", f.path, f.line))
		return
	}
	f.warnings = append(f.warnings,
		fmt.Sprintf("%s:%d: the key %q is unknown and ignored%s", f.path, f.line, shorten(key), suggestion(key, known)))
}

// skip notes a line that was left out.
func (f *faults) skip(line int) {
	if f.skipped++; len(f.skippedLines) < maxErrors {
		f.skippedLines = append(f.skippedLines, strconv.Itoa(line))
	}
}

func (f *faults) warnSkipped() {
	if f.skipped == 0 {
		return
	}
	more := ""
	if f.skipped > len(f.skippedLines) {
		more = " and others"
	}
	f.warnings = append(f.warnings, fmt.Sprintf("%s: %d rows are not requests and were left out: line %s%s",
		f.path, f.skipped, strings.Join(f.skippedLines, ", "), more))
}

// merge adds what was noted of a part of the file behind the parts before it.
func (f *faults) merge(part *faults) {
	f.mistaken += part.mistaken
	f.mistakes = append(f.mistakes, part.mistakes[:min(len(part.mistakes), max(0, maxErrors-len(f.mistakes)))]...)
	for _, u := range part.unknownAt {
		f.line = u.line
		f.warnUnknown(u.key, u.known)
	}
	f.credentials.add(part.credentials.list)
	f.credentials.more = f.credentials.more || part.credentials.more
	f.dropped.long += part.dropped.long
	f.dropped.capped += part.dropped.capped
	f.dropped.streams += part.dropped.streams
	f.skipped += part.skipped
	f.skippedLines = append(f.skippedLines,
		part.skippedLines[:min(len(part.skippedLines), maxErrors-len(f.skippedLines))]...)
}

// filterNotes returns notes on what the filters did; what is their unit.
func (d dropped) filterNotes(what string) (notes []string) {
	for _, x := range []struct {
		n    int
		text string
	}{
		{d.outside, "%d " + what + " outside of the schedule's window left out"},
		{d.long, "%d " + what + " with more input than --synthesis-max-isl left out"},
		{d.capped, "%d " + what + " had their output lowered to --synthesis-max-osl"},
		{d.contexts, "%d recordings with a context longer than --max-context-length left out"},
		{d.streams, "%d request bodies that do not say whether to stream follow --streaming"},
		{d.agents, "%d agents without requests, or called before the first request, left out"},
	} {
		if x.n > 0 {
			notes = append(notes, fmt.Sprintf(x.text, x.n))
		}
	}
	return notes
}

// empty returns the error of a file from which nothing is left.
func (f *faults) empty(o *Options) error {
	switch d := f.dropped; {
	case d.outside > 0 && d.long > 0:
		return fmt.Errorf("%s: nothing is left: %d records are outside of --fixed-schedule-start-offset and "+
			"--fixed-schedule-end-offset, %d are longer than --synthesis-max-isl", f.path, d.outside, d.long)
	case d.outside > 0:
		return fmt.Errorf("%s: nothing is left: all %d records are outside of --fixed-schedule-start-offset and "+
			"--fixed-schedule-end-offset", f.path, d.outside)
	case d.long > 0:
		return fmt.Errorf("%s: nothing is left: all %d records are longer than --synthesis-max-isl %d", f.path, d.long,
			o.MaxISL)
	case d.contexts > 0:
		return fmt.Errorf("%s: nothing is left: all %d recordings have a context longer than --max-context-length %d",
			f.path, d.contexts, o.MaxContext)
	case f.skipped > 0:
		return fmt.Errorf("%s: none of its %d rows is a request: see line %s", f.path, f.skipped,
			strings.Join(f.skippedLines, ", "))
	}
	return fmt.Errorf("%s contains no records", f.path)
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

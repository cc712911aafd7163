package loader

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"sync"

	"aiperf/internal/base/bounded"
	"aiperf/internal/workload/dataset"
)

// A file that is larger than this is not kept in memory: an index says where its rows are.
const indexFrom = 32 << 20

// errNotIndexed reports that a file holds rows that only the reader of whole files knows.
var errNotIndexed = errors.New("the file is read as a whole")

// indexable reports whether the rows of a file can be left where they are.
func (l *load) indexable() bool {
	least := int64(indexFrom)
	if l.options.IndexFrom > 0 {
		least = l.options.IndexFrom
	}
	info, err := os.Stat(l.path)
	return l.format.row != nil && err == nil && info.Mode().IsRegular() && info.Size() >= least &&
		!bounded.IsPacked(l.path) && !l.options.Reshape.changesPrompts()
}

// chunkSize returns the size of a chunk: a small one where small files are indexed.
func (l *load) chunkSize() int {
	const least = 1 << 9
	if n := l.options.IndexFrom; n > 0 && n < ChunkSize {
		return max(least, int(n))
	}
	return ChunkSize
}

func (l *load) newGrouping(rows rowSource) *grouping {
	x := &grouping{
		Indexed: &Indexed{rows: rows, format: l.format, options: l.options, path: l.path}, faults: &l.faults,
		earliest: noTime,
	}
	// Ids that go on from those of the turn before hold the conversation so far, in whichever trace.
	x.cumulative = l.format.name == mooncakeTrace
	return x
}

// notedChunk is what is kept of a chunk.
type notedChunk struct {
	rows   []notedRow
	faults *faults
}

// index reads a whole file, checks every row, and keeps where the rows are.
func (l *load) index() (*Indexed, error) {
	source := Source{Path: l.path, Limit: l.options.maxLine(), ChunkSize: l.chunkSize()}
	if l.format.header != nil {
		if err := l.format.header(&l.lineReader, &source); err != nil {
			return nil, err
		}
	}
	rows := &fileRows{readers: sync.Pool{New: func() any { return l.another() }}}
	groups, seed := l.newGrouping(rows), maphash.MakeSeed()
	note := func(chunk *Chunk) (notedChunk, error) {
		r := l.another()
		noted := notedChunk{rows: make([]notedRow, 0, chunk.Size()/100), faults: &r.faults}
		for number, line := range chunk.Lines() {
			n, _ := r.note(number, line, seed)
			if r.notAlone || len(r.media) > 0 { // a local file is read once, and kept
				return noted, errNotIndexed
			}
			noted.rows = append(noted.rows, n)
		}
		return noted, nil
	}
	var err error
	rows.Index, err = Parse(l.ctx, source, note, func(c notedChunk) error {
		l.merge(c.faults)
		for i := range c.rows {
			if l.mistaken == 0 {
				groups.add(&c.rows[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	groups.finish()
	if l.mistaken > 0 || groups.Len() == 0 {
		rows.Close()
		return groups.Indexed, nil
	}
	l.warnSkipped()
	if groups.cumulative && l.format.order == chatOrder {
		l.notef("conversations are sent without the history of earlier turns where the hash ids of their turns hold " +
			"it already")
	}
	return groups.Indexed, nil
}

// lines reads a file line by line into rows.
func (l *load) lines() error {
	rows, err := l.rowsOf([]string{l.path})
	if err != nil {
		return err
	}
	return l.group(rows)
}

// rowsOf reads files line by line; mistakes and warnings name the file that is being read.
func (l *load) rowsOf(files []string) (*memoryRows, error) {
	rows := &memoryRows{}
	err := l.eachFile(files, func(line []byte) {
		if r, ok := l.row(l.line, line); ok {
			rows.add(r)
		}
	})
	return rows, err
}

// group makes conversations of rows in memory.
func (l *load) group(rows *memoryRows) error {
	l.grouped = true
	if l.mistaken > 0 {
		return nil
	}
	x, seed := l.newGrouping(rows), maphash.MakeSeed()
	for _, page := range rows.pages {
		for i := range page {
			n := page[i].note(seed)
			x.add(&n)
		}
	}
	if x.finish(); l.mistaken > 0 {
		return nil
	}
	if err := x.reshape(rows, l.blockSize); err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	whole := 0
	for i := range x.Len() {
		c := x.At(i)
		if x.cumulative && len(c.Turns) > 1 && c.ContextMode == dataset.MessageArrayWithResponses {
			whole++
		}
		l.conversations, l.starts = append(l.conversations, *c), append(l.starts, rows.at(x.rowOf(i, 0)).line)
	}
	if whole > 0 {
		l.notef("%d conversations are sent without the history of earlier turns: the hash ids of their turns hold it "+
			"already", whole)
	}
	if l.options.Scheduled {
		l.warnBackwards()
	}
	return nil
}

// reshape changes the prompts of rows in memory: in the order of the file or, where that is none, of the conversations.
func (x *grouping) reshape(rows *memoryRows, blockSize int) error {
	if !x.options.Reshape.changesPrompts() {
		return nil
	}
	type place struct{ row, conversation int }
	var places []place
	for i := range x.Len() {
		for k := range x.rowsOf(i) {
			places = append(places, place{x.rowOf(i, k), i})
		}
	}
	if x.format.order == fileOrder {
		slices.SortFunc(places, func(a, b place) int { return a.row - b.row })
	}
	prompts := make([]*prompt, len(places))
	for i, p := range places {
		prompts[i] = &rows.at(p.row).prompt
		prompts[i].session = p.conversation
	}
	return x.options.Reshape.prompts(prompts, blockSize, x.options.Seed)
}

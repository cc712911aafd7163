package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/bounded"
)

// A file that is larger than this is not kept in memory: an index says where its rows are.
const indexFrom = 32 << 20

const (
	chunkBytes = 4 << 20
	// markEvery is the number of rows between two places that the index keeps.
	markEvery = 16
)

// errNotIndexed reports that a file holds rows that only the reader of whole files knows.
var errNotIndexed = errors.New("the file is read as a whole")

// indexable reports whether the rows of a file can be left where they are.
func (l *load) indexable(f format) bool {
	least := int64(indexFrom)
	if l.options.IndexFrom > 0 {
		least = l.options.IndexFrom
	}
	info, err := os.Stat(l.path)
	s := l.options.Reshape
	return f.line != nil && err == nil && info.Mode().IsRegular() && info.Size() >= least &&
		!strings.HasSuffix(l.path, ".gz") &&
		(s == nil || s.PrefixLen == 1 && s.PromptLen == 1 && s.PrefixRoots <= 1)
}

// chunkSize is small where small files are indexed.
func (l *load) chunkSize() int {
	const least = 1 << 9
	if n := l.options.IndexFrom; n > 0 && n < chunkBytes {
		return max(least, int(n))
	}
	return chunkBytes
}

// mark is the place of a row: where its line begins in the chunk, and which it is there.
type mark struct{ offset, line uint32 }

// chunk is a stretch of whole lines.
type chunk struct {
	offset, bytes int64
	// line is the number of its first line, row that of its first row, both from 0.
	line, row int
	marks     []mark
}

// index reads a whole file, checks every row, and keeps where the rows are.
func (l *load) index(f format) (*Indexed, error) {
	file, err := bounded.OpenStream(l.path)
	if err != nil {
		return nil, err
	}
	x := &indexer{load: l, Indexed: newIndexed(l, f, file)}
	from := chunk{}
	if f.header != nil {
		if from, err = f.header(l); err != nil {
			file.Close()
			return nil, err
		}
	}
	if err := x.readAll(file, from); err != nil {
		file.Close()
		return nil, err
	}
	if l.mistaken == 0 && x.count > 0 {
		switch f.order {
		case fileOrder:
			x.group()
		case timeOrder:
			x.groupByTime()
		case chatOrder:
			x.groupChats()
		}
	}
	if l.mistaken > 0 || x.count == 0 && l.dropped == (dropped{}) {
		file.Close()
		return nil, nil
	}
	x.checkTimes()
	l.warnSkipped()
	return x.Indexed, nil
}

// readAll has the chunks parsed on all cores and takes them in order.
func (x *indexer) readAll(file *os.File, from chunk) error {
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	tasks, order := make(chan task), make(chan *parsed, 2*workers)
	seed := maphash.MakeSeed()
	pool := &sync.Pool{New: func() any { b := make([]byte, 0, chunkBytes); return &b }}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for t := range tasks {
				t.parse(x.Indexed, seed)
				pool.Put(t.text)
				close(t.done)
			}
		})
	}
	var readErr error
	group.Go(func() {
		defer close(tasks)
		defer close(order)
		if _, readErr = file.Seek(from.offset, io.SeekStart); readErr != nil {
			return
		}
		readErr = splitLines(ctx, x.options.maxLine().of(file).From(from.line+1), from, x.load.chunkSize(), pool,
			func(text *[]byte, c chunk) bool {
				p := &parsed{chunk: c, done: make(chan struct{})}
				for _, wait := range []func() bool{
					func() bool { return put(ctx, order, p) }, func() bool { return put(ctx, tasks, task{p, text}) },
				} {
					if !wait() {
						return false
					}
				}
				return true
			})
	})
	var err error
	for p := range order {
		if err != nil {
			continue
		}
		select {
		case <-p.done:
			err = x.take(p)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			cancel()
		}
	}
	group.Wait()
	if err == nil {
		err = readErr
	}
	if long := new(bounded.LineError); errors.As(err, &long) {
		err = fmt.Errorf("%s:%d: %w", x.path, long.Line, err)
	}
	if err != nil && x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	return err
}

func put[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// splitLines cuts what follows a place of a file into stretches of whole lines.
func splitLines(ctx context.Context, in io.Reader, from chunk, size int, pool *sync.Pool,
	f func(*[]byte, chunk) bool) error {
	var rest []byte
	offset, line := from.offset, from.line
	for first := offset == 0; ; first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := pool.Get().(*[]byte)
		*text = append((*text)[:0], rest...)
		have := len(*text)
		room := max(size, 2*have) // a long line is not copied again and again
		*text = slices.Grow(*text, room-have)
		n, err := io.ReadFull(in, (*text)[have:room])
		*text = (*text)[:have+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return err
		}
		if first && bytes.HasPrefix(*text, []byte("\ufeff")) {
			*text = (*text)[:copy(*text, (*text)[3:])]
			offset = 3
		}
		cut := len(*text)
		if !end {
			cut = bytes.LastIndexByte(*text, '\n') + 1
		}
		rest = append(rest[:0], (*text)[cut:]...)
		*text = (*text)[:cut]
		if cut > 0 && !f(text, chunk{offset: offset, bytes: int64(cut), line: line}) {
			return ctx.Err()
		}
		line += bytes.Count(*text, []byte{'\n'})
		offset += int64(cut)
		if end {
			return nil
		}
	}
}

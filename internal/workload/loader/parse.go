package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"aiperf/internal/base/bounded"
)

// ChunkSize is the usual size of a chunk in bytes.
const ChunkSize = 4 << 20

// Source is what is read of a file.
type Source struct {
	Path  string
	Limit Limit
	// From is the offset of the first line that is read, Before the number of lines before it.
	From   int64
	Before int
	// ChunkSize is the size of a chunk in bytes.
	ChunkSize int
}

// Chunk is a range of whole lines of a file.
type Chunk struct {
	chunk
	text []byte
}

// Size returns the size of the chunk in bytes.
func (c *Chunk) Size() int { return len(c.text) }

// Lines yields the lines and their numbers in the file, from 1. It is called once; a line is valid until the next.
func (c *Chunk) Lines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		number := c.before
		for start, line := range linesOf(c.text) {
			number++
			if len(line) == 0 {
				continue
			}
			if c.count%markEvery == 0 {
				c.marks = append(c.marks, mark{uint32(start), uint32(number - 1 - c.before)})
			}
			c.count++
			if !yield(number, line) {
				return
			}
		}
	}
}

// parsed is what was made of a chunk.
type parsed[T any] struct {
	Chunk
	buffer *[]byte
	result T
	err    error
	done   chan struct{}
}

// Parse reads a file in chunks. It calls parse with them on all cores, which takes all lines of its chunk, and take
// with what they returned, in the order of the file. The first error ends it.
func Parse[T any](ctx context.Context, s Source, parse func(*Chunk) (T, error), take func(T) error) (*Index, error) {
	file, err := bounded.OpenStream(s.Path)
	if err != nil {
		return nil, err
	}
	x := &Index{path: s.Path, file: file, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	err = parseAll(ctx, s, x, parse, take)
	if long := new(bounded.LineError); errors.As(err, &long) {
		err = fmt.Errorf("%s:%d: %w", s.Path, long.Line, err)
	}
	if err != nil {
		file.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return x, nil
}

// parseAll parses the chunks of a file on all cores and hands over their results in the order of the file. A chunk is
// put into the order before it is put to work, so that the results wait for the slowest rather than overtake it; the
// queue's length bounds how much is in memory. The first error, by the order of the file, ends all; later chunks are
// only drained then.
func parseAll[T any](ctx context.Context, s Source, x *Index, parse func(*Chunk) (T, error), take func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	tasks, order := make(chan *parsed[T]), make(chan *parsed[T], 2*workers)
	pool := &sync.Pool{New: func() any { b := make([]byte, 0, s.ChunkSize); return &b }}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for t := range tasks {
				t.result, t.err = parse(&t.Chunk)
				pool.Put(t.buffer)
				t.buffer, t.text = nil, nil
				close(t.done)
			}
		})
	}
	var readErr error
	group.Go(func() {
		defer close(tasks)
		defer close(order)
		if _, readErr = x.file.Seek(s.From, io.SeekStart); readErr != nil {
			return
		}
		readErr = s.split(ctx, x.file, pool, func(buffer *[]byte, c chunk) bool {
			p := &parsed[T]{Chunk: Chunk{c, *buffer}, buffer: buffer, done: make(chan struct{})}
			return put(ctx, order, p) && put(ctx, tasks, p)
		})
	})
	var err error
	for p := range order {
		if err != nil {
			continue
		}
		select {
		case <-p.done:
			if err = p.err; err == nil {
				err = x.add(p.chunk)
			}
			if err == nil {
				err = take(p.result)
			}
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
	return err
}

// add adds a chunk behind those before it.
func (x *Index) add(c chunk) error {
	c.first = x.count
	c.marks = slices.Clip(c.marks)
	x.chunks = append(x.chunks, c)
	if x.count += c.count; x.count > math.MaxInt32 {
		return fmt.Errorf("%s holds more than %d rows", x.path, math.MaxInt32)
	}
	return nil
}

func put[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// split cuts what follows a place of a file into chunks, until f returns false.
func (s *Source) split(ctx context.Context, in io.Reader, pool *sync.Pool, f func(*[]byte, chunk) bool) error {
	in = s.Limit.Lines(in).From(s.Before + 1)
	var rest []byte
	offset, line := s.From, s.Before
	for first := offset == 0; ; first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := pool.Get().(*[]byte)
		*text = append((*text)[:0], rest...)
		have := len(*text)
		room := max(s.ChunkSize, 2*have) // a long line is not copied again and again
		*text = slices.Grow(*text, room-have)
		n, err := io.ReadFull(in, (*text)[have:room])
		*text = (*text)[:have+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return err
		}
		if first && bytes.HasPrefix(*text, []byte(byteOrderMark)) {
			*text = (*text)[:copy(*text, (*text)[len(byteOrderMark):])]
			offset = int64(len(byteOrderMark))
		}
		cut := len(*text)
		if !end {
			cut = bytes.LastIndexByte(*text, '\n') + 1
		}
		rest = append(rest[:0], (*text)[cut:]...)
		*text = (*text)[:cut]
		if cut > 0 && !f(text, chunk{offset: offset, size: int64(cut), before: line}) {
			return ctx.Err()
		}
		line += bytes.Count(*text, []byte{'\n'})
		offset += int64(cut)
		if end {
			return nil
		}
	}
}

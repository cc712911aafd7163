package loader

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
)

// markEvery is the number of lines between two places that an index keeps.
const markEvery = 16

// Index says where the lines of a file are, blank ones not counted; it takes about half a byte a line.
type Index struct {
	path    string
	file    *os.File
	chunks  []chunk
	count   int
	buffers sync.Pool
}

// chunk is a range of whole lines.
type chunk struct {
	offset, size int64
	// before is the number of lines before the chunk, blank ones included; first is the place of its first one among
	// those that are not.
	before, first int
	count         int
	marks         []mark
}

// mark is the place of every [markEvery]th line of a chunk that is not blank: where it begins, and how many lines,
// blank ones included, stand before it in the chunk.
type mark struct{ offset, before uint32 }

// Len returns the number of lines.
func (x *Index) Len() int { return x.count }

// Close closes the file; no line can be read any more.
func (x *Index) Close() error { return x.file.Close() }

// Read calls f with line n, from 0, and its number in the file, from 1. The text is valid during the call.
func (x *Index) Read(n int, f func(number int, line []byte) error) error {
	at, _ := slices.BinarySearchFunc(x.chunks, n, func(c chunk, n int) int {
		if c.first <= n {
			return -1
		}
		return 1
	})
	c := &x.chunks[at-1]
	m := (n - c.first) / markEvery
	from, to := int64(c.marks[m].offset), c.size
	if m+1 < len(c.marks) {
		to = int64(c.marks[m+1].offset)
	}
	buffer := x.buffers.Get().(*[]byte)
	defer x.buffers.Put(buffer)
	*buffer = slices.Grow((*buffer)[:0], int(to-from))[:to-from]
	if _, err := x.file.ReadAt(*buffer, c.offset+from); err != nil && err != io.EOF {
		return err
	}
	skip, number := (n-c.first)%markEvery, c.before+int(c.marks[m].before)
	for _, line := range linesOf(*buffer) {
		number++
		switch {
		case len(line) == 0:
		case skip == 0:
			return f(number, line)
		default:
			skip--
		}
	}
	return Changed(x.path, number, nil)
}

// Changed returns the error of a file that does not say any more what it said; why and a line, from 1, may be missing.
func Changed(path string, number int, why error) error {
	if number > 0 {
		path = fmt.Sprintf("%s:%d", path, number)
	}
	err := fmt.Errorf("%s: the file has changed since it was read", path)
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return err
}

// linesOf yields the lines of a text, blank ones too, and where they begin.
func linesOf(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(text); {
			end := bytes.IndexByte(text[at:], '\n')
			if end < 0 {
				end = len(text) - at
			}
			if !yield(at, bytes.TrimSpace(text[at:at+end])) {
				return
			}
			at += end + 1
		}
	}
}

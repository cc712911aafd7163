package loader

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"aiperf/internal/base/bounded"
)

const byteOrderMark = "\ufeff"

// Text is an open file of text.
type Text struct {
	io.Reader
	file   *os.File
	packed io.Closer
}

// Close closes the file.
func (t *Text) Close() error {
	t.packed.Close()
	return t.file.Close()
}

// Open opens a file or a pipe, unpacks it if it is compressed, and removes a byte order mark.
func Open(path string) (*Text, error) {
	file, err := bounded.OpenStream(path)
	if err != nil {
		return nil, err
	}
	in, err := bounded.Unpack(file, path)
	if err != nil {
		file.Close()
		return nil, err
	}
	buffered := bufio.NewReaderSize(in, 1<<16)
	if mark, _ := buffered.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		buffered.Discard(len(byteOrderMark))
	}
	return &Text{buffered, file, in}, nil
}

// Limit is the largest size of a line in bytes; 0 is the usual one.
type Limit int64

// Lines returns in, whose reads fail at a line that is too long.
func (limit Limit) Lines(in io.Reader) *bounded.Lines {
	return bounded.NewLines(in, cmp.Or(int64(limit), bounded.MaxLine), "; AIPERF_DATASET_MAX_LINE_BYTES sets the limit")
}

// Each calls f with every line and its number, from 1.
func Each(ctx context.Context, path string, limit Limit, f func(number int, line []byte) error) error {
	in, err := Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(limit.Lines(in), 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
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

// LineAt returns the line of an offset, from 1. It reads the file again, for the place of an error.
func LineAt(path string, offset int64) int {
	in, err := Open(path)
	if err != nil {
		return 1
	}
	defer in.Close()
	line, buf := 1, make([]byte, 1<<16)
	for offset > 0 {
		n, err := in.Read(buf[:min(int64(len(buf)), offset)])
		line += bytes.Count(buf[:n], []byte("\n"))
		if offset -= int64(n); err != nil {
			break
		}
	}
	return line
}

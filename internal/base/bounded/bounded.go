// Package bounded reads files that may have any content within bounds: a file may be a device or a pipe without end,
// and a line may never end.
//
// The invariant: no read takes more memory than its bound. The package must never know the format of a file.
//
// It also reads files of lines that may be compressed, and compresses them while they are written.
//
// A compressed file has the name of the plain one with .zst behind it, and is a sequence of zstd frames, of which each
// that a [Compressor] wrote holds whole lines. Any tool for zstd reads such a file; a [File] also reads from any place
// of it, and reads what other tools compressed.
//
// What holds: places are those of the plain text; a file that was cut off, of a process that was killed, ends where its
// last whole block does. The package must never know what a line says.
package bounded

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// MaxDocument bounds a file that is read as a whole.
const MaxDocument = 1 << 30

// MaxLine bounds a line of a file that this program or another one wrote.
const MaxLine = 64 << 20

// Open opens a regular file; anything else could keep its reader waiting, or never end.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // a directory has an error of its own
		return nil, fmt.Errorf("%s is not a regular file (%s)", path, info.Mode().Type())
	}
	return os.Open(path)
}

// OpenStream opens a file that is read once, from its start: a regular one or a pipe, but no device, which may never
// end.
func OpenStream(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeDevice != 0 {
		return nil, fmt.Errorf("%s is a device, not a file", path)
	}
	return os.Open(path)
}

// ReadFile reads a regular file of up to [MaxDocument] bytes.
func ReadFile(path string) ([]byte, error) { return ReadFileUpTo(path, MaxDocument) }

// ReadFileUpTo reads a regular file of up to limit bytes; a larger one is an error.
func ReadFileUpTo(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tooLarge := fmt.Errorf("%s is larger than %d bytes", path, limit)
	var text bytes.Buffer
	if info, err := file.Stat(); err == nil {
		if info.Size() > limit {
			return nil, tooLarge // without reading up to there first
		}
		text.Grow(int(info.Size()) + bytes.MinRead)
	}
	n, err := text.ReadFrom(io.LimitReader(file, limit+1))
	if err == nil && n > limit {
		err = tooLarge
	}
	return text.Bytes(), err
}

// LineError is the error of a line that is too long.
type LineError struct {
	// Line is its number, from 1.
	Line int
	max  int64
	hint string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("the line is longer than %d bytes%s", e.max, e.hint)
}

// Lines is a reader that fails at a line that is too long.
type Lines struct {
	in     io.Reader
	max    int64
	hint   string
	number int
	length int64 // of the line so far
	err    error
}

// NewLines returns a reader of in that fails with a [LineError] at a line of more than limit bytes. The hint stands
// behind the error's text. Of that line nothing is read that came with its last bytes.
func NewLines(in io.Reader, limit int64, hint string) *Lines {
	return &Lines{in: in, max: limit, hint: hint, number: 1}
}

// From sets the number of the first line.
func (l *Lines) From(number int) *Lines {
	l.number = number
	return l
}

// Read implements io.Reader.
func (l *Lines) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.in.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		if l.length += int64(end); l.length > l.max {
			l.err = &LineError{l.number, l.max, l.hint}
			return n - len(rest), l.err
		}
		if end < len(rest) {
			l.number, l.length = l.number+1, 0
			end++
		}
		rest = rest[end:]
	}
	return n, err
}

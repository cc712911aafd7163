package recordfile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"aiperf/internal/base/bounded"
)

// Line is a line of a file.
type Line struct {
	Text   []byte
	path   string
	number int
	in     *bufio.Reader
}

// Lines reads the lines of a file in their order. One that cannot be read is the last. A last line without its end, of
// a run that was killed, is left out.
func Lines(path string) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		file, err := bounded.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		l := &Line{path: path, in: bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<20)}
		for err == nil {
			l.number++
			if l.Text, err = l.in.ReadBytes('\n'); err == io.EOF || !yield(l, l.Fault(err)) {
				return
			}
		}
	}
}

// Fault names the line in an error; nil for none.
func (l *Line) Fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", l.path, l.number, err)
}

// last reports whether the line is the last of its file.
func (l *Line) last() bool {
	_, err := l.in.Peek(1)
	return err == io.EOF
}

// Cells are the values of a line as they stand there, by name.
type Cells struct {
	Metadata, Error map[string]json.RawMessage
	Metrics         map[string]Cell
}

// Cell is a metric.
type Cell struct {
	Value json.RawMessage
	Unit  string
}

// ReadCells is [Lines] with the values of each line.
func ReadCells(path string) iter.Seq2[*Cells, error] {
	return func(yield func(*Cells, error) bool) {
		for line, err := range Lines(path) {
			cells := new(Cells)
			if err == nil {
				err = line.Fault(json.Unmarshal(line.Text, cells))
			}
			if !yield(cells, err) {
				return
			}
		}
	}
}

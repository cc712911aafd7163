package recordfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"

	"aiperf/internal/base/bounded"
)

// Line is a line of a file. Text is valid until the next one.
type Line struct {
	Text   []byte
	path   string
	number int
}

// Lines reads the lines of a file in their order. One that cannot be read is the last. A last line without its end, of
// a run that was killed, is left out.
func Lines(path string) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		l := &Line{path: path}
		empty := make(buffers, 2)
		var stopped bool
		_, err := splitLines(path, empty, func(b batch) bool {
			for l.Text = range bytes.Lines(b.text) {
				l.number++
				if stopped = !yield(l, nil); stopped {
					return false
				}
			}
			empty.put(b.text)
			return true
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Fault returns an error that names the line; nil for none.
func (l *Line) Fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", l.path, l.number, err)
}

// Cells are the values of a line as they stand there, by name.
type Cells struct {
	Metadata, Error map[string]json.RawMessage
	Metrics         map[string]cell
}

// cell is a metric.
type cell struct {
	Value json.RawMessage
	Unit  string
}

// ReadCells does what [Lines] does, with the values of each line.
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

// batchSize is how much of a file is read at a time, where no line is longer.
const batchSize = 256 << 10

// batch are whole lines of a file, and the number of the first of them, from 1.
type batch struct {
	text  []byte
	first int
}

// split is what splitLines found: the number of whole lines, and whether the last one lacks its end.
type split struct {
	lines int
	cut   bool
}

// splitLines calls take with batches of whole lines of a file, until it returns false.
func splitLines(path string, empty buffers, take func(batch) bool) (found split, err error) {
	file, err := bounded.OpenCompressed(path)
	if err != nil {
		return found, err
	}
	defer file.Close()
	in := bounded.NewLines(file, bounded.MaxLine, "")
	text := empty.get()
	for {
		text = slices.Grow(text, batchSize)
		n, err := in.Read(text[len(text) : len(text)+batchSize])
		fresh := text[len(text) : len(text)+n]
		text = text[:len(text)+n]
		if last := bytes.LastIndexByte(fresh, '\n'); last >= 0 {
			whole := len(text) - len(fresh) + last + 1
			rest := append(empty.get(), text[whole:]...)
			first := found.lines + 1
			found.lines += bytes.Count(fresh, []byte{'\n'})
			if !take(batch{text[:whole], first}) {
				return found, nil
			}
			text = rest
		}
		switch {
		case err == io.EOF:
			found.cut = len(text) > 0
			return found, nil
		case err != nil:
			return found, fmt.Errorf("%s:%d: %w", path, found.lines+1, err)
		}
	}
}

// buffers are reused memory.
type buffers chan []byte

func (b buffers) get() []byte {
	select {
	case text := <-b:
		return text[:0]
	default:
		return nil
	}
}

func (b buffers) put(text []byte) {
	select {
	case b <- text:
	default:
	}
}

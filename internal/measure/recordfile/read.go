package recordfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/record"
)

// batchSize is how much of a file is handed to a reader at a time, where no line is longer.
const batchSize = 256 << 10

// batch are whole lines of a file, and the number of the first of them, from 1.
type batch struct {
	text  []byte
	first int
}

// Read reads a per-request file with [Parse] or [ParseOriginal] and hands its records to take, from several goroutines and
// in no order. A last line that is not whole, of a run that was killed, is left out: cut tells. Any other line that cannot
// be read is an error that names it.
func Read(path string, parse func(line []byte) (*record.Record, error), take func(*record.Record)) (cut bool, err error) {
	file, err := bounded.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	batches, empty := make(chan batch, 2), make(buffers, 8)
	var faults faultKeeper
	var group sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for b := range batches {
				number := b.first
				for line := range bytes.Lines(b.text) {
					r, err := parse(line[:len(line)-1])
					if err != nil {
						faults.keep(number, fmt.Errorf("%s:%d: %w", path, number, err))
						break
					}
					take(r)
					number++
				}
				empty.put(b.text)
			}
		})
	}
	lines, cut, err := splitLines(bounded.NewLines(file, bounded.MaxLine, ""), batches, empty)
	close(batches)
	group.Wait()
	if err != nil {
		return cut, fmt.Errorf("%s: %w", path, err)
	}
	var syntax *json.SyntaxError
	if faults.number == lines && errors.As(faults.err, &syntax) {
		return true, nil
	}
	return cut, faults.err
}

// splitLines sends a file in batches of whole lines and counts them. The last one may lack its end.
func splitLines(in io.Reader, batches chan<- batch, empty buffers) (lines int, cut bool, err error) {
	text := empty.get()
	for {
		text = slices.Grow(text, batchSize)
		n, err := in.Read(text[len(text) : len(text)+batchSize])
		fresh := text[len(text) : len(text)+n]
		text = text[:len(text)+n]
		if last := bytes.LastIndexByte(fresh, '\n'); last >= 0 {
			whole := len(text) - len(fresh) + last + 1
			rest := append(empty.get(), text[whole:]...)
			batches <- batch{text[:whole], lines + 1}
			lines += bytes.Count(fresh, []byte{'\n'})
			text = rest
		}
		switch {
		case err == io.EOF:
			return lines, len(text) > 0, nil
		case err != nil:
			return lines, false, err
		}
	}
}

// buffers are memory to be used again.
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

// faultKeeper keeps the error of the first line.
type faultKeeper struct {
	mu     sync.Mutex
	number int
	err    error
}

func (k *faultKeeper) keep(number int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || number < k.number {
		k.number, k.err = number, err
	}
}

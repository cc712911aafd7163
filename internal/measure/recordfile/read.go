package recordfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"aiperf/internal/measure/record"
)

// A Parser reads a line as a record: [Parse] or [ParseOriginal].
type parser func(line []byte) (*record.Record, error)

// Read reads a per-request file and calls take with its records, from several goroutines and in no order. A last line
// that is not whole, of a run that was killed, is left out: cut reports that. Any other line that cannot be read is an
// error that names it.
func Read(path string, parse parser, take func(*record.Record)) (cut bool, err error) {
	batches, empty := make(chan batch, 2), make(buffers, 8)
	var faults firstFault
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
	found, err := splitLines(path, empty, func(b batch) bool {
		batches <- b
		return true
	})
	close(batches)
	group.Wait()
	if err != nil {
		return false, err
	}
	var syntax *json.SyntaxError
	if faults.number == found.lines && errors.As(faults.err, &syntax) {
		return true, nil
	}
	return found.cut, faults.err
}

// firstFault keeps the error of the first line that has one.
type firstFault struct {
	mu     sync.Mutex
	number int
	err    error
}

func (k *firstFault) keep(number int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || number < k.number {
		k.number, k.err = number, err
	}
}

package files

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// The bounds of a Sorter: bytes of records in memory, and files of sorted records that are open at once.
const (
	sortMemory = 16 << 20
	sortRuns   = 64
)

// Sorter puts records in the order of their keys, any number of them in bounded memory: what does not fit waits in
// files without a name, or with a name that begins with a dot where the system needs one. Equal keys keep their order.
type Sorter struct {
	dir   string
	buf   []entry
	size  int
	runs  []*os.File
	names []string
}

type entry struct{ key, value []byte }

// NewSorter returns a sorter whose files lie in dir.
func NewSorter(dir string) *Sorter { return &Sorter{dir: dir} }

// Add takes a record; both parts are copied.
func (s *Sorter) Add(key, value []byte) error {
	s.buf = append(s.buf, entry{bytes.Clone(key), bytes.Clone(value)})
	if s.size += len(key) + len(value) + 64; s.size < sortMemory {
		return nil
	}
	if len(s.runs) >= sortRuns { // one file of all
		if err := s.spill(s.merge); err != nil {
			return err
		}
	}
	s.order()
	return s.spill(s.each)
}

func (s *Sorter) order() {
	slices.SortStableFunc(s.buf, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
}

// each passes on what is in memory, and forgets it.
func (s *Sorter) each(f func(key, value []byte) error) error {
	for _, e := range s.buf {
		if err := f(e.key, e.value); err != nil {
			return err
		}
	}
	s.buf, s.size = nil, 0
	return nil
}

// spill writes what source passes on to a file of its own.
func (s *Sorter) spill(source func(func(key, value []byte) error) error) error {
	file, err := os.CreateTemp(s.dir, ".sort-*.tmp")
	if err != nil {
		return err
	}
	if os.Remove(file.Name()) != nil {
		s.names = append(s.names, file.Name()) // this system keeps open files
	}
	out := bufio.NewWriterSize(file, 1<<18)
	var head []byte
	err = source(func(key, value []byte) error {
		head = binary.AppendUvarint(head[:0], uint64(len(key)))
		head = binary.AppendUvarint(append(head, key...), uint64(len(value)))
		out.Write(head)
		_, err := out.Write(value)
		return err
	})
	if err = cmp.Or(err, out.Flush()); err != nil {
		file.Close()
		return err
	}
	s.runs = append(s.runs, file)
	return nil
}

// Each passes all records on in the order of their keys; it is called once. Key and value are valid until f returns.
func (s *Sorter) Each(f func(key, value []byte) error) error {
	s.order()
	if len(s.runs) == 0 {
		return s.each(f)
	}
	if err := s.spill(s.each); err != nil {
		return err
	}
	return s.merge(f)
}

// merge passes on the records of all files in their order, and closes the files.
func (s *Sorter) merge(f func(key, value []byte) error) error {
	var runs runHeap
	for i, file := range s.runs {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r := &run{in: bufio.NewReaderSize(file, 1<<16), number: i}
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			runs = append(runs, r)
		}
	}
	heap.Init(&runs)
	for len(runs) > 0 {
		first := runs[0]
		if err := f(first.key, first.value); err != nil {
			return err
		}
		more, err := first.next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&runs, 0)
		} else {
			heap.Pop(&runs)
		}
	}
	return s.drop()
}

// drop closes and removes the files.
func (s *Sorter) drop() (err error) {
	for _, file := range s.runs {
		err = cmp.Or(err, file.Close())
	}
	for _, name := range s.names {
		err = cmp.Or(err, os.Remove(name))
	}
	s.runs, s.names = nil, nil
	return err
}

// Close removes what is left of the files.
func (s *Sorter) Close() { _ = s.drop() }

// run is a file of sorted records.
type run struct {
	in     *bufio.Reader
	number int
	entry
}

// next reads the next record; false at the end.
func (r *run) next() (more bool, err error) {
	if r.key, err = r.read(r.key); err == io.EOF {
		return false, nil
	}
	if err == nil {
		r.value, err = r.read(r.value)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err == nil, err
}

func (r *run) read(to []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return to, err
	}
	to = slices.Grow(to[:0], int(n))[:n]
	if _, err = io.ReadFull(r.in, to); err == io.EOF && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return to, err
}

// runHeap has the run with the first record at its top.
type runHeap []*run

func (h runHeap) Len() int      { return len(h) }
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h runHeap) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(h[i].key, h[j].key), h[i].number-h[j].number) < 0
}
func (h *runHeap) Push(x any) { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

package library

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aiperf/internal/base/bounded"
)

// format is the first line of a saved index; another one is not read.
const format = "aiperf requests 1\n"

// head is what a saved index says before its columns.
type head struct {
	Size, Mod             int64
	Text                  int64 // 0 is Size
	Rows                  int
	Damaged, FirstDamaged int
	Names                 bool
	Kinds                 []RequestKind
	// Tags are the columns that there are.
	Tags []string
}

// Save writes the index to a file.
func (x *RequestIndex) Save(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	w := bufio.NewWriterSize(file, 1<<20)
	h := head{Size: x.size, Text: x.text, Mod: x.mod, Rows: x.Len(), Damaged: x.Damaged, FirstDamaged: x.FirstDamaged,
		Names: x.values == nil, Kinds: x.Kinds}
	for k, column := range x.values {
		if column != nil {
			h.Tags = append(h.Tags, Tags[k])
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := w.WriteString(format + string(text) + "\n"); err != nil {
		return err
	}
	for _, column := range x.columns() {
		if err := binary.Write(w, binary.LittleEndian, column); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// columns are all columns that there are.
func (x *RequestIndex) columns() []any {
	out := []any{x.offsets, x.starts, x.flags, x.ids}
	if x.values == nil {
		return out
	}
	out = append(out, x.sessions, x.conversations, x.kinds)
	for _, column := range x.values {
		if column != nil {
			out = append(out, column)
		}
	}
	return out
}

// ErrStale reports that a saved index is not that of the file as it is now.
var ErrStale = errors.New("the index is not that of the file")

// maxRows bounds what a saved index may claim.
const maxRows = 1 << 31

// LoadIndex reads the index of a per-request file that was saved.
func LoadIndex(path, records string) (*RequestIndex, error) {
	info, err := bounded.StatCompressed(records)
	if err != nil {
		return nil, err
	}
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	saved, err := file.Stat()
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(file, 1<<20)
	first := make([]byte, len(format))
	if _, err := io.ReadFull(r, first); err != nil || string(first) != format {
		return nil, ErrStale
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, ErrStale
	}
	var h head
	if json.Unmarshal(bytes.TrimSpace(line), &h) != nil || h.Rows < 0 || h.Rows > maxRows ||
		int64(h.Rows)*8 > saved.Size() || h.Size != info.Size() || h.Mod != info.ModTime().UnixNano() {
		return nil, ErrStale
	}
	x := &RequestIndex{path: records, size: h.Size, text: cmp.Or(h.Text, h.Size), mod: h.Mod, Damaged: h.Damaged, FirstDamaged: h.FirstDamaged, Kinds: h.Kinds,
		offsets: make([]int64, h.Rows), starts: make([]int64, h.Rows), flags: make([]uint8, h.Rows),
		ids: make([]uint64, h.Rows)}
	if !h.Names {
		x.sessions, x.conversations = make([]uint64, h.Rows), make([]uint64, h.Rows)
		x.kinds, x.values = make([]uint16, h.Rows), make([][]float32, len(Tags))
		for _, tag := range h.Tags {
			if k, ok := places[tag]; ok {
				x.values[k] = make([]float32, h.Rows)
			}
		}
	}
	for _, column := range x.columns() {
		if err := binary.Read(r, binary.LittleEndian, column); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStale, err)
		}
	}
	return x, x.check()
}

// check returns an error for places that cannot be.
func (x *RequestIndex) check() error {
	for i, at := range x.offsets {
		if at < 0 || at >= x.text || i > 0 && at <= x.offsets[i-1] {
			return ErrStale
		}
	}
	for _, k := range x.kinds {
		if int(k) > len(x.Kinds) {
			return ErrStale
		}
	}
	return nil
}

package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"
)

// TablesMagic is what a file starts with. A transfer that changes line ends or the eighth bit damages it.
const TablesMagic = "\x89AITOK\r\n"

// version is that of the tables: a file of another one cannot be read.
const version = 1

const (
	headSize = 32
	nameSize = 16
	rowSize  = nameSize + 16
	align    = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bigEndian reports whether numbers are big-endian in memory.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// word is a number that a section may hold.
type word interface {
	~uint32 | ~int32 | ~uint64 | ~float32 | ~float64
}

// TableWriter gathers sections.
type TableWriter struct {
	names    []string
	contents [][]byte
}

// Bytes adds a section. A name has at most 16 bytes.
func (w *TableWriter) Bytes(name string, data []byte) {
	if len(name) == 0 || len(name) > nameSize {
		panic("the name of a section must have 1 to 16 bytes: " + name)
	}
	w.names, w.contents = append(w.names, name), append(w.contents, data)
}

// JSON adds a section with a value.
func (w *TableWriter) JSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		w.Bytes(name, data)
	}
	return err
}

// WriteNumbers adds a section of numbers.
func WriteNumbers[T word](w *TableWriter, name string, words []T) {
	w.Bytes(name, turned[T](bytesOf(words)))
}

// File returns the whole file.
func (w *TableWriter) File() []byte {
	size := headSize + rowSize*len(w.names)
	starts := make([]int, len(w.names))
	for i, c := range w.contents {
		starts[i] = (size + align - 1) / align * align
		size = starts[i] + len(c)
	}
	out := make([]byte, size)
	copy(out, TablesMagic)
	le := binary.LittleEndian
	le.PutUint32(out[8:], version)
	le.PutUint64(out[16:], uint64(size))
	le.PutUint32(out[24:], uint32(len(w.names)))
	for i, c := range w.contents {
		row := out[headSize+rowSize*i:]
		copy(row[:nameSize], w.names[i])
		le.PutUint64(row[nameSize:], uint64(starts[i]))
		le.PutUint64(row[nameSize+8:], uint64(len(c)))
		copy(out[starts[i]:], c)
	}
	le.PutUint32(out[12:], crc32.Checksum(out[16:], castagnoli))
	return out
}

// TableFile is the sections of a file that was read.
type TableFile struct{ sections map[string][]byte }

// OpenTables checks a file and finds its sections, which stay parts of data: it must not change any more.
func OpenTables(data []byte) (*TableFile, error) {
	if len(data) < headSize || string(data[:8]) != TablesMagic {
		return nil, errors.New("it is not a packed tokenizer, or its first bytes are damaged")
	}
	le := binary.LittleEndian
	if v := le.Uint32(data[8:]); v != version {
		return nil, fmt.Errorf("the packed form has the version %d, and this release reads %d: pack the tokenizer "+
			"again with this release", v, version)
	}
	if size := le.Uint64(data[16:]); size != uint64(len(data)) {
		return nil, fmt.Errorf("the packed file is truncated or extended: it has %d bytes and should have %d",
			len(data), size)
	}
	if crc32.Checksum(data[16:], castagnoli) != le.Uint32(data[12:]) {
		return nil, errors.New("the packed file is damaged: its checksum is wrong")
	}
	count := int(le.Uint32(data[24:]))
	if count > (len(data)-headSize)/rowSize {
		return nil, errors.New("the packed file lists more sections than it holds")
	}
	f := &TableFile{make(map[string][]byte, count)}
	for i := range count {
		row := data[headSize+rowSize*i:]
		name := string(row[:nameSize])
		for len(name) > 0 && name[len(name)-1] == 0 {
			name = name[:len(name)-1]
		}
		start, length := le.Uint64(row[nameSize:]), le.Uint64(row[nameSize+8:])
		if start%align != 0 || start > uint64(len(data)) || length > uint64(len(data))-start {
			return nil, fmt.Errorf("the section %q lies outside the packed file", name)
		}
		f.sections[name] = data[start : start+length : start+length]
	}
	return f, nil
}

// Bytes returns the contents of a section.
func (f *TableFile) Bytes(name string) ([]byte, error) {
	data, ok := f.sections[name]
	if !ok {
		return nil, fmt.Errorf("the packed file lacks the section %q", name)
	}
	return data, nil
}

// JSON reads the value in a section into v.
func (f *TableFile) JSON(name string, v any) error {
	data, err := f.Bytes(name)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil && data != nil {
		return fmt.Errorf("the section %q of the packed file: %w", name, err)
	}
	return err
}

// Has reports whether there is a section.
func (f *TableFile) Has(name string) bool {
	_, ok := f.sections[name]
	return ok
}

// Text returns the contents of a section.
func (f *TableFile) Text(name string) (string, error) {
	data, err := f.Bytes(name)
	if err != nil || len(data) == 0 {
		return "", err
	}
	return unsafe.String(&data[0], len(data)), nil
}

// Numbers returns the contents of a section of numbers.
func Numbers[T word](f *TableFile, name string) ([]T, error) {
	data, err := f.Bytes(name)
	if err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(T(0)))
	if len(data)%size != 0 || uint64(len(data)) > math.MaxInt32*uint64(size) {
		return nil, fmt.Errorf("the section %q of the packed file does not hold numbers of %d bytes", name, size)
	}
	if len(data) == 0 {
		return nil, nil
	}
	if data = turned[T](data); uintptr(unsafe.Pointer(&data[0]))%uintptr(size) != 0 {
		aligned := make([]T, len(data)/size) // the file was not read to the start of a word
		copy(bytesOf(aligned), data)
		return aligned, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/size), nil
}

// bytesOf returns the memory of words.
func bytesOf[T word](words []T) []byte {
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*int(unsafe.Sizeof(words[0])))
}

// turned gives the bytes of words the other order where memory has it.
func turned[T word](data []byte) []byte {
	if !bigEndian {
		return data
	}
	size := int(unsafe.Sizeof(T(0)))
	out := make([]byte, len(data))
	for i := range data {
		out[i] = data[i/size*size+size-1-i%size]
	}
	return out
}

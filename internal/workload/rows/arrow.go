package rows

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	mark = "ARROW1"
	// maxMetadata and maxBody bound a message and what it unpacks to.
	maxMetadata = 64 << 20
	maxBody     = 2 << 30
)

// EachArrow calls f with the columns and every row of an Arrow table of size bytes, a file or a stream. Values are nil,
// bool, int64, float64, json.Number, string, []byte, []any and map[string]any; instants are the numbers that they are
// stored as. An error of f ends the reading and is returned, ErrEnough too. A batch of more than maxBatch bytes, as it
// is stored or unpacked, is an error.
func EachArrow(in io.ReaderAt, size, maxBatch int64, f func([]Column, Row) error) error {
	r := &messageReader{limit: maxBatch, left: size}
	start, err := r.bounds(in, size)
	if err != nil {
		return err
	}
	r.open(in, start)
	return r.each(f)
}

// messageReader reads the messages of a table.
type messageReader struct {
	in     *bufio.Reader
	left   int64
	limit  int64
	schema *schema
}

// bounds finds the stream in a file, or takes all as a stream.
func (r *messageReader) bounds(in io.ReaderAt, size int64) (start int64, err error) {
	const head, tail = 8, 4 + len(mark)
	var first [head]byte
	if n, _ := in.ReadAt(first[:], 0); n < head || string(first[:len(mark)]) != mark {
		return 0, nil
	}
	var last [tail]byte
	if size < head+int64(tail) {
		return 0, errors.New("it is cut off")
	}
	if _, err := in.ReadAt(last[:], size-int64(tail)); err != nil || string(last[4:]) != mark {
		return 0, fmt.Errorf("it does not end with %s: it is cut off", mark)
	}
	footer := int64(int32(binary.LittleEndian.Uint32(last[:])))
	if footer < 0 || footer > size-head-int64(tail) {
		return 0, fmt.Errorf("its footer of %d bytes is longer than the file", footer)
	}
	r.left = size - head - int64(tail) - footer
	return head, nil
}

// open begins to read at a place.
func (r *messageReader) open(in io.ReaderAt, start int64) {
	r.in = bufio.NewReaderSize(io.NewSectionReader(in, start, r.left), int(min(1<<18, r.left)))
}

// each reads the messages of a stream: a schema, then dictionaries and batches of rows in any order, of which a
// dictionary comes before the rows that refer to it. The kinds are those of Arrow's MessageHeader: 1 schema, 2
// dictionary, 3 record batch; others are passed over.
func (r *messageReader) each(f func([]Column, Row) error) error {
	var columns []Column
	for {
		m, body, err := r.message()
		if err != nil || m.at == 0 {
			if err == nil && r.schema == nil {
				err = errors.New("it has no schema")
			}
			return err
		}
		kind, header := m.byte(1), m.table(2)
		switch {
		case kind == 1 && r.schema == nil:
			if r.schema, err = readSchema(header); err != nil {
				return err
			}
			for _, field := range r.schema.fields {
				columns = append(columns, Column{field.name, field.plain()})
			}
		case r.schema == nil:
			return errors.New("it does not begin with a schema")
		case kind == 2:
			err = r.define(header, body)
		case kind == 3:
			err = r.rows(header, body, columns, f)
		}
		if err != nil {
			return err
		}
	}
}

// message reads the next message; a table at 0 is the end.
func (r *messageReader) message() (m table, body []byte, err error) {
	none := table{&flat{}, 0}
	const begin = 0xffffffff
	n, err := r.word()
	if err == nil && n == begin {
		n, err = r.word()
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && n == 0:
		return none, nil, nil
	case err != nil:
		return none, nil, err
	case int64(n) > min(r.left, maxMetadata):
		return none, nil, fmt.Errorf("a message of %d bytes is longer than what is left of it", n)
	}
	metadata, err := r.read(int64(n))
	if err != nil {
		return none, nil, err
	}
	in := &flat{bytes: metadata}
	m = in.root()
	size := m.i64(3)
	if in.broken || size < 0 {
		return none, nil, errCorrupt
	}
	if size > r.left {
		return none, nil, fmt.Errorf("a batch of %d bytes is longer than what is left of it: it is cut off", size)
	}
	if size > r.limit {
		return none, nil, fmt.Errorf("a batch of %d bytes is too large: write smaller batches", size)
	}
	body, err = r.read(size)
	return m, body, err
}

func (r *messageReader) word() (uint32, error) {
	if r.left < 4 {
		return 0, io.EOF
	}
	b, err := r.read(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *messageReader) read(n int64) ([]byte, error) {
	r.left -= n
	return readAll(r.in, n)
}

// readAll reads so many bytes; room is made as they come.
func readAll(in io.Reader, n int64) ([]byte, error) {
	const trusted = 1 << 20
	var b bytes.Buffer
	b.Grow(int(min(n, trusted)))
	if _, err := io.CopyN(&b, in, n); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// define takes the values of a dictionary.
func (r *messageReader) define(t table, body []byte) error {
	d := r.schema.dictionaries[t.i64(0)]
	if d == nil {
		return nil // of no column
	}
	b, err := r.batch(t.table(1), body)
	if err != nil {
		return err
	}
	c, err := b.column(d.of)
	if err != nil {
		return err
	}
	if isDelta := t.byte(2) != 0; !isDelta {
		d.values = nil
	}
	for i := range c.length {
		d.values = append(d.values, c.value(i))
	}
	d.known = true
	return nil
}

// rows hands out the rows of a batch.
func (r *messageReader) rows(t table, body []byte, columns []Column, f func([]Column, Row) error) error {
	b, err := r.batch(t, body)
	if err != nil {
		return err
	}
	all := make([]*column, len(r.schema.fields))
	for i, field := range r.schema.fields {
		if all[i], err = b.column(field); err != nil {
			return fmt.Errorf("the column %q: %w", field.name, err)
		}
		if int64(all[i].length) != b.length {
			return fmt.Errorf("the column %q has %d values in a batch of %d rows", field.name, all[i].length, b.length)
		}
	}
	if len(all) == 0 {
		return nil
	}
	for i := range int(b.length) {
		row := make(Row, len(all))
		for _, c := range all {
			row[c.name] = c.value(i)
		}
		if err := f(columns, row); err != nil {
			return err
		}
	}
	return nil
}

// batch is a message of values: the lengths of fields, the places of their buffers, and the bytes.
type batch struct {
	in     *flat
	body   []byte
	length int64
	// The next field, the next buffer and the next count of the buffers of views, and how many are left.
	nodeAt, nodes, bufferAt, buffers, countAt, counts int
	// codec of the buffers, -1: they are as they are; spare is how much more they may unpack to.
	codec int
	spare int64
}

func (r *messageReader) batch(t table, body []byte) (*batch, error) {
	b := &batch{in: t.in, body: body, length: t.i64(0), codec: -1, spare: r.limit}
	b.nodeAt, b.nodes = t.vector(1, 16)
	b.bufferAt, b.buffers = t.vector(2, 16)
	b.countAt, b.counts = t.vector(4, 8)
	if compression := t.table(3); compression.at != 0 {
		b.codec = compression.byte(0)
	}
	if t.in.broken || b.length < 0 {
		return nil, errCorrupt
	}
	return b, nil
}

func (b *batch) node() (length int, nulls int64, err error) {
	if b.nodes == 0 {
		return 0, 0, errCorrupt
	}
	n := b.in.i64(b.nodeAt)
	nulls = b.in.i64(b.nodeAt + 8)
	b.nodeAt, b.nodes = b.nodeAt+16, b.nodes-1
	if n < 0 || n > math.MaxInt32 {
		return 0, 0, errCorrupt
	}
	return int(n), nulls, nil
}

// buffer returns the next buffer, unpacked.
func (b *batch) buffer() ([]byte, error) {
	if b.buffers == 0 {
		return nil, errCorrupt
	}
	at, n := b.in.i64(b.bufferAt), b.in.i64(b.bufferAt+8)
	b.bufferAt, b.buffers = b.bufferAt+16, b.buffers-1
	if at < 0 || n < 0 || at > int64(len(b.body))-n {
		return nil, errCorrupt
	}
	packed := b.body[at : at+n]
	if b.codec < 0 || n == 0 {
		return packed, nil
	}
	if n < 8 {
		return nil, errCorrupt
	}
	size := int64(binary.LittleEndian.Uint64(packed))
	if packed = packed[8:]; size == -1 {
		return packed, nil
	}
	if size < 0 || size > b.spare {
		return nil, fmt.Errorf("a buffer unpacks to %d bytes, which is too much: write smaller batches", size)
	}
	b.spare -= size
	return unpack(b.codec, packed, size)
}

// unpack unpacks a buffer to a size.
func unpack(codec int, packed []byte, size int64) ([]byte, error) {
	var in io.Reader
	switch codec {
	case 0:
		in = lz4.NewReader(bytes.NewReader(packed))
	case 1:
		const window = 64 << 20
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		in = z
	default:
		return nil, fmt.Errorf("the compression %d is not known", codec)
	}
	data, err := readAll(in, size)
	if err != nil {
		return nil, fmt.Errorf("a buffer cannot be unpacked: %w", err)
	}
	return data, nil
}

// more returns the buffers of a column of views.
func (b *batch) more() (all [][]byte, err error) {
	if b.counts == 0 {
		return nil, errCorrupt
	}
	n := b.in.i64(b.countAt)
	b.countAt, b.counts = b.countAt+8, b.counts-1
	if n < 0 || n > int64(b.buffers) {
		return nil, errCorrupt
	}
	for range n {
		data, err := b.buffer()
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

package export

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library keeps the description of every row group as a tree until the end of a file: some hundred megabytes
// for the rows of an hour. So each row group is made as a file of its own, in memory; its pages are copied
// behind those of the groups before, and its description is kept in encoded form, which is a tenth of that.

const magic = "PAR1"

// rowGroup makes row groups, one after the other, in the same memory.
type rowGroup struct {
	file   *parquet.GenericWriter[any]
	buffer *bytes.Buffer
}

func newRowGroup(schema *parquet.Schema, createdBy string) *rowGroup {
	g := &rowGroup{buffer: &bytes.Buffer{}}
	g.file = parquet.NewGenericWriter[any](g.buffer, schema, parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("aiperf", createdBy, ""), parquet.DataPageStatistics(false))
	return g
}

// write makes a row group of columns of equal length.
func (g *rowGroup) write(columns [][]parquet.Value) error {
	g.buffer.Reset()
	g.file.Reset(g.buffer)
	for i, w := range g.file.ColumnWriters() {
		if _, err := w.WriteRowValues(columns[i]); err != nil {
			return err
		}
	}
	return g.file.Close()
}

// parquetFile is the file that the groups make together.
type parquetFile struct {
	out    io.Writer
	offset int64
	rows   int64
	groups int
	footer [][]byte            // the descriptions of the groups, in blocks
	like   format.FileMetaData // of a group's own file; all but the groups are the same in all
}

const footerBlock = 1 << 20

func newParquetFile(out io.Writer) (*parquetFile, error) {
	f := &parquetFile{out: out, offset: int64(len(magic))}
	_, err := io.WriteString(out, magic)
	return f, err
}

// add appends a group.
func (f *parquetFile) add(g *rowGroup) error {
	f.like = *g.file.File().Metadata()
	group := &f.like.RowGroups[0]
	group.Ordinal = int16(f.groups)
	by := f.offset - int64(len(magic))
	move := func(offsets ...*int64) {
		for _, o := range offsets {
			if *o != 0 { // 0 is none
				*o += by
			}
		}
	}
	move(&group.FileOffset)
	// The indexes of pages follow the pages. A chunk has one page, they would tell nothing new.
	pages := g.buffer.Bytes()[len(magic):group.Columns[0].ColumnIndexOffset]
	for i := range group.Columns {
		c := &group.Columns[i]
		move(&c.FileOffset, &c.MetaData.DataPageOffset, &c.MetaData.DictionaryPageOffset)
		c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
	}
	text, err := thrift.Marshal(new(thrift.CompactProtocol), group)
	if err != nil {
		return err
	}
	// The writer would wipe what is described here before the next group, and with it names that it goes on using.
	clear(group.Columns)
	n := len(f.footer)
	if n == 0 || len(f.footer[n-1])+len(text) > cap(f.footer[n-1]) {
		f.footer = append(f.footer, make([]byte, 0, max(footerBlock, len(text))))
		n++
	}
	f.footer[n-1] = append(f.footer[n-1], text...)
	f.groups++
	f.rows += group.NumRows
	f.offset += int64(len(pages))
	_, err = f.out.Write(pages)
	return err
}

// Types of Thrift's compact protocol.
const (
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// close writes the footer. It is the structure FileMetaData in Thrift's compact protocol: each field begins with
// its distance from the number of the one before, here always 1, and its type.
func (f *parquetFile) close(metadata map[string]string) error {
	const next = 1 << 4
	head := binary.AppendVarint([]byte{next | thriftI32}, int64(f.like.Version))
	head, err := appendStructs(append(head, next|thriftList), f.like.Schema)
	if err != nil {
		return err
	}
	head = binary.AppendVarint(append(head, next|thriftI64), f.rows)
	head = appendListHeader(append(head, next|thriftList), f.groups)
	var pairs []format.KeyValue
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		pairs = append(pairs, format.KeyValue{Key: key, Value: metadata[key]})
	}
	tail, err := appendStructs([]byte{next | thriftList}, pairs)
	if err != nil {
		return err
	}
	tail = binary.AppendUvarint(append(tail, next|thriftBinary), uint64(len(f.like.CreatedBy)))
	tail = append(tail, f.like.CreatedBy...)
	if tail, err = appendStructs(append(tail, next|thriftList), f.like.ColumnOrders); err != nil {
		return err
	}
	tail = append(tail, 0) // the end of the structure
	parts := slices.Concat([][]byte{head}, f.footer, [][]byte{tail})
	length := 0
	for _, part := range parts {
		length += len(part)
		if _, err := f.out.Write(part); err != nil {
			return err
		}
	}
	_, err = f.out.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(length)), magic...))
	return err
}

func appendListHeader(dst []byte, n int) []byte {
	const short = 15
	if n < short {
		return append(dst, byte(n<<4|thriftStruct))
	}
	return binary.AppendUvarint(append(dst, short<<4|thriftStruct), uint64(n))
}

func appendStructs[T any](dst []byte, list []T) ([]byte, error) {
	dst = appendListHeader(dst, len(list))
	for i := range list {
		text, err := thrift.Marshal(new(thrift.CompactProtocol), &list[i])
		if err != nil {
			return nil, err
		}
		dst = append(dst, text...)
	}
	return dst, nil
}

package loader

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// parquetBatch is how many rows are in memory beside what is made of them.
const parquetBatch = 256

// eachParquetRow calls f with the rows of a Parquet file as objects, and their numbers from 1. Columns
// of numbers, texts, booleans and of lists of them are understood; others are left out.
func eachParquetRow(ctx context.Context, path string, f func(number int, o *object)) (err error) {
	defer func() { // the library gives up on a broken file that way here and there
		if p := recover(); p != nil {
			err = fmt.Errorf("%s is not a Parquet file that can be read: %v", path, p)
		}
	}()
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(in, info.Size()); err != nil {
		return fmt.Errorf("%s is not a Parquet file that can be read: %w", path, err)
	}
	file, err := parquet.OpenFile(in, info.Size())
	if err != nil {
		return fmt.Errorf("%s is not a Parquet file that can be read: %w", path, err)
	}
	columns := parquetColumns(file.Schema())
	number := 0
	buffer := make([]parquet.Row, parquetBatch)
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		for {
			if ctx.Err() != nil {
				rows.Close()
				return ctx.Err()
			}
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				number++
				f(number, columns.object(row))
			}
			if errors.Is(err, io.EOF) || err == nil && n == 0 {
				break
			}
			if err != nil {
				rows.Close()
				return fmt.Errorf("%s: row %d cannot be read: %w", path, number+1, err)
			}
		}
		if err := rows.Close(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// checkFooter looks at the end of a file: the library would make room for any footer that is announced.
func checkFooter(in io.ReaderAt, size int64) error {
	const tail = 8 // the footer's length and the magic bytes
	var end [tail]byte
	if _, err := in.ReadAt(end[:], max(0, size-tail)); err != nil || string(end[4:]) != "PAR1" {
		return errors.New("it does not end with PAR1")
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); n+tail+4 > size {
		return fmt.Errorf("its footer of %d bytes is longer than the file", n)
	}
	return nil
}

// parquetColumn is the member that a column of values belongs to.
type parquetColumn struct {
	name string
	list bool
}

type parquetLayout []parquetColumn

// parquetColumns are the columns by their number; one without a name is left out.
func parquetColumns(schema *parquet.Schema) parquetLayout {
	var layout parquetLayout
	for _, path := range schema.Columns() {
		leaf, ok := schema.Lookup(path...)
		column := parquetColumn{}
		if ok && (len(path) == 1 || leaf.MaxRepetitionLevel == 1) {
			column = parquetColumn{path[0], leaf.MaxRepetitionLevel == 1}
		}
		layout = append(layout, column)
	}
	return layout
}

// object is a row as the object that a line of JSON would be.
func (columns parquetLayout) object(row parquet.Row) *object {
	o := &object{members: map[string]json.RawMessage{}}
	lists := map[string][]string{}
	for _, v := range row {
		c := v.Column()
		if c < 0 || c >= len(columns) || columns[c].name == "" {
			continue
		}
		name := columns[c].name
		if _, ok := o.members[name]; !ok {
			o.keys = append(o.keys, name)
			o.members[name] = nil
		}
		if v.IsNull() {
			continue
		}
		text := parquetText(v)
		if columns[c].list {
			lists[name] = append(lists[name], text)
		} else {
			o.members[name] = json.RawMessage(text)
		}
	}
	for name, list := range lists {
		o.members[name] = json.RawMessage("[" + strings.Join(list, ",") + "]")
	}
	return o
}

// parquetText is a value as JSON.
func parquetText(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Float:
		return jsonNumber(float64(v.Float()))
	case parquet.Double:
		return jsonNumber(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if text := v.ByteArray(); utf8.Valid(text) {
			quoted, _ := json.Marshal(string(text)) // a string cannot fail
			return string(quoted)
		}
	}
	return "null"
}

// jsonNumber is null for what JSON has no number for.
func jsonNumber(x float64) string {
	text, err := json.Marshal(x)
	if err != nil {
		return "null"
	}
	return string(text)
}

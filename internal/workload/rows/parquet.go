package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/bounded"
)

// parquetBatch is how many rows are in memory beside what is made of them.
const parquetBatch = 64

// eachParquet calls f with the columns of a Parquet file and every row.
func eachParquet(path string, f func([]Column, Row) error) (err error) {
	where := func() string { return "its footer is corrupt" }
	defer func() { // the library gives up on a broken file that way here and there; its words are about itself
		if recover() != nil {
			err = fmt.Errorf("%s is not a Parquet file that can be read: %s", path, where())
		}
	}()
	in, err := bounded.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(in, info.Size()); err != nil {
		return fmt.Errorf("%s is not a Parquet file that can be read: %w", path, brief{err})
	}
	file, err := parquet.OpenFile(in, info.Size())
	if err != nil {
		return fmt.Errorf("%s is not a Parquet file that can be read: %w", path, brief{err})
	}
	shape := newShape(file.Root())
	columns := shape.columns()
	number := 0
	for i, group := range file.RowGroups() {
		where = func() string {
			return fmt.Sprintf("row %d or one soon after it is corrupt%s", number+1, corruptColumn(file, i))
		}
		err := eachOfGroup(group, func(row parquet.Row) error {
			number++
			return f(columns, shape.row(row))
		})
		if broken, ok := errors.AsType[unreadable](err); ok {
			return fmt.Errorf("%s: row %d cannot be read%s: %w", path, number+1, corruptColumn(file, i),
				brief(broken))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// brief cuts what the library says: of a corrupt footer it repeats the path of every field, and what stands in a file
// can be of any length.
type brief struct{ error }

// maxWords is how much of it is shown, in bytes.
const maxWords = 200

func (b brief) Error() string {
	text := b.error.Error()
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

func (b brief) Unwrap() error { return b.error }

// unreadable is an error of the file, not of the caller.
type unreadable struct{ error }

func eachOfGroup(group parquet.RowGroup, f func(parquet.Row) error) error {
	reader := group.Rows()
	defer reader.Close()
	buffer := make([]parquet.Row, parquetBatch)
	for {
		n, err := reader.ReadRows(buffer)
		for _, row := range buffer[:n] {
			if err := f(row); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), err == nil && n == 0:
			return nil
		case err != nil:
			return unreadable{err}
		}
	}
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

// shape is a node of the schema. Rows come as columns of values with levels; the shape puts them together again: a
// value whose definition level is below that of a node says that the node, or what is around it, is absent there.
type shape struct {
	name               string
	leaf               int // number of the column, -1 for a group
	def, rep           int // levels from which the node is present, and at which it repeats
	optional, repeated bool
	list               bool // a group that stands for a list
	text               bool
	children           []*shape
	// first and last are the leaves below, last excluded.
	first, last int
}

func newShape(root *parquet.Column) *shape {
	leaves := 0
	return grow(root, 0, 0, &leaves)
}

// columns returns the children of the root.
func (s *shape) columns() []Column {
	var list []Column
	for _, child := range s.children {
		plain := child.leaf >= 0
		if child.list {
			element := child.children[0]
			plain = element.leaf >= 0 || len(element.children) == 1 && element.children[0].leaf >= 0 &&
				!element.children[0].repeated
		}
		list = append(list, Column{child.name, plain})
	}
	return list
}

// grow makes the shape of a column and what is below it. def and rep are the levels of definition and repetition of
// what is above; leaves counts the columns of values, which are numbered in the order of the file.
func grow(c *parquet.Column, def, rep int, leaves *int) *shape {
	s := &shape{name: c.Name(), leaf: -1, optional: c.Optional(), repeated: c.Repeated(), first: *leaves}
	if s.optional || s.repeated {
		def++
	}
	if s.repeated {
		rep++
	}
	s.def, s.rep = def, rep
	if c.Leaf() {
		s.leaf = *leaves
		*leaves++
		switch logical(c) {
		case "STRING", "UTF8", "ENUM", "JSON":
			s.text = true
		}
	} else {
		for _, child := range c.Columns() {
			s.children = append(s.children, grow(child, def, rep, leaves))
		}
		s.list = !s.repeated && len(s.children) == 1 && s.children[0].repeated && isList(c)
	}
	s.last = *leaves
	return s
}

func logical(c *parquet.Column) string {
	if t := c.Type().LogicalType(); t != nil {
		return t.String()
	}
	return ""
}

func isList(c *parquet.Column) bool {
	if logical(c) == "LIST" {
		return true
	}
	name := c.Columns()[0].Name() // files without the mark
	return name == "list" || name == "array" || name == "bag"
}

// cursor is the unread part of each column of a row.
type cursor [][]parquet.Value

func (s *shape) row(row parquet.Row) Row {
	columns := make(cursor, s.last)
	row.Range(func(column int, values []parquet.Value) bool {
		columns[column] = values
		return true
	})
	out := Row{}
	for _, child := range s.children {
		out[child.name] = child.read(columns)
	}
	return out
}

// read takes the next value of a node.
func (s *shape) read(c cursor) any {
	if s.repeated {
		return s.repeat(c)
	}
	return s.one(c)
}

func (s *shape) repeat(c cursor) []any {
	list := []any{}
	if s.absent(c) {
		s.skip(c)
		return list
	}
	for {
		list = append(list, s.one(c))
		rest := c[s.first]
		if len(rest) == 0 || rest[0].RepetitionLevel() != s.rep {
			return list
		}
	}
}

// one puts a value together from the cursors of its leaves, each of which it moves on (record assembly of Dremel:
// Melnik et al., 2010). An absent value still has one entry in each of its leaves, which is skipped. A list in Parquet
// is a group of one repeated group, whose inner name says nothing.
func (s *shape) one(c cursor) any {
	switch {
	case s.leaf >= 0:
		if len(c[s.leaf]) == 0 {
			return nil
		}
		v := c[s.leaf][0]
		c[s.leaf] = c[s.leaf][1:]
		if v.DefinitionLevel() < s.def {
			return nil
		}
		return s.value(v)
	case s.absent(c):
		s.skip(c)
		return nil
	case s.list:
		list := s.children[0].repeat(c)
		if element := s.children[0]; element.leaf < 0 && len(element.children) == 1 {
			for i := range list {
				object, _ := list[i].(map[string]any)
				list[i] = object[element.children[0].name]
			}
		}
		return list
	}
	object := map[string]any{}
	for _, child := range s.children {
		object[child.name] = child.read(c)
	}
	return object
}

func (s *shape) absent(c cursor) bool {
	return s.first == s.last || len(c[s.first]) == 0 || c[s.first][0].DefinitionLevel() < s.def
}

// skip takes the one value that stands for the absence of the node in each column below it.
func (s *shape) skip(c cursor) {
	for i := s.first; i < s.last; i++ {
		if len(c[i]) > 0 {
			c[i] = c[i][1:]
		}
	}
}

// value returns a value as JSON would have it; bytes that are no text stay bytes.
func (s *shape) value(v parquet.Value) any {
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return int64(v.Int32())
	case parquet.Int64:
		return v.Int64()
	case parquet.Float:
		return float64(v.Float())
	case parquet.Double:
		return v.Double()
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if s.text {
			return string(v.ByteArray())
		}
		return append([]byte(nil), v.ByteArray()...)
	}
	return v.String()
}

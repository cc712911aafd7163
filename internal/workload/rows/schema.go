package rows

import (
	"errors"
	"fmt"
)

// kind is what the values of a field are made of.
type kind uint8

const (
	nothing kind = iota
	signed
	unsigned
	floating
	boolean
	bytesOf  // fixed width
	variable // offsets into data
	view
	list
	fixedList
	structure
)

// field is a column, or a part of one.
type field struct {
	name string
	kind kind
	// width is that of a value in bytes, or of an offset into the data of a variable one or a list; size is the number
	// of items of a fixed list.
	width, size int
	text        bool
	children    []*field
	// dictionary is that of an encoded field, whose own kind is the index; nil: the values stand in the column.
	dictionary *dictionary
}

// dictionary holds the values that columns refer to.
type dictionary struct {
	of     *field
	values []any
	known  bool
}

// maxDepth, maxFields and maxName bound schemas.
const (
	maxDepth  = 64
	maxName   = 1 << 12
	maxFields = 1 << 16
)

var errCorrupt = errors.New("its metadata are corrupt")

// schema are the columns of a file.
type schema struct {
	fields       []*field
	dictionaries map[int64]*dictionary
	count        int
}

func readSchema(t table) (*schema, error) {
	if t.i16Or(0, 0) != 0 {
		return nil, errors.New("its numbers are big-endian, which is not supported")
	}
	s := &schema{dictionaries: map[int64]*dictionary{}}
	var err error
	if s.fields, err = s.list(t, 1, 0); err != nil {
		return nil, err
	}
	if t.in.broken {
		return nil, errCorrupt
	}
	return s, nil
}

func (s *schema) list(t table, at, depth int) (fields []*field, err error) {
	place, n := t.vector(at, 4)
	if s.count += n; s.count > maxFields || depth > maxDepth {
		return nil, errors.New("its schema is too large")
	}
	for i := range n {
		f, err := s.field(table{t.in, t.in.follow(place + 4*i)}, depth)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// field reads a column with its children. One with a dictionary is a column of numbers, which are signed and of 32 bits
// unless it says otherwise; columns may share a dictionary by its id.
func (s *schema) field(t table, depth int) (*field, error) {
	f := &field{name: t.text(0)}
	var err error
	if f.children, err = s.list(t, 5, depth+1); err != nil {
		return nil, err
	}
	if err := f.typed(t.byte(2), t.table(3)); err != nil {
		return nil, fmt.Errorf("the column %q: %w", f.name, err)
	}
	encoding := t.table(4)
	if encoding.at == 0 {
		return f, nil
	}
	index := &field{name: f.name, kind: signed, width: 4}
	if numbers := encoding.table(1); numbers.at != 0 {
		if err := index.typed(typeInt, numbers); err != nil {
			return nil, err
		}
	}
	id := encoding.i64(0)
	if s.dictionaries[id] == nil {
		s.dictionaries[id] = &dictionary{of: f}
	}
	index.dictionary = s.dictionaries[id]
	return index, nil
}

// The types of the format, by their numbers in its schema.
const (
	typeNull = 1 + iota
	typeInt
	typeFloat
	typeBinary
	typeUTF8
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeUTF8
	typeLargeList
	typeRunEnd
	typeBinaryView
	typeUTF8View
	typeListView
	typeLargeListView
)

// typed takes a type of the schema. Instants and spans of time stay the numbers that they are stored as.
func (f *field) typed(number int, t table) error {
	set := func(k kind, width int) { f.kind, f.width = k, width }
	switch number {
	case typeNull:
		set(nothing, 0)
	case typeInt:
		bits := t.i32Or(0, 0)
		if bits != 8 && bits != 16 && bits != 32 && bits != 64 {
			return fmt.Errorf("whole numbers of %d bits are not supported", bits)
		}
		set(unsigned, bits/8)
		if t.byte(1) != 0 {
			f.kind = signed
		}
	case typeFloat:
		precision := t.i16Or(0, 0)
		if precision < 0 || precision > 2 {
			return errCorrupt
		}
		set(floating, 2<<precision)
	case typeBool:
		set(boolean, 0)
	case typeDate:
		set(signed, 4<<min(1, max(0, t.i16Or(0, 1))))
	case typeTime:
		bits := t.i32Or(1, 32)
		if bits != 32 && bits != 64 {
			return errCorrupt
		}
		set(signed, bits/8)
	case typeTimestamp, typeDuration:
		set(signed, 8)
	case typeBinary, typeUTF8:
		set(variable, 4)
	case typeLargeBinary, typeLargeUTF8:
		set(variable, 8)
	case typeBinaryView, typeUTF8View:
		set(view, 16)
	case typeFixedBinary:
		set(bytesOf, t.i32Or(0, 0))
	case typeStruct:
		set(structure, 0)
	case typeList, typeMap, typeLargeList, typeFixedList:
		if len(f.children) != 1 {
			return errCorrupt
		}
		switch number {
		case typeFixedList:
			set(fixedList, 0)
			f.size = t.i32Or(0, 0)
		case typeLargeList:
			set(list, 8)
		default:
			set(list, 4)
		}
	default:
		name, known := map[int]string{
			typeDecimal: "decimals", typeInterval: "intervals", typeUnion: "unions", typeRunEnd: "run-end encoding",
			typeListView: "list views", typeLargeListView: "list views",
		}[number]
		if !known {
			name = fmt.Sprintf("type %d", number)
		}
		return fmt.Errorf("%s are not supported: convert the file to Parquet", name)
	}
	f.text = number == typeUTF8 || number == typeLargeUTF8 || number == typeUTF8View
	if f.width < 0 || f.size < 0 {
		return errCorrupt
	}
	return nil
}

// plain reports whether the values of a field are single ones, or lists of such.
func (f *field) plain() bool {
	if f.dictionary != nil {
		f = f.dictionary.of
	}
	if f.kind == list || f.kind == fixedList {
		f = f.children[0]
		if f.dictionary != nil {
			f = f.dictionary.of
		}
	}
	return f.kind != list && f.kind != fixedList && f.kind != structure
}

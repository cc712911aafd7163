package recordfile

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
)

// boxed are the types that a field of type any may hold, by their number in the bytes; 0 is nil. The order is part of
// the format.
var boxed = []reflect.Type{
	nil, reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint64](), reflect.TypeFor[float64](), reflect.TypeFor[json.Number](), reflect.TypeFor[[]any](),
	reflect.TypeFor[map[string]any](), reflect.TypeFor[artifact.Object](), reflect.TypeFor[[]string](),
}

// errShort means that the bytes end too early.
var errShort = errors.New("the bytes end within a value")

// Codec carries values. The zero value is ready.
type Codec struct {
	// Types are those that fields of interface types may hold besides the usual values; their order is part of the
	// format.
	Types []reflect.Type
}

// AppendValue appends a value to dst. It fails for types that cannot be carried.
func AppendValue(dst []byte, v any) ([]byte, error) { return new(Codec).Append(dst, v) }

// DecodeValue sets what v points to from bytes that [Append] made of a value of the same type. All bytes must be used
// up.
func DecodeValue(data []byte, v any) error { return new(Codec).Decode(data, v) }

// Append appends a value to dst, as the function does.
func (c *Codec) Append(dst []byte, v any) ([]byte, error) {
	x := reflect.ValueOf(v)
	for x.Kind() == reflect.Pointer && !x.IsNil() {
		x = x.Elem()
	}
	return c.value(dst, x)
}

// Decode sets what v points to from bytes that Append of an equal Codec made, as the function does.
func (c *Codec) Decode(data []byte, v any) error {
	d := decoder{data, c}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	if len(d.data) > 0 {
		return fmt.Errorf("%d bytes are left over", len(d.data))
	}
	return nil
}

// Layout returns a hash of the structure of types: the names and types of all fields that are carried.
func Layout(types ...reflect.Type) string {
	var b strings.Builder
	seen := map[reflect.Type]bool{}
	for _, t := range types {
		describe(&b, t, seen)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return fmt.Sprintf("%x", sum[:8])
}

// describe writes the names and types of all that a type carries, each type once: what the bytes mean depends on
// nothing else.
func describe(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	b.WriteString(t.String())
	if seen[t] {
		return
	}
	seen[t] = true
	if marshals(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		describe(b, t.Elem(), seen)
	case reflect.Map:
		describe(b, t.Key(), seen)
		describe(b, t.Elem(), seen)
	case reflect.Struct:
		for _, i := range fieldsOf(t).carried {
			f := t.Field(i)
			b.WriteString(" " + f.Name + " ")
			describe(b, f.Type, seen)
		}
	}
}

// fields are those of a struct type: the indexes of the carried ones, and the name of one that cannot be.
type fields struct {
	carried []int
	hidden  string
}

var known sync.Map // reflect.Type → fields

func fieldsOf(t reflect.Type) fields {
	if f, ok := known.Load(t); ok {
		return f.(fields)
	}
	var out fields
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Tag.Get("carry") == "-":
		case !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct):
			out.hidden = f.Name
		default:
			out.carried = append(out.carried, i)
		}
	}
	known.Store(t, out)
	return out
}

var (
	marshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

// marshals reports whether a struct type is carried by its own methods.
func marshals(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(marshaler) &&
		reflect.PointerTo(t).Implements(unmarshaler)
}

// value appends a value by its kind: numbers in as many bytes as they need, floats as their bits, and a length before
// what has one. Nil and empty stay apart: 0 stands for nil, and the length of a slice is one more than that of its
// items.
func (c *Codec) value(dst []byte, v reflect.Value) (_ []byte, err error) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(dst, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(dst, v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float())), nil
	case reflect.String:
		return append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, 0), nil
		}
		return c.value(append(dst, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(dst, 0), nil
		}
		dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(dst, v.Bytes()...), nil
		}
		return c.items(dst, v)
	case reflect.Array:
		return c.items(dst, v)
	case reflect.Map:
		return c.mapping(dst, v)
	case reflect.Interface:
		return c.box(dst, v)
	case reflect.Struct:
		return c.structure(dst, v)
	}
	return nil, fmt.Errorf("a %s cannot be carried", v.Type())
}

func (c *Codec) items(dst []byte, v reflect.Value) (_ []byte, err error) {
	for i := range v.Len() {
		if dst, err = c.value(dst, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// mapping appends a map with its entries sorted by their bytes, so that equal values give equal bytes.
func (c *Codec) mapping(dst []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
	var entries []string
	for key, value := range v.Seq2() {
		entry, err := c.value(nil, key)
		if err == nil {
			entry, err = c.value(entry, value)
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, string(entry))
	}
	slices.Sort(entries)
	for _, entry := range entries {
		dst = append(dst, entry...)
	}
	return dst, nil
}

func (c *Codec) box(dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, 0), nil
	}
	kind := slices.Index(boxed, v.Elem().Type())
	if kind < 0 {
		if kind = slices.Index(c.Types, v.Elem().Type()); kind < 0 {
			return nil, fmt.Errorf("a %s in a field of type %s cannot be carried", v.Elem().Type(), v.Type())
		}
		kind += len(boxed)
	}
	return c.value(append(dst, byte(kind)), v.Elem())
}

func (c *Codec) structure(dst []byte, v reflect.Value) (_ []byte, err error) {
	if marshals(v.Type()) {
		own := reflect.New(v.Type())
		own.Elem().Set(v)
		text, err := own.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			return nil, err
		}
		return append(binary.AppendUvarint(dst, uint64(len(text))), text...), nil
	}
	all := fieldsOf(v.Type())
	if all.hidden != "" {
		return nil, fmt.Errorf("a %s cannot be carried: its field %s is not exported", v.Type(), all.hidden)
	}
	for _, i := range all.carried {
		if dst, err = c.value(dst, v.Field(i)); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", v.Type(), v.Type().Field(i).Name, err)
		}
	}
	return dst, nil
}

// decoder reads values off its data.
type decoder struct {
	data  []byte
	codec *Codec
}

func (d *decoder) uvarint() (uint64, error) {
	n, used := binary.Uvarint(d.data)
	if used <= 0 {
		return 0, errShort
	}
	d.data = d.data[used:]
	return n, nil
}

func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.data)) {
		return nil, errShort
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out, nil
}

// length reads the length of a list, each item of which takes a byte at least; nil is false.
func (d *decoder) length(perItem int) (int, bool, error) {
	n, err := d.uvarint()
	if err != nil || n == 0 {
		return 0, false, err
	}
	if perItem > 0 && n-1 > uint64(len(d.data)) || n-1 > math.MaxInt32 {
		return 0, false, errShort
	}
	return int(n - 1), true, nil
}

// value reads what [Codec.value] appends. A length is checked against the bytes that are left before anything is made
// of it: data of others must not allocate more than it has.
func (d *decoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		b, err := d.take(1)
		if err == nil {
			v.SetBool(b[0] != 0)
		}
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, used := binary.Varint(d.data)
		if used <= 0 {
			return errShort
		}
		d.data = d.data[used:]
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := d.uvarint()
		if err != nil {
			return err
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		b, err := d.take(8)
		if err != nil {
			return err
		}
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case reflect.String:
		n, err := d.uvarint()
		if err != nil {
			return err
		}
		b, err := d.take(n)
		if err != nil {
			return err
		}
		v.SetString(string(b))
	case reflect.Pointer:
		return d.pointer(v)
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			if err := d.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return d.mapping(v)
	case reflect.Interface:
		return d.box(v)
	case reflect.Struct:
		return d.structure(v)
	default:
		return fmt.Errorf("a %s cannot be carried", v.Type())
	}
	return nil
}

func (d *decoder) pointer(v reflect.Value) error {
	set, err := d.take(1)
	if err != nil {
		return err
	}
	if set[0] == 0 {
		v.SetZero()
		return nil
	}
	v.Set(reflect.New(v.Type().Elem()))
	return d.value(v.Elem())
}

// slice reads a slice, nil where none was set. It makes room for at most 1,024 items before it has read any: what an
// item takes in memory may be far more than its bytes.
func (d *decoder) slice(v reflect.Value) error {
	bytes := v.Type().Elem().Kind() == reflect.Uint8
	n, set, err := d.length(int(v.Type().Elem().Size()))
	if err != nil {
		return err
	}
	if !set {
		v.SetZero()
		return nil
	}
	if bytes {
		b, err := d.take(uint64(n))
		if err != nil {
			return err
		}
		v.SetBytes(append(make([]byte, 0, n), b...))
		return nil
	}
	list := reflect.MakeSlice(v.Type(), 0, min(n, 1024))
	for range n {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(item); err != nil {
			return err
		}
		list = reflect.Append(list, item)
	}
	v.Set(list)
	return nil
}

func (d *decoder) mapping(v reflect.Value) error {
	n, set, err := d.length(1)
	if err != nil {
		return err
	}
	if !set {
		v.SetZero()
		return nil
	}
	out := reflect.MakeMap(v.Type())
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := errors.Join(d.value(key), d.value(value)); err != nil {
			return err
		}
		out.SetMapIndex(key, value)
	}
	v.Set(out)
	return nil
}

func (d *decoder) box(v reflect.Value) error {
	kind, err := d.take(1)
	if err != nil {
		return err
	}
	if kind[0] == 0 {
		v.SetZero()
		return nil
	}
	types := slices.Concat(boxed, d.codec.Types)
	if int(kind[0]) >= len(types) || !types[kind[0]].AssignableTo(v.Type()) {
		return fmt.Errorf("there is no type %d in a field of type %s", kind[0], v.Type())
	}
	own := reflect.New(types[kind[0]]).Elem()
	if err := d.value(own); err != nil {
		return err
	}
	v.Set(own)
	return nil
}

// structure reads what [Codec.structure] appends: the fields in their order, without names.
func (d *decoder) structure(v reflect.Value) error {
	if marshals(v.Type()) {
		n, err := d.uvarint()
		if err != nil {
			return err
		}
		text, err := d.take(n)
		if err != nil {
			return err
		}
		return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(text)
	}
	all := fieldsOf(v.Type())
	if all.hidden != "" {
		return fmt.Errorf("a %s cannot be carried: its field %s is not exported", v.Type(), all.hidden)
	}
	for _, i := range all.carried {
		if err := d.value(v.Field(i)); err != nil {
			return fmt.Errorf("%s.%s: %w", v.Type(), v.Type().Field(i).Name, err)
		}
	}
	return nil
}

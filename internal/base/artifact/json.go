package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// indentWidth is the number of spaces per level of an indented document.
const indentWidth = 2

// AppendFloat appends the shortest decimal that reads back as v. Integral values keep ".0", and the
// exponent form starts at 1e+16 and below 0.0001, as in the published files. JSON has no NaN and no
// infinities: whoever has one leaves the value out; here it becomes null.
func AppendFloat(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	if out, ok := AppendMillionths(dst, v); ok {
		return out
	}
	abs := math.Abs(v)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, '.', '0')
	}
	return dst
}

// pairs are the numbers from 00 to 99.
var pairs = func() (text [200]byte) {
	for i := range 100 {
		text[2*i], text[2*i+1] = '0'+byte(i/10), '0'+byte(i%10)
	}
	return text
}()

// AppendMillionths does what [AppendFloat] does for a whole number of millionths, such as nanoseconds in milliseconds,
// at a third of the cost. It is false, and nothing is appended, for other numbers, and for small and large ones: a
// decimal of at most 15 digits is the shortest one of the float that is nearest to it.
func AppendMillionths(dst []byte, v float64) ([]byte, bool) {
	switch {
	case v == 0 && !math.Signbit(v): // events of one read have no time between them
		return append(dst, "0.0"...), true
	case !(v >= 1e-4 && v < 1e9):
		return dst, false
	}
	n := int64(v*1e6 + 0.5)
	if float64(n)/1e6 != v {
		return dst, false
	}
	dst = strconv.AppendInt(dst, n/1e6, 10)
	rest := n % 1e6
	first, second, third := 2*(rest/10_000), 2*(rest/100%100), 2*(rest%100)
	digits := [7]byte{'.', pairs[first], pairs[first+1], pairs[second], pairs[second+1], pairs[third], pairs[third+1]}
	last := 6
	for last > 1 && digits[last] == '0' {
		last--
	}
	return append(dst, digits[:last+1]...), true
}

// AppendString appends s as a JSON string, see [jsonscan.AppendString].
func AppendString[T string | []byte](dst []byte, s T) []byte { return jsonscan.AppendString(dst, s) }

// AppendJSON appends v without white space. Members whose value is absent (a nil pointer, a
// non-finite float) are left out; an untyped nil is written as null, because somebody asked for it.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	e := encoder{dst: dst}
	e.value(v)
	return e.dst, e.err
}

// AppendIndented appends v over several lines, indented by two spaces per level, the way that most
// tools lay out JSON: one element or member per line, empty ones as [] and {}.
func AppendIndented(dst []byte, v any) ([]byte, error) {
	e := encoder{dst: dst, indented: true}
	e.value(v)
	return e.dst, e.err
}

// WriteIndented writes a document and a final newline.
func WriteIndented(w io.Writer, o Object) error {
	out, err := AppendIndented(nil, o)
	if err != nil {
		return err
	}
	_, err = w.Write(append(out, '\n'))
	return err
}

// WriteObject replaces the file at path by an indented document, as a whole or not at all. The text is never in memory
// as a whole.
func WriteObject(path string, o Object) error {
	a, err := CreateAtomic(path)
	if err != nil {
		return err
	}
	defer a.Abort()
	e := encoder{indented: true, to: a}
	e.value(o)
	e.dst = append(e.dst, '\n')
	e.spill(0)
	if e.err != nil {
		return e.err
	}
	return a.Commit()
}

// Lazy is a value that is made when it is written, so that a long list of large ones is never in memory as a whole.
type Lazy func() any

type encoder struct {
	dst      []byte
	indented bool
	depth    int
	err      error
	// to gets the text as it grows; nil keeps it in dst.
	to io.Writer
}

// spilled is the length of text that an encoder hands on at once.
const spilled = 64 << 10

// spill hands the text on if it is longer than that.
func (e *encoder) spill(above int) {
	if e.to != nil && len(e.dst) > above {
		if _, err := e.to.Write(e.dst); err != nil {
			e.fail(err)
		}
		e.dst = e.dst[:0]
	}
}

// value appends a value. The usual types go without reflection: a document has them by the ten thousands.
func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.dst = append(e.dst, "null"...)
	case string:
		e.dst = AppendString(e.dst, v)
	case bool:
		e.dst = strconv.AppendBool(e.dst, v)
	case int:
		e.dst = strconv.AppendInt(e.dst, int64(v), 10)
	case int64:
		e.dst = strconv.AppendInt(e.dst, v, 10)
	case float64:
		e.dst = AppendFloat(e.dst, v)
	case json.RawMessage:
		e.raw(v)
	case json.Number:
		e.raw([]byte(v))
	case Object:
		e.object(v)
	case []any:
		e.list(len(v), func(i int) any { return v[i] })
	case Lazy:
		e.value(v())
	case interface{ object() Object }: // a Map
		e.object(v.object())
	default:
		e.reflected(reflect.ValueOf(v))
	}
}

// reflected writes the kinds that are not worth a case of their own: named scalars, other number
// types, pointers, slices, and maps with their keys in order.
func (e *encoder) reflected(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			e.value(nil)
			return
		}
		e.value(v.Elem().Interface())
	case reflect.String:
		e.value(v.String())
	case reflect.Bool:
		e.value(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.value(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.dst = strconv.AppendUint(e.dst, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		e.value(v.Float())
	case reflect.Slice, reflect.Array:
		e.list(v.Len(), func(i int) any { return v.Index(i).Interface() })
	case reflect.Map:
		e.mapping(v)
	default:
		e.fail(fmt.Errorf("a value of type %s cannot be written as JSON", v.Type()))
	}
}

func (e *encoder) mapping(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		e.fail(fmt.Errorf("a value of type %s cannot be written as JSON: keys must be strings", v.Type()))
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
	o := make(Object, 0, len(keys))
	for _, k := range keys {
		o = append(o, Member{k.String(), v.MapIndex(k).Interface()})
	}
	e.object(o)
}

func (e *encoder) object(o Object) {
	e.open('{')
	n := 0
	for _, m := range o {
		if absent(m.Value) {
			continue
		}
		e.next(n)
		n++
		e.dst = AppendString(e.dst, m.Key)
		e.dst = append(e.dst, ':')
		if e.indented {
			e.dst = append(e.dst, ' ')
		}
		e.value(m.Value)
	}
	e.close('}', n)
}

func (e *encoder) list(n int, at func(int) any) {
	e.open('[')
	for i := range n {
		e.next(i)
		e.value(at(i))
	}
	e.close(']', n)
}

func (e *encoder) open(bracket byte) {
	e.dst = append(e.dst, bracket)
	e.depth++
}

func (e *encoder) next(i int) {
	e.spill(spilled)
	if i > 0 {
		e.dst = append(e.dst, ',')
	}
	e.newline()
}

func (e *encoder) close(bracket byte, n int) {
	e.depth--
	if n > 0 {
		e.newline()
	}
	e.dst = append(e.dst, bracket)
}

func (e *encoder) newline() {
	if !e.indented {
		return
	}
	e.dst = append(e.dst, '\n')
	for range e.depth * indentWidth {
		e.dst = append(e.dst, ' ')
	}
}

func (e *encoder) raw(text []byte) {
	if len(text) == 0 {
		e.value(nil)
		return
	}
	var out bytes.Buffer
	var err error
	if e.indented {
		prefix := string(bytes.Repeat([]byte{' '}, e.depth*indentWidth))
		err = json.Indent(&out, text, prefix, "  ")
	} else {
		err = json.Compact(&out, text)
	}
	if err != nil {
		e.fail(fmt.Errorf("raw JSON value: %w", err))
		return
	}
	e.dst = append(e.dst, bytes.ToValidUTF8(bytes.TrimRight(out.Bytes(), " \t\r\n"), []byte("\uFFFD"))...)
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
	e.dst = append(e.dst, "null"...)
}

// absent reports whether a member has no value and is left out.
func absent(v any) bool {
	switch v := v.(type) {
	case nil, string, bool, int, int64, Object, []any, json.RawMessage, Lazy:
		return false
	case float64:
		return math.IsNaN(v) || math.IsInf(v, 0)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		return r.IsNil() || absent(r.Elem().Interface())
	case reflect.Float32, reflect.Float64:
		f := r.Float()
		return math.IsNaN(f) || math.IsInf(f, 0)
	}
	return false
}

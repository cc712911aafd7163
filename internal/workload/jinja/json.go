package jinja

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nikolalohinski/gonja/v2/exec"

	"aiperf/internal/base/artifact"
)

// jsonWriter writes JSON as Python's json module does, and as Jinja wants it: keys sorted, only ASCII, with the
// characters escaped that mean something in HTML.
type jsonWriter struct {
	buf    []byte
	indent int // negative: on one line
	// chat: as templates of models have it. Keys keep their order, only quotes, backslashes and control characters are
	// escaped.
	chat bool
}

// maxIndent bounds the indentation of a level.
const maxIndent = 64

// maxNesting ends a value that contains itself.
const maxNesting = 200

// value writes a value as Jinja2's tojson does, or with chat as the tojson of chat templates: members sorted by name or
// in their order. Depth and length are bounded, since a template can build values far larger than itself.
func (w *jsonWriter) value(v reflect.Value, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("tojson: the value is nested deeper than %d levels", maxNesting)
	}
	if len(w.buf) > maxText {
		return errText
	}
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		w.buf = append(w.buf, "null"...)
		return nil
	}
	switch x := v.Interface().(type) {
	case *none:
		w.buf = append(w.buf, "null"...)
		return nil
	case *exec.Value:
		return w.value(x.Val, depth)
	case *exec.Dict:
		var pairs []pair
		for _, p := range x.Pairs {
			pairs = append(pairs, pair{p.Key.String(), p.Value.Val})
		}
		if !w.chat {
			sortPairs(pairs)
		}
		return w.object(pairs, depth)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			w.buf = append(w.buf, "null"...)
			return nil
		}
		return w.value(v.Elem(), depth)
	case reflect.Bool:
		w.buf = strconv.AppendBool(w.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.buf = strconv.AppendInt(w.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.buf = strconv.AppendUint(w.buf, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("tojson: JSON cannot represent the number %v", f)
		}
		w.buf = artifact.AppendFloat(w.buf, f)
	case reflect.String:
		w.string(v.String())
	case reflect.Slice, reflect.Array:
		return w.list(v, depth)
	case reflect.Map:
		var pairs []pair
		for _, key := range v.MapKeys() {
			pairs = append(pairs, pair{fmt.Sprint(key.Interface()), v.MapIndex(key)})
		}
		sortPairs(pairs)
		return w.object(pairs, depth)
	default:
		return fmt.Errorf("tojson: JSON cannot represent a value of type %s", v.Type())
	}
	return nil
}

func (w *jsonWriter) list(v reflect.Value, depth int) error {
	w.buf = append(w.buf, '[')
	for i := range v.Len() {
		w.separate(i, depth+1)
		if err := w.value(v.Index(i), depth+1); err != nil {
			return err
		}
	}
	w.close(v.Len(), depth, ']')
	return nil
}

type pair struct {
	key   string
	value reflect.Value
}

func sortPairs(pairs []pair) {
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
}

func (w *jsonWriter) object(pairs []pair, depth int) error {
	w.buf = append(w.buf, '{')
	for i, p := range pairs {
		w.separate(i, depth+1)
		w.string(p.key)
		w.buf = append(w.buf, ": "...)
		if err := w.value(p.value, depth+1); err != nil {
			return err
		}
	}
	w.close(len(pairs), depth, '}')
	return nil
}

// separate begins element i of a list or object.
func (w *jsonWriter) separate(i, depth int) {
	switch {
	case w.indent >= 0:
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.line(depth)
	case i > 0:
		w.buf = append(w.buf, ", "...)
	}
}

func (w *jsonWriter) close(n, depth int, bracket byte) {
	if w.indent >= 0 && n > 0 {
		w.line(depth)
	}
	w.buf = append(w.buf, bracket)
}

func (w *jsonWriter) line(depth int) {
	w.buf = append(w.buf, '\n')
	for range depth * w.indent {
		w.buf = append(w.buf, ' ')
	}
}

// string writes a string: with chat as it is but for control characters, else in ASCII, with what is special in HTML as
// escapes, as Jinja2 does.
func (w *jsonWriter) string(s string) {
	b := append(w.buf, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case w.chat && r >= ' ':
			b = utf8.AppendRune(b, r)
		case r < ' ' || r >= 0x7f || r == '<' || r == '>' || r == '&' || r == '\'':
			for _, unit := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		default:
			b = append(b, byte(r))
		}
	}
	w.buf = append(b, '"')
}

package artifact

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// ObjectOf returns a struct, or what a pointer to one points to, as the object that its json tags describe, so that the
// same tags write a document and read it. Members have the order of the fields. Names, embedded structs, "-",
// omitempty and omitzero are those of encoding/json; nil pointers and interfaces without such an option are null, too.
// As in every document of this package, and unlike there, a number that is not finite is left out, floats have the
// format of [AppendFloat], and a nil slice or map is an empty one. The structs in the fields are objects as well.
//
// A field of type [Object] with the tag artifact:"inline" has members whose keys no struct knows; they stand in its
// place. What reads the document by its tags does not read them.
//
// encoding/json itself cannot write these documents: it has its own format of floats and fails on those that are not
// finite. ObjectOf panics for a type whose tags it does not understand: that is a mistake of the program.
func ObjectOf(structure any) Object {
	v := reflect.ValueOf(structure)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return appendFields(nil, v)
}

// field is a field of a struct as its tag describes it.
type field struct {
	name                string
	index               int
	omitEmpty, omitZero bool
	// embedded fields are members of the struct around them, inline ones objects whose members are.
	embedded, inline bool
	// plain values, or those that a pointer points to, are written as they are: they contain no struct.
	plain bool
	// zero reports whether a value is zero where its type has a method for that.
	zero func(reflect.Value) bool
}

// fieldsOf caches the fields of types.
var fieldsOf sync.Map

func fields(t reflect.Type) []field {
	if cached, ok := fieldsOf.Load(t); ok {
		return cached.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Tag.Get("artifact") == "inline" {
			list = append(list, field{index: i, inline: true})
			continue
		}
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		of := field{name: name, index: i, embedded: f.Anonymous && name == "" && structKind(f.Type),
			plain: plain(f.Type) || f.Type.Kind() == reflect.Pointer && plain(f.Type.Elem())}
		if of.name == "" {
			of.name = f.Name
		}
		for _, option := range strings.Split(options, ",") {
			switch option {
			case "":
			case "omitempty":
				of.omitEmpty = true
			case "omitzero":
				of.omitZero = true
			default:
				panic(fmt.Sprintf("artifact: %s.%s has the option %q in its tag", t, f.Name, option))
			}
		}
		if f.Type.Implements(reflect.TypeFor[interface{ IsZero() bool }]()) {
			of.zero = func(v reflect.Value) bool { return v.Interface().(interface{ IsZero() bool }).IsZero() }
		} else {
			of.zero = reflect.Value.IsZero
		}
		list = append(list, of)
	}
	fieldsOf.Store(t, list)
	return list
}

// structKind reports whether a type is a struct, or points to one.
func structKind(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// plain reports whether values of a type are written as they are, since they contain no struct and nothing that writes
// itself.
func plain(t reflect.Type) bool {
	if writesItself(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	case reflect.Slice, reflect.Array:
		return t.Elem() != reflect.TypeFor[Member]() && plain(t.Elem())
	}
	return false
}

// writesItself reports whether a type has a method that writes it.
func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func appendFields(o Object, v reflect.Value) Object {
	list := fields(v.Type())
	o = slices.Grow(o, len(list))
	for i := range list {
		f := &list[i]
		of := v.Field(f.index)
		switch {
		case f.inline:
			o = append(o, of.Interface().(Object)...)
		case f.embedded:
			if of.Kind() == reflect.Pointer {
				if of.IsNil() {
					continue
				}
				of = of.Elem()
			}
			o = appendFields(o, of)
		case f.omitEmpty && empty(of), f.omitZero && f.zero(of):
		default:
			value := memberValue(of, f.plain)
			if value == nil || !absent(value) {
				o = append(o, Member{f.name, value})
			}
		}
	}
	return o
}

// empty reports whether omitempty leaves a value out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// memberValue returns a value with objects in the place of structs.
func memberValue(v reflect.Value, plain bool) any {
	if plain {
		if v.Kind() != reflect.Pointer {
			return v.Interface()
		}
		if v.IsNil() {
			return nil
		}
		return v.Elem().Interface()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return memberValue(v.Elem(), false)
	case reflect.Float64:
		if v.Type() == reflect.TypeFor[float64]() {
			return v.Float()
		}
	case reflect.Struct:
		if !writesItself(v.Type()) {
			return appendFields(make(Object, 0, v.NumField()), v)
		}
	}
	return structsAsObjects(v.Interface())
}

// structsAsObjects returns a value with objects in the place of the structs in it.
func structsAsObjects(value any) any {
	switch value := value.(type) {
	case nil, Object, Lazy, json.RawMessage:
		return value
	case interface{ object() Object }: // a Map
		return value.object()
	case json.Marshaler:
		return json.RawMessage(written(value, value.MarshalJSON))
	case encoding.TextMarshaler:
		return string(written(value, value.MarshalText))
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Struct:
		return appendFields(Object{}, v)
	case reflect.Pointer:
		return memberValue(v, false)
	case reflect.Slice, reflect.Array:
		if plain(v.Type()) {
			return value
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = memberValue(v.Index(i), false)
		}
		return list
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return value // which the encoder reports
		}
		o := make(Object, 0, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			o = append(o, Member{entries.Key().String(), memberValue(entries.Value(), false)})
		}
		slices.SortFunc(o, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
		return o
	}
	return value
}

// written returns what a value writes of itself.
func written(value any, write func() ([]byte, error)) []byte {
	text, err := write()
	if err != nil {
		panic(fmt.Sprintf("artifact: %T: %v", value, err))
	}
	return text
}

// Known returns a number for a field that is nil, and left out or null, where the number is not known: not finite.
func Known(v float64) *float64 {
	if !Finite(v) {
		return nil
	}
	return &v
}

package testkit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
)

// SameTags fails the test unless a struct is read as it was written: every field, also those of the structs in it, and
// what is read is written again as the same bytes. It is written by [artifact.ObjectOf], filled with values that differ
// and without any, and read by encoding/json. A field that is not in the file fails, too, unless it is an inline object
// or has one of the names in without.
func SameTags[T any](t *testing.T, without ...string) {
	t.Helper()
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		var full, none T
		(&filler{without: without}).fill(reflect.ValueOf(&full).Elem())
		if read := rewritten(t, &full); !reflect.DeepEqual(&full, read) {
			t.Errorf("it is not read as it was written (- written, + read):\n%s",
				cmp.Diff(&full, read, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
		rewritten(t, &none)
	})
}

// rewritten writes a struct, reads it, and writes it again.
func rewritten[T any](t *testing.T, of *T) *T {
	t.Helper()
	text, err := artifact.AppendJSON(nil, artifact.ObjectOf(of))
	if err != nil {
		t.Fatal(err)
	}
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	again, err := artifact.AppendJSON(nil, artifact.ObjectOf(read))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Errorf("it is written otherwise once it was read (- before, + after):\n%s", diff)
	}
	return read
}

// filler gives each value a number of its own.
type filler struct {
	n       int
	without []string // names of fields
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Interface().(type) {
	case artifact.Object:
		v.Set(reflect.ValueOf(artifact.Object{{Key: fmt.Sprint("key", f.n), Value: fmt.Sprint("text", f.n)}}))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(fmt.Sprint(f.n))))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(f.n), 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text", f.n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n % 100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprint("text", f.n)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.elements(v)
	case reflect.Array:
		f.elements(v)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			of := v.Type().Field(i)
			if (of.IsExported() || of.Anonymous && of.Type.Kind() == reflect.Struct) && !slices.Contains(f.without, of.Name) &&
				of.Tag.Get("artifact") != "inline" {
				f.fill(v.Field(i))
			}
		}
	}
}

func (f *filler) elements(v reflect.Value) {
	for i := range v.Len() {
		f.fill(v.Index(i))
	}
}

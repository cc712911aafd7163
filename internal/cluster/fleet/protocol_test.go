package fleet

import (
	"net/netip"
	"net/url"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/dataset"
)

// fill gives every field that is carried a value that is not zero.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(4)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.1)
	case reflect.String:
		v.SetString("text")
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), depth-1)
		}
	case reflect.Struct:
		switch x := v.Addr().Interface().(type) {
		case *netip.Addr:
			*x = netip.MustParseAddr("::1")
			return
		case *url.URL:
			*x = url.URL{Scheme: "http", Host: "h:1", Path: "/p"}
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("carry") != "-" {
				fill(v.Field(i), depth)
			}
		}
	}
}

// Everything that is sent can be carried, with all that it may hold.
func TestEveryMessageIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, x := range []any{new(command), new(commandReply), new(report), new(acknowledgement), new(manifest),
		new(wireConversation),
		new(work), new(config.Run), new(record.Record), new(dataset.Conversation)} {
		t.Run(reflect.TypeOf(x).Elem().Name(), func(t *testing.T) {
			fill(reflect.ValueOf(x).Elem(), 12)
			data, err := codec.Append(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(reflect.TypeOf(x).Elem())
			if err := codec.Decode(data, back.Interface()); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back.Interface(), x) {
				t.Error(cmp.Diff(x, back.Interface()))
			}
		})
	}
}

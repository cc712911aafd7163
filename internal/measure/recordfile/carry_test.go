package recordfile

import (
	"encoding/json"
	"io"
	"math"
	"net/netip"
	"net/url"
	"reflect"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
)

type inner struct {
	Text *string
	Rate float64
}

type sample struct {
	Zero     *int
	Nothing  *int
	Empty    []string
	Nil      []string
	Raw      json.RawMessage
	Map      map[string]int
	Any      any
	Inner    []inner
	Address  netip.Addr
	URL      *url.URL
	Wait     time.Duration
	Array    [2]uint16
	Object   artifact.Object
	Function func() `carry:"-"`
}

func full(t *testing.T) sample {
	u, err := url.Parse("http://user:secret@localhost:1/x?y=1")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	return sample{
		Zero: new(int), Empty: []string{}, Raw: json.RawMessage("{ \"a\" :\t1e2, \"<\": 0 }"),
		Map: map[string]int{"b": 2, "a": -1}, Inner: []inner{{&text, math.Inf(1)}, {nil, math.Copysign(0, -1)}},
		Address: netip.MustParseAddr("127.0.0.1"), URL: u, Wait: -1, Array: [2]uint16{7, 0},
		Any: map[string]any{"x": []any{int64(1), 2.5, nil, true, json.Number("1e400"), "s", uint64(math.MaxUint64)}},
		Object: artifact.Object{{Key: "k", Value: artifact.Object{}}, {Key: "k", Value: []string{"v"}},
			{Key: "n", Value: 3}},
	}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]sample{"empty": {}, "full": full(t)} {
		data, err := AppendValue(nil, &want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got sample
		if err := DecodeValue(data, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestEqualValuesHaveEqualBytes(t *testing.T) {
	a, _ := AppendValue(nil, map[string]int{"a": 1, "b": 2, "c": 3, "d": 4})
	for range 20 {
		if b, _ := AppendValue(nil, map[string]int{"d": 4, "c": 3, "b": 2, "a": 1}); string(a) != string(b) {
			t.Fatal("the bytes depend on the order of a map")
		}
	}
}

func TestWhatCannotBeCarriedIsAnError(t *testing.T) {
	type hidden struct{ x int }
	for _, v := range []any{hidden{1}, func() {}, struct{ E error }{io.EOF}, struct{ Any any }{time.Second}} {
		if _, err := AppendValue(nil, v); err == nil {
			t.Errorf("%T was carried", v)
		}
	}
}

func TestEveryPrefixIsAnError(t *testing.T) {
	want := full(t)
	data, err := AppendValue(nil, &want)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		var got sample
		if DecodeValue(data[:n], &got) == nil {
			t.Fatalf("%d of %d bytes were taken for all", n, len(data))
		}
	}
	var got sample
	if DecodeValue(append(data, 0), &got) == nil {
		t.Error("a byte too many was not noticed")
	}
}

type shape interface{ area() float64 }

type square struct{ Side float64 }

func (s square) area() float64 { return s.Side * s.Side }

func TestInterfacesHoldTheTypesOfTheCodec(t *testing.T) {
	type drawing struct{ Shape shape }
	c := Codec{Types: []reflect.Type{reflect.TypeFor[square]()}}
	data, err := c.Append(nil, drawing{square{2}})
	if err != nil {
		t.Fatal(err)
	}
	var got drawing
	if err := c.Decode(data, &got); err != nil || got.Shape != (square{2}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := AppendValue(nil, drawing{square{2}}); err == nil {
		t.Error("a type that is not in the list was carried")
	}
	text, err := AppendValue(nil, struct{ Any any }{"text"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Decode(text, &got) == nil {
		t.Error("a text became a shape")
	}
}

func TestLayoutFollowsTheFields(t *testing.T) {
	type a struct{ X, Y int }
	type renamed struct{ X, Z int }
	if Layout(reflect.TypeFor[a]()) == Layout(reflect.TypeFor[renamed]()) {
		t.Error("types with other fields have the same layout")
	}
}

func FuzzDecode(f *testing.F) {
	want := sample{Any: []any{"x"}, Map: map[string]int{"a": 1}}
	data, err := AppendValue(nil, &want)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var got sample
		if DecodeValue(data, &got) != nil {
			return
		}
		again, err := AppendValue(nil, &got)
		if err != nil {
			t.Fatal(err)
		}
		var back sample
		if err := DecodeValue(again, &back); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}

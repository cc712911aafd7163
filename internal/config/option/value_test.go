package option_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/option"
)

func TestCoerce(t *testing.T) {
	for text, want := range map[string]any{
		"true": true, "False": false, "NONE": nil, "null": nil, "7": int64(7), "-3": int64(-3), "-0": int64(0),
		"0":   int64(0),
		"007": "007", "+5": "+5", "1e-3": "1e-3", "1.2.3": "1.2.3", ".9": 0.9, "5.": 5.0, "-1.50": -1.5, ".": ".",
		"": "", "-": "-",
		"99999999999999999999": json.Number("99999999999999999999"), `["a","b"]`: `["a","b"]`, "0x10": "0x10",
	} {
		if got := option.Coerce(text); !reflect.DeepEqual(got, want) {
			t.Errorf("Coerce(%q) = %#v, want %#v", text, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	pairs := option.Option{Type: option.Pairs}
	for _, c := range []struct {
		tokens []string
		want   artifact.Object
	}{
		{[]string{"a:1, b:2"}, artifact.Object{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(2)}}},
		{[]string{`stop:["a","b"]`}, artifact.Object{{Key: "stop", Value: `["a","b"]`}}},
		{[]string{"a:1", "b:2", "a:3"}, artifact.Object{{Key: "a", Value: int64(3)}, {Key: "b", Value: int64(2)}}},
		{[]string{" k : v "}, artifact.Object{{Key: "k", Value: "v"}}},
		{[]string{"a:true", "b:007", "c:1.50", "d:null", "e:-3", "f:1e5"},
			artifact.Object{{Key: "a", Value: true}, {Key: "b", Value: "007"}, {Key: "c", Value: 1.5}, {Key: "d",
				Value: nil},
				{Key: "e", Value: int64(-3)}, {Key: "f", Value: "1e5"}}},
		{[]string{`{"z":{"y":[1,2.0,"x",null,true]},"a":1e3}`},
			artifact.Object{{Key: "z", Value: artifact.Object{{Key: "y", Value: []any{int64(1), 2.0, "x", nil, true}}}},
				{Key: "a", Value: 1000.0}}},
		{nil, artifact.Object{}},
	} {
		got, _, err := pairs.Parse(c.tokens)
		if err != nil {
			t.Errorf("%v: %v", c.tokens, err)
			continue
		}
		object, _ := got.(artifact.Object)
		configtest.WantObject(t, object, c.want)
	}
	for _, token := range []string{"foo", ":1", `{"a":1`, `{"a":1} x`, "{a:1}", `{"a":1e999}`} {
		if _, _, err := pairs.Parse([]string{token}); err == nil {
			t.Errorf("%s: accepted", token)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		token string
		want  artifact.Object
	}{
		{"A:1,B:2", artifact.Object{{Key: "A", Value: "1"}, {Key: "B", Value: "2"}}},
		{"Accept:a/b,c/d", artifact.Object{{Key: "Accept", Value: "a/b,c/d"}}},
		{"X-Flag:true", artifact.Object{{Key: "X-Flag", Value: "true"}}},
		{"X: a:b ", artifact.Object{{Key: "X", Value: "a:b"}}},
		{"X-N:007", artifact.Object{{Key: "X-N", Value: "007"}}},
		{`{"A":"b","N":5,"F":2.0,"T":true}`,
			artifact.Object{{Key: "A", Value: "b"}, {Key: "N", Value: "5"}, {Key: "F", Value: "2.0"},
				{Key: "T", Value: "true"}}},
	} {
		got, err := option.ParseHeaders([]string{c.token})
		if err != nil {
			t.Errorf("%s: %v", c.token, err)
			continue
		}
		configtest.WantObject(t, got, c.want)
	}
	got, _ := option.ParseHeaders([]string{"X-A:1", "x-a:2"})
	configtest.WantObject(t, got, artifact.Object{{Key: "x-a", Value: "2"}})
	for _, token := range []string{"Bearer-secret", "a b:c", "X:1\r\nY:2"} {
		if _, err := option.ParseHeaders([]string{token}); err == nil {
			t.Errorf("%q: accepted", token)
		} else if s := err.Error(); strings.Contains(s, "secret") {
			t.Errorf("%q: the message repeats the value: %s", token, s)
		}
	}
}

func TestFormatFloat(t *testing.T) {
	for v, want := range map[float64]string{5: "5.0", 0.25: "0.25", 1e16: "1e+16", 1e15: "1000000000000000.0",
		1e-5: "1e-05", 0: "0.0", -1.5: "-1.5"} {
		if got := option.FormatFloat(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

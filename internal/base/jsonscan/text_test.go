package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/base/jsonscan"
)

func TestStringsOnTheWire(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  `"plain"`,
		"a\"b\\c/d":              `"a\"b\\c/d"`,
		"\b\f\n\r\t\x00\x1f\x7f": "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"",
		"€ \u2028 😀 <>&'":        "\"€ \u2028 😀 <>&'\"",
		"a\xffb\xe2\x82":         "\"a\uFFFDb\uFFFD\uFFFD\"",
		"\uFFFD":                 "\"\uFFFD\"",
	} {
		if got := string(jsonscan.AppendString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00€\xff")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(jsonscan.AppendString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\uFFFD", "")
		if strings.ReplaceAll(back, "\uFFFD", "") != want {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

func TestWithoutNulls(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":null,"b":[null,{"c":null,"d":1}],"e":"null","f":null}`: `{"b":[null,{"d":1}],"e":"null"}`,
		`{"a":1.0}`:        `{"a":1.0}`,
		`null`:             `null`,
		`{"a":{"b":null}}`: `{"a":{}}`,
	} {
		if got := string(jsonscan.WithoutNulls([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
